#include "tools/manifest/manifest.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/manifest/group.h"
#include "tools/manifest/text.h"
#include "tools/manifest/yaml.h"

namespace lockstep {
namespace {

// The `kind` of a document, or "" and what is wrong. The document's reader complains of the rest of the map.
std::string read_kind(ReadContext& context, const YamlNode& node) {
  ReadContext quiet;
  MapReader map(Value(quiet, node));
  std::string kind;
  if (const auto value = map.need("kind")) value->read_text(kind);
  if (kind.empty()) {
    for (Problem& problem : quiet.take()) context.add(std::move(problem.path), std::move(problem.text));
  }
  return kind;
}

std::string read_name(const Value& document) {
  // A throwaway context: what is wrong in a document of another kind is not ours to say.
  ReadContext quiet;
  const Value value(quiet, document.node());
  MapReader map(value);
  std::string name = "without a name";
  if (const auto metadata = map.find("metadata")) {
    MapReader inner(*metadata);
    inner.read_text("name", name);
  }
  return name;
}

class ManifestReader {
 public:
  ManifestReader(std::string_view default_user, std::size_t document_count)
      : default_user_(default_user), document_count_(document_count) {}

  void read(const YamlNode& node, std::size_t number) {
    if (context_.is_full()) return;
    if (document_count_ > 1) context_.set_prefix(fmt::format("document {}: ", number));
    const Value document(context_, node);
    const std::string kind = read_kind(context_, node);
    if (kind == "GangGroup") {
      groups_.push_back(read_group(document, default_user_, not_carried_));
      check(groups_.back());
    } else if (kind == "JobSet") {
      groups_.push_back(read_jobset(document, default_user_, not_carried_));
    } else if (!kind.empty()) {
      others_.push_back(printable(kind));
      not_carried_.add(document.key("kind", node),
                       fmt::format("{} {}", others_.back(), printable(read_name(document))));
    }
  }

  ManifestResult take() {
    std::vector<Problem> problems = context_.take();
    if (groups_.empty() && problems.empty()) problems.push_back(no_group());
    return {std::move(groups_), std::move(problems), not_carried_.take()};
  }

 private:
  // What the reader refused is not said a second time in the words of validate().
  void check(const DefineGroup& group) {
    const ReadContext read_only = context_;
    for (Problem& problem : validate(group.identity, group.spec)) {
      if (!read_only.mentions(problem.path)) context_.add(std::move(problem.path), std::move(problem.text));
    }
  }

  [[nodiscard]] Problem no_group() const {
    if (others_.empty()) return {"document", "is empty; a GangGroup or a JobSet is wanted"};
    return {"kind", fmt::format("{} {} neither GangGroup nor JobSet", fmt::join(others_, ", "),
                                others_.size() == 1 ? "is" : "are")};
  }

  std::string_view default_user_;
  std::size_t document_count_;
  ReadContext context_{};
  NotCarried not_carried_{};
  std::vector<DefineGroup> groups_{};
  std::vector<std::string> others_{};
};

}  // namespace

ManifestResult read_manifest(std::string_view text, std::string_view default_user) {
  YamlText yaml = parse_yaml(text);
  ManifestReader reader(default_user, yaml.documents.size());
  if (!yaml.problems.empty()) {
    ManifestResult result;
    result.problems = std::move(yaml.problems);
    return result;
  }
  std::size_t number = 0;
  for (const YamlNode* document : yaml.documents) {
    ++number;
    if (document->kind != YamlNode::Kind::Null) reader.read(*document, number);
  }
  return reader.take();
}

}  // namespace lockstep
