#pragma once
// The readers of one document, which read_manifest() chooses from by its `kind`. Not for use outside of this folder.

#include <string_view>

#include "tools/manifest/foreign.h"
#include "tools/manifest/manifest.h"
#include "tools/manifest/yaml.h"

namespace lockstep {

// Problems go to the document's context; the group is complete only when there are none.
//
// A GangGroup.
[[nodiscard]] DefineGroup read_group(const Value& document, std::string_view default_user, NotCarried& not_carried);
// A JobSet (jobset.h says what becomes of each of its fields).
[[nodiscard]] DefineGroup read_jobset(const Value& document, std::string_view default_user, NotCarried& not_carried);

}  // namespace lockstep
