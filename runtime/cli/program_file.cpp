// SPDX-License-Identifier: Apache-2.0
//
// Looks along PATH, at the first bytes of a file, and at the program headers of an ELF file.
// Formats: elf(5); "#!" as in execve(2).
#include "runtime/cli/program_file.h"

#include <elf.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

namespace cxltier {
namespace {

constexpr int scripts_max = 5;  // as deep as the kernel follows interpreters

// 0 if the file can be executed, else the errno.
int check_executable(const std::string& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0) return errno;
  if (!S_ISREG(about.st_mode)) return EACCES;
  return ::access(path.c_str(), X_OK) == 0 ? 0 : EACCES;
}

// The interpreter that a script's first line names; empty if it is no script.
std::string interpreter_of(std::ifstream& file) {
  std::string line;
  file.seekg(0);
  std::getline(file, line);
  if (!line.starts_with("#!")) return {};
  const std::size_t begin = line.find_first_not_of(" \t", 2);
  if (begin == std::string::npos) return {};
  return line.substr(begin, line.find_first_of(" \t\r", begin) - begin);
}

bool gains_privileges(const std::string& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0) return false;
  const bool other_user = (about.st_mode & S_ISUID) != 0 && about.st_uid != ::geteuid();
  const bool other_group = (about.st_mode & S_ISGID) != 0 && about.st_gid != ::getegid();
  const bool capable =
      ::geteuid() != 0 && ::getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
  return other_user || other_group || capable;
}

bool names_a_loader(std::ifstream& file, const Elf64_Ehdr& header) {
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    file.seekg(static_cast<std::streamoff>(header.e_phoff + i * sizeof segment));
    if (!file.read(reinterpret_cast<char*>(&segment), sizeof segment)) return true;  // cut: unknown
    if (segment.p_type == PT_INTERP) return true;
  }
  return false;
}

std::string fault_of_elf(std::ifstream& file, const std::string& path) {
  Elf64_Ehdr header{};
  file.clear();
  file.seekg(0);
  file.read(reinterpret_cast<char*>(&header), sizeof header);
  if (file.gcount() < EI_NIDENT || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return {};
  if (header.e_ident[EI_CLASS] == ELFCLASS32) return "is a 32-bit program";
  if (header.e_phentsize == sizeof(Elf64_Phdr) && !names_a_loader(file, header)) {
    return "is statically linked";
  }
  if (gains_privileges(path)) return "gains privileges (set-user-ID, set-group-ID or capabilities)";
  return {};
}

}  // namespace

FoundProgram find_program(const std::string& name, const std::string& search_path) {
  if (name.find('/') != std::string::npos) return {name, check_executable(name)};
  FoundProgram refused{{}, ENOENT};
  if (name.empty()) return refused;
  for (std::size_t begin = 0; begin <= search_path.size();) {
    const std::size_t end = std::min(search_path.find(':', begin), search_path.size());
    const std::string folder = search_path.substr(begin, end - begin);
    const std::string path = (folder.empty() ? "." : folder) + "/" + name;
    const int error = check_executable(path);
    if (error == 0) return {path, 0};
    if (error != ENOENT && error != ENOTDIR && refused.path.empty()) refused = {path, error};
    begin = end + 1;
  }
  return refused;
}

std::string why_no_library(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return fmt::format("cannot be read ({})", std::strerror(errno));
  Elf64_Ehdr header{};
  file.read(reinterpret_cast<char*>(&header), sizeof header);
  const bool whole = file.gcount() == sizeof header;
  if (!whole || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_type != ET_DYN) {
    return "is not a shared library";
  }
  // The section headers stand at the end of the file.
  const std::uint64_t end = header.e_shoff + std::uint64_t{header.e_shentsize} * header.e_shnum;
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  return error || size < end ? "is cut short" : "";
}

std::string why_not_preloadable(const std::string& path) {
  std::string at = path;
  for (int depth = 0; depth < scripts_max; ++depth) {
    std::ifstream file(at, std::ios::binary);
    if (!file) return {};
    const std::string interpreter = interpreter_of(file);
    if (interpreter.empty()) {
      const std::string fault = fault_of_elf(file, at);
      return fault.empty() || at == path ? fault : "is run by " + at + ", which " + fault;
    }
    at = interpreter;
  }
  return {};
}

}  // namespace cxltier
