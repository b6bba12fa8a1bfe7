// SPDX-License-Identifier: Apache-2.0
//
// redis_demo: one Redis data set under six placements over DRAM and CXL memory.
//
// Exit status: 0 all checks hold; 1 a check does not, or the run failed; 2 bad usage; 77 with
// --smoke when there is no redis-server (a test's skip).
#include <signal.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "bench/redis_demo/clock.h"
#include "bench/redis_demo/failure.h"
#include "bench/redis_demo/options.h"
#include "bench/redis_demo/report.h"
#include "bench/redis_demo/session.h"

namespace cxltier::demo {
namespace {

constexpr int exit_failed = 1;
constexpr int exit_usage = 2;

void write_file(const std::string& path, const std::string& text) {
  std::error_code ignored;  // the open below says what is wrong
  const auto parent = std::filesystem::path(path).parent_path();
  if (!parent.empty()) std::filesystem::create_directories(parent, ignored);
  std::ofstream file(path, std::ios::trunc);
  file << text << std::flush;
  if (!file) fail_errno("writing " + path);
}

int run(const Options& options) {
  Session session(options);
  session.prepare();
  session.measure();
  const std::vector<Check> checks = run_checks(session.rows(), session.setup().budget_bytes);
  if (!options.out_path.empty()) {
    write_file(options.out_path, report_json(session, options, checks));
  }
  std::printf("\n%s\n%s", table_text(session.rows()).c_str(), closing_text(session.rows()).c_str());
  int status = 0;
  for (const Check& check : checks) {
    if (check.ok) continue;
    std::printf("check failed: %s: %s\n", check.name.c_str(), check.text.c_str());
    status = exit_failed;
  }
  progress(status == 0 ? "all checks hold" : "a check failed");
  return status;
}

int run_main(int argc, char** argv) {
  now_s();  // starts the clock
  const Options options = parse_options(argc, argv);
  if (options.exit_text) return std::fputs(options.exit_text->c_str(), stdout), 0;
  if (!options.wrong.empty()) {
    std::fprintf(stderr, "redis_demo: %s\n", options.wrong.c_str());
    return exit_usage;
  }
  signal(SIGPIPE, SIG_IGN);
  try {
    return run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "redis_demo: %s\n", error.what());
    return exit_failed;
  }
}

}  // namespace
}  // namespace cxltier::demo

int main(int argc, char** argv) { return cxltier::demo::run_main(argc, argv); }
