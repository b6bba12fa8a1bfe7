// SPDX-License-Identifier: Apache-2.0
//
// From /proc/self/cgroup to the files of each group up to the root.
#include "bench/tier/host/memory_limit.h"

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

#include "runtime/topology/sysfs_text.h"
#include "runtime/topology/tree_text.h"

namespace cxltier::bench {
namespace {

// Where a version of control groups keeps its figures.
struct GroupFiles {
  const char* folder;
  const char* limit;
  const char* use;
};
constexpr GroupFiles version_2 = {"sys/fs/cgroup", "/memory.max", "/memory.current"};
constexpr GroupFiles version_1 = {"sys/fs/cgroup/memory", "/memory.limit_in_bytes",
                                  "/memory.usage_in_bytes"};

// Nothing for "max", and for a file that is not there.
std::optional<std::uint64_t> read_bytes(FileTree& tree, const std::string& path) {
  TreeText text(tree);
  if (text.read(Path(path)) != 0) return std::nullopt;
  return parse_number(text.view());
}

// What fills caches is counted as used and given back under pressure.
std::uint64_t read_reclaimable(FileTree& tree, const std::string& group) {
  TreeText text(tree);
  if (text.read(Path(group).text("/memory.stat")) != 0) return 0;
  std::istringstream lines{std::string(text.view())};
  std::string key;
  std::uint64_t value = 0;
  while (lines >> key >> value) {
    if (key == "inactive_file") return value;
  }
  return 0;
}

std::uint64_t room_in_group(FileTree& tree, const GroupFiles& files, const std::string& group) {
  const std::optional<std::uint64_t> limit = read_bytes(tree, group + files.limit);
  const std::optional<std::uint64_t> use = read_bytes(tree, group + files.use);
  if (!limit || !use) return room_unlimited;
  const std::uint64_t held = *use - std::min(*use, read_reclaimable(tree, group));
  return *limit - std::min(*limit, held);
}

// "/a/b", "/a", "": the own group and all above it.
std::uint64_t room_from(FileTree& tree, const GroupFiles& files, std::string own) {
  std::uint64_t room = room_unlimited;
  if (own == "/") own.clear();
  for (;;) {
    room = std::min(room, room_in_group(tree, files, files.folder + own));
    const std::size_t slash = own.rfind('/');
    if (slash == std::string::npos) return room;
    own.resize(slash);
  }
}

bool has_controller(std::string_view list, std::string_view name) {
  std::istringstream words{std::string(list)};
  for (std::string word; std::getline(words, word, ',');) {
    if (word == name) return true;
  }
  return false;
}

}  // namespace

std::uint64_t room_in_groups(FileTree& tree) {
  TreeText text(tree);
  if (text.read(Path("proc/self/cgroup")) != 0) return room_unlimited;
  std::uint64_t room = room_unlimited;
  std::istringstream lines{std::string(text.view())};
  // "0::/own" is version 2, "4:memory:/own" version 1; a machine may have both.
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string own = line.substr(second + 1);
    if (controllers.empty()) room = std::min(room, room_from(tree, version_2, own));
    if (has_controller(controllers, "memory")) {
      room = std::min(room, room_from(tree, version_1, own));
    }
  }
  return room;
}

}  // namespace cxltier::bench
