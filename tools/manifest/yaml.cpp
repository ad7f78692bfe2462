#include "tools/manifest/yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <sstream>

#include "tools/manifest/manifest.h"
#include "tools/manifest/text.h"

namespace lockstep {
namespace {

// Thrown through the parser, which knows no other way to be stopped; caught in parse_yaml().
struct Stop {
  int line;
  int column;
  std::string text;
};

[[noreturn]] void stop(const YAML::Mark& mark, std::string text) {
  throw Stop{mark.line, mark.column, std::move(text)};
}

// Makes the tree out of the parser's events. An alias points at the node that it stands for, so nothing grows here;
// who reads the tree pays for what an alias makes larger.
class TreeBuilder final : public YAML::EventHandler {
 public:
  explicit TreeBuilder(YamlText& out) : out_(out) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (out_.documents.size() == kYamlDocumentsMax) {
      stop(mark, fmt::format("more than {} documents", kYamlDocumentsMax));
    }
    root_ = nullptr;
    anchors_.clear();
    open_.clear();
  }
  void OnDocumentEnd() override {
    if (root_ != nullptr) out_.documents.push_back(root_);
  }
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(mark, make(mark, YamlNode::Kind::Null, "?", anchor));
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    YamlNode& node = make(mark, YamlNode::Kind::Scalar, tag, anchor);
    node.text = value;
    add(mark, node);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (anchor >= anchors_.size() || anchors_[anchor] == nullptr) stop(mark, "an alias without its anchor");
    for (const YamlNode* node : open_) {
      if (node == anchors_[anchor]) stop(mark, "an alias inside of what it stands for");
    }
    add(mark, *anchors_[anchor]);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(mark, make(mark, YamlNode::Kind::List, tag, anchor));
  }
  void OnSequenceEnd() override { open_.pop_back(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(mark, make(mark, YamlNode::Kind::Map, tag, anchor));
  }
  void OnMapEnd() override { open_.pop_back(); }

 private:
  YamlNode& make(const YAML::Mark& mark, YamlNode::Kind kind, const std::string& tag, YAML::anchor_t anchor) {
    if (out_.nodes.size() == kYamlNodesMax) stop(mark, fmt::format("more than {} values", kYamlNodesMax));
    const bool text = tag == "!" || tag == "tag:yaml.org,2002:str";
    if (!text && !tag.empty() && tag != "?") stop(mark, fmt::format("the tag {} is not supported", in_quotes(tag)));
    YamlNode& node = out_.nodes.emplace_back();
    node.kind = kind;
    node.quoted = text;
    node.line = static_cast<std::uint32_t>(mark.line + 1);
    node.column = static_cast<std::uint32_t>(mark.column + 1);
    if (anchor != 0) {
      if (anchors_.size() <= anchor) anchors_.resize(anchor + 1);
      anchors_[anchor] = &node;
    }
    return node;
  }
  void add(const YAML::Mark& mark, const YamlNode& node) {
    if (open_.empty()) {
      root_ = &node;
      return;
    }
    YamlNode& parent = *open_.back();
    const bool is_key = parent.kind == YamlNode::Kind::Map && parent.items.size() % 2 == 0;
    if (is_key && node.kind != YamlNode::Kind::Scalar) stop(mark, "a key that is not text");
    parent.items.push_back(&node);
  }
  void open(const YAML::Mark& mark, YamlNode& node) {
    if (open_.size() == kYamlDepthMax) stop(mark, fmt::format("nested deeper than {}", kYamlDepthMax));
    add(mark, node);
    open_.push_back(&node);
  }

  YamlText& out_;
  const YamlNode* root_ = nullptr;
  std::vector<const YamlNode*> anchors_{};
  std::vector<YamlNode*> open_{};
};

// Before the parser sees anything: it takes a byte 4 for the end of the text, and guesses at other encodings.
void check_bytes(std::string_view text) {
  int line = 0;
  std::size_t line_start = 0;
  std::size_t flow = 0;
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const int column = static_cast<int>(i - line_start);
    const std::size_t length = utf8_length(text.substr(i));
    if (length == 0) throw Stop{line, column, "a byte that is not UTF-8"};
    if ((byte < 0x20 && !is_space(text[i])) || byte == 0x7F) {
      throw Stop{line, column, fmt::format("a control character (0x{:02x})", byte)};
    }
    if (std::string_view(",[]{}").find(text[i]) != std::string_view::npos && ++flow > kYamlFlowMax) {
      throw Stop{line, column, fmt::format("more than {} commas and brackets", kYamlFlowMax)};
    }
    if (byte == '\n') {
      ++line;
      line_start = i + 1;
    }
    i += length;
  }
}

void parse(std::string_view text, YamlText& out) {
  check_bytes(text);
  std::istringstream stream{std::string(text)};
  YAML::Parser parser(stream);
  TreeBuilder builder(out);
  while (parser.HandleNextDocument(builder)) {
  }
}

void add_syntax(YamlText& out, int line, int column, std::string_view text) {
  out.problems.push_back({fmt::format("line {}, column {}", line + 1, column + 1), one_line(text)});
}

}  // namespace

YamlText parse_yaml(std::string_view text) {
  YamlText out;
  if (text.size() > kManifestBytesMax) {
    out.problems.push_back({"document", fmt::format("{} bytes are more than {}", text.size(), kManifestBytesMax)});
    return out;
  }
  try {
    parse(text, out);
  } catch (const Stop& at) {
    add_syntax(out, at.line, at.column, at.text);
  } catch (const YAML::Exception& error) {
    add_syntax(out, std::max(error.mark.line, 0), std::max(error.mark.column, 0), error.msg);
  }
  return out;
}

}  // namespace lockstep
