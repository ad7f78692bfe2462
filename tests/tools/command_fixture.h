#pragma once
// A fresh store with four hosts in two blocks, and the command as a script calls it.

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "tests/tools/process.h"

namespace lockstep::testing {

inline constexpr const char* kHosts = R"(kind: Inventory
levels: [block]
pools: {license.matlab: 2}
hosts:
  - {name: "a[1-2]", cpu: 16, mem: 64Gi, gpu: 4, at: A}
  - {name: "b[1-2]", cpu: 16, mem: 64Gi, gpu: 4, at: B}
)";

// A launcher and two workers in one block, a claim; restartGroup after a backoff of 300 ms.
inline constexpr const char* kTrain = R"(kind: GangGroup
metadata: {name: train, user: ana, queue: research}
spec:
  placement: {topology: {required: block}}
  roles:
    - {name: launcher, tasks: "1*{cpu=1}"}
    - {name: worker, replicas: 2, min: 1, max: 4, tasks: "1*{cpu=2 gpu=2}"}
  claims: [{name: scratch, kind: template, per: group}]
  failure: {default: restartGroup, maxRestarts: 2, backoff: {base: 300ms}}
)";

// With one field that is not carried: spec.network.
inline constexpr const char* kJobSet = R"(apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: js}
spec:
  network: {enableDNSHostnames: true}
  replicatedJobs:
  - name: workers
    template:
      spec:
        parallelism: 2
        completions: 2
        backoffLimit: 0
        template:
          spec:
            containers:
            - {name: c, image: busybox, resources: {requests: {cpu: 1}}}
)";

class CommandTest : public ::testing::Test {
 protected:
  void init() {
    const Ran made = command({"init", "--hosts", dir_.file("hosts.yaml", kHosts)});
    ASSERT_EQ(made.status, 0) << made.err;
  }

  // `lockstep WORDS... --store STORE`
  [[nodiscard]] Ran command(std::vector<std::string> words, const std::string& input = {}) const {
    words.insert(words.end(), {"--store", store()});
    return lockstep(std::move(words), input);
  }

  // The same with -o json; it must succeed.
  [[nodiscard]] nlohmann::json json(std::vector<std::string> words) const {
    words.insert(words.end(), {"-o", "json"});
    const Ran ran = command(std::move(words));
    EXPECT_EQ(ran.status, 0) << ran.err;
    auto parsed = nlohmann::json::parse(ran.out, nullptr, false);
    EXPECT_FALSE(parsed.is_discarded()) << ran.out;
    return parsed;
  }

  // It fails with this status and one line "lockstep: CODE: ..." on stderr.
  static void expect_failure(const Ran& ran, int status, const std::string& code) {
    EXPECT_EQ(ran.status, status) << ran.err;
    EXPECT_EQ(ran.err.rfind("lockstep: " + code + ": ", 0), 0U) << ran.err;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  }

  [[nodiscard]] std::string store() const { return (dir_.path() / "store").string(); }
  [[nodiscard]] std::string manifest(const std::string& text = kTrain) const { return dir_.file("group.yaml", text); }
  [[nodiscard]] std::string phase(const std::string& group) const {
    return json({"show", group})["phase"].get<std::string>();
  }

  // For what another process does in its own time.
  static void wait_until(const std::function<bool()>& true_now, const char* what) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!true_now()) {
      ASSERT_LT(std::chrono::steady_clock::now(), until) << what;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

  void wait_for_socket() const {
    wait_until([this] { return std::filesystem::exists(store() + "/control.sock"); }, "the socket");
  }

  TempDir dir_;
};

}  // namespace lockstep::testing
