#include "tools/manifest/group.h"

namespace lockstep {

JobSetResult read_jobset(const Value& document, std::string_view /*default_user*/) {
  document.problem("a JobSet is not read yet");
  return {};
}

}  // namespace lockstep
