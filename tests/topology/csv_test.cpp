// Tables of hosts and paths: which column is what, and which rows are refused.

#include <gmock/gmock.h>

#include "tests/topology/support.h"

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Csv, HasALevelForEachColumnThatIsNoHostAndNoCounter) {
  const auto result = read_one("hosts.csv",
                               "\xef\xbb\xbfrow,host,rack,cpu,mem\r\n"
                               "# a comment\r\n"
                               "A,n1,1,8,64Gi\r\n"
                               "\r\n"
                               "B, n2 ,\"1\",500m,\r\n"
                               "A,N3,,,\r\n");
  EXPECT_THAT(lines_of(result.problems), IsEmpty());
  EXPECT_THAT(result.levels, ElementsAre("row", "rack"));
  EXPECT_THAT(result.hosts, ElementsAre(HostInfo{"n1", {{"cpu", 8'000}, {"mem", 64 * kGi}}, {"A", "1"}, {}},
                                        HostInfo{"n2", {{"cpu", 500}}, {"B", "1"}, {}}, HostInfo{"n3", {}, {"A"}, {}}));
  EXPECT_THAT(result.not_carried, ElementsAre("1 host with capital letters, which are small letters here: N3"));
}

TEST(Csv, HasItsHostsInTheFirstColumnWhenNoneIsCalledSo) {
  const auto result = read_one("hosts.csv", "machine,zone\nn1,z1\n");
  EXPECT_THAT(result.levels, ElementsAre("zone"));
  EXPECT_THAT(places_of(result), ElementsAre("n1 z1"));
}

TEST(Csv, KeepsDomainsOfOneNameInDifferentPlacesApart) {
  const auto result = read_one("hosts.csv", "ip,dsw,asw\n10.0.0.1,d1,s1\n10.0.0.2,d2,s1\n");
  EXPECT_THAT(places_of(result), ElementsAre("10.0.0.1 d1/s1", "10.0.0.2 d2/s1"));
}

TEST(Csv, HasPathsInOneColumn) {
  const auto result = read_one("hosts.csv", "host,path\nn1,b1/r1/n1\nn2,/b1/r2\nn3,b1\nn4,\n");
  EXPECT_THAT(lines_of(result.problems), IsEmpty());
  EXPECT_THAT(result.levels, ElementsAre("level1", "level2", "level3"));
  EXPECT_THAT(places_of(result), ElementsAre("n1 b1/r1/n1", "n2 b1/r2", "n3 b1", "n4 "));
  EXPECT_THAT(read_one("hosts.csv", "Path,node,cpu\nb1/r1,n1,8\n").levels, ElementsAre("level1", "level2"));
  EXPECT_THAT(read_one("hosts.csv", "host,rack,path\nn1,r1,p1\n").levels, ElementsAre("rack", "path"));
}

TEST(Csv, IsRefusedWithTheLine) {
  struct Case {
    std::string_view text;
    std::string problem;
  };
  for (const Case& c : {
           Case{"host,rack\nn1,a\nn2\n", "h.csv:3: 1 cell where 2 are wanted"},
           Case{"host,rack\nn1,a\nn1,b\n", "h.csv:3: n1 is in a already (h.csv:2); a host has one place"},
           Case{"host,row,rack\nn1,,a\n", "h.csv:2: rack \"a\" is in no row: a place has names down to its last"},
           Case{"host,rack\nn1,\"a\n", "h.csv:2: quotes that do not close, or that do not enclose all of a cell"},
           Case{"host,rack\nn1,\"a\"b\n", "h.csv:2: quotes that do not close, or that do not enclose all of a cell"},
           Case{"host,rack\nn1,\"a,b\"\n",
                "h.csv:2: \"a,b\" is not the name of a domain: printable, no space, none of / , [ ]"},
           Case{"host,rack,rack\nn1,a,b\n", "h.csv:1: \"rack\" is a level already"},
           Case{"node,host,rack\nn1,a,b\n", "h.csv:1: host is always the last level; it cannot be another"},
           Case{"host,gpu,rack\nn1,many,a\n",
                "h.csv:2: gpu: \"many\" is not a quantity: an integer, alone or with Ki Mi Gi Ti or K M G T (cpu also "
                "500m)"},
           Case{"host,path\nn1,a//b\n",
                "h.csv:2: \"\" is not the name of a domain: printable, no space, none of / , [ ]"},
           Case{"host,path\nn1,1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17\n", "h.csv:2: a path of more than 16 names"},
           Case{"host,rack\n", "files: a table of paths without hosts"},
       }) {
    EXPECT_THAT(lines_of(read_one("h.csv", std::string(c.text)).problems), ElementsAre(c.problem)) << c.text;
  }
}

}  // namespace
}  // namespace lockstep
