// The compiled schema, as a list of lines, against the recorded list: an edit that would give old bytes another meaning
// (a type, number, offset, default or discriminant that changes, a field or kind that goes) fails here. So do the
// numbers of every code that stands in an event or a command. What is added must be recorded, so that it too stays.

#include <capnp/schema.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/core/demangle.hpp>
#include <map>
#include <set>
#include <string>
#include <typeinfo>
#include <vector>

#include "events/commands.h"
#include "events/events.h"
#include "events/lockstep.capnp.h"
#include "tests/events/filler.h"
#include "tests/events/golden.h"

namespace lockstep {
namespace {

using Lines = std::vector<std::string>;

std::string text_of(capnp::Type type) {
  switch (type.which()) {
    case capnp::schema::Type::VOID:
      return "Void";
    case capnp::schema::Type::BOOL:
      return "Bool";
    case capnp::schema::Type::INT8:
      return "Int8";
    case capnp::schema::Type::INT16:
      return "Int16";
    case capnp::schema::Type::INT32:
      return "Int32";
    case capnp::schema::Type::INT64:
      return "Int64";
    case capnp::schema::Type::UINT8:
      return "UInt8";
    case capnp::schema::Type::UINT16:
      return "UInt16";
    case capnp::schema::Type::UINT32:
      return "UInt32";
    case capnp::schema::Type::UINT64:
      return "UInt64";
    case capnp::schema::Type::TEXT:
      return "Text";
    case capnp::schema::Type::STRUCT:
      return fmt::format("@{:x}", type.asStruct().getProto().getId());
    case capnp::schema::Type::LIST:
      return fmt::format("List({})", text_of(type.asList().getElementType()));
    default:
      return "not used here";
  }
}

// Every default is zero; one that is not would be seen by its bits here.
std::string default_of(capnp::schema::Value::Reader value) {
  switch (value.which()) {
    case capnp::schema::Value::BOOL:
      return value.getBool() ? "true" : "false";
    case capnp::schema::Value::INT32:
      return std::to_string(value.getInt32());
    case capnp::schema::Value::INT64:
      return std::to_string(value.getInt64());
    case capnp::schema::Value::UINT8:
      return std::to_string(value.getUint8());
    case capnp::schema::Value::UINT16:
      return std::to_string(value.getUint16());
    case capnp::schema::Value::UINT32:
      return std::to_string(value.getUint32());
    case capnp::schema::Value::UINT64:
      return std::to_string(value.getUint64());
    case capnp::schema::Value::TEXT:
      return fmt::format("'{}'", value.getText().cStr());
    case capnp::schema::Value::STRUCT:
      return value.getStruct().isNull() ? "null" : "set";
    case capnp::schema::Value::LIST:
      return value.getList().isNull() ? "null" : "set";
    case capnp::schema::Value::VOID:
      return "void";
    default:
      return "not used here";
  }
}

class SchemaLines {
 public:
  void add(capnp::StructSchema schema, const std::string& name) {
    const auto proto = schema.getProto();
    if (!seen_.insert(proto.getId()).second) return;
    const auto shape = proto.getStruct();
    lines_.push_back(
        fmt::format("struct {} id={:x} discriminants at={}", name, proto.getId(),
                    shape.getDiscriminantCount() == 0 ? "none" : std::to_string(shape.getDiscriminantOffset())));
    std::vector<std::pair<std::string, capnp::StructSchema>> inner;
    for (const auto field : schema.getFields()) {
      add(field, name, inner);
    }
    for (const auto& [inner_name, inner_schema] : inner) add(inner_schema, inner_name);
  }
  [[nodiscard]] Lines take() { return std::move(lines_); }

 private:
  void add(capnp::StructSchema::Field field, const std::string& owner,
           std::vector<std::pair<std::string, capnp::StructSchema>>& inner) {
    const auto proto = field.getProto();
    const std::string name = owner + "." + proto.getName().cStr();
    const std::uint16_t tag = proto.getDiscriminantValue();
    const std::string place = tag == capnp::schema::Field::NO_DISCRIMINANT ? "" : fmt::format(" tag={}", tag);
    if (proto.isGroup()) {
      lines_.push_back(fmt::format("group {}{}", name, place));
      inner.emplace_back(name, field.getType().asStruct());
      return;
    }
    const auto slot = proto.getSlot();
    lines_.push_back(fmt::format("field {} number={} type={} offset={} default={}{}", name,
                                 proto.getOrdinal().getExplicit(), text_of(field.getType()), slot.getOffset(),
                                 default_of(slot.getDefaultValue()), place));
    capnp::Type type = field.getType();
    while (type.isList()) type = type.asList().getElementType();
    if (type.isStruct()) inner.emplace_back(type.asStruct().getShortDisplayName().cStr(), type.asStruct());
  }

