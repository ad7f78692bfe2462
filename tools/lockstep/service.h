#pragma once
// The paths under /v1 and their answers, apart from how they arrive: over the socket of a controller that runs, or from
// a verb of the same process on a store without one. Bad requests are answered, never fatal.
//
//     POST /v1/commands              a Command as its Cap'n Proto message -> {code group seq text repeated}
//     POST /v1/groups                manifest text -> {groups: [{name code group seq}], notCarried: [line]}
//     GET  /v1/groups                [group]
//     GET  /v1/groups/KEY            group          KEY: a name, #id or an id
//     GET  /v1/groups/KEY/why        {id name phase reason}
//     GET  /v1/groups/KEY/history    [event]        also of purged groups
//     GET  /v1/hosts/NAME            host
//     GET  /v1/hosts  /v1/claims     [host] [claim]
//     GET  /v1/state[?at=SEQ]        state
//     GET  /v1/log/stat              {first seq records events bytes ...}
//     GET  /v1/snapshots             {snapshots damaged}
//     POST /v1/snapshots             takes one -> snapshot

#include <string>

#include "tools/lockstep/backend.h"
#include "tools/lockstep/json.h"
#include "tools/lockstep/outcome.h"

namespace lockstep::cli {

struct Request {
  std::string method;
  std::string target;
  std::string body;
};

struct Reply {
  unsigned status{};  // of HTTP
  std::string body;   // JSON; a refusal is {"error": {code message exit}}
};

class Service {
 public:
  // `backend` outlives it.
  explicit Service(Backend& backend) : backend_(backend) {}

  // May be called from several threads if the backend may.
  [[nodiscard]] Outcome<Json> answer(const Request& request) const;
  [[nodiscard]] Reply reply(const Request& request) const;

  // POST /v1/commands without waiting. Nobody is called back when the message itself is refused.
  [[nodiscard]] Outcome<Command> command(const Request& request) const;
  [[nodiscard]] static Reply reply(const Result<Answer>& answer);
  [[nodiscard]] static Reply reply(const Failure& failure);
  [[nodiscard]] static bool is_command(const Request& request);

 private:
  Backend& backend_;
};

[[nodiscard]] std::string to_text(const Json& json, int indent = -1);
// What a reply says: its JSON, or the failure in it.
[[nodiscard]] Outcome<Json> read_reply(const std::string& body);

}  // namespace lockstep::cli
