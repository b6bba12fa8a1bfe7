// SPDX-License-Identifier: Apache-2.0
//
// cxltier-bench: what `cxltier bench` runs.
//
// Exit status: 0 measured; 1 the measurement failed, or a file could not be written; 2 usage.  A
// figure that a rule calls invalid does not make the run a failure: it is said beside the figure.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "bench/tier/interrupt.h"
#include "bench/tier/mode/mode.h"
#include "bench/tier/options.h"
#include "bench/tier/output_files.h"
#include "bench/tier/reference/reference.h"
#include "bench/tier/result/comparison.h"
#include "bench/tier/result/html.h"
#include "bench/tier/result/profile.h"
#include "bench/tier/result/table.h"
#include "bench/tier/session.h"
#include "runtime/os/file_tree_linux.h"

namespace cxltier::bench {
namespace {

constexpr int exit_ok = 0;
constexpr int exit_failed = 1;
constexpr int exit_usage = 2;

void complain(const std::string& text) { fmt::print(stderr, "cxltier: bench: {}\n", text); }

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

// std::invalid_argument: the user named a file that is no result.
Document read_result(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw std::invalid_argument(
        fmt::format("--compare: cannot read {}: {}", path, std::strerror(errno)));
  }
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw std::invalid_argument(fmt::format("--compare: {} is a folder; name a file in it", path));
  }
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  std::string fault;
  std::optional<Document> document = parse_document(text, fault);
  if (!document) {
    throw std::invalid_argument(fmt::format(
        "--compare: {} {}; give it a file that `cxltier bench --json` wrote", path, fault));
  }
  return std::move(*document);
}

Document measure(const Options& options) {
  const double start = now_s();
  FileTreeLinux tree("/");
  Session session(tree, options);
  session.document.started = utc_now();
  run_mode(session);
  session.document.duration_s = now_s() - start;
  return std::move(session.document);
}

std::string text_form(const Document& document, const Options& options,
                      const std::vector<Document>& references) {
  if (options.form == OutputForm::json) return json_of(document);
  if (options.form == OutputForm::csv) return csv_of(document);
  std::string text = table_of(document);
  for (const Document& reference : references) text += "\n---\n" + table_of(reference);
  return text;
}

// What makes a comparison one of machines or settings, and not of days.
std::string difference_of(const Document& now, const Document& before) {
  std::string lines;
  const auto compare_text = [&](const char* what, const std::string& a, const std::string& b) {
    if (a != b) lines += fmt::format("  differs: {}: {} now, {} before\n", what, a, b);
  };
  compare_text("processor", now.machine.cpu_model, before.machine.cpu_model);
  compare_text("kernel", now.machine.kernel, before.machine.kernel);
  compare_text("hypervisor", now.machine.hypervisor, before.machine.hypervisor);
  compare_text("loads", now.settings.kernel, before.settings.kernel);
  compare_text("pages", now.settings.pages, before.settings.pages);
  return lines;
}

// Without a mode the references are what was asked for, and nothing is measured.
bool only_references(const Options& options) {
  return !options.references.empty() && !options.mode_given;
}

int print(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (written && std::fflush(stdout) == 0) return exit_ok;
  complain(fmt::format("cannot write the output: {}", std::strerror(errno)));
  return exit_failed;
}

// What cannot be done with the results is found out before they are measured.
std::string checked_save_path(const Options& options) {
  if (::fcntl(STDOUT_FILENO, F_GETFD) == -1) {
    throw std::runtime_error("the standard output is closed: there is nowhere to print to");
  }
  if (!options.html_path.empty()) check_writable("--html", options.html_path);
  if (!options.save) return {};
  if (only_references(options)) {
    throw std::invalid_argument(
        "--save: a published machine is not this one; name a mode to measure, as in latency");
  }
  const std::string path = options.save_path.empty() ? saved_profile_path() : options.save_path;
  check_writable("--save", path);
  return path;
}

void save_profile(const Document& document, const std::string& path, const Options& options) {
  const std::string profile = profile_of(document);
  // A saved profile is not replaced by nothing; a file that was named is written in any case.
  if (options.save_path.empty() && !has_figures(profile)) {
    throw std::runtime_error(fmt::format(
        "no valid figure to save: {} stays as it is; measure again while the machine is quiet",
        path));
  }
  write_file(path, profile);
  if (options.quiet) return;
  fmt::print(stderr, "cxltier: bench: profile saved to {}; {}\n", path,
             options.save_path.empty() ? "topo, run and advise read it from now on"
                                       : "read it with --profile or CXLTIER_PROFILE");
}

int run(const Options& options) {
  const std::string save_path = checked_save_path(options);
  std::optional<Document> before;
  if (!options.compare_path.empty()) before = read_result(options.compare_path);
  std::vector<Document> references;
  for (const std::string& name : options.references) references.push_back(read_reference(name));
  Document document;
  if (only_references(options)) {
    document = std::move(references.front());
    references.erase(references.begin());
  } else {
    document = measure(options);
  }
  std::string text = text_form(document, options, references);
  if (before) {
    const std::string comparison = text_of(compare(document, *before), options.compare_path) +
                                   difference_of(document, *before);
    // Data stays parsable: beside JSON and CSV the verdicts go to stderr.
    if (options.form == OutputForm::table) {
      text += comparison;
    } else {
      std::fputs(comparison.c_str(), stderr);
    }
  }
  const int printed = print(text);
  if (!options.html_path.empty()) {
    if (references.empty() && !only_references(options)) {
      references.push_back(read_reference("intel-snc4-eurosys24"));
    }
    write_file(options.html_path, html_of(document, references));
  }
  if (!save_path.empty()) save_profile(document, save_path, options);
  return printed;
}

int run_main(const std::vector<std::string>& words) {
  const Options options = parse_options(words);
  if (options.exit_text) return print(*options.exit_text);
  if (!options.wrong.empty()) {
    complain(options.wrong);
    return exit_usage;
  }
  announce_interrupts();
  try {
    return run(options);
  } catch (const std::invalid_argument& wrong) {
    complain(wrong.what());
    return exit_usage;
  } catch (const std::bad_alloc&) {
    complain(
        "out of memory; ask for less with --buffer-mib or --threads, or raise the limit "
        "(ulimit -v, or the control group's)");
    return exit_failed;
  } catch (const std::exception& error) {
    complain(error.what());
    return exit_failed;
  }
}

}  // namespace
}  // namespace cxltier::bench

int main(int argc, char** argv) { return cxltier::bench::run_main({argv + 1, argv + argc}); }
