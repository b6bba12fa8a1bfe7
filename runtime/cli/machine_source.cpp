// SPDX-License-Identifier: Apache-2.0
//
// Several files of --from add up: a table, a listing and a log of the same machine are one
// snapshot.
#include "runtime/cli/machine_source.h"

#include <CLI/CLI.hpp>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "runtime/cli/verb.h"
#include "runtime/topology/platform/imported_text.h"
#include "runtime/topology/platform/tar_file.h"

namespace cxltier {
namespace {

constexpr std::size_t file_max = std::size_t{256} << 20;

bool add_file(const std::string& path, const char* verb, StoredTree& tree) {
  const std::optional<std::string> bytes = read_whole_file(path);
  if (!bytes) {
    const char* cause = errno == EFBIG ? "it is larger than 256 MiB, which no machine's files are"
                                       : std::strerror(errno);
    complain(fmt::format("{}: --from: cannot read {}: {}", verb, path, cause));
    return false;
  }
  if (is_tar(*bytes)) {
    std::optional<StoredTree> stored = read_tar(*bytes);
    if (!stored) {
      complain(fmt::format(
          "{}: --from: {} is a damaged archive; make it anew: cxltier collect FILE", verb, path));
      return false;
    }
    tree.files.merge(stored->files);
    tree.links.merge(stored->links);
    tree.folders.merge(stored->folders);
    return true;
  }
  if (!import_text(*bytes, tree).empty()) return true;
  complain(
      fmt::format("{}: --from: {} is nothing known; give an archive of 'cxltier collect', or the "
                  "output of acpidump, lspci -xxxx, dmesg, cxl list, daxctl list, lsmem, numactl "
                  "-H, or /proc/iomem (compressed ones unpacked)",
                  verb, path));
  return false;
}

}  // namespace

std::optional<MachineSource> MachineSource::open(const SourceOptions& options, const char* verb) {
  if (options.root.empty()) {
    complain(fmt::format(
        "{}: --root: '' is no folder; give the one that holds a machine's sys/ and proc/", verb));
    return std::nullopt;
  }
  MachineSource source(options);
  if (options.files.empty()) return source;
  source.stored_.emplace();
  for (const std::string& file : options.files) {
    if (!add_file(file, verb, *source.stored_)) return std::nullopt;
  }
  return source;
}

void add_source_options(CLI::App& verb, SourceOptions& options) {
  CLI::Option* root =
      verb.add_option("--root", options.root, "Read a snapshot instead of this machine")
          ->type_name("DIR");
  verb.add_option(
          "--from", options.files,
          "Read an archive of 'cxltier collect', or outputs of acpidump, lspci -xxxx, dmesg, "
          "cxl list and others")
      ->type_name("FILE")
      ->excludes(root);
}

std::optional<std::string> read_whole_file(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return std::nullopt;
  std::string bytes;
  std::array<char, 65536> buffer;
  std::size_t got = 0;
  while (bytes.size() < file_max && (got = std::fread(buffer.data(), 1, buffer.size(), file)) > 0) {
    bytes.append(buffer.data(), got);
  }
  const bool failed = std::ferror(file) != 0;
  const int error = errno;
  std::fclose(file);
  errno = error;
  if (failed) return std::nullopt;
  if (bytes.size() >= file_max) {
    errno = EFBIG;
    return std::nullopt;
  }
  return bytes;
}

bool write_whole_file(const std::string& path, const std::string& bytes) {
  std::FILE* file = std::fopen(path.c_str(), "we");
  if (file == nullptr) return false;
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  const int error = errno;
  const bool closed = std::fclose(file) == 0;
  if (!written) errno = error;
  return written && closed;
}

}  // namespace cxltier
