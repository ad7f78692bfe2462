#pragma once
// A disk that fails on demand. Linked into a test, its pwrite, writev, fdatasync, rename, ... stand before those of the
// C library, also for LMDB. Disarmed they do nothing of their own. Armed, they count; at the chosen call they fail with
// an errno, or end the process like a kill, or like a power cut: then writes that no flush has covered are taken back,
// each sector or whole call by the toss of a seeded coin.

#include <cstdint>

namespace lockstep::testing {

enum class Fault {
  Error,     // the call fails with `error` and does nothing; later calls work
  Kill,      // the process leaves with kCrashStatus before the call
  PowerCut,  // the same, and unflushed writes are lost or torn
};

struct FaultPlan {
  Fault fault{Fault::Error};
  std::uint64_t at{};        // the nth armed call, from 1; 0 = only count
  int error{};               // for Fault::Error
  bool flushes_only{false};  // count only fsync, fdatasync and writes to O_DSYNC descriptors
  std::uint64_t seed{};      // for Fault::PowerCut
};

void arm(const FaultPlan& plan);
void disarm();
[[nodiscard]] std::uint64_t armed_calls();  // since arm()

}  // namespace lockstep::testing
