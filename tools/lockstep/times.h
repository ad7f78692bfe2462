#pragma once
// Times as people and scripts read them. JSON has all nanoseconds, text has milliseconds; both are UTC.

#include <string>
#include <string_view>

#include "events/ids.h"

namespace lockstep::cli {

[[nodiscard]] Time wall_clock();

[[nodiscard]] std::string rfc3339(Time time);      // 2024-05-01T10:00:00.123456789Z
[[nodiscard]] std::string date_time(Time time);    // 2024-05-01 10:00:00.123
[[nodiscard]] std::string time_of_day(Time time);  // 10:00:00.123

// "1h05m", "3.2s": for people, never read back.
[[nodiscard]] std::string rough(Duration duration);

}  // namespace lockstep::cli
