// SPDX-License-Identifier: Apache-2.0
//
// Files by what their paths end in; a machine is what its reader reads, piece after piece.
#include "tests/fuzz/seeds.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "runtime/os/file_tree_linux.h"
#include "runtime/topology/machine_reader.h"
#include "runtime/topology/platform/stored_tree.h"
#include "runtime/topology/platform/tar_file.h"

namespace cxltier::fuzz {
namespace {

constexpr std::size_t seed_bytes_max = 64u << 10;

// Which files of a snapshot the parsers are given; what has no file has texts only.
struct Source {
  std::string_view parser;
  std::string_view path_end;
};
constexpr Source sources[] = {
    {"cedt", "acpi/tables/CEDT"},     {"srat", "acpi/tables/SRAT"},    {"slit", "acpi/tables/SLIT"},
    {"hmat", "acpi/tables/HMAT"},     {"pci_config", "/config"},       {"iomem", "proc/iomem"},
    {"listing", "cxl-list-vvv.json"}, {"listing", "daxctl-list.json"}, {"archive", "dmesg.txt"},
    {"lsmem", "proc/version"},
};

struct Text {
  std::string_view parser;
  std::string_view text;
};
constexpr Text texts[] = {
    {"lsmem",
     "RANGE                                 SIZE  STATE REMOVABLE BLOCK ZONES NODE\n"
     "0x0000000000000000-0x000000007fffffff   2G online       yes  0-15 Normal 0\n"
     "0x0000000100000000-0x000000011fffffff 512M offline           32-35 Movable 1\n\n"
     "Memory block size:       128M\nTotal online memory:       2G\n"},
    {"lsmem", "CONFIG_CXL_BUS=y\nCONFIG_CXL_MEM=m\n# CONFIG_CXL_PMU is not set\n"},
    {"archive",
     "CEDT @ 0x0000000000000000\n    0000: 43 45 44 54 24 00 00 00 01 6A 42 4F 43 48 53 20  "
     "CEDT$....jBOCHS \n"},
    {"archive",
     "0d:00.0 CXL: Intel Corporation Device 0d93 (rev 01)\n"
     "00: 86 80 93 0d 06 04 10 00 01 10 02 05 10 00 00 00\n"},
    {"archive",
     "available: 2 nodes (0-1)\nnode 0 cpus: 0 1\nnode 0 size: 1966 MB\nnode 0 free: 1 MB\n"
     "node 1 cpus:\nnode 1 size: 512 MB\nnode distances:\nnode   0   1\n  0:  10  20\n"
     "  1:  20  10\n"},
    {"listing", "[{\"memdev\":\"mem0\",\"ram_size\":268435456,\"serial\":1}]"},
    {"slit", "SLIT"},
    {"topology",
     "0-1\xff"
     "0\xff"
     "10 20\n"},
};

std::string content_of(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(stream)), {});
  return text.substr(0, seed_bytes_max);
}

// Writes down what is read through it, as feed_topology takes it.
class WritingTree final : public FileTree {
 public:
  explicit WritingTree(FileTree& tree) : tree_(tree) {}

  Result<std::size_t> read(const char* path, std::span<char> out) noexcept override {
    return noted(tree_.read(path, out), out);
  }
  Result<std::size_t> read_link(const char* path, std::span<char> out) noexcept override {
    return noted(tree_.read_link(path, out), out);
  }
  Result<std::size_t> list(const char* path, EntryVisitor& visitor) noexcept override {
    const Result<std::size_t> count = tree_.list(path, visitor_ = Names(visitor));
    text += visitor_.names + '\xff';
    return count;
  }

  std::string text;

 private:
  struct Names final : EntryVisitor {
    Names() = default;
    explicit Names(EntryVisitor& receiver) : next(&receiver) {}
    void visit(std::string_view name) noexcept override {
      names += names.empty() ? "" : " ";
      names += name;
      next->visit(name);
    }
    EntryVisitor* next = nullptr;
    std::string names;
  };

  Result<std::size_t> noted(const Result<std::size_t>& got, std::span<char> out) {
    text += got.ok() ? std::string(out.data(), got.value()) : "!";
    text += '\xff';
    return got;
  }

  FileTree& tree_;
  Names visitor_;
};

std::string machine_of(const std::filesystem::path& snapshot) {
  FileTreeLinux files(snapshot.c_str());
  WritingTree tree(files);
  static_cast<void>(read_machine(tree).ok());
  return tree.text.substr(0, seed_bytes_max);
}

std::string archive_of_one_file() {
  StoredTree tree;
  tree.files["sys/devices/system/node/online"] = "0-1\n";
  tree.links["sys/bus/dax/devices/dax0.0"] = "../../../devices/x/dax0.0";
  return write_tar(tree, "top");
}

}  // namespace

std::vector<std::string> seeds_of(std::string_view parser, const std::string& fixtures) {
  std::set<std::string> seeds;  // equal files of several snapshots count once
  for (const Text& text : texts) {
    if (text.parser == parser) seeds.emplace(text.text);
  }
  if (parser == "archive") seeds.insert(archive_of_one_file());
  std::error_code ignored;
  for (const auto& snapshot : std::filesystem::directory_iterator(fixtures, ignored)) {
    if (parser == "topology" && std::filesystem::exists(snapshot.path() / "sys"))
      seeds.insert(machine_of(snapshot.path()));
  }
  for (const auto& file : std::filesystem::recursive_directory_iterator(fixtures, ignored)) {
    const std::string path = file.path().string();
    const bool is_ours = std::any_of(std::begin(sources), std::end(sources), [&](const Source& s) {
      return s.parser == parser && path.ends_with(s.path_end);
    });
    if (is_ours && file.is_regular_file(ignored)) seeds.insert(content_of(file.path()));
  }
  return {seeds.begin(), seeds.end()};
}

}  // namespace cxltier::fuzz
