// SPDX-License-Identifier: Apache-2.0
//
// The machine profile as a reader meets it: every key, every way in which a file may be wrong, and
// another machine's file.
#include "runtime/topology/machine_profile.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <random>
#include <span>
#include <string>

#include "policy/machine.h"

namespace cxltier {
namespace {

const char* const good =
    "cxltier-profile 1\n"
    "# measured 2026-01-01 on a test\n"
    "machine.cpu Example 9000 CPU\n"
    "node.0.kind dram\n"
    "node.0.bytes 68719476736\n"
    "node.2.kind cxl\n"
    "node.2.bytes 137438953472\n"
    "node.0.bandwidth_gbps.R 310.400\n"
    "node.0.latency_ns 101.200\n"
    "node.2.bandwidth_gbps.R 18.200\n"
    "node.2.bandwidth_gbps.W-nt 9.7\n"
    "node.2.bandwidth_gbps.2:1 21\n"
    "node.2.latency_ns 251.6\n"
    "weights.R 0:13,2:1\n"
    "weights.2:1 0:7,2:1\n"
    "future.key anything at all\n"
    "node.2.curve.R.d00000 800.1\n";

Machine machine_of_test() {
  Machine machine;
  machine.node_count = 3;
  machine.nodes[0].id = NodeId{0};
  machine.nodes[0].size = {68'719'476'736};
  machine.nodes[1].id = NodeId{1};  // CPUs only
  machine.nodes[2].id = NodeId{2};
  machine.nodes[2].size = {137'438'953'472};
  machine.nodes[2].performance.read_latency_ns = 400;
  machine.nodes[2].performance.read_bandwidth_mbps = 30'000;
  return machine;
}

// Files by their path below the root.
class FilesOfTest final : public FileTree {
 public:
  Result<std::size_t> read(const char* path, std::span<char> out) noexcept override {
    const auto found = files.find(path);
    if (found == files.end()) return Error{ENOENT};
    if (found->second == "locked") return Error{EACCES};
    return found->second.copy(out.data(), out.size());
  }
  Result<std::size_t> read_link(const char*, std::span<char>) noexcept override {
    return Error{ENOENT};
  }
  Result<std::size_t> list(const char*, EntryVisitor&) noexcept override { return Error{ENOENT}; }

  std::map<std::string, std::string> files{
      {"proc/cpuinfo", "processor\t: 0\nmodel\t\t: 1\nmodel name\t: Example 9000 CPU\n"}};
};

std::string with(const std::string& from, const std::string& to) {
  std::string text = good;
  text.replace(text.find(from), from.size(), to);
  return text;
}

TEST(Profile, EveryKeyIsRead) {
  const ProfileReading reading = parse_profile(good);
  ASSERT_TRUE(reading.ok()) << text_of(reading.fault) << reading.line;
  const MachineProfile& profile = reading.profile;
  EXPECT_STREQ(profile.cpu.data(), "Example 9000 CPU");
  ASSERT_EQ(profile.node_count, 2u);
  EXPECT_EQ(profile.nodes[0].latency_ns, 101u);
  EXPECT_EQ(profile.nodes[0].read_mbps, 310'400u);
  EXPECT_EQ(profile.nodes[0].write_mbps, 0u);  // not measured
  EXPECT_EQ(profile.nodes[1].id, NodeId{2});
  EXPECT_EQ(profile.nodes[1].size.count, 137'438'953'472u);
  EXPECT_EQ(profile.nodes[1].latency_ns, 252u);  // rounded
  EXPECT_EQ(profile.nodes[1].write_mbps, 9'700u);
  ASSERT_EQ(profile.mix_count, 2u);
  EXPECT_STREQ(profile.weights[1].mix.data(), "2:1");
  EXPECT_EQ(profile.weights[0].weight[0], 13);
  EXPECT_EQ(profile.weights[0].weight[1], 1);
}

TEST(Profile, AKnownKeyWithANonsensicalValueRefusesTheFileAndNamesTheLine) {
  const struct {
    const char* from;
    const char* to;
  } cases[] = {
      {"latency_ns 101.200", "latency_ns fast"},
      {"latency_ns 101.200", "latency_ns 0"},
      {"latency_ns 101.200", "latency_ns -5"},
      {"latency_ns 101.200", "latency_ns 1e3"},
      {"latency_ns 101.200", "latency_ns 0x10"},
      {"latency_ns 101.200", "latency_ns 2000000"},
      {"latency_ns 101.200", "latency_ns 101.2.3"},
      {"latency_ns 101.200", "latency_ns"},
      {"gbps.R 310.400", "gbps.R 99999999999999999999"},
      {"gbps.R 310.400", "gbps.R 0"},
      {"node.0.bytes", "node.9999.bytes"},
      {"node.0.bytes", "node..bytes"},
      {"machine.cpu Example 9000 CPU", "machine.cpu "},
      {"0:13,2:1", "0:13,7:1"},
      {"0:13,2:1", "0:256"},
      {"0:13,2:1", ""},
  };
  for (const auto& c : cases) {
    const ProfileReading reading = parse_profile(with(c.from, c.to));
    EXPECT_EQ(reading.fault, ProfileFault::malformed) << c.to;
    EXPECT_EQ(reading.profile.node_count, 0u) << "half a file must not be used";
  }
  EXPECT_EQ(parse_profile(with("latency_ns 101.200", "latency_ns x")).line, 9u);
}

TEST(Profile, OtherFilesAreRefusedByTheirFirstLineAndACutOneByItsLast) {
  EXPECT_EQ(parse_profile("").fault, ProfileFault::not_a_profile);
  EXPECT_EQ(parse_profile("{\"schema\": 1}\n").fault, ProfileFault::not_a_profile);
  EXPECT_EQ(parse_profile("cxltier-profile 2\n").fault, ProfileFault::version);
  EXPECT_EQ(parse_profile("cxltier-profile\n").fault, ProfileFault::version);
  const std::string text = good;
  EXPECT_EQ(parse_profile(text.substr(0, text.find("node.2.latency") + 17)).fault,
            ProfileFault::cut_off);
}

TEST(Profile, AnotherMachinesIsRefused) {
  const ProfileReading reading = parse_profile(good);
  const Machine machine = machine_of_test();
  const auto fault = [&](const Machine& here) {
    return compare_profile(reading.profile, here, "Example 9000 CPU");
  };
  EXPECT_EQ(fault(machine), ProfileFault::none);
  EXPECT_EQ(compare_profile(reading.profile, machine, "Other CPU"), ProfileFault::other_processor);
  Machine changed = machine;
  changed.nodes[2].size = {70'000'000'000};  // a balloon
  EXPECT_EQ(fault(changed), ProfileFault::none);
  changed.nodes[2].size = {68'000'000'000};
  EXPECT_EQ(fault(changed), ProfileFault::other_nodes);
  changed = machine;
  changed.nodes[1].size = {4096};  // memory came to a node that had none
  EXPECT_EQ(fault(changed), ProfileFault::other_nodes);
  changed = machine;
  changed.node_count = 2;  // the device is gone
  EXPECT_EQ(fault(changed), ProfileFault::other_nodes);
}

TEST(Profile, MeasuredFiguresReplaceFirmwaresAndOnlyThose) {
  Machine machine = machine_of_test();
  machine.nodes[2].performance.write_latency_ns = 420;
  apply_profile(parse_profile(with("node.0.latency_ns 101.200\n", "")).profile, machine);
  const NodePerformance& cxl = machine.nodes[2].performance;
  EXPECT_EQ(cxl.read_latency_ns, 252u);
  EXPECT_EQ(cxl.latency_source, PerformanceSource::measured);
  EXPECT_EQ(cxl.read_bandwidth_mbps, 18'200u);
  EXPECT_EQ(cxl.write_bandwidth_mbps, 9'700u);
  EXPECT_EQ(cxl.write_latency_ns, 420u);
  EXPECT_EQ(machine.nodes[0].performance.read_latency_ns, 0u);
  EXPECT_EQ(machine.nodes[0].performance.latency_source, PerformanceSource::firmware);
}

// Firmware has the first device nearer, measuring has it farther: measuring decides.
TEST(Profile, TiersFollowWhatWasMeasured) {
  Machine machine;
  machine.node_count = 3;
  for (std::uint16_t i = 0; i < 3; ++i) {
    machine.nodes[i].id = NodeId{i};
    machine.nodes[i].size = {1u << 30};
    machine.nodes[i].kind = i == 0 ? NodeKind::dram : NodeKind::cxl;
  }
  machine.nodes[0].cpu_count = 1;
  machine.nodes[1].performance.read_latency_ns = 200;
  machine.nodes[2].performance.read_latency_ns = 300;
  EXPECT_LT(assign_tiers(machine, {}).tier_of[1], assign_tiers(machine, {}).tier_of[2]);
  apply_profile(
      parse_profile("cxltier-profile 1\nnode.1.latency_ns 410\nnode.2.latency_ns 290\n").profile,
      machine);
  EXPECT_GT(assign_tiers(machine, {}).tier_of[1], assign_tiers(machine, {}).tier_of[2]);
}

TEST(FindProfile, TheUsersOwnBeforeTheMachinesAndTheFirstThatFits) {
  FilesOfTest tree;
  const Machine machine = machine_of_test();
  const ProfilePlaces places{.named = "", .own = "/home/u/machine.profile"};
  EXPECT_EQ(find_profile(tree, places, machine).fault, ProfileFault::absent);
  tree.files["etc/cxltier/machine.profile"] = good;
  EXPECT_STREQ(find_profile(tree, places, machine).path, "/etc/cxltier/machine.profile");
  tree.files["home/u/machine.profile"] = with("latency_ns 101.200", "latency_ns 90");
  const ProfileReading own = find_profile(tree, places, machine);
  EXPECT_STREQ(own.path, "/home/u/machine.profile");
  EXPECT_EQ(own.profile.nodes[0].latency_ns, 90u);
  // A home that several machines share: its profile is another's.
  tree.files["home/u/machine.profile"] = with("Example 9000", "Other");
  EXPECT_STREQ(find_profile(tree, places, machine).path, "/etc/cxltier/machine.profile");
  tree.files.erase("etc/cxltier/machine.profile");
  EXPECT_EQ(find_profile(tree, places, machine).fault, ProfileFault::other_processor);
}

TEST(FindProfile, ANamedOneIsTheOnlyOneAndNoneIsNone) {
  FilesOfTest tree;
  const Machine machine = machine_of_test();
  tree.files["etc/cxltier/machine.profile"] = good;
  EXPECT_EQ(find_profile(tree, {.named = "none"}, machine).fault, ProfileFault::absent);
  const ProfileReading missing = find_profile(tree, {.named = "/x"}, machine);
  EXPECT_EQ(missing.fault, ProfileFault::absent);
  EXPECT_STREQ(missing.path, "/x");
  tree.files["x"] = "locked";
  const ProfileReading locked = find_profile(tree, {.named = "/x"}, machine);
  EXPECT_EQ(locked.fault, ProfileFault::unreadable);
  EXPECT_EQ(locked.error, EACCES);
}

TEST(FindProfile, CurvesOfAnyLengthBehindTheRestDoNoHarm) {
  FilesOfTest tree;
  std::string text = good;
  for (int i = 0; i < 4000; ++i) text += "node.2.curve.R.d" + std::to_string(i) + " 123.4\n";
  tree.files["etc/cxltier/machine.profile"] = text;
  EXPECT_TRUE(find_profile(tree, {}, machine_of_test()).ok());
}

// Any bytes: no crash, and what is taken is within its limits.
TEST(Profile, NoiseIsRefusedOrSane) {
  const char* const given = std::getenv("CXLTIER_TEST_SEED");
  const unsigned seed = given == nullptr ? 7 : static_cast<unsigned>(std::atoi(given));
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 3000; ++round) {
    std::string text = good;
    for (int change = 0; change < 4; ++change) {
      const std::size_t at = random() % text.size();
      if (random() % 3 == 0) {
        text.erase(at, random() % 8);
      } else {
        text[at] = static_cast<char>(random() % 256);
      }
    }
    const ProfileReading reading = parse_profile(text);
    ASSERT_LE(reading.profile.node_count, nodes_max);
    for (std::size_t i = 0; i < reading.profile.node_count; ++i) {
      EXPECT_LE(reading.profile.nodes[i].latency_ns, measured_ns_max);
      if (i == 0) continue;
      EXPECT_LT(reading.profile.nodes[i - 1].id, reading.profile.nodes[i].id);
    }
  }
}

}  // namespace
}  // namespace cxltier
