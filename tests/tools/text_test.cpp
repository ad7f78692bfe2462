// Tables and times for people.
#include "tools/lockstep/text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tools/lockstep/times.h"

namespace lockstep::cli {
namespace {

TEST(Table, ColumnsAreAsWideAsTheirWidestCell) {
  Table table({"NAME", "N"});
  table.add({"a", "1"});
  table.add({"longer", "22"});
  EXPECT_EQ(table.text(), "NAME    N\na       1\nlonger  22\n");
}

TEST(Table, AHostileNameCanNeitherBreakALineNorTheTerminal) {
  Table table({"NAME"});
  table.add({"a\nb\x1b[2J"});
  EXPECT_EQ(table.text(), "NAME\na?b?[2J\n");
}

TEST(Counters, AreWrittenAsInManifests) {
  EXPECT_EQ(counters_text(Json{{"cpu", 1.5}, {"gpu", 8}, {"mem", 68719476736}}), "cpu=1500m gpu=8 mem=64Gi");
  EXPECT_EQ(counters_text(Json::object()), "-");
}

TEST(Times, AreUtc) {
  const Time time{1'714'557'600'123'456'789};
  EXPECT_EQ(rfc3339(time), "2024-05-01T10:00:00.123456789Z");
  EXPECT_EQ(date_time(time), "2024-05-01 10:00:00.123");
  EXPECT_EQ(time_of_day(time), "10:00:00.123");
}

TEST(Times, BeforeTheEpochAreTimesToo) { EXPECT_EQ(rfc3339(Time{-1}), "1969-12-31T23:59:59.999999999Z"); }

TEST(Why, IsASentence) {
  Json why = {{"id", 1},
              {"name", "train"},
              {"phase", "Pending"},
              {"reason",
               {{"code", "InsufficientResources"},
                {"role", "worker"},
                {"resource", "gpu"},
                {"needed", 16},
                {"free", 8},
                {"domain", nullptr},
                {"blockers", Json::array()},
                {"since", "2024-05-01T10:00:00.000000000Z"},
                {"projectedStart", nullptr}}}};
  EXPECT_EQ(
      why_text(why),
      "train is Pending: InsufficientResources: role worker, gpu: 16 needed, 8 free, since 2024-05-01 10:00:00.000\n");
  for (const char* fact : {"role", "resource", "needed", "free", "since"}) why["reason"][fact] = nullptr;
  why["reason"]["code"] = "WaitingBehind";
  EXPECT_EQ(why_text(why), "train is Pending: WaitingBehind: nothing stands in its way, the next pass places it\n");
  why["reason"]["blockers"] = {"big"};
  EXPECT_EQ(why_text(why), "train is Pending: WaitingBehind: behind big\n");
}

TEST(Why, OfAReservationSaysWhatItHoldsOfWhat) {
  const Json why = {{"id", 1},
                    {"name", "train"},
                    {"phase", "Reserving"},
                    {"reason",
                     {{"code", "ReservationAccumulating"},
                      {"role", nullptr},
                      {"resource", nullptr},
                      {"needed", nullptr},
                      {"free", nullptr},
                      {"domain", "A"},
                      {"blockers", Json::array()},
                      {"since", nullptr},
                      {"projectedStart", nullptr}}},
                    {"held", {{"gpu", 8}}},
                    {"wanted", {{"gpu", 24}}},
                    {"deadlines", Json::object()}};
  EXPECT_EQ(why_text(why),
            "train is Reserving: ReservationAccumulating: in A, when it is complete is not known\n"
            "holds      gpu=8\n"
            "wants      gpu=24\n");
}

}  // namespace
}  // namespace lockstep::cli
