#include "tools/lockstep/times.h"

#include <fmt/format.h>

#include <chrono>
#include <ctime>

namespace lockstep::cli {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

struct Parts {
  std::tm calendar{};
  std::int64_t nanoseconds{};
};

Parts parts(Time time) {
  std::int64_t whole = time.value / kSecond;
  std::int64_t rest = time.value % kSecond;
  if (rest < 0) {
    rest += kSecond;
    --whole;
  }
  Parts result;
  const std::time_t seconds_since = whole;
  gmtime_r(&seconds_since, &result.calendar);
  result.nanoseconds = rest;
  return result;
}

std::string date(const std::tm& tm) {
  return fmt::format("{:04}-{:02}-{:02}", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday);
}

std::string clock(const std::tm& tm) { return fmt::format("{:02}:{:02}:{:02}", tm.tm_hour, tm.tm_min, tm.tm_sec); }

}  // namespace

Time wall_clock() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return Time{std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()};
}

std::string rfc3339(Time time) {
  const Parts p = parts(time);
  return fmt::format("{}T{}.{:09}Z", date(p.calendar), clock(p.calendar), p.nanoseconds);
}

std::string date_time(Time time) {
  const Parts p = parts(time);
  return fmt::format("{} {}.{:03}", date(p.calendar), clock(p.calendar), p.nanoseconds / 1'000'000);
}

std::string time_of_day(Time time) {
  const Parts p = parts(time);
  return fmt::format("{}.{:03}", clock(p.calendar), p.nanoseconds / 1'000'000);
}

std::string rough(Duration duration) {
  const std::int64_t total = duration.value / kSecond;
  if (duration.value < 0) return "0s";
  if (total < 10) return fmt::format("{}.{}s", total, duration.value % kSecond / 100'000'000);
  if (total < 60) return fmt::format("{}s", total);
  if (total < 3600) return fmt::format("{}m{:02}s", total / 60, total % 60);
  if (total < 86400) return fmt::format("{}h{:02}m", total / 3600, total % 3600 / 60);
  return fmt::format("{}d{:02}h", total / 86400, total % 86400 / 3600);
}

}  // namespace lockstep::cli
