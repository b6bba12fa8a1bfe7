// SPDX-License-Identifier: Apache-2.0
//
// The verb `collect`: one archive of everything that `topo` and `doctor` read, to look at
// elsewhere.
//
// The readers run once through a tree that remembers what they ask for, so the archive holds that
// and nothing else; the kernel's log and what `cxl list` and `daxctl list` print lie beside it.
#include <CLI/CLI.hpp>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "runtime/cli/kernel_log.h"
#include "runtime/cli/machine_source.h"
#include "runtime/cli/redaction.h"
#include "runtime/cli/verb.h"
#include "runtime/topology/platform/platform.h"
#include "runtime/topology/platform/tar_file.h"
#include "runtime/topology/process_nodes.h"

namespace cxltier {
namespace {

struct CollectOptions {
  std::string file;
  std::string root = "/";
  bool redact = false;
};

// What a command prints; empty if there is none such, or it fails.
std::string output_of(const std::string& command) {
  std::FILE* pipe = popen((command + " 2>/dev/null").c_str(), "re");
  if (pipe == nullptr) return {};
  std::string text;
  std::array<char, 4096> buffer;
  for (std::size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    text.append(buffer.data(), got);
  }
  return pclose(pipe) == 0 ? text : std::string();
}

void add_text(StoredTree& stored, const char* name, const std::string& text) {
  if (!text.empty()) stored.files[name] = text;
}

void add_outputs(StoredTree& stored) {
  add_text(stored, "dmesg.txt", read_kernel_log());
  add_text(stored, "cxl-list.json", output_of("cxl list -vvv"));
  add_text(stored, "daxctl-list.json", output_of("daxctl list -RDM"));
  add_text(stored, "versions.txt",
           output_of("uname -a; cxl --version; daxctl --version; cat /etc/os-release") +
               "cxltier " CXLTIER_VERSION "\n");
}

int collect(const CollectOptions& options) {
  StoredTree stored;
  FileTreeLinux machine(options.root.c_str());
  RecordingTree recorder(machine, stored);
  const Platform platform = read_platform(recorder, {true, {}});
  static_cast<void>(read_process_nodes(recorder).ok());
  if (!platform.reading) {
    complain(fmt::format("collect: cannot read {}/sys/devices/system/node: {}",
                         options.root == "/" ? "" : options.root,
                         std::strerror(platform.reading_error)));
    return exit_failed;
  }
  if (options.root == "/") add_outputs(stored);
  if (options.redact) redact(stored);
  if (!write_whole_file(options.file, write_tar(stored, "cxltier-machine"))) {
    complain(fmt::format("collect: cannot write {}: {}", options.file, std::strerror(errno)));
    return exit_failed;
  }
  for (const std::string& closed : platform.closed) {
    complain(fmt::format("collect: left out, needs root: /{}", closed));
  }
  return print_data(fmt::format("{}: {} files; read it with: cxltier doctor --from {}\n",
                                options.file, stored.files.size(), options.file));
}

}  // namespace

void add_collect(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<CollectOptions>();
  CLI::App* verb = app.add_subcommand(
      "collect", "Write an archive of everything that topo and doctor read, to look at elsewhere");
  verb->add_option("file", options->file, "The archive to write (tar)")
      ->required()
      ->type_name("FILE");
  verb->add_flag("--redact", options->redact, "Take serial numbers and disk names out");
  verb->add_option("--root", options->root, "Collect from a snapshot")->type_name("DIR");
  verb->callback([options, &exit_code] { exit_code = collect(*options); });
}

}  // namespace cxltier
