#include <variant>

#include "snapshot/facts.h"
#include "snapshot/snapshot.h"
#include "snapshot/walk_json.h"

namespace lockstep {
namespace {

// `hosts`, from FactKind::Host.
std::string_view table_name(FactKind kind) {
  switch (kind) {
    case FactKind::Host:
      return "hosts";
    case FactKind::Pool:
      return "pools";
    case FactKind::Claim:
      return "claims";
    case FactKind::Client:
      return "clients";
    case FactKind::Spec:
      return "specs";
    case FactKind::Group:
      return "groups";
    case FactKind::Layout:
    case FactKind::Head:
      break;
  }
  return "head";
}

std::string key_text(const std::string& key) { return to_text(Json(key)); }
std::string key_text(std::uint64_t key) { return '"' + std::to_string(key) + '"'; }
std::string key_text(const SpecHash& key) { return '"' + hex(key) + '"'; }

// Entity by entity, so that a million groups are one text but never one tree. One entity per line.
class StateText {
 public:
  std::string take() && { return std::move(out_); }

  void head(const State& state) {
    Json json = walk_json(state.head);
    json["digest"] = hex(state.digest());
    out_ = to_text(json);
    out_.pop_back();  // the tables follow in the same object
  }

  template <class T>
  void table(FactKind kind, const T& entities) {
    constexpr bool kKeyed = !std::is_same_v<typename FactTable<T>::Key, OwnKey>;
    out_ += ",\n\"";
    out_ += table_name(kind);
    out_ += kKeyed ? "\":{" : "\":[";
    for_each_entity(entities, [&, first = true](std::uint64_t, const auto& key, const auto& entity) mutable {
      out_ += first ? "\n" : ",\n";
      first = false;
      if constexpr (kKeyed) (out_ += key_text(key)) += ':';
      out_ += to_text(walk_json(entity));
    });
    out_ += kKeyed ? '}' : ']';
  }
  void end() { out_ += "}\n"; }

 private:
  std::string out_;
};

}  // namespace

std::string dump_json(const State& state) {
  StateText text;
  text.head(state);
  for_each_table([&](FactKind kind, auto table) {
    if constexpr (!std::is_same_v<std::remove_cvref_t<decltype(state.*table)>, StateHead>)
      text.table(kind, state.*table);
  });
  text.end();
  return std::move(text).take();
}

std::string dump_json(const Event& event) {
  Json json = Json::object();
  json["seq"] = event.seq.value;
  json["prev"] = event.prev.value;
  json["cause"] = event.cause.value;
  json["time"] = event.time.value;
  json["actor"] = name(event.actor);
  json["group"] = event.group.value;
  json["kind"] = name(kind(event));
  std::visit([&](const auto& body) { walk_json_into(json, body); }, event.body);
  return to_text(json);
}

}  // namespace lockstep
