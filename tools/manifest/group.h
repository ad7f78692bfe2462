#pragma once
// The readers of one document, which read_manifest() chooses from by its `kind`. Not for use outside of this folder.

#include <string_view>

#include "tools/manifest/manifest.h"
#include "tools/manifest/yaml.h"

namespace lockstep {

// A GangGroup. Problems go to the document's context; the group is complete only when there are none.
[[nodiscard]] DefineGroup read_group(const Value& document, std::string_view default_user);

// Of the native `tasks`: the short form, or the list of terms.
void read_tasks(const Value& value, std::vector<TaskTerm>& tasks);

// A JobSet (jobset.cpp says what becomes of each of its fields).
struct JobSetResult {
  DefineGroup group{};
  std::vector<std::string> not_carried;
};
[[nodiscard]] JobSetResult read_jobset(const Value& document, std::string_view default_user);

}  // namespace lockstep
