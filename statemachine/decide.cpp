#include "statemachine/decide.h"

#include <algorithm>
#include <variant>

#include "events/error.h"
#include "statemachine/apply.h"
#include "statemachine/decider.h"
#include "statemachine/digest.h"

namespace lockstep {

Decision Decider::run() {
  now_ = std::max(command_.time, state_.head.time);
  // Deadlines that passed come before any new decision; and after it those that had waited for what it did, so that no
  // deadline of the past is ever left for the next decision to find.
  actor_ = Actor::Clock;
  fire_deadlines();
  actor_ = command_.actor;
  cause_ = {};
  decision_.answer = repeated_or_run();
  actor_ = Actor::Clock;
  fire_deadlines();
  decision_.answer.seq = state_.head.seq;
  return std::move(decision_);
}

void Decider::emit(GroupId group, EventBody body) {
  const Group* subject = state_.groups.find(group);
  Event event{.seq = next(state_.head.seq),
              .prev = subject != nullptr ? subject->head.last_event : Seq{},
              .cause = cause_,
              .time = now_,
              .actor = actor_,
              .group = group,
              .body = std::move(body)};
  apply(state_, event);
  if (!cause_) cause_ = event.seq;
  decision_.events.push_back(std::move(event));
}

Answer Decider::reject(AnswerCode code, std::string text, GroupId group) {
  return Answer{.code = code, .group = group, .seq = {}, .text = std::move(text)};
}

// A request that was answered gets its first answer again, whatever has happened since.
Answer Decider::repeated_or_run() {
  const bool named = command_.client != 0 && command_.request != 0;
  if (named) {
    const auto client = state_.clients.find(command_.client);
    if (client != state_.clients.end()) {
      const auto kept = client->second.answers.find(command_.request);
      if (kept != client->second.answers.end()) {
        const KeptAnswer& answer = kept->second;
        return {static_cast<AnswerCode>(answer.code), answer.about, answer.seq, answer.text, true};
      }
      if (command_.request <= client->second.head.forgotten) {
        return reject(AnswerCode::ForgottenRequest, "request " + std::to_string(command_.request) +
                                                        " is older than the answers kept for this client");
      }
    }
  }
  Answer answer = std::visit([&](const auto& body) { return on(body); }, command_.body);
  if (named) record_answer(answer);
  return answer;
}

void Decider::record_answer(const Answer& answer) {
  emit({}, RequestAnswered{.client = command_.client,
                           .request = command_.request,
                           .code = static_cast<std::uint8_t>(answer.code),
                           .about = answer.group,
                           .text = answer.text});
}

Answer Decider::on(const StartController& command) {
  actor_ = Actor::Controller;
  emit({}, ControllerStarted{.epoch = Epoch{state_.head.epoch.value + 1}, .feature_level = command.feature_level});
  return {};
}

Answer Decider::on(const RecordDigest&) {
  actor_ = Actor::Controller;
  const Digest digest = state_.digest();
  emit({}, DigestRecorded{.version = kDigestVersion, .high = digest.high, .low = digest.low});
  return {};
}

Decision execute(State& state, const Command& command) { return Decider(state, command).run(); }

Decision decide(const State& state, const Command& command) {
  State copy = state;
  return execute(copy, command);
}

Time next_deadline(const State& state) {
  const auto& timers = state.indexes.timers;
  return timers.empty() || timers.begin()->deadline == kEndOfTime ? Time{} : timers.begin()->deadline;
}

}  // namespace lockstep
