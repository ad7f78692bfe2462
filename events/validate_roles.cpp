// Roles of a group: bounds, tasks, the order of start, and the sums over the whole group.

#include <algorithm>
#include <map>
#include <set>

#include "events/problems.h"

namespace lockstep {
namespace {

// Sums of products of a quantity, a count of tasks and a count of members cannot overflow it.
__extension__ using Wide = __int128;

void check_bounds(Problems& problems, const std::string& path, const RoleSpec& role) {
  if (role.min < 1) problems.add(path + ".min", "0 is less than 1");
  if (role.replicas < 1) problems.add(path + ".replicas", "0 is less than 1");
  if (role.min > role.replicas) {
    problems.add(path + ".min", fmt::format("{} is more than replicas {}", role.min, role.replicas));
  }
  if (role.max < role.replicas) {
    problems.add(path + ".max", fmt::format("{} is less than replicas {}", role.max, role.replicas));
  }
}

void check_term(Problems& problems, const std::string& path, const TaskTerm& term) {
  if (term.count < 1) problems.add(path + ".count", "0 is less than 1");
  if (problems.list(path, term.requests.size(), kCountersMax)) {
    problems.sorted_keys(path, term.requests);
    for (const Counter& counter : term.requests) {
      if (counter.amount >= 1 && counter.amount <= kQuantityMax) continue;
      problems.add(path + "." + shown(counter.name),
                   fmt::format("{} is not between 1 and {}", counter.amount, kQuantityMax));
    }
  }
  if (problems.list(path + ".select", term.select.size(), kListMax)) {
    problems.sorted_keys(path + ".select", term.select);
    for (const KeyValue& pair : term.select) {
      problems.text(path + ".select." + shown(pair.key), pair.value, kTextBytesMax);
    }
  }
  if (term.span_hosts > 1) {
    problems.add(path + ".span.hosts", fmt::format("{} is not supported; use 1, or span.ptile", term.span_hosts));
  }
  if (term.span_ptile > kTasksPerMemberMax) {
    problems.add(path + ".span.ptile", fmt::format("{} is more than {}", term.span_ptile, kTasksPerMemberMax));
  }
  if (term.span_hosts == 1 && term.span_ptile != 0 && term.span_ptile < term.count) {
    problems.add(path + ".span", fmt::format("hosts 1 and ptile {} cannot both hold for {} tasks; leave one out",
                                             term.span_ptile, term.count));
  }
}

void check_tasks(Problems& problems, const std::string& path, const std::vector<TaskTerm>& tasks) {
  if (tasks.empty()) problems.add(path, "is missing; say what one member needs");
  if (!problems.list(path, tasks.size(), kTaskTermsMax)) return;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    check_term(problems, fmt::format("{}[{}]", path, i), tasks[i]);
    total += tasks[i].count;
  }
  if (total > kTasksPerMemberMax) {
    problems.add(path, fmt::format("{} tasks of one member are more than {}", total, kTasksPerMemberMax));
  }
}

void check_texts(Problems& problems, const std::string& path, const RoleSpec& role) {
  if (problems.list(path + ".command", role.command.size(), kListMax)) {
    for (std::size_t i = 0; i < role.command.size(); ++i) {
      problems.text(fmt::format("{}.command[{}]", path, i), role.command[i], kTextBytesMax);
    }
  }
  if (!problems.list(path + ".env", role.env.size(), kListMax)) return;
  problems.sorted_keys(path + ".env", role.env);
  for (const KeyValue& pair : role.env) {
    const std::string place = path + ".env." + shown(pair.key);
    if (pair.key.find('=') != std::string::npos) problems.add(place, "a variable's name holds no '='");
    problems.text(place, pair.value, kTextBytesMax);
  }
}

void check_after(Problems& problems, const std::string& path, const std::vector<RoleSpec>& roles, std::size_t self) {
  const std::vector<After>& after = roles[self].after;
  if (!problems.list(path, after.size(), kRolesMax)) return;
  for (std::size_t i = 0; i < after.size(); ++i) {
    const RoleIndex role = after[i].role;
    const std::string place =
        role < roles.size() ? path + "." + shown(roles[role].name) : fmt::format("{}[{}]", path, i);
    problems.role(place, role, roles.size());
    problems.enumerator(place, after[i].what);
    if (role == self) problems.add(place, "a role cannot start after itself");
    if (i > 0 && after[i - 1].role == role) problems.add(place, "is given twice; give it once");
    if (i > 0 && after[i - 1].role > role) problems.add(place, "is not in the order of the roles; sort the list");
  }
}

// Takes away roles that wait for nobody left, again and again; what stays waits in a circle, or behind one.
void check_cycles(Problems& problems, const std::vector<RoleSpec>& roles) {
  std::vector<std::size_t> waits(roles.size());
  std::vector<std::vector<std::size_t>> followers(roles.size());
  for (std::size_t i = 0; i < roles.size(); ++i) {
    for (const After& after : roles[i].after) {
      if (after.role >= roles.size() || after.role == i) continue;  // reported by check_after
      ++waits[i];
      followers[after.role].push_back(i);
    }
  }
  std::vector<std::size_t> ready;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    if (waits[i] == 0) ready.push_back(i);
  }
  for (std::size_t next = 0; next < ready.size(); ++next) {
    for (const std::size_t follower : followers[ready[next]]) {
      if (--waits[follower] == 0) ready.push_back(follower);
    }
  }
  std::string circle;
  std::size_t first = roles.size();
  for (std::size_t i = roles.size(); i-- > 0;) {
    if (waits[i] == 0) continue;
    first = i;
    circle = circle.empty() ? shown(roles[i].name) : shown(roles[i].name) + ", " + circle;
  }
  if (first == roles.size()) return;
  problems.add(fmt::format("spec.roles[{}].after", first),
               "these roles wait for each other in a circle and could never start: " + circle);
}

