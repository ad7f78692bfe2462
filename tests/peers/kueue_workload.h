#pragma once
// Kueue's workloads in the words of Lockstep: a pod set is a role, or one for each of its slices; pod sets of one group
// share a request, which is that of the group.

#include <string>
#include <vector>

#include "tests/peers/kueue_cluster.h"

namespace lockstep {

struct PodSet {
  std::string name;  // of its role, or of its roles before "-slice"
  std::string group;
  std::uint64_t count{};
  Json requests;
  Json topology;
  std::string select;
  Json previous;                // an assignment that was there before
  Json wanted;                  // what Kueue answers; null: a refusal
  std::uint64_t host_slice{1};  // pods that belong on one host: one task
  std::string slice_level{};    // of slices that do not; empty: it has none
  std::uint64_t slice_size{};
};

struct Workload {
  KueueCluster cluster;
  std::vector<PodSet> sets;

  [[nodiscard]] bool one_request() const;  // for all pod sets together
  [[nodiscard]] bool placed() const;       // all of it, by Kueue
  // The pod set of a role.
  [[nodiscard]] const PodSet& set_of(const std::string& role) const;
  // Adds the roles of a set for `count` pods; `tasks` and `more` are further counters and further keys of each.
  void add_roles(const PodSet& set, std::uint64_t count, const std::string& tasks, const std::string& more,
                 std::vector<RoleLine>& roles) const;
  // A line of the manifest's spec.
  [[nodiscard]] std::string topology_of_group() const;
};

// What a case has that Lockstep has no words for goes to the story.
Workload read_workload(const Json& entry, Story& story);

}  // namespace lockstep
