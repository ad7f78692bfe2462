// JobSets that others wrote: the examples of the JobSet project, each with what becomes of it, and the table of its
// admission tests. Both are read where they are and skipped, with a message, where they are not.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "tests/manifest/support.h"
#include "tools/manifest/manifest.h"
#include "tools/manifest/yaml.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

// ---- examples

// "1 group, 8 members", or the first problem.
std::string outcome_of(const std::string& text) {
  const ManifestResult result = read_manifest(text, "caller");
  if (!result.problems.empty()) return lines_of(result.problems).front();
  std::uint64_t members = 0;
  for (const DefineGroup& group : result.groups) {
    for (const RoleSpec& role : group.spec.roles) members += role.replicas;
  }
  return std::to_string(result.groups.size()) + (result.groups.size() == 1 ? " group, " : " groups, ") +
         std::to_string(members) + (members == 1 ? " member" : " members");
}

const std::map<std::string, std::string, std::less<>> kExamples{
    {"argo-workflow/workflow.yaml", "kind: Workflow is neither GangGroup nor JobSet"},  // the JobSet in it is a text
    {"depends-on/depends-on.yaml", "1 group, 6 members"},
    {"depends-on/multiple-depends-on.yaml", "1 group, 6 members"},
    {"failure-policy/host-maintenance-event-model.yaml", "1 group, 4 members"},
    {"failure-policy/onjobfailurereasons-present-podfailurepolicy.yaml", "1 group, 4 members"},
    {"failure-policy/restartjob-action.yaml", "1 group, 4 members"},
    {"failure-policy/restartjobandignoremaxrestarts-action.yaml", "1 group, 4 members"},
    {"failure-policy/restartjobsetandignoremaxrestarts-action.yaml", "1 group, 4 members"},
    {"in-place-restart/jobset-main-container-mode.yaml", "1 group, 4 members"},
    {"pytorch/cnn-mnist/mnist.yaml", "1 group, 4 members"},
    {"pytorch/resnet-cifar10/resnet.yaml", "1 group, 4 members"},
    {"simple/coordinator.yaml", "1 group, 5 members"},
    {"simple/failure-policy.yaml", "1 group, 4 members"},
    {"simple/jobset-with-network.yaml", "1 group, 3 members"},
    {"simple/paralleljobs.yaml", "1 group, 5 members"},
    {"simple/success-policy.yaml", "1 group, 3 members"},
    {"simple/ttl-after-finished.yaml", "1 group, 4 members"},
    {"startup-policy/startup-driver-ready.yaml", "1 group, 5 members"},
    {"tpu-multislice/kueue-config.yaml",
     "kind: ResourceFlavor, ClusterQueue, LocalQueue are neither GangGroup nor JobSet"},
    {"tpu-multislice/v6e-jax-workload.yaml", "1 group, 8 members"},
    {"workload-aware-scheduling/dra/podgroup.yaml", "kind: PodGroup is neither GangGroup nor JobSet"},
    {"workload-aware-scheduling/dra/resourceclaimtemplate.yaml",
     "kind: ResourceClaimTemplate is neither GangGroup nor JobSet"},
    {"workload-aware-scheduling/dra/workload.yaml", "kind: Workload is neither GangGroup nor JobSet"},
    {"workload-aware-scheduling/jobset.yaml", "1 group, 6 members"},
    {"workload-aware-scheduling/preemption/high-priority.yaml", "kind: PriorityClass is neither GangGroup nor JobSet"},
    {"workload-aware-scheduling/preemption/low-priority-jobset.yaml", "1 group, 4 members"},
    {"workload-aware-scheduling/preemption/low-priority.yaml", "kind: PriorityClass is neither GangGroup nor JobSet"},
    {"workload-aware-scheduling/tas/jobset.yaml", "1 group, 4 members"},
    {"workload-aware-scheduling/tas/workload.yaml", "kind: Workload is neither GangGroup nor JobSet"},
    {"workload-aware-scheduling/workload.yaml", "kind: Workload is neither GangGroup nor JobSet"},
};

