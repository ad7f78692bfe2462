#include "replay/engine.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <variant>

#include "replay/flusher.h"
#include "statemachine/decide.h"

namespace lockstep {
namespace {

// How long an idle writer sleeps towards a deadline: at least one, at most the other, whatever the clock says (it may
// be a simulated one, or be set).
constexpr std::chrono::milliseconds kNapMin{1};
constexpr std::chrono::milliseconds kNapMax{1'000};

// Under load, how long a durable event may wait until it is shown.
constexpr std::chrono::milliseconds kSeenWithin{2};

Error stopped_error() {
  return Error{ErrorCode::Interrupted, "the controller is stopping: ask again when it runs", {}};
}

}  // namespace

struct Engine::Impl {
  // A command that waits for its answer.
  struct Asked {
    Command command;
    Engine::Done done;
  };

  // Something to do between batches; told the error when it cannot be done any more.
  using Task = std::function<void(const Error* refused)>;

  using Item = std::variant<Asked, Task>;

  // A batch that is decided, and those who wait for it.
  struct Flight {
    Controller::Batch batch;
    std::vector<Engine::Done> waiting;  // one for each command; nobody waits for deadlines
  };

  EngineOptions options;
  Clock clock;
  OnDurable on_durable;
  Log* log = nullptr;
  RecoveryReport recovery;
  std::thread thread;

  // Whoever holds it writes: the engine's own thread, or a caller who is alone.
  std::mutex writing;
  std::unique_ptr<Controller> controller;
  std::unique_ptr<Flusher> flusher;
  std::unique_ptr<Flight> flying;  // with the flusher
  std::vector<Event> durable;      // on_durable has not seen them yet
  std::chrono::steady_clock::time_point durable_since;
  bool deadline_failed = false;  // an advance of time met a full disk: do not spin
  std::atomic<std::thread::id> writer_id;
  std::atomic<std::thread::id> thread_id;

  mutable std::mutex mutex;
  std::condition_variable work;   // there is some, or it is time to stop
  std::condition_variable space;  // in the queue
  std::deque<Item> queue;
  Time deadline{};      // the next one; 0 = none
  bool sooner = false;  // it has come nearer since the thread looked
  bool retry_later = false;
  bool stopping = false;
  bool abandon = false;  // what waits is answered with Interrupted
  std::optional<Error> latched;

  std::mutex joining;

  // ---- callers ----
  [[nodiscard]] bool on_writer() const { return std::this_thread::get_id() == writer_id.load(); }

  // False: stopped, the item is the caller's again.
  [[nodiscard]] bool enqueue(Item& item) {
    std::unique_lock lock(mutex);
    if (!on_writer()) space.wait(lock, [this] { return stopping || queue.size() < options.queue_max; });
    if (stopping) return false;
    queue.push_back(std::move(item));
    lock.unlock();
    work.notify_one();
    return true;
  }

  // Runs `task` between batches and waits for its result.
  template <class T>
  [[nodiscard]] Result<T> between_batches(std::function<Result<T>()> task) {
    if (on_writer()) return fail(ErrorCode::Usage, "engine: the writer would wait for itself: use submit()");
    auto promise = std::make_shared<std::promise<Result<T>>>();
    auto future = promise->get_future();
    Item item = Task([promise, task = std::move(task)](const Error* refused) {
      promise->set_value(refused != nullptr ? Result<T>(tl::unexpected(*refused)) : task());
    });
    if (!enqueue(item)) return tl::unexpected(stopped_error());
    return future.get();
  }

  // By the caller itself, when nobody else writes or waits to. False: it has to queue up.
  [[nodiscard]] bool try_alone(Command& command, Result<Answer>& answer) {
    std::unique_lock writes(writing, std::try_to_lock);
    if (!writes) return false;
    {
      const std::lock_guard lock(mutex);
      if (stopping || !queue.empty()) return false;
    }
    writer_id = std::this_thread::get_id();
    std::deque<Item> items;
    items.emplace_back(Asked{std::move(command), [&](const Result<Answer>& given) { answer = given; }});
    serve(items);
    rest();
    writer_id = std::thread::id{};
    return true;
  }

  void stop(bool drain) {
    {
      const std::lock_guard lock(mutex);
      stopping = true;
      abandon = abandon || !drain;
    }
    work.notify_all();
    space.notify_all();
    if (on_writer()) return;
    const std::lock_guard lock(joining);
    if (thread.joinable()) thread.join();
  }

  // ---- the thread ----
  void run() {
    thread_id = std::this_thread::get_id();
    {
      const std::lock_guard writes(writing);
      durable = controller->last_events();
      as_writer([this] { rest(); });
    }
    while (wait_for_work()) {
      const std::lock_guard writes(writing);
      as_writer([this] {
        do {
          std::deque<Item> items = take();
          serve(items);
        } while (has_work());
        rest();
      });
    }
  }

