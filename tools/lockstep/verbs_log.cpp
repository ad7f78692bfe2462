// log: dump, stat, verify; export, import and tail come later. All of them read the store itself, also beside a
// controller that runs on it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "events/log/store.h"
#include "replay/recovery.h"
#include "snapshot/snapshot.h"
#include "statemachine/digest.h"
#include "tools/lockstep/describe.h"
#include "tools/lockstep/log_view.h"
#include "tools/lockstep/service.h"
#include "tools/lockstep/text.h"
#include "tools/lockstep/times.h"
#include "tools/lockstep/verbs.h"

namespace lockstep::cli {
namespace {

struct LogOptions {
  std::string store;
  std::uint64_t from{};
  std::uint64_t to{};
  bool fast{false};
};

// Says how far a long look has come, once a second, to somebody who waits at a terminal.
class Waiting {
 public:
  explicit Waiting(std::string what) : what_(std::move(what)) {}
  // False: nobody reads the answer any more.
  bool at(std::uint64_t done, std::uint64_t total) {
    const auto now = std::chrono::steady_clock::now();
    if (now - said_ < std::chrono::seconds(1)) return true;
    said_ = now;
    note_on_terminal("Waiting", fmt::format("{}: {} of {} events", what_, done, total));
    return !output_lost();
  }

