// SPDX-License-Identifier: Apache-2.0
//
// Publishes the telemetry page of this process.
//
//   open():  folder -> sweep -> create -> allocate blocks -> map -> header       close(): unlink
//
// The blocks are allocated before the file is mapped: on a full file system a store into a mapped
// hole is a SIGBUS, and telemetry must never kill a program.  If any step fails the runtime goes on
// without telemetry.  No descriptor stays open, so it does not matter on which thread, with which
// descriptor table, close() runs.
//
// One writer per process, used by the controller's thread, and by close() after that thread ended.
// There is no destructor: a preloaded library runs nothing of its own at exit that nobody called.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/os/result.h"
#include "runtime/telemetry/folder.h"
#include "runtime/telemetry/page.h"
#include "runtime/telemetry/process_identity.h"

namespace cxltier {

class TelemetryWriter {
 public:
  TelemetryWriter() noexcept = default;
  TelemetryWriter(const TelemetryWriter&) = delete;
  TelemetryWriter& operator=(const TelemetryWriter&) = delete;

  // errors: those of the folder; ENOSPC, EDQUOT, EFBIG (no room); EEXIST (a process of another PID
  // namespace with the same pid publishes here).  After an error nothing is left behind.
  // pre: not open; place.memory_folder stays valid until close() or abandon()
  Result<Done> open(const FolderPlace& place, const ProcessIdentity& self) noexcept;

  // Makes the values of `page` visible as one; its header and generation are not used.  Does
  // nothing if not open.  No system call.
  void publish(const TelemetryPage& page) noexcept;

  // Removes the file, if it is still the one that open() made, and unmaps it.
  void close() noexcept;
  // Removes it and leaves the mapping, in which another thread may still publish: for the end of a
  // process.
  void remove() const noexcept;

  // In the child of a fork: the page is the parent's, and its mapping was not inherited.
  void abandon() noexcept { page_ = nullptr; }

  [[nodiscard]] bool is_open() const noexcept { return page_ != nullptr; }

 private:
  void remember(const FolderPlace& place) noexcept;
  Result<Done> create(int folder, const char* name) noexcept;
  Result<Done> map(int file) noexcept;
  void write_header() noexcept;

  TelemetryPage* page_ = nullptr;  // shared mapping
  FolderPlace place_{};
  std::array<char, 256> runtime_folder_{};  // what place_.runtime_folder points to
  ProcessIdentity self_{};
  std::uint64_t device_ = 0;  // device and inode: which file is ours
  std::uint64_t inode_ = 0;
};

}  // namespace cxltier