std::uint64_t members_of(const RoleSpec& role) {
  return std::uint64_t{std::max(role.max, role.replicas)} + role.spares;
}

void check_member_count(Problems& problems, const std::vector<RoleSpec>& roles) {
  std::uint64_t members = 0;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    members += members_of(roles[i]);
    if (members <= kMembersMax) continue;
    problems.add(fmt::format("spec.roles[{}].max", i),
                 fmt::format("the members of the group, `max` and spares counted, are more than {}", kMembersMax));
    return;
  }
}

// What every member of the group asks for together stays far from overflow wherever it is added up later.
class RequestSums {
 public:
  explicit RequestSums(Problems& problems) : problems_(problems) {}

  void add(const std::string& path, const Counter& counter, std::uint64_t tasks) {
    if (counter.amount < 1 || counter.amount > kQuantityMax) return;  // reported by check_term
    Wide& total = totals_[counter.name];
    if (total > kQuantityMax) return;  // reported; and so the sum stays below 2^60 + 2^65 * 2^60
    total += Wide{tasks} * Wide{counter.amount};
    if (total <= kQuantityMax) return;
    problems_.add(path + "." + shown(counter.name),
                  fmt::format("the group as a whole, `max` and spares counted, asks for more than {}", kQuantityMax));
  }

 private:
  Problems& problems_;
  std::map<std::string_view, Wide> totals_{};
};

void check_sums(Problems& problems, const std::vector<RoleSpec>& roles) {
  RequestSums sums(problems);
  for (std::size_t i = 0; i < roles.size(); ++i) {
    const std::uint64_t members = std::min<std::uint64_t>(members_of(roles[i]), kMembersMax);
    if (roles[i].tasks.size() > kTaskTermsMax) continue;
    for (std::size_t j = 0; j < roles[i].tasks.size(); ++j) {
      const TaskTerm& term = roles[i].tasks[j];
      if (term.requests.size() > kCountersMax) continue;
      const std::string path = fmt::format("spec.roles[{}].tasks[{}]", i, j);
      for (const Counter& counter : term.requests) sums.add(path, counter, members * term.count);
    }
  }
}

}  // namespace

void check_topology(Problems& problems, const std::string& path, const Topology& topology) {
  problems.key_or_empty(path + ".required", topology.required);
  problems.key_or_empty(path + ".preferred", topology.preferred);
}

void check_roles(Problems& problems, const std::vector<RoleSpec>& roles) {
  if (roles.empty()) problems.add("spec.roles", "is missing; a group has at least one role");
  if (!problems.list("spec.roles", roles.size(), kRolesMax)) return;
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    const RoleSpec& role = roles[i];
    const std::string path = fmt::format("spec.roles[{}]", i);
    problems.name(path + ".name", role.name);
    if (!names.insert(role.name).second && !role.name.empty()) {
      problems.add(path + ".name", fmt::format("'{}' is the name of another role", shown(role.name)));
    }
    check_bounds(problems, path, role);
    check_tasks(problems, path + ".tasks", role.tasks);
    check_topology(problems, path + ".topology", role.topology);
    check_after(problems, path + ".after", roles, i);
    check_texts(problems, path, role);
  }
  check_cycles(problems, roles);
  check_member_count(problems, roles);
  check_sums(problems, roles);
}

}  // namespace lockstep
