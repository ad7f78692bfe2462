#include "tools/lockstep/outcome.h"

#include "tools/manifest/text.h"

namespace lockstep::cli {
namespace {

std::string joined_lines(std::string_view text) {
  std::string joined;
  joined.reserve(text.size());
  for (const char c : text) {
    if (c == '\n') {
      joined += "; ";
    } else {
      joined += c == '\t' ? ' ' : c;
    }
  }
  return one_line(joined);
}

}  // namespace

Failure failure(const Error& error) {
  return Failure{std::string(name(error.code)), error.message, exit_status(error.code)};
}

Failure failure(const Answer& rejection) {
  const int exit = rejection.code == AnswerCode::NotLeader ? exit_status(ErrorCode::NotLeader) : kExitNo;
  return Failure{std::string(name(rejection.code)), rejection.text, exit};
}

Failure after_part(Failure failure, const std::vector<std::string>& done) {
  if (done.empty()) return failure;
  std::string names;
  for (const auto& each : done) names += (names.empty() ? "" : ", ") + each;
  failure.message += "; done before it: " + names + "; ask again for the others only";
  return failure;
}

std::string error_line(const Failure& failure) {
  return "lockstep: " + failure.code + ": " + joined_lines(failure.message);
}

}  // namespace lockstep::cli
