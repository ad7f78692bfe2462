#pragma once
// The group's lifecycle as one function: phase in, trigger in, phase out. The table is a Boost.MSM machine, used as a
// flyweight in lifecycle.cpp alone; the numbers in the state are our own. Every pair that is not in the table is
// refused, and an event that would need it is a defect (apply checks).

#include <cstdint>
#include <optional>

#include "events/phases.h"

namespace lockstep {

// What happens to a group. Not written to disk.
enum class GroupTrigger : std::uint8_t {
  Submit,    // a held group is wanted now
  Reserve,   // a reservation opens
  Extend,    // it grows, or loses a host
  Release,   // it ends without a placement
  Place,     // every required member has hosts
  Progress,  // something about its members or claims; the phase stays
  Barrier,   // all armed, all claims ready
  Run,       // every required member runs or has succeeded
  Recover,   // a needed member is gone and will be replaced
  Stop,      // members are asked to stop; a stronger reason may follow
  Backoff,   // stopped; waits before the next attempt
  Requeue,   // stopped or waited; wants placement again
  Suspend,
  Resume,
  Succeed,
  Fail,
  Cancel,
};
LOCKSTEP_ENUM(GroupTrigger, Submit, Reserve, Extend, Release, Place, Progress, Barrier, Run, Recover, Stop, Backoff,
              Requeue, Suspend, Resume, Succeed, Fail, Cancel)

// The phase after `trigger`, or nothing when the lifecycle refuses it.
[[nodiscard]] std::optional<GroupPhase> next_phase(GroupPhase phase, GroupTrigger trigger);

}  // namespace lockstep
