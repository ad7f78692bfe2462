#include "tools/scenario/trace.h"

#include <fmt/format.h>

#include <type_traits>

#include "tools/manifest/manifest.h"

namespace lockstep::scenario {
namespace {

// "exit_code" -> "exitCode", as everywhere outside of the sources.
std::string lower_camel(std::string_view field) {
  std::string text;
  bool upper = false;
  for (const char c : field) {
    if (c == '_') {
      upper = true;
      continue;
    }
    text += upper ? static_cast<char>(c - 'a' + 'A') : c;
    upper = false;
  }
  return text;
}

// Writes the fields of an event body, each by its type; a field list (fields.h) drives it, so a new field is shown
// without anybody's help.
class Formatter {
 public:
  Formatter(const Book& book, const Event& event) : book_(book), event_(event) {}

  std::string format() {
    out_ = name(kind(event_));
    if (event_.group) out_ += " " + book_.group(event_.group);
    if (const auto* late = std::get_if<LateReport>(&event_.body)) {
      late_report(*late);
    } else {
      std::visit([this](const auto& body) { fields(body); }, event_.body);
    }
    return std::move(out_);
  }

 private:
  template <class T>
  void fields(const T& body) {
    for_each_field(body, [this](std::string_view field, const auto& value) { show(lower_camel(field), value); });
  }

  // Either of a claim or of a member; of a group that nobody knows it says whose.
  void late_report(const LateReport& late) {
    about_ = event_.group ? event_.group : late.about;
    if (!event_.group && late.about) show("about", late.about);
    if (late.claim_kind != ClaimReportKind::None) {
      word("Claim");
      word(name(late.claim_kind));
      word(book_.claim(about_, late.claim));
    } else {
      show("report", late.report);
    }
  }

  void word(std::string_view text) { out_ += fmt::format(" {}", text); }
  void pair(std::string_view key, std::string_view value) { out_ += fmt::format(" {}={}", key, value); }

  void show(std::string_view, MemberKey key) { word(book_.member(event_.group, key)); }
  void show(std::string_view, const ClaimRef& claim) { word(book_.claim(event_.group, claim)); }
  void show(std::string_view, const Shared<GroupSpec>&) {}
  void show(std::string_view, const SpecHash&) {}
  void show(std::string_view, HostId id) { word(book_.host(id)); }
  void show(std::string_view field, GroupId id) {
    if (id) pair(field, book_.group(id));
  }
  void show(std::string_view field, Time time) {
    if (time) pair(field, "+" + format_duration(time - event_.time));
  }
  void show(std::string_view field, Epoch epoch) { pair(field, std::to_string(epoch.value)); }
  void show(std::string_view field, const std::string& text) {
    if (!text.empty()) pair(field, text);
  }
  void show(std::string_view field, bool value) {
    if (value) word(field);
  }
  void show(std::string_view, const GroupIdentity& identity) {
    pair("user", identity.user);
    pair("queue", identity.queue);
  }
  void show(std::string_view, const HostInfo& info) {
    if (!info.at.empty()) pair("at", fmt::format("{}", fmt::join(info.at, "/")));
    for (const auto& counter : info.counters) pair(counter.name, format_quantity(counter.amount, counter.name));
    for (const auto& attribute : info.attributes) pair(attribute.key, attribute.value);
    if (info.down) word("down");
    if (info.drained) word("drained");
  }
  void show(std::string_view, const MemberPlacement& placement) {
    pair(book_.member(event_.group, placement.member), slices(placement.slices));
  }
  void show(std::string_view, const SparePlacement& spare) {
    pair("spare." + book_.role_name(event_.group, spare.role), slices(spare.slices));
  }
  void show(std::string_view, const End& end) {
    if (end.code == EndCode::None) return;
    pair("end", name(end.code));
    if (end.scope != Scope::None) pair("scope", name(end.scope));
    if (end.role != kNoRole && end.member != kNoMember) {
      word(book_.member(event_.group, {end.role, end.member}));
    } else if (end.role != kNoRole) {
      pair("role", book_.role_name(event_.group, end.role));
    }
    if (end.exit_code != 0) pair("code", std::to_string(end.exit_code));
    if (end.signal != 0) pair("signal", std::to_string(end.signal));
  }
  void show(std::string_view, const Report& report) {
    word(name(report.kind));
    word(book_.member(about_, report.member));
    pair("attempt", std::to_string(report.attempt));
    pair("run", std::to_string(report.run));
    if (report.exit_code != 0) pair("code", std::to_string(report.exit_code));
    if (report.signal != 0) pair("signal", std::to_string(report.signal));
  }
  template <class T>
  void show(std::string_view field, const std::vector<T>& list) {
    if constexpr (std::is_same_v<T, MemberPlacement> || std::is_same_v<T, SparePlacement> ||
                  std::is_same_v<T, MemberKey>) {
      for (const auto& element : list) show(field, element);
    } else if (!list.empty()) {
      std::string text;
      for (const auto& element : list) text += (text.empty() ? "" : ",") + plain(field, element);
      pair(field, text);
    }
  }
  template <class T>
  requires(std::is_integral_v<T> && !std::is_same_v<T, bool>) void show(std::string_view field, T number) {
    if (field == "role") {
      word(book_.role_name(event_.group, static_cast<RoleIndex>(number)));
    } else if (field != "sequence" && number != T{}) {
      pair(field, std::to_string(number));
    }
  }
  template <DescribedEnum E>
  void show(std::string_view field, E value) {
    if (value != E{}) pair(field, name(value));
  }

  std::string plain(std::string_view, const std::string& text) const { return text; }
  std::string plain(std::string_view, GroupId id) const { return book_.group(id); }
  std::string plain(std::string_view field, std::uint32_t number) const {
    return field == "roles" ? book_.role_name(event_.group, number) : std::to_string(number);
  }

  // "n1", "n1*4" for four tasks, "n1*4+n2*4".
  std::string slices(const std::vector<Slice>& list) const {
    std::string text;
    for (const auto& slice : list) {
      if (!text.empty()) text += '+';
      text += book_.host(slice.host);
      if (slice.count != 1) text += fmt::format("*{}", slice.count);
    }
    return text;
  }

  const Book& book_;
  const Event& event_;
  GroupId about_{};  // of a late report
  std::string out_;
};

}  // namespace

bool is_shown(const Event& event) {
  return kind(event) != EventKind::ControllerStarted && kind(event) != EventKind::DigestRecorded &&
         kind(event) != EventKind::RequestAnswered;
}

std::string format_event(const Book& book, const Event& event) { return Formatter(book, event).format(); }

}  // namespace lockstep::scenario
