#pragma once
// What the events told so far: the names of everything they mention, also of groups that are forgotten by now, and how
// many of each kind there were. Made of events alone, so it is the same however often the controller was restarted.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "events/events.h"

namespace lockstep::scenario {

enum class Count : std::uint8_t { No, Yes };  // No: a restart that the scenario did not ask for

class Book {
 public:
  void learn(const Event& event, Count count);

  // The latest group ever defined with that name; 0 = none.
  [[nodiscard]] GroupId latest(const std::string& name) const;
  [[nodiscard]] std::string group(GroupId id) const;  // its name; `g#2` when an earlier one had it
  [[nodiscard]] std::string group_name(GroupId id) const;
  [[nodiscard]] std::optional<RoleIndex> role(GroupId group, const std::string& name) const;
  [[nodiscard]] std::string role_name(GroupId group, RoleIndex role) const;
  [[nodiscard]] std::string member(GroupId group, MemberKey member) const;      // worker[3]
  [[nodiscard]] std::string claim(GroupId group, const ClaimRef& claim) const;  // scratch, worker[3]/scratch
  [[nodiscard]] std::string host(HostId id) const;

  [[nodiscard]] std::uint64_t count(EventKind kind) const;
  [[nodiscard]] std::uint64_t count(EventKind kind, GroupId group) const;
  [[nodiscard]] std::uint64_t total() const { return total_; }

 private:
  struct KnownGroup {
    std::string name;
    bool reused{false};  // an earlier group had this name
    std::vector<std::string> roles;
    std::vector<std::string> claims;
  };
  void learn_names(const Event& event);

  std::map<GroupId, KnownGroup> groups_;
  std::map<std::string, GroupId> latest_;
  std::map<HostId, std::string> hosts_;
  std::map<EventKind, std::uint64_t> counts_;
  std::map<std::pair<EventKind, GroupId>, std::uint64_t> counts_of_;
  std::uint64_t total_ = 0;
};

}  // namespace lockstep::scenario
