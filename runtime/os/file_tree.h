// SPDX-License-Identifier: Apache-2.0
//
// Small text files under one root: sysfs and procfs of this machine, or a snapshot of another one.
//
// Paths are relative to the root and do not start with a slash: "sys/devices/system/node/online".
// No call allocates.  Everything read is untrusted: a snapshot may hold anything.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "runtime/os/result.h"

namespace cxltier {

// Receives the names of a folder, without "." and "..", in no particular order.
class EntryVisitor {
 public:
  virtual void visit(std::string_view name) noexcept = 0;

 protected:
  ~EntryVisitor() = default;
};

class FileTree {
 public:
  // Reads the head of a file; returns the number of bytes, at most out.size().
  // errors: ENOENT, EACCES, EISDIR, EIO, ENAMETOOLONG
  virtual Result<std::size_t> read(const char* path, std::span<char> out) noexcept = 0;
  // Reads the target of a symbolic link, as it is written in it; a target that does not fit is
  // ENAMETOOLONG.
  virtual Result<std::size_t> read_link(const char* path, std::span<char> out) noexcept = 0;
  // Visits a folder's entries; returns how many.
  virtual Result<std::size_t> list(const char* path, EntryVisitor& visitor) noexcept = 0;

 protected:
  ~FileTree() = default;
};

}  // namespace cxltier
