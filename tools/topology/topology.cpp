#include "tools/topology/topology.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/manifest/host_line.h"
#include "tools/topology/form.h"
#include "tools/topology/readers.h"

namespace lockstep {
namespace {

constexpr std::string_view kForms =
    "Slurm's topology.conf, topology.yaml and slurm.conf; Kueue's Topology, Volcano's HyperNodes and Kubernetes' "
    "Nodes; "
    "models of topograph; CSV of hosts and paths";

class FileReader {
 public:
  FileReader(std::uint32_t file, Draft& draft) : where_{file, 0}, draft_(draft) {}

  void read(std::string_view text) {
    text = without_byte_order_mark(text);
    if (text.size() > kTopologyBytesMax) {
      return problem(fmt::format("{} bytes are more than {}", text.size(), kTopologyBytesMax));
    }
    switch (form_of(text)) {
      case Form::Empty:
        return problem("is empty");
      case Form::Conf:
        return read_slurm_conf(text, where_.file, draft_);
      case Form::Csv:
        return read_csv(text, where_.file, draft_);
      case Form::Fabric:
        return problem("the links of an InfiniBand fabric are not read; topograph makes a topology of them");
      case Form::Yaml:
        return read_yaml(text);
    }
  }

 private:
  void problem(std::string text) { draft_.findings.problem(where_, std::move(text)); }

  void read_yaml(std::string_view text) {
    YamlText yaml = parse_yaml(text);
    const std::string name = draft_.findings.text(where_);
    for (Problem& problem : yaml.problems) {
      draft_.findings.problem(fmt::format("{}: {}", name, problem.path), std::move(problem.text));
    }
    if (!yaml.problems.empty()) return;
    ReadContext context;
    std::size_t number = 0;
    for (const YamlNode* node : yaml.documents) {
      ++number;
      if (node->kind == YamlNode::Kind::Null || context.is_full()) continue;
      context.set_prefix(yaml.documents.size() > 1 ? fmt::format("{}: document {}: ", name, number) : name + ": ");
      read_document(Value(context, *node));
    }
    for (Problem& problem : context.take()) draft_.findings.problem(std::move(problem.path), std::move(problem.text));
  }

  void read_document(const Value& document) {
    const YamlNode& node = document.node();
    const bool is_list = node.kind == YamlNode::Kind::List && !node.items.empty();
    const auto has = [](const YamlNode& map, std::string_view key) { return find_key(map, key) != nullptr; };
    if (const YamlNode* kind = find_key(node, "kind"); kind != nullptr && kind->text == "Inventory") {
      document.problem("is a native Inventory, not the topology of another system");
    } else if (read_kubernetes(document, where_.file, draft_)) {
      return;
    } else if (is_list && has(*node.items.front(), "topology")) {
      read_slurm_yaml(document, where_.file, draft_);
    } else if ((has(node, "switches") || has(node, "blocks")) && !has(node, "kind")) {
      read_topograph(document, where_.file, draft_);
    } else if (has(node, "provider") && has(node, "engine")) {
      document.problem("a request to topograph is no topology; give the model that it names");
    } else if (has(node, "networkTopologyDiscovery")) {
      document.problem("settings of Volcano's discovery are no topology; give the HyperNodes that it makes");
    } else {
      document.problem(fmt::format("has none of the forms that are read: {}", kForms));
    }
  }

  Where where_;
  Draft& draft_;
};

// ---- the result
// --------------------------------------------------------------------------------------------------------

class Finish {
 public:
  explicit Finish(Draft& draft) : draft_(draft) {}

  TopologyResult take() {
    finish_switches(draft_);
    finish_blocks(draft_);
    finish_hyper_nodes(draft_);
    finish_label_levels(draft_);
    if (draft_.forest.full()) draft_.findings.problem("files", fmt::format("more than {} domains", kDomainsMax));
    if (draft_.nodes.empty() && draft_.placed.empty() && draft_.findings.good()) {
      draft_.findings.problem("files", no_host());
    }
    if (draft_.findings.good()) add_hosts();
    if (draft_.findings.good()) name_the_rest();
    TopologyResult result;
    result.levels = std::move(draft_.levels);
    result.pools = std::move(draft_.pools);
    std::sort(result.pools.begin(), result.pools.end());
    result.hosts = std::move(hosts_);
    result.problems = draft_.findings.take_problems();
    result.not_carried = draft_.findings.take_notes();
    return result;
  }

