// SPDX-License-Identifier: Apache-2.0
//
// FileTree over a real folder: "/" for this machine, or the root of a snapshot.
//
// No descriptor is kept between calls: an application that closes descriptors which it does not
// know cannot make us read somebody else's file.  Every call opens, reads and closes; errno is left
// as it was.  Below a root other than "/" absolute links stay inside that root (openat2, Linux 5.6;
// on older kernels they lead out of it).  Any thread.
#pragma once

#include "runtime/os/file_tree.h"

namespace cxltier {

class FileTreeLinux final : public FileTree {
 public:
  // The text of `root` must outlive the tree.  A root that does not exist shows in every call.
  explicit FileTreeLinux(const char* root) noexcept : root_(root) {}

  Result<std::size_t> read(const char* path, std::span<char> out) noexcept override;
  Result<std::size_t> read_link(const char* path, std::span<char> out) noexcept override;
  Result<std::size_t> list(const char* path, EntryVisitor& visitor) noexcept override;

 private:
  const char* root_;
};

}  // namespace cxltier
