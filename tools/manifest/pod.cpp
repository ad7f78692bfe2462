// What Lockstep takes from a Kubernetes pod template: what its containers ask for, where it may run, and what the first
// container runs. A pod is one member with one task; its containers are together on one host.

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "tools/manifest/foreign.h"
#include "tools/manifest/text.h"

namespace lockstep {
namespace {

using Amounts = std::map<std::string, std::int64_t>;
constexpr std::int64_t kTooMuch = kQuantityMax + 1;  // sums stop here, and validate() refuses them

void read_amounts(MapReader& resources, std::string_view key, Amounts& amounts) {
  const auto value = resources.find(key);
  if (!value) return;
  value->each_pair(kCountersMax, [&](std::string_view resource, const Value& item) {
    std::string text;
    if (!item.read_scalar(text)) return;
    auto amount = parse_kubernetes_quantity(text, resource == "cpu" ? kThousandths : 1);
    if (!amount) {
      item.problem(std::move(amount).error().message);
      return;
    }
    // nvidia.com/gpu and amd.com/gpu of one container are one counter.
    std::int64_t& sum = amounts[std::string(counter_of_resource(resource))];
    sum = std::min(sum + *amount, kTooMuch);
  });
}

// A limit stands for the request that is left out.
Amounts read_resources(MapReader& container, NotCarried& not_carried) {
  Amounts requests;
  const auto value = container.find("resources");
  if (!value) return requests;
  MapReader map(*value);
  read_amounts(map, "requests", requests);
  Amounts limits;
  read_amounts(map, "limits", limits);
  requests.merge(limits);
  not_carried.add_rest(map);
  return requests;
}

void read_words(MapReader& map, std::string_view key, std::vector<std::string>& words) {
  const auto value = map.find(key);
  if (!value) return;
  value->each(kListMax, [&](const Value& word) { word.read_scalar(words.emplace_back()); });
}

void read_command(MapReader& container, NotCarried& not_carried, Pod& pod) {
  read_words(container, "command", pod.command);
  const auto args = container.find("args");
  if (!args) return;
  if (pod.command.empty()) {
    not_carried.add(*args, "the command is the image's own and not known here");
  } else {
    read_words(container, "args", pod.command);
  }
}

void read_variable(const Value& value, NotCarried& not_carried, std::vector<KeyValue>& env) {
  MapReader map(value);
  KeyValue pair;
  const auto name = map.need("name");
  if (!name || !name->read_scalar(pair.key)) return;
  if (const auto from = map.find("valueFrom")) {
    not_carried.add(*from, fmt::format("{} is known to Kubernetes only", printable(pair.key)));
    return;
  }
  if (const auto text = map.find("value")) text->read_scalar(pair.value);
  not_carried.add_rest(map);
  // The last of several of one name counts.
  std::erase_if(env, [&](const KeyValue& known) { return known.key == pair.key; });
  env.push_back(std::move(pair));
}

void read_main_container(MapReader& container, NotCarried& not_carried, Pod& pod) {
  if (const auto name = container.find("name")) name->read_scalar(pod.container);
  read_command(container, not_carried, pod);
  if (const auto env = container.find("env")) {
    env->each(kListMax, [&](const Value& item) { read_variable(item, not_carried, pod.env); });
  }
  std::sort(pod.env.begin(), pod.env.end());
  if (const auto image = container.find("image")) not_carried.add(*image, "an agent runs the command as it is");
}

void add_amounts(const Amounts& amounts, Amounts& sum) {
  for (const auto& [name, amount] : amounts) sum[name] = std::min(sum[name] + amount, kTooMuch);
}

// All containers ask together; the first is the one that runs.
void read_containers(MapReader& spec, NotCarried& not_carried, Pod& pod, Amounts& sum) {
  const auto containers = spec.need("containers");
  if (!containers) return;
  bool first = true;
  containers->each(kListMax, [&](const Value& value) {
    MapReader map(value);
    add_amounts(read_resources(map, not_carried), sum);
    if (first) {
      read_main_container(map, not_carried, pod);
      not_carried.add_rest(map);
    } else {
      not_carried.add(value, "what it asks for is counted, but only the first container runs");
    }
    first = false;
  });
  if (first) containers->problem("at least one container is needed");
}

// Init containers run one after another before the others: each must fit by itself, none adds up. One with
// `restartPolicy: Always` stays, and does add up, also with those that come after it.
void read_init_containers(MapReader& spec, NotCarried& not_carried, Amounts& sum) {
  const auto containers = spec.find("initContainers");
  if (!containers) return;
  Amounts staying;
  Amounts most;  // at any time before the others start
  containers->each(kListMax, [&](const Value& value) {
    MapReader map(value);
    std::string restart;
    if (const auto policy = map.find("restartPolicy")) policy->read_scalar(restart);
    Amounts amounts = read_resources(map, not_carried);
    not_carried.add(value, "what it asks for is counted, but only the first container runs");
    if (restart == "Always") {
      add_amounts(amounts, staying);
      return;
    }
    add_amounts(staying, amounts);
    for (const auto& [name, amount] : amounts) most[name] = std::max(most[name], amount);
  });
  add_amounts(staying, sum);
  for (const auto& [name, amount] : most) sum[name] = std::max(sum[name], amount);
}

void read_node_selector(MapReader& spec, Pod& pod) {
  const auto selector = spec.find("nodeSelector");
  if (!selector) return;
  selector->each_pair(kListMax, [&](std::string_view key, const Value& item) {
    KeyValue pair{std::string(key), {}};
    if (item.read_scalar(pair.value)) pod.task.select.push_back(std::move(pair));
  });
  std::sort(pod.task.select.begin(), pod.task.select.end());
}

void read_pod_metadata(const Value& value, NotCarried& not_carried, Pod& pod) {
  MapReader map(value);
  if (const auto annotations = map.find("annotations")) {
    MapReader notes(*annotations);
    if (const auto level = notes.find("kueue.x-k8s.io/podset-required-topology")) {
      read_level(*level, pod.topology.required);
    }
    if (const auto level = notes.find("kueue.x-k8s.io/podset-preferred-topology")) {
      read_level(*level, pod.topology.preferred);
    }
    not_carried.add_rest(notes);
  }
  not_carried.add_rest(map);
}

void read_pod_spec(const Value& value, NotCarried& not_carried, Pod& pod) {
  MapReader map(value);
  Amounts sum;
  read_containers(map, not_carried, pod, sum);
  read_init_containers(map, not_carried, sum);
  for (const auto& [name, amount] : sum) {
    if (amount > 0) pod.task.requests.push_back({name, amount});
  }
  read_node_selector(map, pod);
  map.ignore("restartPolicy");  // of a Job: what happens to a failed member is the failure policy's to say
  if (const auto grace = map.find("terminationGracePeriodSeconds")) {
    grace->read_integer(pod.grace_seconds, 0, std::numeric_limits<std::int32_t>::max());
    if (pod.grace_seconds == 0)
      not_carried.add(*grace, "a clock of 0 would never end; a member has the usual time to stop");
  }
  if (const auto priority = map.find("priorityClassName")) {
    not_carried.add(*priority, "the value of the class is not known here; give the group a priority");
  }
  not_carried.add_rest(map);
}

}  // namespace

void read_pod_template(const Value& value, NotCarried& not_carried, Pod& pod) {
  MapReader map(value);
  if (const auto metadata = map.find("metadata")) read_pod_metadata(*metadata, not_carried, pod);
  if (const auto spec = map.need("spec")) read_pod_spec(*spec, not_carried, pod);
  not_carried.add_rest(map);
}

}  // namespace lockstep
