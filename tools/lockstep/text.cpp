#include "tools/lockstep/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "tools/manifest/manifest.h"

namespace lockstep::cli {
namespace {

// "-" for null, else the value as it would be written.
std::string cell(const Json& value) {
  if (value.is_null()) return "-";
  if (value.is_string()) return value.get<std::string>();
  return value.dump();
}

// 2024-05-01T10:00:00.123456789Z -> 2024-05-01 10:00:00.123
std::string time_cell(const Json& value) {
  std::string text = cell(value);
  if (text.size() < 23) return text;
  text.resize(23);
  text[10] = ' ';
  return text;
}

std::string joined(const Json& list, std::string_view between = ",") {
  std::string text;
  for (const auto& entry : list) text += (text.empty() ? std::string() : std::string(between)) + cell(entry);
  return text.empty() ? "-" : text;
}

std::string host_list(const Json& hosts) {
  return hosts.empty() ? "-" : compress_hostlist(hosts.get<std::vector<std::string>>());
}

std::string member_name(const Json& member) {
  return fmt::format("{}[{}]", cell(member.at("role")), cell(member.at("index")));
}

std::string end_text(const Json& end) {
  std::string text = cell(end.at("code"));
  if (end.at("member").is_number()) {
    text += fmt::format(": {}[{}]", cell(end.at("role")), cell(end.at("member")));
    if (end.at("exitCode").is_number()) text += " exit code " + cell(end.at("exitCode"));
  } else if (end.at("role").is_string()) {
    text += fmt::format(": {}", cell(end.at("role")));
  }
  return text;
}

// One clause per fact that is there: "InsufficientResources: role worker, gpu: 16 needed, 8 free".
std::string reason_text(const Json& reason) {
  std::vector<std::string> facts;
  if (reason.at("role").is_string()) facts.push_back("role " + cell(reason.at("role")));
  const bool counted = reason.at("needed").is_number();
  if (reason.at("resource").is_string()) {
    facts.push_back(
        cell(reason.at("resource")) +
        (counted ? fmt::format(": {} needed, {} free", cell(reason.at("needed")), cell(reason.at("free"))) : ""));
  }
  if (reason.at("domain").is_string()) facts.push_back("in " + cell(reason.at("domain")));
  if (!reason.at("blockers").empty()) facts.push_back("behind " + joined(reason.at("blockers")));
  const std::string code = cell(reason.at("code"));
  if (reason.at("projectedStart").is_string())
    facts.push_back("complete at about " + time_cell(reason.at("projectedStart")));
  else if (code == "ReservationAccumulating")
    facts.emplace_back("when it is complete is not known");
  if (code == "WaitingBehind" && reason.at("blockers").empty())
    facts.insert(facts.begin(), "nothing stands in its way, the next pass places it");
  return facts.empty() ? code : fmt::format("{}: {}", code, fmt::join(facts, ", "));
}

// What the last column of a list says: how it ended, or what it waits for.
std::string note_of(const Json& group) {
  if (!group.at("end").is_null()) return end_text(group.at("end"));
  if (group.at("reason").is_null()) return "-";
  const auto backoff = group.at("deadlines").find("backoff");
  if (backoff != group.at("deadlines").end()) return "Backoff: until " + time_cell(*backoff);
  return reason_text(group.at("reason"));
}

std::string roles_text(const Json& roles) {
  std::string text;
  for (const auto& role : roles) {
    text += fmt::format("{}{} x{}", text.empty() ? "" : ", ", cell(role.at("name")), cell(role.at("replicas")));
  }
  return text;
}

void line(std::string& text, std::string_view label, const std::string& value) {
  text += printable(fmt::format("{:<11}{}", label, value)) + "\n";
}

// Of a group, or of the answer to `why`.
std::string holdings(const Json& group) {
  std::string text;
  line(text, "holds", counters_text(group.at("held")));
  if (const auto wanted = group.find("wanted"); wanted != group.end()) line(text, "wants", counters_text(*wanted));
  for (const auto& [clock, time] : group.at("deadlines").items()) {
    line(text, "deadline", fmt::format("{} {}", clock, time_cell(time)));
  }
  return text;
}

std::string members_table(const Json& members) {
  Table table({"MEMBER", "PHASE", "HOSTS", "EXIT"});
  for (const auto& member : members) {
    const std::string exit =
        member.at("signal").is_number() ? "signal " + cell(member.at("signal")) : cell(member.at("exitCode"));
    table.add({member_name(member), cell(member.at("phase")), host_list(member.at("hosts")), exit});
  }
  return table.text();
}

// "small,big (reserved)"
std::string holders(const Json& host) {
  const Json& reserved = host.at("reserved");
  Json names = Json::array();
  for (const auto& group : host.at("groups")) {
    const bool is_reserved = std::find(reserved.begin(), reserved.end(), group) != reserved.end();
    names.push_back(cell(group) + (is_reserved ? " (reserved)" : ""));
  }
  return joined(names);
}

std::string owner(const Json& claim) {
  return claim.at("role").is_string() ? member_name(claim) + "/" + cell(claim.at("name")) : cell(claim.at("name"));
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return result;
}

namespace {

// One for each character of UTF-8.
std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

}  // namespace

std::string Table::text() const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns(row[i]));
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += printable(row[i]) + std::string(widths[i] - columns(row[i]) + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string counted(std::uint64_t number, std::string_view what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

std::int64_t base_amount(const Json& amount, std::string_view counter) {
  return counter == "cpu" ? std::llround(amount.get<double>() * 1000.0) : amount.get<std::int64_t>();
}

std::string counters_text(const Json& counters) {
  std::string text;
  for (const auto& [counter, amount] : counters.items()) {
    const std::int64_t base = base_amount(amount, counter);
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", counter, format_quantity(base, counter));
  }
  return text.empty() ? "-" : text;
}

std::string groups_text(const Json& groups) {
  if (groups.empty()) return "no groups\n";
  Table table({"ID", "NAME", "USER", "QUEUE", "PRIO", "PHASE", "ATTEMPT", "ROLES", "WAITS FOR / ENDED BY"});
  for (const auto& group : groups) {
    table.add({cell(group.at("id")), cell(group.at("name")), cell(group.at("user")), cell(group.at("queue")),
               cell(group.at("priority")), cell(group.at("phase")), cell(group.at("attempt")),
               roles_text(group.at("roles")), note_of(group)});
  }
  return table.text();
}

std::string group_text(const Json& group) {
  std::string text;
  line(text, "group", fmt::format("{} (id {})", cell(group.at("name")), cell(group.at("id"))));
  line(text, "owner",
       fmt::format("{}, queue {}, priority {}", cell(group.at("user")), cell(group.at("queue")),
                   cell(group.at("priority"))));
  line(text, "phase", cell(group.at("phase")));
  line(text, "attempt", fmt::format("{}, restarts charged {}", cell(group.at("attempt")), cell(group.at("charged"))));
  if (group.at("submitted").is_string()) line(text, "submitted", time_cell(group.at("submitted")));
  if (!group.at("reason").is_null()) line(text, "waits for", reason_text(group.at("reason")));
  if (!group.at("end").is_null()) line(text, "ended by", end_text(group.at("end")));
  if (group.at("domain").is_string()) line(text, "domain", cell(group.at("domain")));
  text += holdings(group);
  for (const auto& claim : group.at("claims")) {
    line(text, "claim", fmt::format("{} {}", owner(claim), cell(claim.at("phase"))));
  }
  for (const auto& spare : group.value("spares", Json::array())) {
    line(text, "spare", fmt::format("{} {}", cell(spare.at("role")), host_list(spare.at("hosts"))));
  }
  return text + "\n" + members_table(group.at("members"));
}

std::string why_text(const Json& why) {
  const std::string who = fmt::format("{} is {}", cell(why.at("name")), cell(why.at("phase")));
  if (why.at("reason").is_null()) return printable(who + "; it waits for nothing") + "\n";
  const Json& reason = why.at("reason");
  const std::string since = reason.at("since").is_string() ? ", since " + time_cell(reason.at("since")) : "";
  std::string text = printable(fmt::format("{}: {}{}", who, reason_text(reason), since)) + "\n";
  if (why.at("phase") == "Reserving") text += holdings(why);
  return text;
}

std::string history_text(const Json& events) {
  Table table({"TIME (UTC)", "SEQ", "BY", "EVENT", "FACTS"});
  for (const auto& event : events) {
    table.add({time_cell(event.at("time")), cell(event.at("seq")), cell(event.at("actor")), cell(event.at("event")),
               cell(event.at("text"))});
  }
  const bool cut = !events.empty() && events.front().at("prev").get<std::uint64_t>() != 0;
  return (cut ? "(what came before is no longer in the log)\n" : "") + table.text();
}

std::string hosts_text(const Json& hosts) {
  if (hosts.empty()) return "no hosts\n";
  Table table({"HOST", "STATE", "AT", "CAPACITY", "FREE", "GROUPS"});
  for (const auto& host : hosts) {
    const bool down = host.at("down").get<bool>();
    const bool drained = host.at("drained").get<bool>();
    const std::string state = down ? (drained ? "down, drained" : "down") : (drained ? "drained" : "up");
    table.add({cell(host.at("name")), state, cell(host.at("at")), counters_text(host.at("capacity")),
               counters_text(host.at("free")), holders(host)});
  }
  return table.text();
}

std::string claims_text(const Json& claims) {
  if (claims.empty()) return "no claims\n";
  Table table({"CLAIM", "GROUP", "PHASE", "USERS"});
  for (const auto& claim : claims) {
    table.add({owner(claim), cell(claim.at("group")), cell(claim.at("phase")), joined(claim.at("users"))});
  }
  return table.text();
}

std::string state_text(const Json& state) {
  std::string text = fmt::format("state at seq {}, epoch {}, time {}\ndigest {}\n\n", cell(state.at("seq")),
                                 cell(state.at("epoch")), time_cell(state.at("time")), cell(state.at("digest")));
  text += groups_text(state.at("groups"));
  for (const auto& group : state.at("groups")) {
    if (!group.at("domain").is_string() && group.at("held").empty()) continue;
    text += fmt::format("\nmembers of {}\n{}", printable(cell(group.at("name"))), members_table(group.at("members")));
  }
  text += "\n" + hosts_text(state.at("hosts"));
  for (const auto& [pool, facts] : state.at("pools").items()) {
    text += fmt::format("pool {}: {} of {} free\n", printable(pool), cell(facts.at("free")), cell(facts.at("total")));
  }
  for (const auto& claim : state.at("claims")) {
    text += fmt::format("claim {}: {}, used by {}\n", printable(cell(claim.at("name"))), cell(claim.at("phase")),
                        printable(joined(claim.at("users"))));
  }
  return text;
}

std::string log_stat_text(const Json& stat) {
  std::string text;
  line(text, "store", cell(stat.at("storeId")));
  line(text, "events",
       fmt::format("{}, seq {} to {}", cell(stat.at("events")), cell(stat.at("first")), cell(stat.at("seq"))));
  line(text, "records", fmt::format("{}, {} bytes", cell(stat.at("records")), cell(stat.at("bytes"))));
  line(text, "epoch", cell(stat.at("epoch")));
  line(text, "last", time_cell(stat.at("time")));
  line(text, "hash", cell(stat.at("hash")));
  Table table({"EVENT", "COUNT"});
  for (const auto& [kind, count] : stat.at("kinds").items()) table.add({kind, cell(count)});
  return table.empty() ? text : text + "\n" + table.text();
}

std::string snapshots_text(const Json& listing) {
  Table table({"SEQ", "TIME (UTC)", "GROUPS", "HOSTS", "BYTES", "FILE"});
  for (const auto& info : listing.at("snapshots")) {
    table.add({cell(info.at("seq")), time_cell(info.at("time")), cell(info.at("groups")), cell(info.at("hosts")),
               cell(info.at("fileBytes")), cell(info.at("path"))});
  }
  std::string text = table.empty() ? "no snapshots\n" : table.text();
  for (const auto& error : listing.at("damaged")) {
    text += printable(fmt::format("not readable: {}: {}", cell(error.at("code")), cell(error.at("message")))) + "\n";
  }
  return text;
}

std::string snapshot_text(const Json& info) {
  std::string text;
  for (const auto& [key, value] : info.items()) line(text, key + " ", key == "time" ? time_cell(value) : cell(value));
  return text;
}

}  // namespace lockstep::cli
