#include "tools/lockstep/log_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "snapshot/snapshot.h"
#include "tools/lockstep/describe.h"
#include "tools/lockstep/times.h"
#include "tools/lockstep/view.h"

namespace lockstep::cli {
namespace {

// The records of a group's events lie close together; the last one decoded is kept.
class EventReader {
 public:
  explicit EventReader(const Log& log) : log_(log) {}

  [[nodiscard]] Result<Event> at(Seq seq) {
    if (events_.empty() || seq < events_.front().seq || seq > events_.back().seq) LOCKSTEP_TRY(load(seq));
    if (events_.empty() || seq < events_.front().seq || seq > events_.back().seq) {
      return fail(ErrorCode::NotFound, fmt::format("seq {} is not in the log", seq.value), seq);
    }
    return events_[static_cast<std::size_t>(seq.value - events_.front().seq.value)];
  }

 private:
  Result<void> load(Seq seq) {
    events_.clear();
    return log_.read(seq, [&](const RecordHeader& header, std::span<const std::byte> record) -> Result<Continue> {
      auto events = decode_record(record, fmt::format("record {}", header.first.value));
      LOCKSTEP_TRY(events);
      events_ = std::move(*events);
      return Continue::No;
    });
  }
  const Log& log_;
  std::vector<Event> events_;
};

// Seq of the GroupPurged event of the latest group of that name or id; 0 = none.
Result<Seq> find_purged(const Log& log, std::string_view key) {
  auto first = log.first();
  LOCKSTEP_TRY(first);
  const auto id = group_id_in(key);
  Seq found{};
  LOCKSTEP_TRY(for_each_event(log, *first, [&](const Event& event) -> Result<Continue> {
    const auto* purged = std::get_if<GroupPurged>(&event.body);
    if (purged != nullptr && (purged->name == key || (id && event.group == *id))) found = event.seq;
    return Continue::Yes;
  }));
  return found;
}

}  // namespace

Result<void> for_each_event(const Log& log, Seq from, const VisitEvent& visit) {
  return log.read(from, [&](const RecordHeader& header, std::span<const std::byte> record) -> Result<Continue> {
    const auto events = decode_record(record, fmt::format("record {}", header.first.value));
    LOCKSTEP_TRY(events);
    for (const auto& event : *events) {
      if (event.seq < from) continue;
      const auto go_on = visit(event);
      LOCKSTEP_TRY(go_on);
      if (*go_on == Continue::No) return Continue::No;
    }
    return Continue::Yes;
  });
}

Result<std::vector<Event>> walk_back(const Log& log, Seq last) {
  const auto first = log.first();
  LOCKSTEP_TRY(first);
  EventReader reader(log);
  std::vector<Event> events;
  for (Seq seq = last; seq >= *first && seq;) {
    auto event = reader.at(seq);
    LOCKSTEP_TRY(event);
    if (event->prev >= seq) {
      return fail(ErrorCode::Damaged, fmt::format("seq {} names {} as the one before it", seq.value, event->prev.value),
                  seq);
    }
    seq = event->prev;
    events.push_back(std::move(*event));
  }
  std::reverse(events.begin(), events.end());
  return events;
}

Result<std::vector<Event>> group_history(const Log& log, const State& state, std::string_view key) {
  if (const Group* group = find_group(state, key)) return walk_back(log, group->head.last_event);
  const auto purged = find_purged(log, key);
  LOCKSTEP_TRY(purged);
  if (!*purged) {
    return fail(ErrorCode::NotFound, fmt::format("{}: no group of this name or id is known or was purged", key));
  }
  return walk_back(log, *purged);
}

namespace {

// As everywhere in JSON: times are text, and what is not set is null.
void make_plain(Json& json) {
  for (auto& [key, value] : json.items()) {
    if (value.is_structured()) {
      make_plain(value);
    } else if (key == "deadline" || key == "projected" || key == "backoffUntil") {
      const Time time{value.get<std::int64_t>()};
      value = time ? Json(rfc3339(time)) : Json(nullptr);
    } else if (value == kNoMember && key != "amount" && key != "total") {  // also kNoRole and kNoBudget
      value = nullptr;
    }
  }
}

}  // namespace

Json event_json(const Event& event, const Names& names) {
  Json facts = Json::parse(dump_json(event), nullptr, false);
  if (facts.is_object()) {
    for (const char* told : {"seq", "prev", "cause", "time", "actor", "group", "kind"}) facts.erase(told);
    make_plain(facts);
  }
  return {{"seq", event.seq.value},
          {"prev", event.prev.value},
          {"cause", event.cause.value},
          {"time", rfc3339(event.time)},
          {"actor", lower_camel(name(event.actor))},
          {"group", event.group ? Json(event.group.value) : Json(nullptr)},
          {"event", std::string(name(kind(event)))},
          {"text", describe(event, names)},
          {"facts", std::move(facts)}};
}

Result<Json> log_stat(const Log& log) {
  const auto first = log.first();
  LOCKSTEP_TRY(first);
  const auto head = log.head();
  LOCKSTEP_TRY(head);
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  std::uint64_t events = 0;
  Time time{};
  std::map<std::string, std::uint64_t> kinds;
  const auto read =
      log.read(*first, [&](const RecordHeader& header, std::span<const std::byte> record) -> Result<Continue> {
        ++records;
        bytes += record.size();
        time = header.time;
        const auto decoded = decode_record(record, fmt::format("record {}", header.first.value));
        LOCKSTEP_TRY(decoded);
        events += decoded->size();
        for (const auto& event : *decoded) ++kinds[std::string(name(kind(event)))];
        return Continue::Yes;
      });
  LOCKSTEP_TRY(read);
  return Json{{"first", first->value},
              {"seq", head->seq.value},
              {"epoch", head->epoch.value},
              {"hash", hex(head->hash)},
              {"records", records},
              {"events", events},
              {"bytes", bytes},
              {"time", time ? Json(rfc3339(time)) : Json(nullptr)},
              {"kinds", kinds}};
}

}  // namespace lockstep::cli
