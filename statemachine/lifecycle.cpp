// More rows and states than the preprocessed MPL headers allow: the limits must stand before the first Boost include.
#define BOOST_MPL_CFG_NO_PREPROCESSED_HEADERS
#define BOOST_MPL_LIMIT_VECTOR_SIZE 50
#define BOOST_MPL_LIMIT_MAP_SIZE 50

#include "statemachine/lifecycle.h"

#include <array>
#include <boost/msm/back/state_machine.hpp>
#include <boost/msm/front/functor_row.hpp>
#include <boost/msm/front/state_machine_def.hpp>

namespace lockstep {

namespace {

namespace msm = boost::msm;
namespace mpl = boost::mpl;

template <GroupPhase phase>
struct In : msm::front::state<> {};
template <GroupTrigger trigger>
struct On {};

using P = GroupPhase;
using T = GroupTrigger;
template <P from, T trigger, P to>
using Row = msm::front::Row<In<from>, On<trigger>, In<to>>;

struct LifecycleDef : msm::front::state_machine_def<LifecycleDef> {
  using no_exception_thrown = int;  // nothing here throws; MSM then needs no handler
  using no_message_queue = int;
  using initial_state = In<P::Defined>;

  // clang-format off
  struct transition_table : mpl::vector<
      Row<P::Defined,    T::Submit,   P::Pending>,
      Row<P::Defined,    T::Cancel,   P::Cancelled>,
      Row<P::Pending,    T::Reserve,  P::Reserving>,
      Row<P::Pending,    T::Place,    P::Placed>,
      Row<P::Pending,    T::Suspend,  P::Suspended>,
      Row<P::Pending,    T::Fail,     P::Failed>,
      Row<P::Pending,    T::Cancel,   P::Cancelled>,
      Row<P::Reserving,  T::Extend,   P::Reserving>,
      Row<P::Reserving,  T::Release,  P::Pending>,
      Row<P::Reserving,  T::Place,    P::Placed>,
      Row<P::Reserving,  T::Suspend,  P::Suspended>,
      Row<P::Reserving,  T::Fail,     P::Failed>,
      Row<P::Reserving,  T::Cancel,   P::Cancelled>,
      Row<P::Placed,     T::Progress, P::Placed>,
      Row<P::Placed,     T::Barrier,  P::Starting>,
      Row<P::Placed,     T::Stop,     P::Stopping>,
      Row<P::Starting,   T::Progress, P::Starting>,
      Row<P::Starting,   T::Run,      P::Running>,
      Row<P::Starting,   T::Stop,     P::Stopping>,
      Row<P::Starting,   T::Succeed,  P::Succeeded>,
      Row<P::Running,    T::Progress, P::Running>,
      Row<P::Running,    T::Recover,  P::Recovering>,
      Row<P::Running,    T::Stop,     P::Stopping>,
      Row<P::Running,    T::Succeed,  P::Succeeded>,
      Row<P::Recovering, T::Progress, P::Recovering>,
      Row<P::Recovering, T::Run,      P::Running>,
      Row<P::Recovering, T::Stop,     P::Stopping>,
      Row<P::Recovering, T::Succeed,  P::Succeeded>,
      Row<P::Stopping,   T::Progress, P::Stopping>,
      Row<P::Stopping,   T::Stop,     P::Stopping>,
      Row<P::Stopping,   T::Backoff,  P::Backoff>,
      Row<P::Stopping,   T::Requeue,  P::Pending>,
      Row<P::Stopping,   T::Suspend,  P::Suspended>,
      Row<P::Stopping,   T::Succeed,  P::Succeeded>,
      Row<P::Stopping,   T::Fail,     P::Failed>,
      Row<P::Stopping,   T::Cancel,   P::Cancelled>,
      Row<P::Backoff,    T::Progress, P::Backoff>,
      Row<P::Backoff,    T::Place,    P::Placed>,
      Row<P::Backoff,    T::Requeue,  P::Pending>,
      Row<P::Backoff,    T::Suspend,  P::Suspended>,
      Row<P::Backoff,    T::Cancel,   P::Cancelled>,
      Row<P::Suspended,  T::Resume,   P::Pending>,
      Row<P::Suspended,  T::Cancel,   P::Cancelled>> {};
  // clang-format on

  // The default of MSM is an assert; here a missing row is an answer.
  template <class Fsm, class Event>
  void no_transition(const Event&, Fsm&, int) {}
};

using Machine = msm::back::state_machine<LifecycleDef>;
constexpr int kUnknown = -1;

template <P phase>
constexpr int msm_id() {
  return msm::back::get_state_id<Machine::stt, In<phase>>::value;
}

// MSM numbers states by their place in the table; ours are fixed. One array each way, made from the types.
constexpr std::array<int, kGroupPhaseCount> kToMsm = {
    kUnknown,
    msm_id<P::Defined>(),
    msm_id<P::Pending>(),
    msm_id<P::Reserving>(),
    msm_id<P::Placed>(),
    msm_id<P::Starting>(),
    msm_id<P::Running>(),
    msm_id<P::Recovering>(),
    msm_id<P::Stopping>(),
    msm_id<P::Backoff>(),
    msm_id<P::Suspended>(),
    msm_id<P::Succeeded>(),
    msm_id<P::Failed>(),
    msm_id<P::Cancelled>(),
};

constexpr P from_msm(int id) {
  for (std::size_t phase = 1; phase < kToMsm.size(); ++phase) {
    if (kToMsm[phase] == id) return static_cast<P>(phase);
  }
  return P::None;
}

constexpr bool each_state_has_its_own_id() {
  for (std::size_t phase = 1; phase < kToMsm.size(); ++phase) {
    if (from_msm(kToMsm[phase]) != static_cast<P>(phase)) return false;
  }
  return true;
}
static_assert(each_state_has_its_own_id());

template <T trigger>
std::optional<GroupPhase> process(P phase) {
  Machine machine;
  // MSM has no setter for a flyweight; its current states are an array of ints in a non-const object.
  int& current = *const_cast<int*>(machine.current_state());
  current = kToMsm[static_cast<std::size_t>(phase)];
  if (machine.process_event(On<trigger>{}) != msm::back::HANDLED_TRUE) return std::nullopt;
  return from_msm(current);
}

using Process = std::optional<GroupPhase> (*)(P);
constexpr std::array<Process, 17> kProcess = {
    process<T::Submit>,   process<T::Reserve>, process<T::Extend>,  process<T::Release>, process<T::Place>,
    process<T::Progress>, process<T::Barrier>, process<T::Run>,     process<T::Recover>, process<T::Stop>,
    process<T::Backoff>,  process<T::Requeue>, process<T::Suspend>, process<T::Resume>,  process<T::Succeed>,
    process<T::Fail>,     process<T::Cancel>,
};

}  // namespace

std::optional<GroupPhase> next_phase(GroupPhase phase, GroupTrigger trigger) {
  const auto index = static_cast<std::size_t>(phase);
  if (index == 0 || index >= kToMsm.size()) return std::nullopt;
  return kProcess.at(static_cast<std::size_t>(trigger))(phase);
}

}  // namespace lockstep