  template <class Act>
  void as_writer(Act act) {
    writer_id = std::this_thread::get_id();
    act();
    writer_id = std::thread::id{};
  }

  // False: it is time to end.
  [[nodiscard]] bool wait_for_work() {
    std::unique_lock lock(mutex);
    const auto awake = [this] { return stopping || sooner || !queue.empty(); };
    for (;;) {
      sooner = false;
      const std::chrono::milliseconds nap = nap_length();
      if (nap == std::chrono::milliseconds::max())
        work.wait(lock, awake);
      else
        work.wait_for(lock, nap, awake);
      if (!sooner) return !stopping || !queue.empty();
    }
  }

  [[nodiscard]] std::chrono::milliseconds nap_length() const {
    if (deadline == Time{} || latched) return std::chrono::milliseconds::max();
    if (retry_later) return kNapMax;
    const std::chrono::nanoseconds left((deadline - clock()).value);
    return std::clamp(std::chrono::ceil<std::chrono::milliseconds>(left), kNapMin, kNapMax);
  }

  [[nodiscard]] bool has_work() const {
    const std::lock_guard lock(mutex);
    return !queue.empty();
  }

  // What waits, up to a batch.
  [[nodiscard]] std::deque<Item> take() {
    std::unique_lock lock(mutex);
    std::deque<Item> items;
    if (queue.size() <= options.batch_commands_max) {
      items.swap(queue);
    } else {
      const auto end = queue.begin() + static_cast<std::ptrdiff_t>(options.batch_commands_max);
      std::move(queue.begin(), end, std::back_inserter(items));
      queue.erase(queue.begin(), end);
    }
    lock.unlock();
    space.notify_all();
    return items;
  }

  // ---- the writer ----
  void serve(std::deque<Item>& items) {
    bool dropped = false;
    {
      const std::lock_guard lock(mutex);
      dropped = abandon;
    }
    if (dropped) return refuse(items, stopped_error());
    std::size_t first = 0;
    do {  // at least once, for the deadlines
      std::size_t after = first;
      while (after < items.size() && std::holds_alternative<Asked>(items[after])) ++after;
      write(items, first, after);
      if (after < items.size()) land();
      for (; after < items.size() && std::holds_alternative<Task>(items[after]); ++after) {
        const auto& error = controller->latched();
        std::get<Task>(items[after])(error ? &*error : nullptr);
      }
      first = after;
    } while (first < items.size());
    const bool seen_late =
        on_durable && !durable.empty() && std::chrono::steady_clock::now() - durable_since > kSeenWithin;
    if (seen_late || controller->snapshot_is_due()) rest();
  }

  // Decides items[first, after), after the deadlines that have passed, and appends them: here when nothing else is
  // going on, else on the flusher, beside the next batch.
  void write(std::deque<Item>& items, std::size_t first, std::size_t after) {
    const Time now = std::max(clock(), controller->state().head.time);
    std::vector<Command> commands;
    std::vector<Engine::Done> waiting;
    commands.reserve(after - first + 1);
    waiting.reserve(after - first + 1);
    const Time next = next_deadline(controller->state());
    const bool due = options.fire_deadlines && next != Time{} && next <= now;
    if (due) {
      Command& advance = commands.emplace_back();
      advance.actor = Actor::Clock;
      advance.body = AdvanceTime{};
      waiting.emplace_back();
      deadline_failed = true;  // until it is decided and durable
    }
    for (std::size_t i = first; i < after; ++i) {
      auto& asked = std::get<Asked>(items[i]);
      commands.push_back(std::move(asked.command));
      waiting.push_back(std::move(asked.done));
    }
    for (Command& command : commands) command.time = now;
    for (std::span<const Command> left = commands; !left.empty();) {
      auto batch = controller->decide(left);
      const std::size_t done = commands.size() - left.size();
      if (!batch) {
        land();
        return answer(std::span(waiting).subspan(done), controller->undo(std::move(batch).error()));
      }
      auto flight = std::make_unique<Flight>();
      flight->batch = std::move(*batch);
      for (std::size_t i = 0; i < flight->batch.commands; ++i) flight->waiting.push_back(std::move(waiting[done + i]));
      left = left.subspan(flight->batch.commands);
      if (auto flown = fly(std::move(flight), left.empty()); !flown)
        return answer(std::span(waiting).subspan(commands.size() - left.size()), flown.error());
    }
  }

  // An error: of a batch before it or of its own; everybody up to it has been told.
  Result<void> fly(std::unique_ptr<Flight> flight, bool is_last) {
    const bool alone = flying == nullptr && is_last && !has_work();
    if (alone) return settle(*flight, Controller::append(*log, flight->batch), nullptr);
    const std::unique_ptr<Flight> before = std::move(flying);
    if (before == nullptr) {
      flying = std::move(flight);
      flusher->start(flying->batch);
      return {};
    }
    Result<void> appended = flusher->wait();
    if (!appended) return settle(*before, std::move(appended), flight.get());
    flying = std::move(flight);
    flusher->start(flying->batch);  // first, so that it goes on while these are told
    return settle(*before, std::move(appended), nullptr);
  }

