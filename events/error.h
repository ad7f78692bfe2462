#pragma once
// What can go wrong outside the domain: disks, files, bytes, other processes. A domain "no" is not an Error but a
// Rejection (commands.h); a broken invariant of ours is LOCKSTEP_CHECK, compiled in always, which prints and aborts
// before a wrong state can reach the log.

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "events/ids.h"

namespace lockstep {

enum class ErrorCode : std::uint8_t {
  Usage,              // exit 2: the caller asked for something that has no meaning
  InvalidInput,       // exit 2: a file or text that does not parse
  NotFound,           // exit 1: no such group, seq, file
  NotAStore,          // exit 3: the directory holds no store (run init), or an incomplete one
  NewerFormat,        // exit 3: written by a later release
  Damaged,            // exit 3: bytes that fail their checks; file, seq and offset in the message
  Trimmed,            // exit 1: the seq asked for is no longer in the log
  MapFull,            // exit 4: the LMDB map has no room
  DiskFull,           // exit 4: the filesystem has no room
  Locked,             // exit 5: another controller holds the store
  NetworkFilesystem,  // exit 4: refused, locks and flushes cannot be trusted there
  StorageFailed,      // exit 4: open, read or lock failed
  OutcomeUnknown,     // exit 4: an append failed half way; reopening decides
  NotLeader,          // exit 5: another epoch has appended
  StaleHead,          // an append that does not follow the head; the caller's view is old
  Interrupted,        // exit 130
};

[[nodiscard]] std::string_view name(ErrorCode code);
[[nodiscard]] int exit_status(ErrorCode code);

struct Error {
  ErrorCode code{ErrorCode::StorageFailed};
  std::string message;  // what, where, what to do; one line
  Seq seq{};            // where in the log, when that is known
};

template <class T>
using Result = tl::expected<T, Error>;

[[nodiscard]] inline tl::unexpected<Error> fail(ErrorCode code, std::string message, Seq seq = {}) {
  return tl::unexpected<Error>(Error{code, std::move(message), seq});
}

// Prints `what` with its place and stops the process. Never returns.
[[noreturn]] void check_failed(const char* file, int line, const char* condition, const std::string& what);

}  // namespace lockstep

#define LOCKSTEP_CHECK(condition, what)                                       \
  do {                                                                        \
    if (!(condition)) [[unlikely]] {                                          \
      ::lockstep::check_failed(__FILE__, __LINE__, #condition, (what));       \
    }                                                                         \
  } while (false)

// Returns the error of `result` from the calling function.
#define LOCKSTEP_TRY(result)                                                  \
  do {                                                                        \
    if (auto&& lockstep_try = (result); !lockstep_try) [[unlikely]] {         \
      return tl::unexpected(std::move(lockstep_try).error());                 \
    }                                                                         \
  } while (false)
