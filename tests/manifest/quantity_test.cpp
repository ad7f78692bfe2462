// Quantities and durations: what is read, in which base unit, what is refused with which words, and that what is
// printed reads back to the same value (tables, and random values for the round trip).

#include <gtest/gtest.h>

#include "tests/manifest/support.h"
#include "tools/manifest/manifest.h"

namespace lockstep {
namespace {

TEST(Quantity, IsReadInTheBaseUnitOfItsCounter) {
  struct Case {
    std::string_view text;
    std::string_view counter;
    std::int64_t amount;
  };
  for (const Case& c : {
           Case{"4", "cpu", 4000},
           Case{"500m", "cpu", 500},
           Case{"0m", "cpu", 0},
           Case{"2K", "cpu", 2'000'000},
           Case{"8", "gpu", 8},
           Case{"0", "gpu", 0},
           Case{"007", "gpu", 7},
           Case{"64Gi", "mem", std::int64_t{64} << 30},
           Case{"1Ki", "mem", 1024},
           Case{"3Mi", "mem", 3 << 20},
           Case{"2Ti", "mem", std::int64_t{2} << 40},
           Case{"1K", "mem", 1000},
           Case{"1M", "mem", 1'000'000},
           Case{"1G", "mem", 1'000'000'000},
           Case{"1T", "mem", 1'000'000'000'000},
           Case{"1048576Ti", "mem", std::int64_t{1} << 60},
           Case{"1152921504606846976", "license.matlab", std::int64_t{1} << 60},
       }) {
    const auto amount = parse_quantity(c.text, c.counter);
    ASSERT_TRUE(amount) << c.text << ": " << amount.error().message;
    EXPECT_EQ(*amount, c.amount) << c.text;
    EXPECT_TRUE(is_quantity(c.text)) << c.text;
  }
}

TEST(Quantity, IsRefusedWithTheReason) {
  struct Case {
    std::string_view text;
    std::string_view counter;
    std::string_view message;
  };
  for (const Case& c : {
           Case{"", "mem", "is not a quantity"},
           Case{"Gi", "mem", "is not a quantity"},
           Case{"8x", "mem", "is not a quantity"},
           Case{"8 Gi", "mem", "is not a quantity"},
           Case{"8GiB", "mem", "is not a quantity"},
           Case{"1.5Gi", "mem", "is not a quantity"},
           Case{"1e3", "mem", "is not a quantity"},
           Case{"+1", "mem", "is not a quantity"},
           Case{"8k", "mem", "is not a quantity"},
           Case{"-1", "gpu", "\"-1\" is negative"},
           Case{"-8Gi", "mem", "\"-8Gi\" is negative"},
           Case{"500m", "mem", "only cpu is counted in thousandths"},
           Case{"1048577Ti", "mem", "is more than a counter holds"},
           Case{"9223372036854775807", "gpu", "is more than a counter holds"},
           Case{"99999999999999999999999", "gpu", "is more than a counter holds"},
           Case{"16777216Ti", "mem", "is more than a counter holds"},
           Case{"1152921504606846976", "cpu", "is more than a counter holds"},
       }) {
    const auto amount = parse_quantity(c.text, c.counter);
    ASSERT_FALSE(amount) << c.text;
    EXPECT_NE(amount.error().message.find(c.message), std::string::npos) << amount.error().message;
    EXPECT_EQ(amount.error().code, ErrorCode::InvalidInput);
  }
}

TEST(Quantity, IsToldFromAnAttribute) {
  for (const auto text : {"8", "64Gi", "500m", "1T"}) EXPECT_TRUE(is_quantity(text)) << text;
  for (const auto text : {"h100", "", "v1", "8x", "-1", "1.5", "a", "m", "8mm"})
    EXPECT_FALSE(is_quantity(text)) << text;
}

TEST(Quantity, IsPrintedShortAndReadsBack) {
  EXPECT_EQ(format_quantity(4000, "cpu"), "4");
  EXPECT_EQ(format_quantity(4500, "cpu"), "4500m");
  EXPECT_EQ(format_quantity(std::int64_t{64} << 30, "mem"), "64Gi");
  EXPECT_EQ(format_quantity(std::int64_t{1} << 60, "mem"), "1048576Ti");
  EXPECT_EQ(format_quantity(1000, "mem"), "1000");
  EXPECT_EQ(format_quantity(0, "mem"), "0");
  EXPECT_EQ(format_quantity(1024, "gpu"), "1024");
  Random random;
  for (int i = 0; i < 20'000; ++i) {
    const auto amount = static_cast<std::int64_t>(random.upto(std::uint64_t{1} << random.upto(60)));
    for (const auto counter : {"cpu", "mem", "gpu"}) {
      const auto text = format_quantity(amount, counter);
      const auto again = parse_quantity(text, counter);
      ASSERT_TRUE(again) << text;
      ASSERT_EQ(*again, amount) << text;
    }
  }
}

TEST(Duration, IsReadInNanoseconds) {
  struct Case {
    std::string_view text;
    std::int64_t nanoseconds;
  };
  for (const Case& c : {Case{"0", 0}, Case{"0s", 0}, Case{"7ns", 7}, Case{"7us", 7'000}, Case{"7ms", 7'000'000},
                        Case{"30s", 30'000'000'000}, Case{"30m", 1'800'000'000'000}, Case{"24h", 86'400'000'000'000},
                        Case{"106751d", 106751 * std::int64_t{86'400'000'000'000}}}) {
    const auto duration = parse_duration(c.text);
    ASSERT_TRUE(duration) << c.text;
    EXPECT_EQ(duration->value, c.nanoseconds) << c.text;
  }
}

TEST(Duration, IsRefusedWithTheReason) {
  for (const auto text : {"", "s", "30", "1h30m", "1.5h", "30 s", "-1s", "+1s", "30sec", "1w", "0x1s"}) {
    const auto duration = parse_duration(text);
    ASSERT_FALSE(duration) << text;
    EXPECT_NE(duration.error().message.find("one integer and one of ns us ms s m h d"), std::string::npos)
        << duration.error().message;
  }
  for (const auto text : {"106752d", "99999999999999999999s"}) {
    const auto duration = parse_duration(text);
    ASSERT_FALSE(duration) << text;
    EXPECT_NE(duration.error().message.find("longer than a duration holds"), std::string::npos);
  }
}

TEST(Duration, IsPrintedShortAndReadsBack) {
  EXPECT_EQ(format_duration(Duration{}), "0s");
  EXPECT_EQ(format_duration(seconds(90)), "90s");
  EXPECT_EQ(format_duration(minutes(30)), "30m");
  EXPECT_EQ(format_duration(hours(24)), "1d");
  EXPECT_EQ(format_duration(Duration{1}), "1ns");
  Random random;
  for (int i = 0; i < 20'000; ++i) {
    const Duration duration{static_cast<std::int64_t>(random.upto(std::uint64_t{1} << random.upto(63)))};
    const auto again = parse_duration(format_duration(duration));
    ASSERT_TRUE(again) << format_duration(duration);
    ASSERT_EQ(*again, duration) << format_duration(duration);
  }
}

}  // namespace
}  // namespace lockstep
