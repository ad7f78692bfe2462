// A scheduler's controller that links Lockstep as its persistence layer: a durable gang in thirty lines.
// Run again on the same store it finds what it did, and does nothing twice.
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "events/log/store.h"
#include "replay/engine.h"
#include "scheduler/plan.h"
#include "tools/manifest/manifest.h"

using namespace lockstep;

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: embed_example STORE\n"), 2;
  if (!std::filesystem::exists(argv[1]) && !init_store(argv[1])) return 1;
  auto store = open_store(argv[1], OpenMode::Write);
  if (!store) return std::fprintf(stderr, "%s\n", store.error().message.c_str()), 1;
  const SnapshotStore snapshots(store->snapshots(), store->id);
  const auto wall_clock = [] {
    return Time{std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count()};
  };
  auto engine = Engine::start(*store->log, &snapshots, {}, wall_clock);
  if (!engine) return std::fprintf(stderr, "%s\n", engine.error().message.c_str()), 1;

  for (const char* name : {"n1", "n2"}) {
    (void)(*engine)->execute({.body = SetHost{{.name = name, .counters = {{"gpu", 8}}}}});
  }
  const auto manifest = read_manifest(R"(
kind: GangGroup
metadata: {name: train}
spec: {roles: [{name: worker, replicas: 2, tasks: "8*{gpu=1}"}]})", "ana");
  if (!manifest.problems.empty()) return 2;
  // Durable when it is acknowledged; the same client's request of the same number gets the first answer again.
  const auto answer = (*engine)->execute({.client = 1, .request = 1, .body = manifest.groups.at(0)});
  if (!answer || is_rejection(answer->code)) return 1;

  Scheduler scheduler;  // one for the life of the engine: it keeps what it finds out about the cluster
  Plan next;
  (void)(*engine)->read([&](const State& state, const Head&) { next = scheduler.plan(state); });
  (void)(*engine)->execute({.actor = Actor::Scheduler, .body = ApplyPlan{next}});
  (void)(*engine)->read([&](const State& state, const Head& head) {
    std::printf("%s is %s at seq %lu\n", "train", name(state.group(answer->group)->head.phase).data(), head.seq.value);
  });
}
