#include "tools/lockstep/verbs.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "tools/lockstep/service.h"

namespace lockstep::cli {

CLI::App& add_verb(CLI::App& parent, Session& session, const std::string& name, const std::string& help,
                   std::function<Outcome<void>()> action) {
  CLI::App* verb = parent.add_subcommand(name, help);
  verb->callback([verb, &session, action = std::move(action)] {
    if (!verb->get_subcommands().empty()) return;
    session.action = action;
    session.verb = verb;
  });
  return *verb;
}

void add_store_option(CLI::App& app, Session& session) {
  app.add_option_function<std::string>(
         "--store", [&session](const std::string& store) { session.stores.push_back(store); },
         "Store directory, which is also the address of the controller that runs on it (Env:LOCKSTEP_STORE)")
      ->type_name("DIR");
}

void add_store_option(CLI::App& verb, Session& session, std::string& store) {
  add_store_option(verb, session);
  session.wants_store[&verb] = &store;
}

namespace {

Outcome<std::string> store_of(const Session& session) {
  const std::string say = session.verb->get_name() + ": --store is required: name the store's directory";
  if (session.stores.empty()) {
    const char* environment = std::getenv("LOCKSTEP_STORE");
    if (environment == nullptr || *environment == '\0') return usage(say + ", or set LOCKSTEP_STORE");
    return std::string(environment);
  }
  for (const auto& store : session.stores) {
    if (store.empty()) return usage(say + "; what was given is empty");
    if (store != session.stores.front()) {
      return usage(fmt::format("--store is given twice, as {} and {}; say it once", session.stores.front(), store));
    }
  }
  return session.stores.front();
}

}  // namespace

Outcome<void> perform(Session& session) {
  if (!session.action) return usage("say what to do, as in 'lockstep list'; see 'lockstep --help'");
  const auto wants = session.wants_store.find(session.verb);
  if (wants != session.wants_store.end()) {
    auto store = store_of(session);
    if (!store) return refuse(std::move(store.error()));
    *wants->second = std::move(*store);
  }
  return session.action();
}

Outcome<std::uint64_t> parse_number_of(const std::string& name, const std::string& text, const NumberRange& range) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  if (whole && number >= range.least && number <= range.most) return number;
  return usage(fmt::format("{} '{}': is not {}; say a whole number from {} to {}", name, text, range.what, range.least,
                           range.most));
}

CLI::Option* add_number(CLI::App& verb, const std::string& name, std::uint64_t& number, const NumberRange& range,
                        const std::string& help) {
  return verb
      .add_option_function<std::string>(
          name,
          [&number, name, range](const std::string& text) {
            const auto parsed = parse_number_of(name, text, range);
            if (!parsed) throw CLI::ValidationError(parsed.error().message);
            number = *parsed;
          },
          help)
      ->type_name(range.what == seqs().what ? "SEQ" : "NUMBER");
}

NumberRange seqs() { return {"a seq", 1, UINT64_MAX}; }

Failure not_yet(const std::string& what) {
  return Failure{"NotYet", what + ": is known, and not there yet in this release", kExitUsage};
}

Outcome<void> show(const Session& session, const Outcome<Json>& json, std::string (*text)(const Json&)) {
  if (!json) return refuse(json.error());
  print(session.json() ? to_text(*json, 2) + "\n" : text(*json));
  return {};
}

}  // namespace lockstep::cli
