#include "tools/scenario/scenario.h"

#include <fmt/format.h>

#include <fstream>
#include <system_error>

#include "tools/manifest/read_file.h"
#include "tools/manifest/text.h"
#include "tools/scenario/parse.h"
#include "tools/scenario/runner.h"

namespace lockstep {
namespace {

// No device and no pipe: a scenario may name anything.
Result<std::string> read_file(const std::filesystem::path& path, std::size_t bytes_max) {
  std::error_code error;
  const bool is_special = std::filesystem::is_other(path, error);
  if (is_special) return fail(ErrorCode::InvalidInput, fmt::format("{}: is no file that can be read", path.string()));
  auto text = read_named_file(path.string(), bytes_max);
  LOCKSTEP_TRY(text);
  LOCKSTEP_TRY(check_utf8(path.string(), *text));
  return text;
}

// Under another name first, so that a crash leaves the old file or the new one.
Result<void> replace_file(const std::filesystem::path& path, const std::string& text) {
  auto temporary = path;
  temporary += ".rewritten";
  {
    std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
    out << text;
    out.flush();
    if (!out) return fail(ErrorCode::StorageFailed, fmt::format("{} cannot be written", temporary.string()));
  }
  std::error_code error;
  std::filesystem::rename(temporary, path, error);
  if (!error) return {};
  return fail(ErrorCode::StorageFailed, fmt::format("{} cannot be replaced: {}", path.string(), error.message()));
}

ScenarioResult cannot_parse(const std::string& file, const std::vector<scenario::ParseError>& errors) {
  ScenarioResult result{};
  result.status = 2;
  result.code = ErrorCode::InvalidInput;
  for (const auto& error : errors) result.failures.push_back(fmt::format("{}:{}: {}", file, error.line, error.what));
  return result;
}

ScenarioResult cannot_read(const Error& error) {
  ScenarioResult result{};
  result.status = exit_status(error.code);
  result.code = error.code;
  result.failures.push_back(error.message);
  return result;
}

ScenarioResult run_file(const std::filesystem::path& file, const ScenarioOptions& options, std::ostream& trace) {
  const auto text = read_file(file, scenario::kScenarioBytesMax);
  if (!text) return cannot_read(text.error());
  const auto load = [&](const std::string& named) {
    return read_file(file.parent_path() / named, scenario::kScenarioBytesMax);
  };
  scenario::Script script = scenario::parse_script(*text, load);
  if (!script.errors.empty()) return cannot_parse(file.string(), script.errors);
  if (const auto missing = scenario::not_yet(script); !missing.empty()) return cannot_parse(file.string(), missing);

  const scenario::Script original = script;
  ScenarioResult result = scenario::run_script(file.string(), script, options, trace);
  if (options.rewrite && result.status <= 1) {
    const std::string rewritten = scenario::rewrite_traces(*text, original, script);
    if (rewritten != *text) {
      if (auto replaced = replace_file(file, rewritten); !replaced) return cannot_read(replaced.error());
    }
  }
  return result;
}

}  // namespace

ScenarioResult run_scenario(const std::filesystem::path& file, const ScenarioOptions& options, std::ostream& trace) {
  ScenarioResult result = run_file(file, options, trace);
  for (std::string& failure : result.failures) failure = one_line(failure);
  return result;
}

}  // namespace lockstep
