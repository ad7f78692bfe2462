// Which members a group asks hosts for: whole_demand(), waiting_demand(), growth_demand().

#include <gtest/gtest.h>

#include "statemachine/fit.h"
#include "tests/scheduler/cluster.h"

namespace lockstep::testing {
namespace {

std::string demand_text(const std::vector<RoleDemand>& demand) {
  std::string text;
  for (const RoleDemand& each : demand) {
    text += text.empty() ? "" : "; ";
    text += std::to_string(each.role) + ":";
    for (const std::uint32_t index : each.indexes) text += " " + std::to_string(index);
    if (each.spares > 0) text += " +" + std::to_string(each.spares);
    if (!each.inside.empty()) text += " in " + each.inside;
  }
  return text;
}

GroupSpec two_roles() {
  GroupSpec group = spec({role("a", 2, {{"cpu", 1}}), role("b", 4, {{"cpu", 1}})});
  group.roles[1].min = 2;
  group.roles[1].spares = 1;
  return group;
}

Member& member(Cluster& cluster, GroupId id, RoleIndex role, std::uint32_t index) {
  return cluster.group(id).roles.at(role).members.at(index);
}

TEST(WholeDemand, IsAllThatIsWantedAndSpares) {
  Cluster cluster;
  const GroupId id = cluster.pending(two_roles());
  (void)cluster.state();
  EXPECT_EQ(demand_text(whole_demand(cluster.group(id))), "0: 0 1; 1: 0 1 2 3 +1");
  EXPECT_EQ(demand_text(whole_demand(cluster.group(id), true)), "0: 0 1; 1: 0 1 +1");
  cluster.group(id).roles[1].head.wanted = 5;  // resized
  EXPECT_EQ(demand_text(whole_demand(cluster.group(id))), "0: 0 1; 1: 0 1 2 3 4 +1");
}

TEST(WholeDemand, LeavesOutSuccessesThatStay) {
  Cluster cluster;
  GroupSpec group = two_roles();
  group.resume = ResumeWhat::Unfinished;
  const GroupId id = cluster.pending(group);
  (void)cluster.state();
  member(cluster, id, 1, 1).phase = MemberPhase::Succeeded;
  EXPECT_EQ(demand_text(whole_demand(cluster.group(id))), "0: 0 1; 1: 0 2 3 +1");
  EXPECT_EQ(demand_text(whole_demand(cluster.group(id), true)), "0: 0 1; 1: 0 +1") << "a success counts toward min";
  cluster.group(id).head.phase = GroupPhase::Running;
  EXPECT_EQ(demand_text(whole_demand(cluster.group(id))), "0: 0 1; 1: 0 1 2 3 +1") << "a restart runs them again";
  cluster.group(id).head.phase = GroupPhase::Stopping;
  cluster.group(id).head.next = StopNext::Suspend;
  EXPECT_EQ(demand_text(whole_demand(cluster.group(id))), "0: 0 1; 1: 0 2 3 +1");
}

TEST(WholeDemand, RunsSuccessesAgainWithResumeAll) {
  Cluster cluster;
  const GroupId id = cluster.pending(two_roles());
  (void)cluster.state();
  member(cluster, id, 1, 1).phase = MemberPhase::Succeeded;
  EXPECT_EQ(demand_text(whole_demand(cluster.group(id))), "0: 0 1; 1: 0 1 2 3 +1");
}

TEST(WaitingDemand, IsRequiredMembersThatWaitWithoutHosts) {
  Cluster cluster;
  cluster.levels({"rack"}).hosts(9, "n", "r1", {{"cpu", 1}});
  GroupSpec group = two_roles();
  group.roles[1].topology.required = "rack";
  group.roles[0].topology.required = "host";
  group.roles[0].tasks[0].requests.clear();
  const GroupId id = cluster.running(group);
  EXPECT_EQ(demand_text(waiting_demand(cluster.state(), cluster.group(id))), "");
  cluster.lose(id, 1, 3);
  cluster.lose(id, 1, 1);
  cluster.lose(id, 0, 0);
  cluster.lose(id, 1, 2);
  member(cluster, id, 1, 2).required = false;
  EXPECT_EQ(demand_text(waiting_demand(cluster.state(), cluster.group(id))), "0: 0 in r1/n001; 1: 1 3 in r1");
  member(cluster, id, 1, 3).hosts = {{HostId{1}, 0, 1}};  // kept
  EXPECT_EQ(demand_text(waiting_demand(cluster.state(), cluster.group(id))), "0: 0 in r1/n001; 1: 1 in r1");
}

TEST(GrowthDemand, TakesTheLowestNumbersThatNobodyRequiresOrStillUses) {
  Cluster cluster;
  cluster.hosts(9, "n", "", {{"cpu", 1}});
  const GroupId id = cluster.running(two_roles());
  const auto growth = [&] { return demand_text(growth_demand(cluster.state(), cluster.group(id), 1)); };
  EXPECT_EQ(growth(), "");
  cluster.ask_resize(id, 1, 4);
  EXPECT_EQ(growth(), "");
  cluster.ask_resize(id, 1, 6);
  EXPECT_EQ(growth(), "1: 4 5");
  member(cluster, id, 1, 0).required = false;  // given up, its old run is still stopping
  member(cluster, id, 1, 0).phase = MemberPhase::Stopping;
  EXPECT_EQ(growth(), "1: 4 5 6");
  member(cluster, id, 1, 0).phase = MemberPhase::Stopped;
  EXPECT_EQ(growth(), "1: 0 4 5");
}

}  // namespace
}  // namespace lockstep::testing