  Lines lines_{};
  std::set<std::uint64_t> seen_{};
};

// Every enum below T, by its name.
template <class T>
void add_codes(std::map<std::string, Lines>& codes) {
  if constexpr (std::is_enum_v<T>) {
    const std::string type = boost::core::demangle(typeid(T).name()).substr(std::string("lockstep::").size());
    Lines& lines = codes[type];
    lines.clear();
    for (const T value : filler::enumerators<T>()) {
      lines.push_back(fmt::format("code {}.{} = {}", type, name(value), static_cast<unsigned>(value)));
    }
  } else if constexpr (filler::kIsVariant<T>) {
    boost::mp11::mp_for_each<boost::mp11::mp_transform<boost::mp11::mp_identity, T>>(
        [&](auto body) { add_codes<typename decltype(body)::type>(codes); });
  } else if constexpr (WalkShared<T>) {
    add_codes<std::remove_cvref_t<decltype(*std::declval<T>())>>(codes);
  } else if constexpr (WalkVector<T>) {
    add_codes<typename T::value_type>(codes);
  } else if constexpr (Described<T>) {
    T value{};
    for_each_field(value,
                   [&](std::string_view, auto& field) { add_codes<std::remove_cvref_t<decltype(field)>>(codes); });
  }
}

Lines schema_lines() {
  SchemaLines schema;
  schema.add(capnp::Schema::from<wire::EventBatch>(), "EventBatch");
  schema.add(capnp::Schema::from<wire::Command>(), "Command");
  Lines lines = schema.take();
  std::map<std::string, Lines> codes;
  add_codes<EventBody>(codes);
  add_codes<CommandBody>(codes);
  add_codes<EventKind>(codes);
  add_codes<Actor>(codes);
  add_codes<AnswerCode>(codes);
  for (const auto& [type, list] : codes) lines.insert(lines.end(), list.begin(), list.end());
  std::sort(lines.begin(), lines.end());
  return lines;
}

constexpr auto kHelp =
    "\nThese lines of tests/golden/events/schema.txt are no longer true. Logs in the field were written by them: a "
    "type,"
    "\nnumber, offset, default or code that changes gives their bytes another meaning, without any error. Put it back "
    "and"
    "\nadd instead: a field at the next number of its struct, a kind at the end of its union, a code with a new number"
    "\n(events/FORMAT.md, \"Evolution\").";
constexpr auto kHowToRecord =
    "\nThese lines are new. If they are only additions, record them so that they stay as they are: run this test with"
    "\nLOCKSTEP_WRITE_GOLDEN=1 and commit tests/golden/events/schema.txt (events/FORMAT.md, \"Evolution\").";

Lines only_in(const Lines& a, const Lines& b) {
  Lines only;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(only));
  return only;
}

TEST(Schema, NothingThatWasEverWrittenHasChangedAndWhatIsNewIsRecorded) {
  const std::filesystem::path path = golden::folder() / "schema.txt";
  const Lines now = schema_lines();
  Lines recorded = golden::read_lines(path);
  std::sort(recorded.begin(), recorded.end());
  const Lines changed = only_in(recorded, now);
  EXPECT_TRUE(changed.empty()) << kHelp << "\n\n" << golden::joined(changed);
  if (golden::writes() && changed.empty()) {
    std::ofstream(path) << "# The compiled schema of events and commands, and their codes. Only ever added to.\n"
                        << golden::joined(now);
    recorded = now;
  }
  const Lines added = only_in(now, recorded);
  EXPECT_TRUE(added.empty()) << kHowToRecord << "\n\n" << golden::joined(added);
}

TEST(Schema, NumbersAreDenseSoThatNothingWasRemoved) {
  const auto check = [](auto schema) {
    std::set<std::uint16_t> numbers;
    const auto walk = [&](const auto& self, capnp::StructSchema at) -> void {
      for (const auto field : at.getFields()) {
        if (field.getProto().isGroup()) {
          self(self, field.getType().asStruct());
        } else {
          numbers.insert(field.getProto().getOrdinal().getExplicit());
        }
      }
    };
    walk(walk, schema);
    EXPECT_EQ(*numbers.rbegin() + 1U, numbers.size()) << schema.getShortDisplayName().cStr();
  };
  check(capnp::Schema::from<wire::Event>());
  check(capnp::Schema::from<wire::Command>());
  check(capnp::Schema::from<wire::GroupSpec>());
}

}  // namespace
}  // namespace lockstep
