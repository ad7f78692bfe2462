#include "tools/lockstep/server.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

namespace lockstep::cli {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using Local = asio::local::stream_protocol;
using Stream = beast::basic_stream<Local>;

constexpr std::size_t kWorkers = 2;
constexpr auto kDrain = std::chrono::seconds(2);  // for the last answers to be taken

class Connection;

// Those that are open, so that a stop can end the idle ones and wait for the last answers of the others. A connection
// may end on any thread.
class Connections {
 public:
  bool enter(Connection* connection, std::size_t max);
  void leave(Connection* connection);
  void close_idle();
  void wait_for_none(std::chrono::seconds patience);

 private:
  std::mutex mutex_;
  std::condition_variable none_;
  std::set<Connection*> open_;
};

// What all connections share; `io` and what it may still hold of them goes first.
struct Shared {
  const Service& service;
  Backend& backend;
  ServerLimits limits;
  Connections connections{};
  std::atomic<bool> closing{false};
  asio::io_context io{1};
  asio::thread_pool workers{kWorkers};
};

Failure refusal(const beast::error_code& error, const ServerLimits& limits) {
  if (error == http::error::body_limit) {
    return Failure{"Usage", fmt::format("the body is larger than {} bytes", limits.body_bytes), kExitUsage};
  }
  if (error == http::error::header_limit) {
    return Failure{"Usage", fmt::format("the header is larger than {} bytes", limits.header_bytes), kExitUsage};
  }
  return Failure{"Usage", "the request is not HTTP/1.1: " + error.message(), kExitUsage};
}

http::status status_of(const beast::error_code& error) {
  if (error == http::error::body_limit) return http::status::payload_too_large;
  if (error == http::error::header_limit) return http::status::request_header_fields_too_large;
  return http::status::bad_request;
}

// One connection: request, answer, request ... Everything but the work itself happens on the one I/O thread.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Local::socket socket, Shared& shared) : stream_(std::move(socket)), shared_(shared) {}
  ~Connection() { shared_.connections.leave(this); }

  void close_if_idle() {
    if (idle_) stream_.close();
  }

  void read() {
    idle_ = true;
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(shared_.limits.header_bytes));
    parser_->body_limit(shared_.limits.body_bytes);
    stream_.expires_after(std::chrono::seconds(shared_.limits.seconds_idle));
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](beast::error_code error, std::size_t) { self->on_read(error); });
  }

 private:
  void on_read(const beast::error_code& error) {
    idle_ = false;
    if (!error) return work();
    // Nobody there any more, or nothing to be said to somebody who says nothing.
    const bool malformed = error.category() == http::make_error_code(http::error::bad_method).category();
    if (!malformed || error == http::error::end_of_stream || error == http::error::partial_message) return;
    auto reply = Service::reply(refusal(error, shared_.limits));
    reply.status = static_cast<unsigned>(status_of(error));
    keep_alive_ = false;
    write(std::move(reply));
  }

  void work() {
    stream_.expires_never();
    auto message = parser_->release();
    keep_alive_ = message.keep_alive();
    Request request{std::string(message.method_string()), std::string(message.target()), std::move(message.body())};
    if (Service::is_command(request)) return command(request);
    asio::post(shared_.workers, [self = shared_from_this(), request = std::move(request)] {
      self->finish(self->shared_.service.reply(request));
    });
  }

  void command(const Request& request) {
    auto command = shared_.service.command(request);
    if (!command) return write(Service::reply(command.error()));
    shared_.backend.submit(std::move(*command), [self = shared_from_this()](const Result<Answer>& answer) {
      self->finish(Service::reply(answer));
    });
  }

  // From any thread.
  void finish(Reply reply) {
    asio::post(shared_.io,
               [self = shared_from_this(), reply = std::move(reply)]() mutable { self->write(std::move(reply)); });
  }

  void write(Reply reply) {
    response_.emplace(static_cast<http::status>(reply.status), 11U);
    response_->set(http::field::server, "lockstep");
    response_->set(http::field::content_type, "application/json");
    response_->keep_alive(keep_alive_ && !shared_.closing);
    response_->body() = std::move(reply.body);
    response_->prepare_payload();
    stream_.expires_after(std::chrono::seconds(shared_.limits.seconds_write));
    http::async_write(stream_, *response_, [self = shared_from_this()](beast::error_code error, std::size_t) {
      if (error) return;
      if (self->response_->keep_alive()) return self->read();
      self->stream_.socket().shutdown(Local::socket::shutdown_send, error);
    });
  }

  Stream stream_;
  Shared& shared_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  std::optional<http::response<http::string_body>> response_;
  bool keep_alive_ = false;
  bool idle_ = false;  // waits for a request
};

