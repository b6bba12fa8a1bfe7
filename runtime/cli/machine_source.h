// SPDX-License-Identifier: Apache-2.0
//
// Where `topo` and `doctor` read: this machine, a folder (--root), or files that somebody sent
// (--from).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/os/file_tree_linux.h"
#include "runtime/topology/platform/stored_tree.h"

namespace CLI {
class App;
}

namespace cxltier {

struct SourceOptions {
  std::string root = "/";
  std::vector<std::string> files;  // --from
};

// Adds --root and --from to a verb; `options` must outlive the parsing.
void add_source_options(CLI::App& verb, SourceOptions& options);

class MachineSource {
 public:
  // Nothing after a complaint that begins with the verb's name.
  [[nodiscard]] static std::optional<MachineSource> open(const SourceOptions& options,
                                                         const char* verb);
  [[nodiscard]] FileTree& tree() { return stored_ ? static_cast<FileTree&>(*stored_) : folder_; }
  [[nodiscard]] bool is_snapshot() const { return stored_.has_value() || !is_this_machine_; }

 private:
  explicit MachineSource(const SourceOptions& options)
      : is_this_machine_(options.root == "/"), folder_(options.root.c_str()) {}

  bool is_this_machine_;
  FileTreeLinux folder_;
  std::optional<StoredTree> stored_;
};

// The whole file; nothing, and errno, if it cannot be read; EFBIG from 256 MiB on.
[[nodiscard]] std::optional<std::string> read_whole_file(const std::string& path);
// False, and errno, if it cannot be written.
[[nodiscard]] bool write_whole_file(const std::string& path, const std::string& bytes);

}  // namespace cxltier