 private:
  std::string what_;
  std::chrono::steady_clock::time_point said_ = std::chrono::steady_clock::now();
};

// Line by line, so that a log of any length can be piped.
Outcome<void> dump(const Session& session, const LogOptions& options) {
  const auto store = open_store(options.store, OpenMode::ReadOnly);
  if (!store) return refuse(store.error());
  const auto first = store->log->first();
  if (!first) return refuse(first.error());
  const Seq from = options.from != 0 ? Seq{options.from} : *first;
  if (from < *first) {
    return refuse(Error{ErrorCode::Trimmed, fmt::format("{}: seq {} is no longer in the log, which begins at {}",
                                                        options.store, from.value, first->value)});
  }
  const auto head = store->log->head();
  if (!head) return refuse(head.error());
  if (options.from > head->seq.value) {
    return refuse(Error{ErrorCode::NotFound, fmt::format("{}: seq {} is not in the log, which ends at {}",
                                                         options.store, options.from, head->seq.value)});
  }
  Names names;
  const auto read = for_each_event(*store->log, *first, [&](const Event& event) -> Result<Continue> {
    if (options.to != 0 && event.seq.value > options.to) return Continue::No;
    names.learn(event);
    if (event.seq < from) return Continue::Yes;
    if (session.json()) {
      print(to_text(event_json(event, names)) + "\n");
    } else {
      print(printable(fmt::format("{} {:>6} {:<10} {:<20} {:<18} {}", date_time(event.time), event.seq.value,
                                  lower_camel(name(event.actor)), event.group ? names.group(event.group) : "-",
                                  name(kind(event)), describe(event, names))) +
            "\n");
    }
    return output_lost() ? Continue::No : Continue::Yes;
  });
  if (!read) return refuse(read.error());
  return {};
}

Outcome<void> stat(const Session& session, const LogOptions& options) {
  const auto store = open_store(options.store, OpenMode::ReadOnly);
  if (!store) return refuse(store.error());
  auto json = log_stat(*store->log);
  if (!json) return refuse(json.error());
  (*json)["storeId"] = store->id;
  return show(session, *json, log_stat_text);
}

struct Verified {
  std::uint64_t records{};
  std::uint64_t events{};
  Head last{};
};

// Every record: its checksum and frame, and its place; that the log's own idea of its end, taken before, is a record
// that is there; and in full each event, and the chain by full hash.
Result<Verified> verify_records(const Log& log, Seq first, bool fast) {
  const auto head = log.head();
  LOCKSTEP_TRY(head);
  Waiting waiting("the log is read");
  Verified done;
  bool head_found = head->seq == Seq{} || head->seq < first;
  const auto read =
      log.read(first, [&](const RecordHeader& header, std::span<const std::byte> record) -> Result<Continue> {
        if (!waiting.at(header.first.value - first.value, head->seq.value - first.value + 1)) return Continue::No;
        ++done.records;
        done.events += header.count;
        if (fast) {  // (reading has looked at the checksum, and that it follows the one before)
          const bool is_last = header.last() == head->seq;
          done.last = is_last ? head_after(header, record) : Head{header.last(), {}, header.epoch};
          head_found = head_found || done.last == *head;
          return Continue::Yes;
        }
        const std::string where = fmt::format("record of seq {}", header.first.value);
        if (done.records > 1 && header.previous != done.last.hash) {
          return fail(ErrorCode::Damaged, where + ": does not name the record before it; restore the store from a copy",
                      header.first);
        }
        const auto events = decode_record(record, where);
        LOCKSTEP_TRY(events);
        done.last = head_after(header, record);
        head_found = head_found || done.last == *head;
        return Continue::Yes;
      });
  LOCKSTEP_TRY(read);
  if (head_found) return done;
  return fail(ErrorCode::Damaged,
              fmt::format("the log says that it ends at seq {}, its records do not; restore the store from a copy",
                          head->seq.value),
              head->seq);
}

std::string fast_verify_text(const Json& done) {
  return fmt::format("log: {} with {}, seq {} to {}: checksums and order are right\n",
                     counted(done.at("records").get<std::uint64_t>(), "record"),
                     counted(done.at("events").get<std::uint64_t>(), "event"), done.at("first").dump(),
                     done.at("seq").dump());
}

std::string verify_text(const Json& done) {
  const auto number = [&](const char* key, const char* what) {
    return counted(done.at(key).get<std::uint64_t>(), what);
  };
  return fmt::format(
      "log: {} with {}, seq {} to {}: whole\nreplay: {} from {}, {} compared\n"
      "digest at seq {}: {}\n",
      number("records", "record"), number("events", "event"), done.at("first").dump(), done.at("seq").dump(),
      number("eventsReplayed", "event"),
      done.at("fromSnapshot").is_null() ? "the beginning" : "the snapshot at seq " + done.at("fromSnapshot").dump(),
      number("digestsCompared", "digest"), done.at("seq").dump(), done.at("digest").get<std::string>());
}

// A whole log is replayed from its beginning, whatever snapshots there are; a trimmed one from a snapshot.
Outcome<void> verify(const Session& session, const LogOptions& options) {
  const auto store = open_store(options.store, OpenMode::ReadOnly);
  if (!store) return refuse(store.error());
  const auto first = store->log->first();
  if (!first) return refuse(first.error());
  const auto chain = verify_records(*store->log, *first, options.fast);
  if (!chain) return refuse(chain.error());
  Json json = {{"mode", options.fast ? "fast" : "full"},
               {"records", chain->records},
               {"events", chain->events},
               {"first", first->value},
               {"seq", chain->last.seq.value}};
  if (options.fast) return show(session, json, fast_verify_text);
  const SnapshotStore snapshots(store->snapshots(), store->id);
  const bool whole = first->value <= 1;
  Waiting waiting("it is replayed");
  const auto recovered = recover(*store->log, whole ? nullptr : &snapshots, chain->last.seq,
                                 [&](std::uint64_t done, std::uint64_t total) { return waiting.at(done, total); });
  if (!recovered) return refuse(recovered.error());
  const RecoveryReport& report = recovered->report;
  json["fromSnapshot"] = report.plan.from_snapshot ? Json(report.plan.snapshot.head.seq.value) : Json(nullptr);
  json["eventsReplayed"] = report.events_replayed;
  json["digestsCompared"] = report.digests_compared;
  json["digest"] = hex(recovered->state.digest());
  return show(session, json, verify_text);
}

}  // namespace

void add_log_verbs(CLI::App& app, Session& session) {
  CLI::App* log = &add_verb(app, session, "log", "dump, stat or verify the log",
                            [] { return Outcome<void>(usage("log: say which: dump, stat or verify")); });
  auto options = std::make_shared<LogOptions>();
  CLI::App& dumped = add_verb(*log, session, "dump", "Its events, one a line",
                              [&session, options] { return dump(session, *options); });
  add_store_option(dumped, session, options->store);
  add_number(dumped, "--from", options->from, seqs(), "First seq");
  add_number(dumped, "--to", options->to, seqs(), "Last seq");
  CLI::App& counted =
      add_verb(*log, session, "stat", "What it holds", [&session, options] { return stat(session, *options); });
  add_store_option(counted, session, options->store);
  CLI::App& verified = add_verb(*log, session, "verify", "Check every byte, and replay it",
                                [&session, options] { return verify(session, *options); });
  add_store_option(verified, session, options->store);
  verified.add_flag("--fast", options->fast, "Only the checksum of every record, and that each follows the one before");
  for (const char* name : {"export", "import", "tail"}) {
    CLI::App& later = add_verb(*log, session, name, "Not yet in this release",
                               [name]() -> Outcome<void> { return refuse(not_yet(std::string("log ") + name)); });
    later.allow_extras();
    later.prefix_command();
    later.fallthrough(false);
  }
}

}  // namespace lockstep::cli