class JobSetExamples : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(folder_)) GTEST_SKIP() << "no examples of JobSets: " << folder_ << " is not there";
  }
  // Path in the folder, text.
  [[nodiscard]] std::map<std::string, std::string> read_all() const {
    std::map<std::string, std::string> texts;
    for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
      if (entry.path().extension() != ".yaml") continue;
      texts[fs::relative(entry.path(), folder_).generic_string()] = read_file(entry.path().string());
    }
    return texts;
  }

  fs::path folder_ = kShared / "inputs" / "manifests" / "jobset";
};

TEST_F(JobSetExamples, BecomeTheGroupsThatTheyAre) {
  const auto examples = read_all();
  for (const auto& [path, text] : examples) {
    const auto known = kExamples.find(path);
    EXPECT_EQ(outcome_of(text), known == kExamples.end() ? "not in the table" : known->second) << path;
  }
  for (const auto& [path, outcome] : kExamples) EXPECT_TRUE(examples.contains(path)) << path;
}

TEST_F(JobSetExamples, AreTheSameGroupsOnceTheyAreConverted) {
  for (const auto& [path, text] : read_all()) {
    for (const DefineGroup& group : read_manifest(text, "caller").groups) {
      const ManifestResult again = read_manifest(write_manifest(group), "caller");
      ASSERT_EQ(again.groups.size(), 1U) << path;
      EXPECT_THAT(lines_of(again.problems), testing::IsEmpty()) << path;
      EXPECT_TRUE(again.groups.front().spec == group.spec) << path;
      EXPECT_TRUE(again.groups.front().identity == group.identity) << path;
    }
  }
}

TEST_F(JobSetExamples, SayWhichOfTheirDocumentsAreNotCarried) {
  const auto examples = read_all();
  const auto found = examples.find("workload-aware-scheduling/preemption/low-priority-jobset.yaml");
  ASSERT_NE(found, examples.end());
  const ManifestResult result = read_manifest(found->second, "caller");
  EXPECT_THAT(result.not_carried,
              testing::IsSupersetOf({"document 1: kind: Workload lp-abc, not carried",
                                     "document 2: kind: PodGroup lp-abc-workers-def, not carried"}));
}

// ---- the table of JobSet's admission
//
// A case is a JobSet as Go writes it, and the errors that its admission has for it. What those tests leave out because
// they do not look at it (the kind, a pod template, the action of a rule) is put in here.

const YamlNode* member_of(const YamlNode& map, std::string_view key) {
  if (map.kind != YamlNode::Kind::Map) return nullptr;
  for (std::size_t i = 0; i + 1 < map.items.size(); i += 2) {
    if (map.items[i]->text == key) return map.items[i + 1];
  }
  return nullptr;
}

std::string text_of(const YamlNode* node) { return node == nullptr ? "" : node->text; }

// Go's name of a field or a constant in the words of a manifest.
std::string manifest_word(const std::string& word) {
  static const std::map<std::string, std::string> kWords{
      {"APIVersion", "apiVersion"},     {"ObjectMeta", "metadata"}, {"ResourceStorage", "storage"},
      {"IndexedCompletion", "Indexed"}, {"MaxInt32", "2147483647"}, {"MinInt32", "-2147483648"}};
  const auto known = kWords.find(word);
  return known == kWords.end() ? word : known->second;
}

// The JobSet as a manifest, in YAML's flow style.
class ManifestWriter {
 public:
  std::string write(const YamlNode& jobset) {
    map(jobset, "", "");
    return text_;
  }

 private:
  void value(const YamlNode& node, const std::string& key, const std::string& outer) {
    if (node.kind == YamlNode::Kind::Map && member_of(node, "make") != nullptr) {
      repeat(*member_of(node, "args"));
    } else if (node.kind == YamlNode::Kind::Map && member_of(node, "go") != nullptr) {
      text_ += "made-by-go";
    } else if (node.kind == YamlNode::Kind::Map) {
      map(node, key, outer);
    } else if (node.kind == YamlNode::Kind::List) {
      text_ += '[';
      for (const YamlNode* item : node.items) {
        value(*item, key, outer);
        text_ += ", ";
      }
      text_ += ']';
    } else {
      const std::string word = manifest_word(node.text);
      text_ += node.quoted && word == node.text ? '"' + word + '"' : word;
    }
  }

  void repeat(const YamlNode& args) {
    for (int i = std::stoi(args.items.at(1)->text); i > 0; --i) text_ += args.items.at(0)->text;
  }

