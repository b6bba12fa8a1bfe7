// SPDX-License-Identifier: Apache-2.0
//
// Lines, keys, values; then the comparison with the machine at hand.
//
// Only constructors and remove_prefix are used on string_view: its other members would pull the
// exception machinery of the C++ library into preloaded processes.
#include "runtime/topology/machine_profile.h"

#include <errno.h>

#include <algorithm>
#include <optional>

#include "runtime/topology/sysfs_text.h"
#include "runtime/topology/tree_text.h"

namespace cxltier {
namespace {

// Curves stand behind all that is read here, and may be as long as they like.
constexpr std::size_t head_bytes = 16384;
constexpr std::uint64_t gbps_thousandths_max = 100'000'000;  // 100 TB/s, as for firmware

std::string_view slice(std::string_view text, std::size_t begin, std::size_t end) noexcept {
  return {text.data() + begin, end - begin};
}

// Cuts `rest` behind the first `separator` and returns what stands before it.
std::string_view take_until(std::string_view& rest, char separator) noexcept {
  const std::size_t at = std::min(rest.find(separator), rest.size());
  const std::string_view head = slice(rest, 0, at);
  rest.remove_prefix(std::min(at + 1, rest.size()));
  return head;
}

// "251", "251.30" in thousandths; nothing else, and nothing above 2^43.
std::optional<std::uint64_t> parse_thousandths(std::string_view text) noexcept {
  const std::string_view whole_text = take_until(text, '.');
  const auto is_digits = [](std::string_view part) {
    return std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  const std::optional<std::uint64_t> whole = parse_number(whole_text);
  if (!whole || *whole > (std::uint64_t{1} << 33)) return std::nullopt;
  if (!is_digits(whole_text) || !is_digits(text)) return std::nullopt;
  std::uint64_t thousandths = *whole * 1000;
  std::uint64_t unit = 100;
  for (std::size_t i = 0; i < text.size() && unit > 0; ++i, unit /= 10) {
    thousandths += unit * static_cast<std::uint64_t>(text[i] - '0');
  }
  return thousandths;
}

template <std::size_t Size>
void copy_cut(std::string_view text, std::array<char, Size>& out) noexcept {
  out = {};
  std::copy_n(text.begin(), std::min(text.size(), Size - 1), out.begin());
}

std::string_view view_of(std::span<const char> zero_terminated) noexcept {
  const auto end = std::find(zero_terminated.begin(), zero_terminated.end(), '\0');
  return {zero_terminated.data(), static_cast<std::size_t>(end - zero_terminated.begin())};
}

class ProfileParser {
 public:
  // False if a known key has a value that makes no sense.
  bool take_line(std::string_view line) noexcept {
    if (line.empty() || line.front() == '#') return true;
    std::string_view value = line;
    std::string_view key = take_until(value, ' ');
    const std::string_view group = take_until(key, '.');
    if (group == "machine") return take_machine(key, value);
    if (group == "node") return take_node(key, value);
    if (group == "weights") return take_weights(key, value);
    return true;
  }

  // Nodes in the order of their ids, as Machine has them, with the weights along.
  MachineProfile& profile() noexcept { return profile_; }

 private:
  bool take_machine(std::string_view key, std::string_view value) noexcept {
    if (key != "cpu") return true;
    copy_cut(value, profile_.cpu);
    return !value.empty();
  }

  bool take_node(std::string_view key, std::string_view value) noexcept {
    const std::optional<NodeId> id = parse_node(take_until(key, '.'));
    ProfileNode* const node = id ? find_or_add(*id) : nullptr;
    if (node == nullptr) return false;
    if (key == "bytes") {
      const std::optional<std::uint64_t> bytes = parse_number(value);
      node->size = {bytes.value_or(0)};
      return bytes.has_value();
    }
    if (key == "latency_ns") {
      return take_number(value, {1000, measured_ns_max * 1000, 1000}, node->latency_ns);
    }
    const Limits rate{1, gbps_thousandths_max, 1};  // a thousandth of a GB/s is an MB/s
    if (key == "bandwidth_gbps.R") return take_number(value, rate, node->read_mbps);
    if (key == "bandwidth_gbps.W-nt") return take_number(value, rate, node->write_mbps);
    return true;
  }

  struct Limits {
    std::uint64_t least;
    std::uint64_t most;
    std::uint64_t unit;  // thousandths per unit of the field
  };
  static bool take_number(std::string_view text, const Limits& limits,
                          std::uint32_t& field) noexcept {
    const std::optional<std::uint64_t> value = parse_thousandths(text);
    if (!value || *value < limits.least || *value > limits.most) return false;
    field = static_cast<std::uint32_t>((*value + limits.unit / 2) / limits.unit);
    return true;
  }

  // "0:13,2:1"; nodes must have been named by a line before.
  bool take_weights(std::string_view mix, std::string_view value) noexcept {
    if (mix.empty() || value.empty()) return false;
    if (profile_.mix_count == profile_.weights.size()) return true;
    ProfileWeights& weights = profile_.weights[profile_.mix_count];
    weights = {};
    copy_cut(mix, weights.mix);
    while (!value.empty()) {
      std::string_view pair = take_until(value, ',');
      const std::optional<NodeId> id = parse_node(take_until(pair, ':'));
      const std::optional<std::uint64_t> weight = parse_number(pair);
      const std::size_t at = id ? position(*id) : profile_.node_count;
      if (at == profile_.node_count || !weight || *weight > 255) return false;
      weights.weight[at] = static_cast<std::uint8_t>(*weight);
    }
    ++profile_.mix_count;
    return true;
  }

  [[nodiscard]] std::size_t position(NodeId id) const noexcept {
    std::size_t at = 0;
    while (at < profile_.node_count && profile_.nodes[at].id != id) ++at;
    return at;
  }

  // Nodes come in ascending order; one that comes late, or is one too many, is an error.
  ProfileNode* find_or_add(NodeId id) noexcept {
    const std::size_t at = position(id);
    if (at < profile_.node_count) return &profile_.nodes[at];
    if (at == profile_.nodes.size() || (at > 0 && profile_.nodes[at - 1].id > id)) return nullptr;
    profile_.nodes[at].id = id;
    ++profile_.node_count;
    return &profile_.nodes[at];
  }

  MachineProfile profile_;
};

ProfileReading read_profile(FileTree& tree, const char* path, const Machine& machine) noexcept {
  std::array<char, head_bytes> text;
  const char* below_root = path;
  while (*below_root == '/') ++below_root;
  const Result<std::size_t> length = tree.read(below_root, text);
  ProfileReading reading;
  if (!length.ok()) {
    reading.error = length.error();
    const bool absent = reading.error == ENOENT || reading.error == ENOTDIR;
    reading.fault = absent ? ProfileFault::absent : ProfileFault::unreadable;
  } else {
    std::size_t used = std::min(length.value_or(0), text.size());
    // What was longer is read up to its last whole line.
    const bool is_cut = used == text.size();
    while (is_cut && used > 0 && text[used - 1] != '\n') --used;
    reading = parse_profile({text.data(), used});
  }
  if (reading.ok()) {
    std::array<char, 64> cpu;
    reading.fault = compare_profile(reading.profile, machine, cpu_model(tree, cpu));
  }
  reading.path = path;
  return reading;
}

bool is_same_size(Bytes a, Bytes b) noexcept {
  const std::uint64_t larger = std::max(a.count, b.count);
  return larger - std::min(a.count, b.count) <= larger / 2;
}

}  // namespace

ProfileReading parse_profile(std::string_view text) noexcept {
  ProfileReading reading;
  reading.line = 1;
  std::string_view first = text;
  std::string_view version = take_until(first, '\n');
  if (take_until(version, ' ') != "cxltier-profile") {
    reading.fault = ProfileFault::not_a_profile;
  } else if (version != "1") {
    reading.fault = ProfileFault::version;
  } else if (text.back() != '\n') {
    reading.fault = ProfileFault::cut_off;
  } else {
    reading.fault = ProfileFault::none;
  }
  ProfileParser parser;
  std::string_view rest = first;
  while (reading.ok() && !rest.empty()) {
    ++reading.line;
    if (!parser.take_line(take_until(rest, '\n'))) reading.fault = ProfileFault::malformed;
  }
  if (reading.ok()) reading.profile = parser.profile();
  return reading;
}

ProfileFault compare_profile(const MachineProfile& profile, const Machine& machine,
                             std::string_view cpu) noexcept {
  if (view_of(profile.cpu) != cpu) return ProfileFault::other_processor;
  std::size_t sized = 0;
  for (const ProfileNode& node : std::span(profile.nodes).first(profile.node_count)) {
    if (node.size.count == 0) continue;
    const std::size_t at = position_of(machine, node.id);
    if (at == machine.node_count) return ProfileFault::other_nodes;
    if (!is_same_size(machine.nodes[at].size, node.size)) return ProfileFault::other_nodes;
    ++sized;
  }
  const auto nodes = std::span(machine.nodes).first(machine.node_count);
  const auto here = std::count_if(nodes.begin(), nodes.end(),
                                  [](const Node& node) { return node.size.count > 0; });
  return sized == static_cast<std::size_t>(here) ? ProfileFault::none : ProfileFault::other_nodes;
}

ProfileReading find_profile(FileTree& tree, const ProfilePlaces& places,
                            const Machine& machine) noexcept {
  const std::string_view named(places.named);
  if (named == "none") return {};
  if (!named.empty()) return read_profile(tree, places.named, machine);
  ProfileReading first;
  for (const char* const path : {places.own, places.machine}) {
    if (*path == '\0') continue;
    const ProfileReading reading = read_profile(tree, path, machine);
    if (reading.ok()) return reading;
    if (first.fault == ProfileFault::absent) first = reading;
  }
  return first;
}

void apply_profile(const MachineProfile& profile, Machine& machine) noexcept {
  for (const ProfileNode& node : std::span(profile.nodes).first(profile.node_count)) {
    const std::size_t at = position_of(machine, node.id);
    if (at == machine.node_count) continue;
    NodePerformance& known = machine.nodes[at].performance;
    if (node.latency_ns != 0) {
      known.read_latency_ns = node.latency_ns;
      known.latency_source = PerformanceSource::measured;
    }
    if (node.read_mbps != 0) {
      known.read_bandwidth_mbps = node.read_mbps;
      known.bandwidth_source = PerformanceSource::measured;
    }
    if (node.write_mbps != 0) known.write_bandwidth_mbps = node.write_mbps;
  }
}

std::string_view cpu_model(FileTree& tree, std::span<char, 64> out) noexcept {
  constexpr std::string_view key = "model name";
  std::string_view name = "-";
  TreeText text(tree);
  if (text.read(Path("proc/cpuinfo")) == 0) {
    for (std::string_view rest = text.view(); !rest.empty();) {
      std::string_view value = take_until(rest, '\n');
      const std::string_view line = value;
      if (!has_prefix(take_until(value, ':'), key) || line.size() == value.size()) continue;
      while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
      if (!value.empty()) name = value;
      break;
    }
  }
  const std::size_t length = std::min(name.size(), out.size() - 1);
  std::copy_n(name.begin(), length, out.begin());
  out[length] = '\0';
  return {out.data(), length};
}

const char* text_of(ProfileFault fault) noexcept {
  switch (fault) {
    case ProfileFault::none:
      return "is used";
    case ProfileFault::absent:
      return "is not there; write it with cxltier bench --save";
    case ProfileFault::unreadable:
      return "cannot be read; check its mode";
    case ProfileFault::not_a_profile:
      return "is no machine profile; write one with cxltier bench --save";
    case ProfileFault::version:
      return "is of another version of cxltier; measure again with cxltier bench --save";
    case ProfileFault::malformed:
      return "has a line that makes no sense; measure again with cxltier bench --save";
    case ProfileFault::cut_off:
      return "ends in the middle of a line; measure again with cxltier bench --save";
    case ProfileFault::other_processor:
      return "was measured on another machine (its processor differs); measure this one with "
             "cxltier bench --save";
    case ProfileFault::other_nodes:
      return "was measured on another machine, or before its memory changed (the nodes or their "
             "sizes differ); measure again with cxltier bench --save";
  }
  return "is unknown";
}

}  // namespace cxltier
