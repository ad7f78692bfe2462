#pragma once
// A pod group of Volcano with its pods: a group whose members are those of one role, or of a role for each subgroup.

#include <cstdint>
#include <string>
#include <vector>

#include "tests/peers/volcano_network_cluster.h"

namespace lockstep {

struct VolcanoPod {
  std::string name;
  std::string role;
  std::string node;  // where it runs; "": it is pending
  std::uint64_t cpu{};
  std::string tasks;  // what it asks for, and of which nodes
};

struct VolcanoSubgroup {
  std::string role;
  const Json* policy{};  // null: all pods of the group
};

class VolcanoPodGroup {
 public:
  // What Lockstep has no words for goes into the story.
  VolcanoPodGroup(const Json& inputs, const HyperNodeTree& tree, Story& story);

  [[nodiscard]] std::string manifest() const;  // as a block
  // The tier whose one HyperNode all are below; 0: they may be anywhere.
  [[nodiscard]] std::uint64_t tier() const { return tier_; }
  [[nodiscard]] const std::vector<VolcanoPod>& running() const { return running_; }
  [[nodiscard]] const std::vector<VolcanoSubgroup>& subgroups() const { return subgroups_; }
  [[nodiscard]] std::uint64_t pending_of(const std::string& role) const;
  // Of a role the pods that run come first. "g/w[0]"
  [[nodiscard]] std::string member_of(const std::string& pod) const;
  // Where a pod of the role runs, or if none does, any pod; "": none runs.
  [[nodiscard]] std::string node_of(const std::string& role) const;

 private:
  void read_pods(const Json& inputs);
  void keep_least_subgroups(Story& story);

  const HyperNodeTree& tree_;
  const Json& json_;
  std::uint64_t tier_{};
  std::vector<VolcanoSubgroup> subgroups_{};
  std::vector<VolcanoPod> running_{};
  std::vector<VolcanoPod> pending_{};
};

}  // namespace lockstep
