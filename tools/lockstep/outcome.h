#pragma once
// What a verb comes back with: nothing, or one Problem that becomes the one line on stderr and the exit status
// (DESIGN.md section 7). Errors of the world and rejections of the domain meet here, and here alone.

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "events/commands.h"
#include "events/error.h"

namespace lockstep::cli {

inline constexpr int kExitNo = 1;
inline constexpr int kExitUsage = 2;

struct Failure {
  std::string code;     // of ErrorCode or AnswerCode, or NotYet
  std::string message;  // what, where, what to do
  int exit{kExitNo};
};

template <class T>
using Outcome = tl::expected<T, Failure>;

[[nodiscard]] Failure failure(const Error& error);
[[nodiscard]] Failure failure(const Answer& rejection);
[[nodiscard]] inline tl::unexpected<Failure> refuse(Failure failure) {
  return tl::unexpected<Failure>(std::move(failure));
}
[[nodiscard]] inline tl::unexpected<Failure> refuse(const Error& error) { return refuse(failure(error)); }
[[nodiscard]] inline tl::unexpected<Failure> usage(std::string message) {
  return refuse(Failure{"Usage", std::move(message), kExitUsage});
}

// The failure of one of several things asked for at once, when `done` were done before it.
[[nodiscard]] Failure after_part(Failure failure, const std::vector<std::string>& done);

// "lockstep: <code>: <message>", always one printable line: line ends inside become "; ".
[[nodiscard]] std::string error_line(const Failure& failure);

}  // namespace lockstep::cli