  void map(const YamlNode& node, const std::string& key, const std::string& outer) {
    text_ += '{';
    const bool is_job = key == "Spec" && outer == "Template" && member_of(node, "Containers") == nullptr;
    if (is_job && member_of(node, "Template") == nullptr) text_ += "template: {spec: {containers: [{name: test}]}}, ";
    if (key == "Rules" && member_of(node, "Action") == nullptr) text_ += "action: FailJobSet, ";
    if (key.empty() && member_of(node, "TypeMeta") == nullptr) text_ += "kind: JobSet, ";
    for (std::size_t i = 0; i + 1 < node.items.size(); i += 2) {
      const std::string& name = node.items[i]->text;
      if (name == "TypeMeta" || name == "VolumeSource") {  // embedded: their fields are their owner's
        for (std::size_t j = 0; j + 1 < node.items[i + 1]->items.size(); j += 2) {
          pair(node.items[i + 1]->items[j]->text, *node.items[i + 1]->items[j + 1], key);
        }
      } else {
        pair(name, *node.items[i + 1], key);
      }
    }
    text_ += '}';
  }

  void pair(const std::string& name, const YamlNode& node, const std::string& outer) {
    const std::string word = manifest_word(name);
    text_ += (word == name ? enum_text(name) : word) + ": ";
    value(node, name, outer);
    text_ += ", ";
  }

  std::string text_;
};

struct Verdict {
  std::string_view problem{};  // ours, the first one; "" = accepted
  std::string_view reason{};   // why ours is another verdict; "" = it is not
};

constexpr std::string_view kNoObjects = "we make no objects whose names could be too long, or no DNS label";
constexpr std::string_view kNotCarried = "the field is not carried, and so not judged";
constexpr std::string_view kNoGates = "there are no feature gates here";
constexpr std::string_view kNoCluster = "what exists in a cluster is not known to a reader of manifests";
constexpr std::string_view kNoStatus = "JobSet bounds the list of restarts in its status, and we keep none";
constexpr std::string_view kNoAgent = "members restart in place without an agent in their pods";

