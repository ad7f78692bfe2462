#pragma once
// What the readers of all files write into, until everything is known and finish_draft() makes the result of it: hosts
// as they are described, hosts as they are placed, the domains they are placed in, and the pieces of topologies that
// mean nothing before the last file has been read. Private to tools/topology.

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tools/topology/findings.h"
#include "tools/topology/topology.h"

namespace lockstep {

inline constexpr std::size_t kDomainsMax = 4'000'000;
inline constexpr std::size_t kSwitchesMax = 1'000'000;       // also of names in all Switches= together
inline constexpr std::size_t kSelectorPartsMax = 1'000'000;  // members of all HyperNodes, their labels and values
inline constexpr std::string_view kKueueTopology = "a Topology of Kueue";
inline constexpr std::uint32_t kNowhere = 0xffffffffU;

struct HostRecord {
  HostInfo info{};  // its `at` is empty until the end
  Where where{};
  std::uint32_t domain{kNowhere};
};

// Hosts by name, in the order in which they came. Names are written in lower case, since a host's name has no other.
class HostTable {
 public:
  explicit HostTable(Findings& findings) : findings_(findings) {}
  HostTable(const HostTable&) = delete;
  HostTable& operator=(const HostTable&) = delete;

  struct Added {
    HostRecord* record;  // null, with a problem, when it cannot be a host or nothing more fits
    bool is_new;
  };
  // A host that is there already is left as it is.
  Added add(HostInfo info, Where where);
  // False, and a problem once, when so many bytes more do not fit.
  bool has_room(Where where, std::size_t bytes);
  // The same, and takes the room: before a host gets larger.
  bool spend(Where where, std::size_t bytes);
  [[nodiscard]] HostRecord* find(std::string_view name);
  [[nodiscard]] std::deque<HostRecord>& all() { return records_; }
  [[nodiscard]] bool empty() const { return records_.empty(); }
  [[nodiscard]] bool full() const { return full_; }
  [[nodiscard]] const Sample& renamed() const { return renamed_; }

 private:
  Findings& findings_;
  std::deque<HostRecord> records_{};  // never move
  std::unordered_map<std::string_view, HostRecord*> by_name_{};
  Sample renamed_{};
  std::size_t bytes_ = 0;
  bool full_ = false;
};

// Hostlists of a stranger: all of them together expand to a bounded number of names, whether they turn out good or not.
class Hostlists {
 public:
  explicit Hostlists(std::size_t names_max) : names_max_(names_max), left_(names_max) {}
  [[nodiscard]] Result<std::vector<std::string>> expand(std::string_view text);
  // After a few long lists that were bad nothing is expanded any more.
  [[nodiscard]] bool spent() const { return wasted_ > kWastedMax; }

 private:
  static constexpr std::size_t kWastedMax = 1;
  std::size_t names_max_;
  std::size_t left_;
  std::size_t wasted_ = 0;  // long lists that turned out bad
};

// Domains by parent and name, so by path.
class Forest {
 public:
  // Made when it is not there. kNowhere as parent: a domain of the widest level.
  [[nodiscard]] std::uint32_t child(std::uint32_t parent, std::string_view name);
  [[nodiscard]] std::vector<std::string> path(std::uint32_t domain) const;
  [[nodiscard]] std::string path_text(std::uint32_t domain) const;  // "b1/r1"
  [[nodiscard]] bool full() const { return domains_.size() >= kDomainsMax; }

 private:
  struct Domain {
    std::string name;
    std::uint32_t parent;
  };
  std::vector<Domain> domains_;
  std::unordered_map<std::string, std::uint32_t> by_key_;
};

// A switch, and the switches right below it.
struct SwitchEntry {
  std::string name{};
  Where where{};
  std::vector<std::string> switches{};
  std::vector<KeyValue> attributes{};  // of all hosts below it that do not say otherwise
};

// Hosts right below a switch.
struct LeafEntry {
  std::string switch_name{};
  Where where{};
  std::vector<std::string> hosts{};
  std::vector<KeyValue> attributes{};
};

struct BlockEntry {
  std::string name{};
  Where where{};
  std::vector<std::string> hosts{};
};

// matchLabels are of the form `key In [value]`.
struct LabelRequirement {
  enum class Op : std::uint8_t { In, NotIn, Exists, DoesNotExist };
  std::string key{};
  Op op{Op::In};
  std::vector<std::string> values{};
};

struct HyperMember {
  enum class Type : std::uint8_t { Node, HyperNode };
  enum class By : std::uint8_t { Name, Pattern, Labels };
  Type type{Type::Node};
  By by{By::Name};
  std::string text{};  // the name or the pattern
  std::vector<LabelRequirement> labels{};
  Where where{};
};

struct HyperNode {
  std::string name{};
  Where where{};
  std::int64_t tier{};
  std::string tier_name{};
  std::vector<HyperMember> members{};
};

struct Draft {
  explicit Draft(std::vector<std::string> files) : findings(std::move(files)) {}

  Findings findings;
  HostTable nodes{findings};   // as NodeName lines and Nodes describe them
  HostTable placed{findings};  // as a topology names them
  Forest forest{};
  std::vector<std::string> levels{};
  std::vector<Counter> pools{};

  std::deque<SwitchEntry> switches{};
  std::vector<LeafEntry> leaves{};
  bool all_switches_are_defined = true;  // false: a name in `switches` may be all that is said of a switch
  Hostlists switch_lists{kSwitchesMax};
  Hostlists host_lists{kInventoryHostsMax};  // of `leaves` and `blocks`
  Hostlists node_lists{kInventoryHostsMax};  // of NodeName lines
  std::vector<BlockEntry> blocks{};
  std::vector<std::int64_t> block_sizes{};
  Where block_sizes_where{};
  std::vector<HyperNode> hyper_nodes{};
  std::size_t selector_parts = 0;
  std::vector<std::string> label_keys{};  // one for each level
  Sample unschedulable{};
  Sample tainted{};

  // True when a topology of this kind may be read: none of another kind has been, and none at all when it is `single`.
  bool claim(std::string_view kind, Where where, bool single);
  [[nodiscard]] bool has_topology() const { return !kind_.empty(); }
  [[nodiscard]] const std::string& kind() const { return kind_; }
  // A problem when it cannot be the name of a level; what is found wrong stands at `path`.
  bool add_level(std::string name, std::string_view path);
  // A problem when it cannot be the name of a domain.
  bool check_domain(std::string_view name, Where where);
  // Puts a host into a domain; a problem when it has a place already.
  void place(HostInfo info, Where where, std::uint32_t domain);

 private:
  std::string kind_{};
  Where kind_where_{};
};

// An amount of a counter, added to what the host has of it; false when no host can have a counter of this name.
bool add_counter(HostInfo& host, std::string_view name, std::int64_t amount);
// Sorts what was added; of attributes with one key the first stays.
void finish_host(HostInfo& host);

[[nodiscard]] const std::string* attribute_of(const HostInfo& finished, std::string_view key);  // null = none

// Each makes domains and places of what was collected.
void finish_switches(Draft& draft);
void finish_blocks(Draft& draft);
void finish_hyper_nodes(Draft& draft);
void finish_label_levels(Draft& draft);

}  // namespace lockstep
