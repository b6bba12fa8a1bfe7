// SPDX-License-Identifier: Apache-2.0
//
// A FileTree in memory, and a tree that stores whatever is read through it.
//
//   machine ──► RecordingTree ──► readers           StoredTree ──► readers
//                    └──► StoredTree ──► archive ──►──┘
//
// So an archive holds exactly what the readers read, and nothing else of the machine.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "runtime/os/file_tree.h"

namespace cxltier {

class StoredTree final : public FileTree {
 public:
  std::map<std::string, std::string> files;
  std::map<std::string, std::string> links;
  std::set<std::string> folders;  // also those that hold nothing

  Result<std::size_t> read(const char* path, std::span<char> out) noexcept override;
  Result<std::size_t> read_link(const char* path, std::span<char> out) noexcept override;
  Result<std::size_t> list(const char* path, EntryVisitor& visitor) noexcept override;

  // The path without links in it, its last component's included if `follow_last`; empty for a
  // circle or a path that leaves the root.
  enum class Last { follow, keep };
  [[nodiscard]] std::string resolved(const std::string& path, Last last) const;
};

class RecordingTree final : public FileTree {
 public:
  RecordingTree(FileTree& tree, StoredTree& stored) : tree_(tree), stored_(stored) {}

  Result<std::size_t> read(const char* path, std::span<char> out) noexcept override;
  Result<std::size_t> read_link(const char* path, std::span<char> out) noexcept override;
  Result<std::size_t> list(const char* path, EntryVisitor& visitor) noexcept override;

 private:
  // Stores every link on the way, so that StoredTree finds the same file.
  void store_links(const std::string& path);
  void store_link(const std::string& path);

  FileTree& tree_;
  StoredTree& stored_;
  std::set<std::string> no_links_;  // paths that were asked and are none
};

}  // namespace cxltier
