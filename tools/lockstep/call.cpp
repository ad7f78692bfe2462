// The client's end of the socket. Beast is a heavy header: here and in server.cpp alone.
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <utility>

#include "tools/lockstep/client.h"

namespace lockstep::cli {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using Stream = beast::basic_stream<asio::local::stream_protocol>;

// Makes one call step by step: each is started, and waited for as long as the patience lasts.
class Call {
 public:
  Call(const std::string& socket_path, const Patience& patience) : endpoint_(socket_path), patience_(patience) {}

  tl::expected<Reply, CallError> make(const Request& request) {
    const auto connected = run([&](auto done) { stream_.async_connect(endpoint_, std::move(done)); });
    if (silent_) return tl::unexpected(CallError::Silent);
    if (connected) return tl::unexpected(CallError::NoController);
    http::request<http::string_body> message;
    message.method_string(request.method);
    message.target(request.target);
    message.version(11);
    message.set(http::field::host, "lockstep");
    message.set(http::field::connection, "close");
    message.body() = request.body;
    message.prepare_payload();
    // A refusal may come before all is written, and is worth reading.
    (void)run([&](auto done) { http::async_write(stream_, message, std::move(done)); });
    beast::flat_buffer buffer;
    http::response_parser<http::string_body> parser;
    parser.body_limit(boost::none);
    beast::error_code failed;
    if (!silent_) failed = run([&](auto done) { http::async_read(stream_, buffer, parser, std::move(done)); });
    if (silent_) return tl::unexpected(CallError::Silent);
    if (failed) return tl::unexpected(CallError::Broken);
    return Reply{parser.get().result_int(), std::move(parser.get().body())};
  }

 private:
  template <class Start>
  beast::error_code run(Start&& start) {
    beast::error_code result;
    bool finished = false;
    start([&](beast::error_code error, auto&&...) {
      result = error;
      finished = true;
    });
    io_.restart();
    while (!finished) {
      io_.run_for(patience_.each);
      if (finished || (patience_.wait_on && patience_.wait_on())) continue;
      silent_ = true;
      stream_.close();  // ends the step
      io_.run();
    }
    return result;
  }

  asio::io_context io_{1};
  Stream stream_{io_};
  asio::local::stream_protocol::endpoint endpoint_;
  const Patience& patience_;
  bool silent_ = false;
};

}  // namespace

tl::expected<Reply, CallError> call_controller(const std::string& socket_path, const Request& request,
                                               const Patience& patience) {
  return Call(socket_path, patience).make(request);
}

}  // namespace lockstep::cli
