#include "tests/tools/kill_ledger.h"

#include <fmt/format.h>

#include "tools/lockstep/log_view.h"

namespace lockstep::testing {

void Ledger::note(Told told) {
  const std::lock_guard lock(mutex_);
  const std::pair key{told.client, told.request};
  told_[key] = std::move(told);
}

void Ledger::note_repeated() {
  const std::lock_guard lock(mutex_);
  ++repeated_;
}

std::size_t Ledger::acknowledged() const {
  const std::lock_guard lock(mutex_);
  return told_.size();
}

std::size_t Ledger::repeated() const {
  const std::lock_guard lock(mutex_);
  return repeated_;
}

void Ledger::learn(const Event& event) {
  if (const auto* answered = std::get_if<RequestAnswered>(&event.body)) {
    Seen& seen = seen_[{answered->client, answered->request}];
    ++seen.times;
    seen.code = static_cast<AnswerCode>(answered->code);
    seen.about = answered->about;
  } else if (const auto* defined = std::get_if<GroupDefined>(&event.body)) {
    ++defined_[defined->identity.name];
    groups_[event.group].name = defined->identity.name;
  } else if (const auto* stopping = std::get_if<GroupStopping>(&event.body)) {
    if (stopping->next == StopNext::Cancel) ++groups_[event.group].cancels;
  } else if (std::holds_alternative<GroupCancelled>(event.body)) {
    // One that was not stopped first.
    if (groups_[event.group].cancels == 0) ++groups_[event.group].cancels;
  }
}

std::string Ledger::check(const Told& told) const {
  const std::string who = fmt::format("request {} of client {:x}", told.request, told.client);
  const auto found = seen_.find({told.client, told.request});
  if (found == seen_.end()) return who + " was acknowledged and is lost";
  const Seen& seen = found->second;
  if (seen.times != 1) return fmt::format("{} is in the log {} times", who, seen.times);
  if (seen.code != told.code || seen.about != told.group) {
    return fmt::format("{} was told {} of group {}, the log says {} of {}", who, name(told.code), told.group.value,
                       name(seen.code), seen.about.value);
  }
  if (told.code != AnswerCode::Done) return {};
  if (!told.defined.empty()) {
    const auto count = defined_.find(told.defined);
    if (count == defined_.end() || count->second != 1) return who + ": " + told.defined + " was not defined once";
    const auto group = groups_.find(told.group);
    if (group == groups_.end() || group->second.name != told.defined) return who + ": another group has its id";
  }
  if (told.cancelled) {
    const auto group = groups_.find(told.cancelled);
    if (group == groups_.end() || group->second.cancels != 1) {
      return fmt::format("{}: group {} was not cancelled once", who, told.cancelled.value);
    }
  }
  return {};
}

std::string Ledger::compare(const Log& log) {
  const auto read = cli::for_each_event(log, next(read_up_to_), [&](const Event& event) -> Result<Continue> {
    learn(event);
    read_up_to_ = event.seq;
    return Continue::Yes;
  });
  if (!read) return read.error().message;
  for (const auto& [name, times] : defined_) {
    if (times != 1) return fmt::format("{} is defined {} times", name, times);
  }
  const std::lock_guard lock(mutex_);
  for (const auto& [key, told] : told_) {
    if (told.seq > read_up_to_)
      return fmt::format("acknowledged at seq {}, the log ends at {}", told.seq.value, read_up_to_.value);
    if (auto wrong = check(told); !wrong.empty()) return wrong;
  }
  return {};
}

}  // namespace lockstep::testing