 private:
  [[nodiscard]] std::string no_host() const {
    if (!draft_.has_topology()) return "no host in any of them";
    const bool is_of_labels = draft_.kind() == kKueueTopology;
    return fmt::format("{} without hosts{}", draft_.kind(),
                       is_of_labels ? "; give the Nodes that have its labels" : "");
  }

  // Where hosts are described, those are the hosts.
  void add_hosts() {
    const bool are_described = !draft_.nodes.empty();
    for (HostRecord& record : are_described ? draft_.nodes.all() : draft_.placed.all()) {
      HostRecord* place = are_described ? draft_.placed.find(record.info.name) : &record;
      if (place != nullptr && place != &record) {
        auto& attributes = record.info.attributes;
        attributes.insert(attributes.end(), place->info.attributes.begin(), place->info.attributes.end());
        for (const Counter& counter : place->info.counters) add_other_counter(record.info, counter);
      }
      if (place == nullptr || place->domain == kNowhere) nowhere_.add(record.info.name);
      if (!add_host(record, place == nullptr ? kNowhere : place->domain)) return;
    }
    if (!are_described) return;
    for (const HostRecord& record : draft_.placed.all()) {
      if (draft_.nodes.find(record.info.name) == nullptr) undescribed_.add(record.info.name);
    }
  }

  static void add_other_counter(HostInfo& host, const Counter& other) {
    const auto is_same = [&](const Counter& counter) { return counter.name == other.name; };
    if (std::none_of(host.counters.begin(), host.counters.end(), is_same)) host.counters.push_back(other);
  }

  bool add_host(HostRecord& record, std::uint32_t domain) {
    HostInfo host;
    host.name = record.info.name;
    host.counters = std::move(record.info.counters);
    host.attributes = std::move(record.info.attributes);
    // The name of the host itself is no attribute of it.
    std::erase(host.attributes, KeyValue{"kubernetes.io/hostname", host.name});
    finish_host(host);
    host.at = draft_.forest.path(domain);
    // Its name and its place have been looked at when they were read.
    const bool has_more = !host.counters.empty() || !host.attributes.empty();
    for (const Problem& problem : has_more ? validate(host) : std::vector<Problem>{}) {
      draft_.findings.problem(fmt::format("{}: {}: {}", draft_.findings.text(record.where), host.name, problem.path),
                              problem.text);
    }
    bytes_ += bytes_of(host);
    if (bytes_ > kInventoryBytesMax) {
      draft_.findings.problem(record.where,
                              fmt::format("the hosts up to this one take more than {} bytes", kInventoryBytesMax));
      return false;
    }
    hosts_.push_back(std::move(host));
    return !draft_.findings.full();
  }

  void name_the_rest() {
    const auto note = [&](const Sample& hosts, std::string_view what) {
      if (!hosts.empty()) {
        draft_.findings.note(fmt::format("{} {}: {}", count_of(hosts.size(), "host"), what, hosts.text()));
      }
    };
    note(undescribed_, "of the topology that no NodeName line or Node describes, not carried");
    if (draft_.has_topology() && draft_.label_keys.empty()) note(nowhere_, "without a place in the topology");
    if (!draft_.has_topology()) draft_.findings.note("no topology is given: hosts have no place");
    note(draft_.nodes.empty() ? draft_.placed.renamed() : draft_.nodes.renamed(),
         "with capital letters, which are small letters here");
    note(draft_.unschedulable, "that can take nothing at present, which 'lockstep hosts drain' says here; not carried");
    note(draft_.tainted, "with taints, not carried");
  }

  Draft& draft_;
  std::vector<HostInfo> hosts_{};
  std::size_t bytes_ = 0;
  Sample nowhere_{};
  Sample undescribed_{};
};

}  // namespace

TopologyResult read_topology(const std::vector<std::pair<std::string, std::string>>& files) {
  std::vector<std::string> names;
  for (const auto& [name, text] : files) names.push_back(name);
  Draft draft(std::move(names));
  if (files.size() > kTopologyFilesMax) {
    draft.findings.problem("files", fmt::format("{} are more than {}", files.size(), kTopologyFilesMax));
  } else {
    for (std::uint32_t file = 0; file < files.size(); ++file) FileReader(file, draft).read(files[file].second);
  }
  return Finish(draft).take();
}

bool is_inventory(std::string_view text) {
  if (text.find("Inventory") == std::string_view::npos || form_of(text) != Form::Yaml) return false;
  const YamlText yaml = parse_yaml(text);
  if (!yaml.problems.empty() || yaml.documents.size() != 1) return false;
  const YamlNode* kind = find_key(*yaml.documents.front(), "kind");
  return kind != nullptr && kind->text == "Inventory";
}

}  // namespace lockstep
