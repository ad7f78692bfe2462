#pragma once
// The text of JobSets for tests, piece by piece.

#include <string>
#include <string_view>
#include <vector>

#include "tests/manifest/support.h"
#include "tools/manifest/manifest.h"

namespace lockstep {

inline constexpr std::string_view kMain = "containers: [{name: main, command: [run]}]";

inline std::string joined(std::string_view before, std::string_view more) {
  return std::string(before) + (before.empty() || more.empty() ? "" : ", ") + std::string(more);
}

// `beside` the Job template, in the `job`'s spec, and in the `pod`'s.
inline std::string job_text(std::string_view name, std::string_view beside = "", std::string_view job = "",
                            std::string_view pod = kMain) {
  return "{" + joined("name: " + std::string(name), beside) + ", template: {spec: {" + joined("backoffLimit: 0", job) +
         ", template: {spec: {" + std::string(pod) + "}}}}}";
}

inline std::string pods(int count) {
  return "parallelism: " + std::to_string(count) + ", completions: " + std::to_string(count);
}

inline std::string jobset_text(std::string_view jobs, std::string_view spec = "", std::string_view metadata = "") {
  return "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {" + joined("name: js", metadata) +
         "}\nspec: {" + joined("replicatedJobs: [" + std::string(jobs) + "]", spec) + "}";
}

inline std::vector<std::string> refusals_of(const std::string& text) {
  return lines_of(read_manifest(text, "x").problems);
}

}  // namespace lockstep
