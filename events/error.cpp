#include "events/error.h"

#include <cstdio>
#include <cstdlib>

namespace lockstep {

std::string_view name(ErrorCode code) {
  switch (code) {
    case ErrorCode::Usage:
      return "Usage";
    case ErrorCode::InvalidInput:
      return "InvalidInput";
    case ErrorCode::NotFound:
      return "NotFound";
    case ErrorCode::NotAStore:
      return "NotAStore";
    case ErrorCode::NewerFormat:
      return "NewerFormat";
    case ErrorCode::Damaged:
      return "Damaged";
    case ErrorCode::Trimmed:
      return "Trimmed";
    case ErrorCode::MapFull:
      return "MapFull";
    case ErrorCode::DiskFull:
      return "DiskFull";
    case ErrorCode::Locked:
      return "Locked";
    case ErrorCode::NetworkFilesystem:
      return "NetworkFilesystem";
    case ErrorCode::StorageFailed:
      return "StorageFailed";
    case ErrorCode::OutcomeUnknown:
      return "OutcomeUnknown";
    case ErrorCode::NotLeader:
      return "NotLeader";
    case ErrorCode::StaleHead:
      return "StaleHead";
    case ErrorCode::Interrupted:
      return "Interrupted";
  }
  return "?";
}

int exit_status(ErrorCode code) {
  switch (code) {
    case ErrorCode::NotFound:
    case ErrorCode::Trimmed:
      return 1;
    case ErrorCode::Usage:
    case ErrorCode::InvalidInput:
      return 2;
    case ErrorCode::NotAStore:
    case ErrorCode::NewerFormat:
    case ErrorCode::Damaged:
      return 3;
    case ErrorCode::MapFull:
    case ErrorCode::DiskFull:
    case ErrorCode::NetworkFilesystem:
    case ErrorCode::StorageFailed:
    case ErrorCode::OutcomeUnknown:
      return 4;
    case ErrorCode::Locked:
    case ErrorCode::NotLeader:
    case ErrorCode::StaleHead:
      return 5;  // somebody else has appended: only another leader can
    case ErrorCode::Interrupted:
      return 130;
  }
  return 4;
}

void check_failed(const char* file, int line, const char* condition, const std::string& what) {
  // One call, so that the line stays whole when several threads fail at once.
  std::fprintf(stderr, "lockstep: CheckFailed: %s:%d: %s: %s\n", file, line, condition, what.c_str());
  std::fflush(stderr);
  std::abort();
}

}  // namespace lockstep
