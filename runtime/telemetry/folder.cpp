// SPDX-License-Identifier: Apache-2.0
//
// Opens folders for folder.h: first open, then check what was opened, so that nothing can be
// swapped in between.
#include "runtime/telemetry/folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "runtime/settings/fixed_text.h"
#include "runtime/telemetry/descriptor.h"

namespace cxltier {
namespace {

constexpr int folder_flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

bool belongs_to(int folder, std::uint32_t uid, mode_t forbidden_bits) noexcept {
  struct stat about {};
  return ::fstat(folder, &about) == 0 && S_ISDIR(about.st_mode) && about.st_uid == uid &&
         (about.st_mode & forbidden_bits) == 0;
}

struct Child {
  const char* name;
  std::uint32_t uid;
  FolderUse use;
};

Result<int> open_child(int parent, const Child& child) noexcept {
  if (child.use == FolderUse::make && ::mkdirat(parent, child.name, S_IRWXU) != 0 &&
      errno != EEXIST) {
    return Error{errno};
  }
  return open_checked_folder(parent, child.name, child.uid);
}

// XDG_RUNTIME_DIR survives su and sudo: another user's folder is not ours to write in.
Result<int> open_in_runtime_folder(const FolderPlace& place, FolderUse use) noexcept {
  const char* const path = place.runtime_folder;
  if (path == nullptr || path[0] != '/') return Error{ENOENT};
  const Descriptor parent(::open(path, folder_flags));
  if (!parent.is_open()) return Error{errno};
  if (!belongs_to(parent.number(), place.uid, S_IWGRP | S_IWOTH)) return Error{ENOENT};
  return open_child(parent.number(), {"cxltier", place.uid, use});
}

}  // namespace

Result<int> open_checked_folder(int parent, const char* name, std::uint32_t uid) noexcept {
  const int folder = ::openat(parent, name, folder_flags | O_NOFOLLOW);
  if (folder < 0) return Error{errno};
  if (belongs_to(folder, uid, S_IRWXG | S_IRWXO)) return folder;
  ::close(folder);
  return Error{EPERM};
}

Result<int> open_telemetry_folder(const FolderPlace& place, FolderUse use) noexcept {
  const Result<int> own = open_in_runtime_folder(place, use);
  if (own.ok() || place.memory_folder == nullptr) return own;
  const Descriptor parent(::open(place.memory_folder, folder_flags));
  if (!parent.is_open()) return Error{errno};
  std::array<char, 32> name{};
  FixedText(name) << "cxltier-" << place.uid;
  return open_child(parent.number(), {name.data(), place.uid, use});
}

}  // namespace cxltier
