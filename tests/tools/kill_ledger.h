#pragma once
// What clients were told, kept beside a controller that is killed again and again, and compared with what its log says:
// every acknowledged command is there once, with the answer that was given, and has had its effect once.

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "events/commands.h"
#include "events/events.h"
#include "events/log/log.h"

namespace lockstep::testing {

struct Told {
  std::uint64_t client{};
  std::uint64_t request{};
  AnswerCode code{};
  GroupId group{};
  Seq seq{};
  std::string defined;  // name of the group, of a define
  GroupId cancelled{};    // of a cancel
};

class Ledger {
 public:
  // From any client's thread.
  void note(Told told);
  [[nodiscard]] std::size_t acknowledged() const;
  [[nodiscard]] std::size_t repeated() const;
  void note_repeated();

  // Reads the log from where the last call ended. Empty when it agrees with everything that was told, else what does
  // not. Nobody appends meanwhile.
  [[nodiscard]] std::string compare(const Log& log);

 private:
  struct Seen {  // in the log, of one client's request
    unsigned times{};
    AnswerCode code{};
    GroupId about{};
  };
  struct Effects {  // of one group
    std::string name;
    unsigned cancels{};
  };
  void learn(const Event& event);
  [[nodiscard]] std::string check(const Told& told) const;

  mutable std::mutex mutex_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, Told> told_;
  std::size_t repeated_ = 0;

  Seq read_up_to_{};
  std::map<std::pair<std::uint64_t, std::uint64_t>, Seen> seen_;
  std::map<std::string, unsigned> defined_;  // by name
  std::map<GroupId, Effects> groups_;
};

}  // namespace lockstep::testing
