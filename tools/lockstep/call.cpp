// The client's end of the socket. Beast is a heavy header: here and in server.cpp alone.
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <utility>

#include "tools/lockstep/client.h"

namespace lockstep::cli {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using Stream = beast::basic_stream<asio::local::stream_protocol>;

// An answer may take as long as a recovery of a large store; a dead controller closes the socket by itself.
constexpr auto kCallPatience = std::chrono::minutes(10);

// Starts one asynchronous step, so that the stream's time limit counts, and waits for it.
template <class Start>
beast::error_code run(asio::io_context& io, Start&& start) {
  beast::error_code result;
  start([&](beast::error_code error, auto&&...) { result = error; });
  io.restart();
  io.run();
  return result;
}

}  // namespace

tl::expected<Reply, CallError> call_controller(const std::string& socket_path, const Request& request) {
  asio::io_context io(1);
  Stream stream(io);
  stream.expires_after(kCallPatience);
  const asio::local::stream_protocol::endpoint endpoint(socket_path);
  if (run(io, [&](auto done) { stream.async_connect(endpoint, std::move(done)); })) {
    return tl::unexpected(CallError::NoController);
  }
  http::request<http::string_body> message;
  message.method_string(request.method);
  message.target(request.target);
  message.version(11);
  message.set(http::field::host, "lockstep");
  message.set(http::field::connection, "close");
  message.body() = request.body;
  message.prepare_payload();
  // A refusal may come before all is written, and is worth reading.
  (void)run(io, [&](auto done) { http::async_write(stream, message, std::move(done)); });
  beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
  parser.body_limit(boost::none);
  if (run(io, [&](auto done) { http::async_read(stream, buffer, parser, std::move(done)); })) {
    return tl::unexpected(CallError::Broken);
  }
  return Reply{parser.get().result_int(), std::move(parser.get().body())};
}

}  // namespace lockstep::cli
