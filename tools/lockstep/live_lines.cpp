#include "tools/lockstep/live_lines.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "tools/lockstep/describe.h"
#include "tools/lockstep/log_view.h"
#include "tools/lockstep/output.h"
#include "tools/lockstep/service.h"
#include "tools/lockstep/text.h"
#include "tools/lockstep/times.h"

namespace lockstep::cli {
namespace {

constexpr std::size_t kLinesMax = 10'000;

std::string status_of(const State& state) {
  std::string phases;
  for (std::size_t i = 1; i < kGroupPhaseCount; ++i) {
    const auto count = state.indexes.groups_in[i];
    if (count == 0) continue;
    phases += fmt::format("{}{} {}", phases.empty() ? "" : ", ", count, name(static_cast<GroupPhase>(i)));
  }
  std::size_t usable = 0;
  std::size_t busy = 0;
  state.hosts.for_each([&](const Host& host) {
    usable += host.usable() ? 1U : 0U;
    busy += host.groups.empty() ? 0U : 1U;
  });
  return fmt::format("{}  groups: {}  hosts: {} busy of {} up  seq {}", time_of_day(state.head.time).substr(0, 8),
                     phases.empty() ? "none" : phases, busy, usable, state.head.seq.value);
}

}  // namespace

LiveLines::LiveLines(Lines form) : form_(form), terminal_(form == Lines::Text && ::isatty(STDOUT_FILENO) == 1) {}

void LiveLines::collect(const State& state, const std::vector<Event>& events) {
  Names names(state);
  for (const auto& event : events) {
    names.learn(event);
    if (!is_a_turn(event)) continue;
    if (collected_.lines.size() >= kLinesMax) {
      ++collected_.left_out;
    } else if (form_ == Lines::Objects) {
      collected_.lines.push_back(to_text(event_json(event, names)));
    } else {
      collected_.lines.push_back(
          printable(fmt::format("{}  {}: {}", time_of_day(event.time),
                                event.group ? names.group(event.group) : "cluster", sentence(event, names))));
    }
  }
  if (terminal_) collected_.status = status_of(state);
}

LiveLines::Batch LiveLines::take() { return std::exchange(collected_, Batch{}); }

void LiveLines::show(const Batch& batch) {
  if (batch.lines.empty() && batch.left_out == 0 && batch.status.empty()) return;
  std::string out;
  if (status_shown_) out += "\r\x1b[K";
  for (const auto& line : batch.lines) out += line + "\n";
  if (batch.left_out != 0) out += fmt::format("({} lines left out)\n", batch.left_out);
  out += batch.status;
  status_shown_ = !batch.status.empty();
  print(out);
  (void)flush_output();
}

void LiveLines::finish() {
  if (status_shown_) print("\n");
  (void)flush_output();
  status_shown_ = false;
}

}  // namespace lockstep::cli
