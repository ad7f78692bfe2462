#pragma once
// Names of what events call by number. They come from a state, or are learnt from the events themselves on the way
// through a log; what neither knows (a log trimmed before it, a host long removed) is written `#7`.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "events/events.h"
#include "statemachine/state.h"

namespace lockstep::cli {

// "RestartGroup" -> "restartGroup": how manifests and JSON spell an enumerator.
[[nodiscard]] std::string lower_camel(std::string_view enumerator);

class Names {
 public:
  Names() = default;
  // `state` must outlive this.
  explicit Names(const State& state) : state_(&state) {}

  void learn(const Event& event);
  // Whether a host or a group had to be written as a number.
  [[nodiscard]] bool missed() const { return missed_; }

  [[nodiscard]] std::string group(GroupId id) const;
  [[nodiscard]] std::string role(GroupId id, RoleIndex role) const;
  [[nodiscard]] std::string host(HostId id) const;
  [[nodiscard]] std::string member(GroupId id, MemberKey member) const;                   // worker[3]
  [[nodiscard]] std::string members(GroupId id, std::vector<MemberKey> members) const;    // worker[0-3] ps[1]
  [[nodiscard]] std::string claim(GroupId id, const ClaimRef& claim) const;               // worker[3]/scratch
  [[nodiscard]] std::string hosts(const std::vector<MemberPlacement>& placements) const;  // n[1-4]

 private:
  struct Known {
    std::string name;
    std::vector<std::string> roles;
    std::vector<std::string> claims;
  };
  [[nodiscard]] const GroupSpec* spec(GroupId id) const;

  const State* state_ = nullptr;
  mutable bool missed_ = false;
  std::map<GroupId, Known> groups_;
  std::map<HostId, std::string> hosts_;
};

}  // namespace lockstep::cli