  // Everything that is decided is durable then, or undone.
  void land() {
    const std::unique_ptr<Flight> last = std::move(flying);
    if (last != nullptr) (void)settle(*last, flusher->wait(), nullptr);
  }

  // Tells those who wait for `flight`, and for the one decided after it, which fails with it.
  Result<void> settle(Flight& flight, Result<void> appended, Flight* after) {
    auto done = controller->finish(flight.batch, std::move(appended));
    if (!done) {
      const Error error = controller->undo(std::move(done).error());
      note_latch();
      answer(flight.waiting, error);
      if (after != nullptr) answer(after->waiting, error);
      return tl::unexpected(error);
    }
    deadline_failed = false;
    if (on_durable) {
      if (durable.empty()) durable_since = std::chrono::steady_clock::now();
      std::move(flight.batch.events.begin(), flight.batch.events.end(), std::back_inserter(durable));
    }
    for (std::size_t i = 0; i < flight.waiting.size(); ++i) {
      if (flight.waiting[i]) flight.waiting[i](std::move(flight.batch.answers[i]));
    }
    return {};
  }

  // Nothing is decided and not durable: the state may be shown, and be written to a snapshot.
  void rest() {
    land();
    if (on_durable && !durable.empty() && !controller->latched()) on_durable(controller->state(), durable);
    durable.clear();
    controller->maintain();
    const Time next = options.fire_deadlines ? next_deadline(controller->state()) : Time{};
    const std::lock_guard lock(mutex);
    const bool nearer = next != Time{} && (deadline == Time{} || next < deadline);
    deadline = next;
    retry_later = deadline_failed;
    if (!nearer || std::this_thread::get_id() == thread_id) return;
    sooner = true;
    work.notify_one();
  }

  static void answer(std::span<const Engine::Done> waiting, const Error& error) {
    for (const auto& done : waiting) {
      if (done) done(tl::unexpected(error));
    }
  }

  static void refuse(std::deque<Item>& items, const Error& error) {
    for (Item& item : items) {
      if (auto* asked = std::get_if<Asked>(&item)) {
        if (asked->done) asked->done(tl::unexpected(error));
      } else {
        std::get<Task>(item)(&error);
      }
    }
  }

  void note_latch() {
    const std::lock_guard lock(mutex);
    if (!latched) latched = controller->latched();
  }
};

Engine::Engine() : impl_(std::make_unique<Impl>()) {}

Result<std::unique_ptr<Engine>> Engine::start(Log& log, const SnapshotStore* snapshots, const EngineOptions& options,
                                              Clock clock, OnDurable on_durable) {
  LOCKSTEP_CHECK(options.queue_max > 0 && options.batch_commands_max > 0, "an engine without a queue");
  auto controller = Controller::start(log, snapshots, options.controller, clock());
  LOCKSTEP_TRY(controller);
  std::unique_ptr<Engine> engine(new Engine());
  Impl& impl = *engine->impl_;
  impl.options = options;
  impl.clock = std::move(clock);
  impl.on_durable = std::move(on_durable);
  impl.controller = std::move(*controller);
  impl.recovery = impl.controller->recovery();
  impl.log = &log;
  impl.flusher = std::make_unique<Flusher>(log);
  impl.thread = std::thread([&impl] { impl.run(); });
  return engine;
}

Engine::~Engine() { impl_->stop(false); }

void Engine::submit(Command command, Done done) {
  Impl::Item item = Impl::Asked{std::move(command), std::move(done)};
  if (impl_->enqueue(item)) return;
  if (const auto& refused = std::get<Impl::Asked>(item).done) refused(tl::unexpected(stopped_error()));
}

Result<Answer> Engine::execute(Command command) {
  if (impl_->on_writer()) return fail(ErrorCode::Usage, "engine: the writer would wait for itself: use submit()");
  Result<Answer> alone = tl::unexpected(stopped_error());
  if (impl_->try_alone(command, alone)) return alone;
  auto promise = std::make_shared<std::promise<Result<Answer>>>();
  auto future = promise->get_future();
  submit(std::move(command), [promise](const Result<Answer>& answer) { promise->set_value(answer); });
  return future.get();
}

Result<void> Engine::read(const std::function<void(const State&, const Head&)>& look) {
  return impl_->between_batches<void>([this, &look]() -> Result<void> {
    look(impl_->controller->state(), impl_->controller->head());
    return {};
  });
}

Result<SnapshotInfo> Engine::snapshot() {
  return impl_->between_batches<SnapshotInfo>([this] { return impl_->controller->snapshot(); });
}

const RecoveryReport& Engine::recovery() const { return impl_->recovery; }

std::optional<Error> Engine::latched() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->latched;
}

void Engine::stop() { impl_->stop(true); }

}  // namespace lockstep