const std::map<std::string, Verdict, std::less<>> kVerdicts{
    // Both admit these.
    {"number of pods within the limit", {}},
    {"jobset controller name is unset", {}},
    {"DependsOn is valid since job-3 depends on job-1 and job-2", {}},
    {"volumeClaimPolicy is valid since volume exists in the container", {}},
    {"InPlaceRestart restart strategy can be set when InPlaceRestart feature gate is enabled", {}},
    // Both refuse these, if not always for the same reason: a group needs a name that its author knows.
    {"generateName that produces overlong PVC names is rejected", {"metadata.name: is missing"}},
    {"number of pods exceeds the limit",
     {"spec.replicatedJobs[0].template.spec.parallelism: 2147483647 pods without completions work on a queue, and the "
      "members of a gang do not"}},
    {"coordinator replicated job missing completions",
     {"spec.replicatedJobs[0].template.spec.parallelism: 2 pods without completions work on a queue, and the members "
      "of "
      "a gang do not"}},
    {"DependsOn is invalid since job-2 depends on job-3",
     {"spec.replicatedJobs[1].dependsOn[0].name: no replicatedJob before this one is named \"job-3\""}},
    {"DependsOn is invalid since job-2 depends on job-3 and job-1",
     {"spec.replicatedJobs[1].dependsOn[1].name: no replicatedJob before this one is named \"job-3\""}},
    {"job-2 depends on invalid ReplicatedJob",
     {"spec.replicatedJobs[1].dependsOn[0].name: no replicatedJob before this one is named \"invalid\""}},
    {"volumeClaimPolicy is invalid since template names are not unique",
     {"spec.volumeClaimPolicies[1].templates[0].metadata.name: \"duplicate-volume\" is the name of another claim"}},
    {"volumeClaimPolicy is invalid since template name has uppercase letters",
     {"spec.volumeClaimPolicies[0].templates[0].metadata.name: 'InvalidVolumeName' is not a name; use lowercase "
      "letters, digits, '-' and '.', at most 253 characters"}},
    {"InPlaceRestart enabled: completions != parallelism",
     {"spec.replicatedJobs[0].template.spec.completions: 2 is more than parallelism 1: the members of a gang all run "
      "at "
      "once"}},
    // Only we refuse this.
    {"dependsOn should not fail if there are no replicated jobs",
     {"spec.replicatedJobs: is missing; a group has at least one role", "a group without members would never end"}},
    // Only they refuse these.
    {"network has invalid dns name", {"", kNoObjects}},
    {"jobset name with invalid character", {"", kNoObjects}},
    {"group name is not DNS 1035 compliant", {"", kNoObjects}},
    {"jobset name will result in job name being too long", {"", kNoObjects}},
    {"coordinator label value is too long due to long JobSet name", {"", kNoObjects}},
    {"coordinator label value is too long due to long ReplicatedJob name", {"", kNoObjects}},
    {"coordinator label value is too long due to long SubDomain", {"", kNoObjects}},
    {"jobset controller name is not a domain-prefixed path", {"", kNotCarried}},
    {"jobset failure policy rule name is greater than 128 characters long", {"", kNotCarried}},
    {"there are two failure policy rules with the same name", {"", kNotCarried}},
    {"failure policy rule name does not start with an alphabetic character", {"", kNotCarried}},
    {"coordinator replicated job does not exist", {"", kNotCarried}},
    {"coordinator pod index invalid", {"", kNotCarried}},
    {"volumeClaimPolicy is invalid since volume name conflicts with existing volume", {"", kNotCarried}},
    {"jobset failure policy rule has RestartJob action and a replicated job with replicas > 1024", {"", kNoStatus}},
    {"jobset failure policy rule has RestartJobAndIgnoreMaxRestarts action and a replicated job with replicas > 1024",
     {"", kNoStatus}},
    {"jobset failure policy rule has RestartJob action and RestartJob feature gate is disabled", {"", kNoGates}},
    {"jobset failure policy rule has RestartJobAndIgnoreMaxRestarts action and RestartJob feature gate is disabled",
     {"", kNoGates}},
    {"InPlaceRestart restart strategy cannot be set when InPlaceRestart feature gate is disabled", {"", kNoGates}},
    {"InPlaceRestart enabled: backoffLimit is not MaxInt32", {"", kNoAgent}},
    {"InPlaceRestart enabled: completions is nil", {"", kNoAgent}},
    {"volumeClaimPolicy retention policy must be retain for existing PVC", {"", kNoCluster}},
    {"volumeClaimPolicy is invalid when existing PVC does not match template spec", {"", kNoCluster}},
};

TEST(JobSetPeers, AreRefusedWhereTheirAdmissionRefusesThem) {
  const fs::path path = kShared / "peer-tests" / "jobset_validation_units.json";
  if (!fs::exists(path)) GTEST_SKIP() << "no admission tests of JobSet: " << path << " is not there";
  const YamlText table = parse_yaml(read_file(path.string()));
  ASSERT_THAT(lines_of(table.problems), testing::IsEmpty());
  ASSERT_EQ(table.documents.size(), 1U);
  const YamlNode* cases = member_of(*table.documents.front(), "cases");
  ASSERT_NE(cases, nullptr);
  std::size_t seen = 0;
  for (const YamlNode* entry : cases->items) {
    // The others are about defaults that we do not write back, and about updates, which no manifest is.
    if (text_of(member_of(*entry, "test")) != "TestValidateCreate") continue;
    const std::string name = text_of(member_of(*entry, "name"));
    const YamlNode* want = member_of(*member_of(*entry, "expected"), "want");
    const bool admitted = want == nullptr || member_of(*want, "args") == nullptr;
    const std::string manifest = ManifestWriter().write(*member_of(*member_of(*entry, "inputs"), "js"));
    const auto problems = lines_of(read_manifest(manifest, "caller").problems);
    const auto verdict = kVerdicts.find(name);
    ++seen;
    if (verdict == kVerdicts.end()) {
      ADD_FAILURE() << "not in the table: " << name;
      continue;
    }
    EXPECT_EQ(problems.empty() ? "" : problems.front(), verdict->second.problem) << name << '\n' << manifest;
    EXPECT_EQ(problems.empty() != admitted, !verdict->second.reason.empty())
        << name << (admitted ? ": admitted" : ": not admitted") << " there\n"
        << manifest;
  }
  EXPECT_EQ(seen, kVerdicts.size());
}

}  // namespace
}  // namespace lockstep
