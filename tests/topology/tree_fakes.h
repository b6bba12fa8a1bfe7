// SPDX-License-Identifier: Apache-2.0
//
// Fakes of the FileTree seam: a tree in memory, a tree that fails, and a tree that garbles.
#pragma once

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <string>

#include "runtime/os/file_tree.h"

namespace cxltier {

// A snapshot's name as GoogleTest allows it in a test's name.
inline std::string test_name_of(std::string name) {
  for (char& c : name) {
    if (!isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
}

// Files and links by path; folders follow from them.
class MemoryTree final : public FileTree {
 public:
  std::map<std::string, std::string> files;
  std::map<std::string, std::string> links;

  Result<std::size_t> read(const char* path, std::span<char> out) noexcept override {
    const auto file = files.find(path);
    if (file == files.end()) return Error{ENOENT};
    return copy(file->second, out);
  }

  Result<std::size_t> read_link(const char* path, std::span<char> out) noexcept override {
    const auto link = links.find(path);
    if (link == links.end()) return Error{ENOENT};
    if (link->second.size() >= out.size()) return Error{ENAMETOOLONG};
    return copy(link->second, out);
  }

  Result<std::size_t> list(const char* path, EntryVisitor& visitor) noexcept override {
    const std::string folder = std::string(path) + "/";
    std::set<std::string> names;
    for (const auto* entries : {&files, &links}) {
      for (const auto& [name, text] : *entries) {
        if (!name.starts_with(folder)) continue;
        names.insert(name.substr(folder.size(), name.find('/', folder.size()) - folder.size()));
      }
    }
    if (names.empty()) return Error{ENOENT};
    for (const std::string& name : names) visitor.visit(name);
    return names.size();
  }

  void add_node(int id, const std::string& cpus, std::uint64_t kib) {
    const std::string folder = "sys/devices/system/node/node" + std::to_string(id);
    const std::string name = "Node " + std::to_string(id);
    files[folder + "/cpulist"] = cpus + "\n";
    files[folder + "/meminfo"] =
        name + " MemTotal:  " + std::to_string(kib) + " kB\n" + name + " MemFree:  0 kB\n";
  }

  // A dax device at `path` under sys/devices, bound to `driver` unless that is empty.
  void add_dax(const std::string& path, const std::string& node, const std::string& driver) {
    const std::string device = "sys/bus/dax/devices/" + path.substr(path.rfind('/') + 1);
    links[device] = "../../../devices/" + path;
    files[device + "/target_node"] = node + "\n";
    if (!driver.empty()) links[device + "/driver"] = "../../../../bus/dax/drivers/" + driver;
  }

  void add_performance(int id, int latency, int bandwidth) {
    const std::string folder =
        "sys/devices/system/node/node" + std::to_string(id) + "/access1/initiators/";
    files[folder + "read_latency"] = std::to_string(latency);
    files[folder + "read_bandwidth"] = std::to_string(bandwidth);
  }

 private:
  static std::size_t copy(const std::string& text, std::span<char> out) {
    const std::size_t length = std::min(text.size(), out.size());
    std::memcpy(out.data(), text.data(), length);
    return length;
  }
};

// Fails one call of another tree, counted from 1.
class FailingTree final : public FileTree {
 public:
  FailingTree(FileTree& tree, int call_failed) : tree_(tree), call_failed_(call_failed) {}

  Result<std::size_t> read(const char* path, std::span<char> out) noexcept override {
    if (fails()) return Error{EIO};
    return tree_.read(path, out);
  }
  Result<std::size_t> read_link(const char* path, std::span<char> out) noexcept override {
    if (fails()) return Error{EIO};
    return tree_.read_link(path, out);
  }
  Result<std::size_t> list(const char* path, EntryVisitor& visitor) noexcept override {
    if (fails()) return Error{EIO};
    return tree_.list(path, visitor);
  }
  [[nodiscard]] bool has_failed() const { return calls_ >= call_failed_; }

 private:
  bool fails() { return ++calls_ == call_failed_; }

  FileTree& tree_;
  int call_failed_;
  int calls_ = 0;
};

// Cuts and overwrites what another tree reads, from a seed.
class GarblingTree final : public FileTree {
 public:
  GarblingTree(FileTree& tree, unsigned seed) : tree_(tree), random_(seed) {}

  Result<std::size_t> read(const char* path, std::span<char> out) noexcept override {
    return garbled(tree_.read(path, out), out);
  }
  Result<std::size_t> read_link(const char* path, std::span<char> out) noexcept override {
    return garbled(tree_.read_link(path, out), out);
  }
  Result<std::size_t> list(const char* path, EntryVisitor& visitor) noexcept override {
    return tree_.list(path, visitor);
  }

 private:
  Result<std::size_t> garbled(Result<std::size_t> length, std::span<char> out) {
    if (!length.ok() || length.value() == 0 || random_() % 4 != 0) return length;
    if (random_() % 2 == 0) return length.value() / 2;
    static constexpr char letters[] = "0123456789,-x \n/\xff";
    for (int i = 0; i < 4; ++i) {
      out[random_() % length.value()] = letters[random_() % (sizeof letters - 1)];
    }
    return length;
  }

  FileTree& tree_;
  std::mt19937 random_;
};

}  // namespace cxltier