bool Connections::enter(Connection* connection, std::size_t max) {
  const std::lock_guard lock(mutex_);
  if (open_.size() >= max) return false;
  open_.insert(connection);
  return true;
}

void Connections::leave(Connection* connection) {
  const std::lock_guard lock(mutex_);
  open_.erase(connection);
  none_.notify_all();
}

// On the I/O thread, where alone a connection becomes idle or is no longer.
void Connections::close_idle() {
  const std::lock_guard lock(mutex_);
  for (Connection* connection : open_) connection->close_if_idle();
}

void Connections::wait_for_none(std::chrono::seconds patience) {
  std::unique_lock lock(mutex_);
  none_.wait_for(lock, patience, [this] { return open_.empty(); });
}

}  // namespace

struct Server::Impl {
  Shared shared;
  Local::acceptor acceptor{shared.io};
  std::thread thread;

  Impl(const Service& service, Backend& backend, const ServerLimits& limits)
      : shared{.service = service, .backend = backend, .limits = limits} {}

  // The mode is set before there is a name, so nobody else can ever connect.
  Outcome<void> listen(const std::string& path) {
    beast::error_code error;
    ::unlink(path.c_str());
    acceptor.open(Local(), error);
    if (!error && ::fchmod(acceptor.native_handle(), S_IRUSR | S_IWUSR) != 0) {
      error.assign(errno, boost::system::system_category());
    }
    if (!error) acceptor.bind(Local::endpoint(path), error);
    if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
    if (!error) return {};
    return refuse(Error{ErrorCode::StorageFailed, fmt::format("{}: cannot listen there: {}", path, error.message())});
  }

  void accept() {
    acceptor.async_accept([this](beast::error_code error, Local::socket socket) {
      if (error == asio::error::operation_aborted || !acceptor.is_open()) return;
      // Beyond the limit, and without descriptors, a client sees its connection closed and tries again.
      if (!error) {
        auto connection = std::make_shared<Connection>(std::move(socket), shared);
        if (shared.connections.enter(connection.get(), shared.limits.connections)) connection->read();
      }
      if (error) std::this_thread::sleep_for(std::chrono::milliseconds(10));
      accept();
    });
  }
};

Server::Server() = default;

Outcome<std::unique_ptr<Server>> Server::start(const std::string& socket_path, const Service& service, Backend& backend,
                                               const ServerLimits& limits) {
  std::unique_ptr<Server> server(new Server());
  server->impl_ = std::make_unique<Impl>(service, backend, limits);
  Impl& impl = *server->impl_;
  if (auto listening = impl.listen(socket_path); !listening) return refuse(std::move(listening.error()));
  impl.accept();
  impl.thread = std::thread([&impl] { impl.shared.io.run(); });
  return server;
}

void Server::close() {
  if (impl_->shared.closing.exchange(true)) return;
  asio::post(impl_->shared.io, [this] {
    beast::error_code ignored;
    impl_->acceptor.close(ignored);
    impl_->shared.connections.close_idle();
  });
}

Server::~Server() {
  if (!impl_->thread.joinable()) return;
  close();
  impl_->shared.workers.join();
  impl_->shared.connections.wait_for_none(kDrain);
  impl_->shared.io.stop();
  impl_->thread.join();
}

}  // namespace lockstep::cli
