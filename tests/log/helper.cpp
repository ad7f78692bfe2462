// A second process for the tests of the log: log_test_helper WHAT STORE [N]. It says one line when it has got there,
// and then waits until its standard input ends, or until it is killed.
//
//   hold STORE      opens for writing, and holds the lock
//   read STORE N    stands in N nested reads, each with its own transaction
//   watch STORE N   reads everything N times and holds each time to its chain and to the head of before; says "watched"
//   follow STORE    says "head N"; after the wait it reads everything again, and counts

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>

#include "events/log/chain.h"
#include "events/log/store.h"

namespace {

using namespace lockstep;

void say_and_wait(const char* line) {
  std::printf("%s\n", line);
  std::fflush(stdout);
  char byte = 0;
  while (::read(STDIN_FILENO, &byte, 1) > 0) {
  }
}

Result<Continue> nest(const Log& log, Seq from, int left) {
  if (left == 0) {
    say_and_wait("reading");
    return Continue::No;
  }
  const auto done =
      log.read(from, [&](const RecordHeader&, std::span<const std::byte>) { return nest(log, from, left - 1); });
  if (!done) return tl::unexpected(done.error());
  return Continue::No;
}

int follow(const Log& log) {
  const auto before = log.head();
  if (!before) return 1;
  say_and_wait(("head " + std::to_string(before->seq.value)).c_str());
  const auto head = log.head();
  std::uint64_t last = 0;
  const auto done = log.read(Seq{1}, [&](const RecordHeader& header, std::span<const std::byte>) -> Result<Continue> {
    last = header.last().value;
    return Continue::Yes;
  });
  if (!done) std::fprintf(stderr, "%s\n", done.error().message.c_str());
  return done && head && last == head->seq.value && last > before->seq.value ? 0 : 1;
}

// What a look at the log must be: records that follow each other by their hashes, from where it begins to the head that
// was asked for before, or further. "" or what it is not.
std::string look(const Log& log, Head& before) {
  const auto head = log.head();
  if (!head) return head.error().message;
  if (head->seq < before.seq) return "the head went back";
  ChainReader chain(Seq{}, Check::Full);
  Head end{};
  const auto visit = [&](const RecordHeader&, std::span<const std::byte> record) -> Result<Continue> {
    const auto header = chain.read(record, "watch");
    if (!header) return tl::unexpected(header.error());
    end = head_after(*header, record);
    return Continue::Yes;
  };
  for (;;) {
    const auto first = log.first();
    if (!first) return first.error().message;
    const auto done = log.read(*first, visit);
    if (done) break;
    if (done.error().code != ErrorCode::Trimmed) return done.error().message;
    chain = ChainReader(Seq{}, Check::Full);  // a writer has trimmed since we asked
  }
  if (end.seq < head->seq) return "it ends at " + std::to_string(end.seq.value) + " before its head";
  if (end.seq == head->seq && end != *head) return "another head";
  before = end;
  return "";
}

int watch(const Log& log, int n) {
  Head before{};
  for (int i = 0; i < n; ++i) {
    if (const std::string wrong = look(log, before); !wrong.empty()) {
      say_and_wait(wrong.c_str());
      return 1;
    }
  }
  say_and_wait("watched");
  return 0;
}

int run(const char* what, const char* directory, int n) {
  const bool hold = std::strcmp(what, "hold") == 0;
  const auto store = open_store(directory, hold ? OpenMode::Write : OpenMode::ReadOnly);
  if (!store) {
    std::printf("%s\n", store.error().message.c_str());
    return exit_status(store.error().code);
  }
  if (hold) {
    say_and_wait("holding");
    return 0;
  }
  if (std::strcmp(what, "follow") == 0) return follow(*store->log);
  if (std::strcmp(what, "watch") == 0) return watch(*store->log, n);
  for (;;) {
    const auto first = store->log->first();
    const auto done = first ? nest(*store->log, *first, n) : tl::unexpected(first.error());
    if (done) return 0;
    if (done.error().code == ErrorCode::Trimmed) continue;  // by a writer, since we asked
    std::printf("%s\n", done.error().message.c_str());
    return 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  return run(argv[1], argv[2], argc > 3 ? std::atoi(argv[3]) : 1);
}
