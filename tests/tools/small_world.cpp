#include "tests/tools/small_world.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace lockstep::testing {

SmallWorld::SmallWorld() {
  restart();
  execute(SetLevels{{"block"}});
  execute(SetPool{"license.matlab", 2});
  for (const char* name : {"n1", "n2"}) {
    HostInfo host;
    host.name = name;
    host.counters = {{"cpu", 8'000}, {"gpu", 2}, {"mem", std::int64_t{64} << 30U}};
    host.at = {"A"};
    host.attributes = {{"model", "h100"}};
    execute(SetHost{host, true});
  }
}

void SmallWorld::restart() {
  controller_.reset();
  auto controller = Controller::start(log_, nullptr, ControllerOptions{}, now_);
  EXPECT_TRUE(controller) << controller.error().message;
  controller_ = std::move(*controller);
}

Answer SmallWorld::execute(CommandBody body, Actor actor) {
  Command command;
  command.time = now_;
  command.actor = actor;
  command.body = std::move(body);
  const auto answer = controller_->execute(command);
  EXPECT_TRUE(answer) << answer.error().message;
  EXPECT_FALSE(is_rejection(answer->code)) << answer->text;
  return *answer;
}

GroupId SmallWorld::define(const std::string& manifest) {
  const auto read = read_manifest(manifest, "ana");
  EXPECT_TRUE(read.problems.empty()) << read.problems.front().path << read.problems.front().text;
  return execute(read.groups.at(0)).group;
}

void SmallWorld::schedule() { execute(ApplyPlan{plan(state())}, Actor::Scheduler); }

void SmallWorld::advance(Duration duration) {
  now_ = now_ + duration;
  execute(AdvanceTime{}, Actor::Clock);
}

std::string small_manifest(const std::string& name) {
  return fmt::format(R"(
kind: GangGroup
metadata: {{name: {}, user: ana, queue: train}}
spec:
  placement: {{topology: {{required: block}}}}
  roles:
    - {{name: launcher, tasks: "1*{{cpu=500m}}"}}
    - {{name: worker, replicas: 2, min: 1, max: 4, tasks: "1*{{cpu=2 gpu=1}}"}}
  claims: [{{name: scratch, kind: template, per: group}}, {{name: dataset, kind: standalone}}]
  failure: {{default: restartGroup, maxRestarts: 2, backoff: {{base: 10s}}}}
)",
                     name);
}

}  // namespace lockstep::testing
