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

#include "statemachine/decide.h"

namespace lockstep {
namespace {

// How long an idle writer sleeps towards a deadline: at least one, at most the other, whatever the clock says (it may
// be a simulated one, or be set).
constexpr std::chrono::milliseconds kNapMin{1};
constexpr std::chrono::milliseconds kNapMax{1'000};

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

  EngineOptions options;
  Clock clock;
  OnDurable on_durable;
  std::unique_ptr<Controller> controller;  // the writer's alone, once it runs
  RecoveryReport recovery;
  std::thread writer;
  std::atomic<std::thread::id> writer_id;  // set by the writer itself

  mutable std::mutex mutex;
  std::condition_variable work;   // there is some, or it is time to stop
  std::condition_variable space;  // in the queue
  std::deque<Item> queue;
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

  // Runs `task` on the writer and waits for its result.
  template <class T>
  [[nodiscard]] Result<T> on_writer_thread(std::function<Result<T>()> task) {
    if (on_writer()) return fail(ErrorCode::Usage, "engine: the writer would wait for itself: use submit()");
    auto promise = std::make_shared<std::promise<Result<T>>>();
    auto future = promise->get_future();
    Item item = Task([promise, task = std::move(task)](const Error* refused) {
      promise->set_value(refused != nullptr ? Result<T>(tl::unexpected(*refused)) : task());
    });
    if (!enqueue(item)) return tl::unexpected(stopped_error());
    return future.get();
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
    if (writer.joinable()) writer.join();
  }

  // ---- the writer ----
  void run() {
    writer_id = std::this_thread::get_id();
    if (on_durable) on_durable(controller->state(), controller->last_events());
    for (;;) {
      std::deque<Item> items = take();
      if (items.empty() && finished()) return;
      serve(items);
    }
  }

  [[nodiscard]] bool finished() const {
    const std::lock_guard lock(mutex);
    return stopping && queue.empty();
  }

  // What waits, up to a batch; nothing when a deadline comes first.
  [[nodiscard]] std::deque<Item> take() {
    const std::chrono::milliseconds nap = nap_length();
    std::unique_lock lock(mutex);
    const auto awake = [this] { return stopping || !queue.empty(); };
    if (nap == std::chrono::milliseconds::max()) {
      work.wait(lock, awake);
    } else {
      work.wait_for(lock, nap, awake);
    }
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

  [[nodiscard]] std::chrono::milliseconds nap_length() const {
    if (!options.fire_deadlines || controller->latched()) return std::chrono::milliseconds::max();
    const Time deadline = next_deadline(controller->state());
    if (deadline == Time{}) return std::chrono::milliseconds::max();
    if (deadline_failed) return kNapMax;
    const std::chrono::nanoseconds left((deadline - clock()).value);
    return std::clamp(std::chrono::ceil<std::chrono::milliseconds>(left), kNapMin, kNapMax);
  }

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
      run_batch(items, first, after);
      for (; after < items.size() && std::holds_alternative<Task>(items[after]); ++after) {
        const auto& error = controller->latched();
        std::get<Task>(items[after])(error ? &*error : nullptr);
      }
      first = after;
    } while (first < items.size());
    controller->maintain();
  }

  // Decides and appends items[first, after), after the deadlines that have passed, and answers each.
  void run_batch(std::deque<Item>& items, std::size_t first, std::size_t after) {
    const Time now = std::max(clock(), controller->state().head.time);
    std::vector<Command> commands;
    commands.reserve(after - first + 1);
    const Time deadline = next_deadline(controller->state());
    const bool due = options.fire_deadlines && deadline != Time{} && deadline <= now;
    if (due) {
      Command& advance = commands.emplace_back();
      advance.actor = Actor::Clock;
      advance.body = AdvanceTime{};
    }
    for (std::size_t i = first; i < after; ++i) commands.push_back(std::move(std::get<Asked>(items[i]).command));
    if (commands.empty()) return;
    for (Command& command : commands) command.time = now;

    std::vector<Answer> answers;
    const Result<void> outcome = controller->execute(commands, answers);
    if (!outcome) note_latch();
    const std::size_t own = due ? 1 : 0;  // answers that nobody waits for
    deadline_failed = due && answers.empty();
    for (std::size_t i = first; i < after; ++i) {
      const std::size_t answer = i - first + own;
      const auto& done = std::get<Asked>(items[i]).done;
      if (!done) continue;
      done(answer < answers.size() ? Result<Answer>(std::move(answers[answer])) : tl::unexpected(outcome.error()));
    }
    if (on_durable && !answers.empty() && !controller->latched()) {
      on_durable(controller->state(), controller->last_events());
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

  bool deadline_failed = false;  // the writer's: an advance of time met a full disk, do not spin
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
  impl.writer = std::thread([&impl] { impl.run(); });
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
  auto promise = std::make_shared<std::promise<Result<Answer>>>();
  auto future = promise->get_future();
  submit(std::move(command), [promise](const Result<Answer>& answer) { promise->set_value(answer); });
  return future.get();
}

Result<void> Engine::read(const std::function<void(const State&, const Head&)>& look) {
  return impl_->on_writer_thread<void>([this, &look]() -> Result<void> {
    look(impl_->controller->state(), impl_->controller->head());
    return {};
  });
}

Result<SnapshotInfo> Engine::snapshot() {
  return impl_->on_writer_thread<SnapshotInfo>([this] { return impl_->controller->snapshot(); });
}

const RecoveryReport& Engine::recovery() const { return impl_->recovery; }

std::optional<Error> Engine::latched() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->latched;
}

void Engine::stop() { impl_->stop(true); }

}  // namespace lockstep
