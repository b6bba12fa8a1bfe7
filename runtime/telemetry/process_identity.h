// SPDX-License-Identifier: Apache-2.0
//
// Which process a number means.  A pid alone is reused; with the time at which the process started
// and the boot it is unique on a machine, and the PID namespace says whose number it is.  An exec
// keeps all of these: the mark tells the program before it from the one after.
//
// No heap, no state: any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "runtime/os/result.h"

namespace cxltier {

using BootId = std::array<char, 40>;  // zero-terminated; 36 characters in every kernel we know

struct ProcessIdentity {
  std::uint32_t pid = 0;  // as the process itself sees it
  std::uint32_t uid = 0;  // effective
  std::uint64_t start_time_ticks = 0;
  BootId boot_id{};
  std::uint64_t pid_namespace = 0;  // inode; 0: unknown
  std::uint64_t exec_mark = 0;      // see exec_mark_of; 0: unknown
};

// errors: ENOENT, EACCES (no /proc), EBADMSG
[[nodiscard]] Result<ProcessIdentity> identity_of_self() noexcept;

// errors: ENOENT (no such process), EACCES, EBADMSG
[[nodiscard]] Result<std::uint64_t> start_time_of(std::uint32_t pid) noexcept;
[[nodiscard]] Result<BootId> boot_id_now() noexcept;

// The address of the random bytes that the kernel gives to a program at exec (AT_RANDOM), which
// address randomisation makes another for each; without that, programs look the same.
// errors: ENOENT (no such process), EACCES, EBADMSG (no such entry)
[[nodiscard]] Result<std::uint64_t> exec_mark_of(std::uint32_t pid) noexcept;

// Field 22 of the text of /proc/PID/stat.  Field 2 is the program's name in parentheses and may
// hold blanks and parentheses itself, so fields are counted from the last closing one.
[[nodiscard]] std::optional<std::uint64_t> parse_start_time(std::string_view stat) noexcept;

// Reads the head of a small file of /proc into `out`; the view lies inside it.
[[nodiscard]] Result<std::string_view> read_proc_file(const char* path,
                                                      std::span<char> out) noexcept;

}  // namespace cxltier
