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
    ReadContext context(document_count_ > 1 ? fmt::format("document {}: ", number) : "", spent_);
    const Value document(context, node);
    const std::string kind = read_kind(context, node);
    if (kind == "GangGroup") {
      add(context, read_group(document, default_user_));
    } else if (kind == "JobSet") {
      JobSetResult jobset = read_jobset(document, default_user_);
      for (std::string& line : jobset.not_carried) result_.not_carried.push_back(context.prefix() + line);
      result_.groups.push_back(std::move(jobset.group));
    } else if (!kind.empty()) {
      others_.push_back(printable(kind));
      result_.not_carried.push_back(
          fmt::format("{}kind: {} {}, not carried", context.prefix(), others_.back(), printable(read_name(document))));
    }
    spent_ = context.spent();
    for (Problem& problem : context.take()) result_.problems.push_back(std::move(problem));
  }

  ManifestResult take() {
    if (result_.groups.empty() && result_.problems.empty()) {
      result_.problems.push_back(no_group());
    }
    return std::move(result_);
  }

 private:
  // What the reader refused is not said a second time in the words of validate().
  void add(ReadContext& context, DefineGroup group) {
    const ReadContext read_only = context;
    for (Problem& problem : validate(group.identity, group.spec)) {
      if (!read_only.mentions(problem.path)) context.add(std::move(problem.path), std::move(problem.text));
    }
    result_.groups.push_back(std::move(group));
  }

  [[nodiscard]] Problem no_group() const {
    if (others_.empty()) return {"document", "is empty; a GangGroup or a JobSet is wanted"};
    return {"kind", fmt::format("{} {} neither GangGroup nor JobSet", fmt::join(others_, ", "),
                                others_.size() == 1 ? "is" : "are")};
  }

  std::string_view default_user_;
  std::size_t document_count_;
  std::vector<std::string> others_{};
  std::size_t spent_ = 0;
  ManifestResult result_{};
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
