#include "tools/lockstep/service.h"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <vector>

#include "events/codec.h"
#include "tools/lockstep/log_view.h"
#include "tools/lockstep/manifest_files.h"
#include "tools/lockstep/view.h"

namespace lockstep::cli {
namespace {

struct Target {
  std::vector<std::string> path;  // after /v1
  std::map<std::string, std::string> query;
};

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<std::string> percent_decode(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      result += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = hex_digit(text[i + 1]);
    const int low = hex_digit(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    result += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return result;
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

tl::unexpected<Failure> no_such_path(const std::string& target) {
  return refuse(Error{ErrorCode::NotFound, fmt::format("{}: no such path; see service.h for those under /v1", target)});
}

Outcome<Target> parse_target(const std::string& text) {
  const auto mark = text.find('?');
  const std::string_view path = std::string_view(text).substr(0, mark);
  if (path.substr(0, 4) != "/v1/") return no_such_path(text);
  Target target;
  for (const auto part : split(path.substr(4), '/')) {
    auto decoded = percent_decode(part);
    if (!decoded) return usage(fmt::format("{}: a % must be followed by two hex digits", text));
    target.path.push_back(std::move(*decoded));
  }
  if (mark == std::string::npos) return target;
  for (const auto pair : split(std::string_view(text).substr(mark + 1), '&')) {
    const auto equals = pair.find('=');
    auto value = equals == std::string_view::npos ? std::string() : percent_decode(pair.substr(equals + 1));
    if (!value) return usage(fmt::format("{}: a % must be followed by two hex digits", text));
    target.query[std::string(pair.substr(0, equals))] = std::move(*value);
  }
  return target;
}

template <class T>
Outcome<T> lifted(Result<T> result) {
  if (!result) return refuse(result.error());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
  return {};
}

tl::unexpected<Failure> unknown_group(const std::string& key) {
  return refuse(Failure{std::string(name(AnswerCode::UnknownGroup)),
                        fmt::format("{}: no group of this name or id; see 'lockstep list'", key), kExitNo});
}

Json answer_json(const Answer& answer) {
  return {{"code", std::string(name(answer.code))},
          {"group", answer.group ? Json(answer.group.value) : Json(nullptr)},
          {"seq", answer.seq.value},
          {"text", answer.text},
          {"repeated", answer.repeated}};
}

Outcome<Json> checked(const Result<Answer>& answer) {
  if (!answer) return refuse(answer.error());
  if (is_rejection(answer->code)) return refuse(failure(*answer));
  return answer_json(*answer);
}

Outcome<Json> of_state(Backend& backend, const std::function<Json(const State&)>& view) {
  Json result;
  const auto read = backend.read([&](const State& state, const Head&) { result = view(state); });
  if (!read) return refuse(read.error());
  return result;
}

Outcome<Json> of_group(Backend& backend, const std::string& key,
                       const std::function<Json(const State&, const Group&)>& view) {
  bool found = false;
  auto result = of_state(backend, [&](const State& state) {
    const Group* group = find_group(state, key);
    found = group != nullptr;
    return found ? view(state, *group) : Json(nullptr);
  });
  if (result && !found) return unknown_group(key);
  return result;
}

Json events_json(const std::vector<Event>& events, Names& names) {
  Json result = Json::array();
  for (const auto& event : events) {
    names.learn(event);
    result.push_back(event_json(event, names));
  }
  return result;
}

// The state is taken first and the log is read after it, so that the history may be longer but never misses an end.
Outcome<Json> history(Backend& backend, const std::string& key) {
  Result<std::vector<Event>> events;
  State nothing;
  Names names;
  Seq last{};
  const auto read = backend.read([&](const State& state, const Head&) {
    const Group* group = find_group(state, key);
    if (group == nullptr) return;
    last = group->head.last_event;
    state.hosts.for_each([&](const Host& host) {
      Event added;
      added.body = HostAdded{host.facts.id, host.facts.info};
      names.learn(added);
    });
  });
  if (!read) return refuse(read.error());
  const auto walked = backend.read_log([&](const Log& log) -> Result<void> {
    events = last ? walk_back(log, last) : group_history(log, nothing, key);
    LOCKSTEP_TRY(events);
    return {};
  });
  if (!walked && walked.error().code == ErrorCode::NotFound && !last) return unknown_group(key);
  if (!walked) return refuse(walked.error());
  Json result = events_json(*events, names);
  if (!names.missed()) return result;
  // Of a host that was removed, or of another group: only the log knows.
  const auto learnt = backend.read_log([&](const Log& log) -> Result<void> {
    const auto first = log.first();
    LOCKSTEP_TRY(first);
    return for_each_event(log, *first, [&](const Event& event) -> Result<Continue> {
      names.learn(event);
      return event.seq < events->back().seq ? Continue::Yes : Continue::No;
    });
  });
  if (!learnt) return refuse(learnt.error());
  return events_json(*events, names);
}

Outcome<Json> host_named(Backend& backend, const std::string& key) {
  auto result = of_state(backend, [&](const State& state) {
    const Host* host = state.host_named(key);
    return host != nullptr ? host_json(state, *host) : Json(nullptr);
  });
  if (result && result->is_null()) {
    return refuse(Failure{std::string(name(AnswerCode::UnknownHost)),
                          fmt::format("{}: no host of this name; see 'lockstep hosts'", key), kExitNo});
  }
  return result;
}

Outcome<Json> state_at(Backend& backend, const std::string& text) {
  std::uint64_t at = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), at);
  if (error != std::errc{} || end != text.data() + text.size() || at == 0) {
    return usage(fmt::format("at={}: is no seq; the first event has 1", text));
  }
  Json result;
  const Store& store = backend.store();
  const auto read = backend.read_log([&](const Log& log) -> Result<void> {
    const auto head = log.head();
    LOCKSTEP_TRY(head);
    if (at > head->seq.value) {
      return fail(ErrorCode::NotFound, fmt::format("seq {} is not in the log, which ends at {}", at, head->seq.value));
    }
    const SnapshotStore snapshots(store.snapshots(), store.id);
    const auto recovered = recover(log, &snapshots, Seq{at});
    LOCKSTEP_TRY(recovered);
    result = state_json(recovered->state);
    return {};
  });
  if (!read) return refuse(read.error());
  return result;
}

Outcome<Json> snapshots(const Backend& backend) {
  const Store& store = backend.store();
  const auto listing = SnapshotStore(store.snapshots(), store.id).list();
  if (!listing) return refuse(listing.error());
  Json whole = Json::array();
  for (const auto& info : listing->snapshots) whole.push_back(snapshot_json(info));
  Json damaged = Json::array();
  for (const auto& error : listing->damaged) {
    damaged.push_back({{"code", std::string(name(error.code))}, {"message", error.message}});
  }
  return Json{{"snapshots", std::move(whole)}, {"damaged", std::move(damaged)}};
}

Outcome<Json> define_groups(Backend& backend, const std::string& text) {
  auto read = read_manifest_text(text, "", "");
  if (!read) return refuse(std::move(read.error()));
  const ManifestResult& manifest = *read;
  Json groups = Json::array();
  for (const auto& group : manifest.groups) {
    Command command;
    command.body = group;
    auto answer = checked(execute(backend, std::move(command)));
    if (!answer) {
      auto failure = answer.error();
      failure.message = fmt::format("{}: {} ({} of {} groups were defined before it)", group.identity.name,
                                    failure.message, groups.size(), manifest.groups.size());
      return refuse(std::move(failure));
    }
    Json row = {{"name", group.identity.name}};
    row.update(*answer);
    groups.push_back(std::move(row));
  }
  return Json{{"groups", std::move(groups)}, {"notCarried", manifest.not_carried}};
}

Outcome<Json> log_stat_of(Backend& backend) {
  Json result;
  const auto read = backend.read_log([&](const Log& log) -> Result<void> {
    auto stat = log_stat(log);
    LOCKSTEP_TRY(stat);
    result = std::move(*stat);
    return {};
  });
  if (!read) return refuse(read.error());
  result["storeId"] = backend.store().id;
  return result;
}

Outcome<Json> get(Backend& backend, const Target& target, const std::string& text) {
  const auto& path = target.path;
  if (path[0] == "groups" && path.size() == 1) {
    return of_state(backend, [](const State& state) { return groups_json(state, Members::Hide); });
  }
  if (path[0] == "groups" && path.size() == 2) {
    return of_group(backend, path[1],
                    [](const State& state, const Group& group) { return group_json(state, group, Members::Show); });
  }
  if (path[0] == "groups" && path.size() == 3 && path[2] == "why") return of_group(backend, path[1], why_json);
  if (path[0] == "groups" && path.size() == 3 && path[2] == "history") return history(backend, path[1]);
  if (path[0] == "log" && path.size() == 2 && path[1] == "stat") return log_stat_of(backend);
  if (path[0] == "hosts" && path.size() == 2) return host_named(backend, path[1]);
  if (path.size() != 1) return no_such_path(text);
  if (path[0] == "hosts") return of_state(backend, hosts_json);
  if (path[0] == "claims") return of_state(backend, claims_json);
  if (path[0] == "snapshots") return snapshots(backend);
  if (path[0] != "state") return no_such_path(text);
  const auto at = target.query.find("at");
  return at == target.query.end() ? of_state(backend, state_json) : state_at(backend, at->second);
}

}  // namespace

bool Service::is_command(const Request& request) {
  return request.method == "POST" && request.target == "/v1/commands";
}

// A plan, a new epoch and digests are the controller's own business.
Outcome<Command> Service::command(const Request& request) const {
  const auto bytes = std::as_bytes(std::span(request.body));
  const std::vector<std::byte> message(bytes.begin(), bytes.end());  // its own, and aligned
  auto command = decode_command(message);
  if (!command) return refuse(Error{ErrorCode::InvalidInput, "the body is no command: " + command.error().message});
  const auto& body = command->body;
  if (std::holds_alternative<StartController>(body) || std::holds_alternative<RecordDigest>(body) ||
      std::holds_alternative<ApplyPlan>(body) || std::holds_alternative<AdvanceTime>(body)) {
    return usage("this command is the controller's own; nobody else may send it");
  }
  return std::move(*command);
}

Outcome<Json> Service::answer(const Request& request) const {
  if (is_command(request)) {
    auto command = this->command(request);
    if (!command) return refuse(std::move(command.error()));
    return checked(execute(backend_, std::move(*command)));
  }
  const auto target = parse_target(request.target);
  if (!target) return refuse(target.error());
  if (request.method == "GET") return get(backend_, *target, request.target);
  if (request.method != "POST") return usage(fmt::format("{}: only GET and POST are known", request.method));
  if (target->path == std::vector<std::string>{"groups"}) return define_groups(backend_, request.body);
  if (target->path != std::vector<std::string>{"snapshots"}) return no_such_path(request.target);
  const auto info = backend_.snapshot();
  if (!info) return refuse(info.error());
  return snapshot_json(*info);
}

namespace {

unsigned http_status(const Failure& failure) {
  if (failure.code.substr(0, 7) == "Unknown" || failure.code == name(ErrorCode::NotFound)) return 404;
  if (failure.code == name(AnswerCode::InvalidManifest) || failure.exit == kExitUsage) return 400;
  return failure.exit == kExitNo ? 409 : 503;
}

Reply to_reply(const Outcome<Json>& outcome) {
  return outcome ? Reply{200, to_text(*outcome)} : Service::reply(outcome.error());
}

}  // namespace

Reply Service::reply(const Request& request) const { return to_reply(answer(request)); }

Reply Service::reply(const Result<Answer>& answer) { return to_reply(checked(answer)); }

Reply Service::reply(const Failure& failure) {
  const Json body = {{"error", {{"code", failure.code}, {"message", failure.message}, {"exit", failure.exit}}}};
  return Reply{http_status(failure), to_text(body)};
}

std::string to_text(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Outcome<Json> read_reply(const std::string& body) {
  Json json = Json::parse(body, nullptr, false);
  if (json.is_discarded()) return refuse(Error{ErrorCode::Damaged, "the controller's answer is not JSON"});
  if (!json.is_object() || !json.contains("error")) return json;
  const Json& error = json["error"];
  return refuse(Failure{error.value("code", "?"), error.value("message", "?"), error.value("exit", kExitNo)});
}

}  // namespace lockstep::cli
