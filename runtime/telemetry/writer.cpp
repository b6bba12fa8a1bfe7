// SPDX-License-Identifier: Apache-2.0
//
// The life of the page's file, and the generation counter that tells readers which copies are
// whole.
//
// The counter is a sequence lock (Boehm, "Can seqlocks get along with programming language memory
// models?", 2012) whose readers copy by pread: the kernel's copy stands where their loads would.
#include "runtime/telemetry/writer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "policy/check.h"
#include "runtime/settings/fixed_text.h"
#include "runtime/telemetry/descriptor.h"
#include "runtime/telemetry/sweep.h"

namespace cxltier {
namespace {

constexpr std::size_t page_bytes = sizeof(TelemetryPage);
constexpr std::size_t values_offset = offsetof(TelemetryPage, state);
constexpr std::size_t values_bytes = page_bytes - values_offset;

std::array<char, 16> file_name(std::uint32_t pid) noexcept {
  std::array<char, 16> name{};
  FixedText(name) << pid;
  return name;
}

// For file systems without fallocate: written bytes have blocks too.
Result<Done> write_zeros(int file) noexcept {
  const TelemetryPage zeros{};
  std::size_t written = 0;
  while (written < page_bytes) {
    const auto* const from = reinterpret_cast<const char*>(&zeros) + written;
    const ssize_t size = ::pwrite(file, from, page_bytes - written, static_cast<off_t>(written));
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return Error{size < 0 ? errno : ENOSPC};
    written += static_cast<std::size_t>(size);
  }
  return Done{};
}

// A file beyond RLIMIT_FSIZE is not an error code but SIGXFSZ, which would end the program.
bool exceeds_size_limit() noexcept {
  rlimit limit{};
  return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
         limit.rlim_cur < page_bytes;
}

Result<Done> allocate_blocks(int file) noexcept {
  if (exceeds_size_limit()) return Error{EFBIG};
  int status = 0;
  do {
    status = ::fallocate(file, 0, 0, page_bytes);
  } while (status != 0 && errno == EINTR);
  if (status == 0) return Done{};
  if (errno == EOPNOTSUPP || errno == ENOSYS) return write_zeros(file);
  return Error{errno};
}

}  // namespace

Result<Done> TelemetryWriter::open(const FolderPlace& place, const ProcessIdentity& self) noexcept {
  CXLTIER_CHECK(page_ == nullptr);
  remember(place);
  self_ = self;
  const Result<int> made = open_telemetry_folder(place_, FolderUse::make);
  if (!made.ok()) return Error{made.error()};
  const Descriptor folder(made.value());
  sweep_stale_pages(folder.number(), self);
  const auto name = file_name(self.pid);
  const Result<Done> created = create(folder.number(), name.data());
  if (created.ok()) write_header();
  return created;
}

// The environment's text is copied: programs that set their title write over it.
void TelemetryWriter::remember(const FolderPlace& place) noexcept {
  FixedText copy(runtime_folder_);
  if (place.runtime_folder != nullptr) copy << place.runtime_folder;
  place_ = place;
  place_.runtime_folder = copy.complete() ? runtime_folder_.data() : nullptr;
}

Result<Done> TelemetryWriter::create(int folder, const char* name) noexcept {
  const int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const Descriptor file(::openat(folder, name, flags, S_IRUSR | S_IWUSR));
  if (!file.is_open()) return Error{errno};
  Result<Done> outcome = allocate_blocks(file.number());
  if (outcome.ok()) outcome = map(file.number());
  if (!outcome.ok()) ::unlinkat(folder, name, 0);
  return outcome;
}

Result<Done> TelemetryWriter::map(int file) noexcept {
  struct stat about {};
  if (::fstat(file, &about) != 0) return Error{errno};
  void* const mapping = ::mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapping == MAP_FAILED) return Error{errno};
  // A fork child must not be able to write its parent's page, so this is a condition, not a wish.
  if (::madvise(mapping, page_bytes, MADV_DONTFORK) != 0) {
    const int failed = errno;
    ::munmap(mapping, page_bytes);
    return Error{failed};
  }
  device_ = about.st_dev;
  inode_ = about.st_ino;
  page_ = static_cast<TelemetryPage*>(mapping);
  return Done{};
}

// The magic comes last: a reader that comes too early sees zeros and tries again.
void TelemetryWriter::write_header() noexcept {
  TelemetryHeader& header = page_->header;
  header.version = telemetry_version;
  header.size = page_bytes;
  header.pid = self_.pid;
  header.uid = self_.uid;
  header.start_time_ticks = self_.start_time_ticks;
  header.boot_id = self_.boot_id;
  header.pid_namespace = self_.pid_namespace;
  std::atomic_thread_fence(std::memory_order_release);
  header.magic = telemetry_magic;
}

void TelemetryWriter::publish(const TelemetryPage& page) noexcept {
  if (page_ == nullptr) return;
  std::atomic_ref<std::uint32_t> generation(page_->generation);
  const std::uint32_t before = generation.load(std::memory_order_relaxed);
  CXLTIER_CHECK_DEBUG(before % 2 == 0);
  generation.store(before + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);  // odd is seen before any new value
  std::memcpy(reinterpret_cast<char*>(page_) + values_offset,
              reinterpret_cast<const char*>(&page) + values_offset, values_bytes);
  page_->exec_mark = self_.exec_mark;
  generation.store(before + 2, std::memory_order_release);  // even is seen after all of them
}

void TelemetryWriter::close() noexcept {
  if (page_ == nullptr) return;
  remove();
  ::munmap(page_, page_bytes);
  page_ = nullptr;
}

void TelemetryWriter::remove() const noexcept {
  if (page_ == nullptr) return;
  const Descriptor folder(open_telemetry_folder(place_, FolderUse::find).value_or(-1));
  if (!folder.is_open()) return;
  const auto name = file_name(self_.pid);
  struct stat about {};
  if (::fstatat(folder.number(), name.data(), &about, AT_SYMLINK_NOFOLLOW) != 0) return;
  if (about.st_dev != device_ || about.st_ino != inode_) return;
  ::unlinkat(folder.number(), name.data(), 0);
}

}  // namespace cxltier
