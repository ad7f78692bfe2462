// A scheduler's controller that links Lockstep as its persistence layer: a durable gang in thirty lines.
#include <cstdio>

#include "events/log/store.h"
#include "replay/engine.h"
#include "scheduler/plan.h"
#include "tools/manifest/manifest.h"

using namespace lockstep;

int main(int, char** argv) {
  if (!init_store(argv[1])) return 1;
  auto store = open_store(argv[1], OpenMode::Write);
  if (!store) return std::fprintf(stderr, "%s\n", store.error().message.c_str()), 1;
  const SnapshotStore snapshots(store->snapshots(), store->id);
  auto engine = Engine::start(*store->log, &snapshots, {}, [] { return Time{seconds(1).value}; });
  if (!engine) return 1;

  for (const char* name : {"n1", "n2"}) {
    (void)(*engine)->execute({.body = SetHost{{.name = name, .counters = {{"gpu", 8}}}}});
  }
  const auto manifest = read_manifest(R"(
kind: GangGroup
metadata: {name: train}
spec: {roles: [{name: worker, replicas: 2, tasks: "8*{gpu=1}"}]})", "ana");
  const auto answer = (*engine)->execute({.client = 1, .request = 1, .body = manifest.groups.at(0)});
  if (!answer || is_rejection(answer->code)) return 1;  // durable when it was acknowledged

  Plan next;
  (void)(*engine)->read([&](const State& state, const Head&) { next = plan(state); });
  (void)(*engine)->execute({.actor = Actor::Scheduler, .body = ApplyPlan{next}});
  (void)(*engine)->read([&](const State& state, const Head& head) {
    std::printf("%s is %s at seq %lu\n", "train", name(state.group(answer->group)->head.phase).data(), head.seq.value);
  });
}
