#pragma once
// A log in memory: tests, scenarios and simulations. The same contract as on disk; "durable" lasts as long as the
// object. fail_next() makes the next append fail like a disk would.

#include <memory>
#include <optional>

#include "events/log/log.h"

namespace lockstep {

class MemoryLog final : public Log {
 public:
  MemoryLog();
  ~MemoryLog() override;
  [[nodiscard]] Result<Head> head() const override;
  [[nodiscard]] Result<Seq> first() const override;
  [[nodiscard]] Result<void> append(std::span<const std::byte> record) override;
  [[nodiscard]] Result<void> read(Seq from, const Visit& visit) const override;
  [[nodiscard]] Result<void> trim(Seq before) override;

  // The next append returns `code` and appends nothing, except OutcomeUnknown with `landed`: it is there all the same.
  void fail_next(ErrorCode code, bool landed = false);
  // As after a restart: an OutcomeUnknown no longer latches.
  void reopen();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep
