// SPDX-License-Identifier: Apache-2.0
//
// The ten reasons, each seeded into a healthy machine's snapshot: the doctor names exactly the
// seeded one and nothing else fails.
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "runtime/doctor/diagnosis.h"
#include "runtime/doctor/report.h"
#include "runtime/os/file_tree_linux.h"
#include "tests/topology/tree_fakes.h"

namespace cxltier {
namespace {

Platform snapshot(const std::string& name) {
  const std::string root = CXLTIER_FIXTURES "/" + name;
  FileTreeLinux tree(root.c_str());
  return read_platform(tree, {true, {}});
}

std::set<std::string> in_state(const DoctorReport& report, CheckState state) {
  std::set<std::string> ids;
  for (const Finished& finished : report.checks) {
    if (finished.diagnosis.state == state) ids.insert(finished.check->id);
  }
  return ids;
}

const Diagnosis& diagnosis_of(const DoctorReport& report, std::string_view id) {
  for (const Finished& finished : report.checks) {
    if (finished.check->id == id) return finished.diagnosis;
  }
  ADD_FAILURE() << "no check " << id;
  return report.checks.front().diagnosis;
}

bool has_fix(const Diagnosis& diagnosis, const std::string& part) {
  for (const std::string& fix : diagnosis.fixes) {
    if (fix.find(part) != std::string::npos) return true;
  }
  return false;
}

using Ids = std::set<std::string>;

TEST(Doctor, HealthyGuestsHaveNoFailure) {
  for (const char* name :
       {"single-6.12", "genport-2socket-7.3", "interleave2-hb-6.12", "switch-interleave2-6.12"}) {
    const DoctorReport report = diagnose(snapshot(name));
    EXPECT_EQ(in_state(report, CheckState::fail), Ids{}) << name;
    EXPECT_FALSE(report.is_blind);
  }
}

struct SeededSnapshot {
  const char* name;
  const char* id;
  CheckState state;
  const char* fix;
};

TEST(Doctor, NamesTheReasonInEachSeededGuest) {
  const SeededSnapshot cases[] = {
      {"no-region-6.12", "region", CheckState::fail, "cxltier provision"},
      {"no-srat-offline-6.12", "node", CheckState::fail, "do not bring this memory online"},
      {"cpuless-hmat-6.12", "firmware-cxl", CheckState::fail, "enable CXL in firmware"},
      {"link-type3-limited-6.12", "link", CheckState::warn, "meant to be that slow"},
      {"genport-2socket-6.12", "latency", CheckState::warn, "before 6.16"},
  };
  for (const SeededSnapshot& one : cases) {
    SCOPED_TRACE(one.name);
    const DoctorReport report = diagnose(snapshot(one.name));
    const Diagnosis& found = diagnosis_of(report, one.id);

    EXPECT_EQ(found.state, one.state);
    EXPECT_FALSE(found.evidence.empty());
    EXPECT_TRUE(has_fix(found, one.fix));
    const Ids expected = one.state == CheckState::fail ? Ids{one.id} : Ids{};
    EXPECT_EQ(in_state(report, CheckState::fail), expected);
  }
}

// Memory that would join a node with CPUs must not be brought online.
TEST(Doctor, OfflineBlocksOfAWrongNodeStayOffline) {
  const DoctorReport report = diagnose(snapshot("no-srat-offline-6.12"));
  const Diagnosis& blocks = diagnosis_of(report, "blocks");
  EXPECT_EQ(blocks.state, CheckState::skipped);
  EXPECT_FALSE(has_fix(blocks, "online-memory"));
}

struct Seed {
  const char* what;
  const char* id;
  CheckState state;
  const char* fix;
  std::function<void(Platform&)> plant;
};

PciFunction& device(Platform& platform) {
  for (PciFunction& function : platform.pci.functions) {
    if (function.is_cxl_memory()) return function;
  }
  return platform.pci.functions.front();
}

void replace_iomem(Platform& platform, const std::string& text) {
  platform.iomem = parse_iomem(text);
}

const Seed seeds[] = {
    {"no volatile window", "firmware-cxl", CheckState::fail, "enable CXL",
     [](Platform& p) { p.acpi.cedt->windows[0].restrictions = 0xa; }},
    {"no host bridge", "firmware-cxl", CheckState::fail, "enable CXL",
     [](Platform& p) { p.acpi.cedt->host_bridges.clear(); }},
    {"CXL.mem off", "device", CheckState::fail, "reseat",
     [](Platform& p) { device(p).config->cxl->control = 2; }},
    {"link down", "device", CheckState::fail, "reseat",
     [](Platform& p) {
       device(p).current = {0, 0};
     }},
    {"device disabled", "device", CheckState::fail, "cxl enable-memdev mem0",
     [](Platform& p) { p.cxl.memories[0].is_enabled = false; }},
    {"kernel too old", "kernel", CheckState::fail, "6.3 or later",
     [](Platform& p) {
       p.kernel.version = KernelVersion{6, 2};
     }},
    {"option left out", "kernel", CheckState::fail, "CONFIG_CXL_BUS",
     [](Platform& p) {
       p.kernel.config = {{"CONFIG_NUMA", "y"}};
     }},
    {"kmem not loaded", "kernel", CheckState::fail, "modprobe kmem",
     [](Platform& p) { p.dax[0].driver.clear(); }},
    {"cxl_pci not loaded", "kernel", CheckState::fail, "modprobe cxl_pci",
     [](Platform& p) {
       device(p).driver.clear();
       device(p).memdevs.clear();
     }},
    {"driver failed", "kernel", CheckState::fail, "newer kernel",
     [](Platform& p) { p.kernel.log = "cxl_acpi ACPI0017:00: not a cxl_port device\n"; }},
    {"commit refused", "hypervisor", CheckState::fail, "-cpu max,-hypervisor",
     [](Platform& p) { p.kernel.log = "cxl_region: Failed to synchronize CPU cache state\n"; }},
    {"not committed", "assembly", CheckState::fail, "cxl enable-region region0",
     [](Platform& p) { p.cxl.regions[0].is_committed = false; }},
    {"hmem owns it", "assembly", CheckState::fail, "7.2",
     [](Platform& p) {
       replace_iomem(p,
                     "390000000-48fffffff : CXL Window 0\n  390000000-3afffffff : Soft Reserved\n"
                     "    390000000-3afffffff : dax0.0\n");
     }},
    {"region too short", "assembly", CheckState::fail, "7.2",
     [](Platform& p) {
       replace_iomem(p,
                     "390000000-48fffffff : CXL Window 0\n  390000000-39fffffff : region0\n"
                     "    390000000-3afffffff : dax0.0\n");
     }},
    {"plain RAM since boot", "soft-reserve", CheckState::warn, "EFI_MEMORY_SP",
     [](Platform& p) {
       replace_iomem(p, "390000000-48fffffff : CXL Window 0\n  390000000-3afffffff : System RAM\n");
     }},
    {"not reserved on purpose", "soft-reserve", CheckState::warn, "remove efi=nosoftreserve",
     [](Platform& p) { p.kernel.command_line.emplace_back("efi=nosoftreserve"); }},
    {"blocks offline", "blocks", CheckState::fail, "daxctl online-memory dax0.0",
     [](Platform& p) {
       for (MemoryBlock& block : p.blocks.blocks) block.is_online = block.index < 100;
     }},
    {"device file", "blocks", CheckState::fail, "--mode=system-ram dax0.0",
     [](Platform& p) { p.dax[0].driver = "device_dax"; }},
    {"no node", "node", CheckState::fail, "SRAT", [](Platform& p) { p.dax[0].target_node = -1; }},
    {"block too large", "block-size", CheckState::fail, "multiple of the block size",
     [](Platform& p) { p.blocks.size = std::uint64_t{2} << 30; }},
    {"slow slot", "link", CheckState::fail, "the slot is the limit",
     [](Platform& p) {
       for (PciFunction& function : p.pci.functions) {
         if (function.address == device(p).parent) function.current = function.maximum = {16, 4};
       }
     }},
    {"trained low", "link", CheckState::fail, "retimer",
     [](Platform& p) {
       device(p).current = {16, 8};
     }},
    {"link errors", "errors", CheckState::warn, "counters grow",
     [](Platform& p) { device(p).errors_correctable = 12; }},
    {"same tier", "kernel-tiers", CheckState::fail, "HMAT",
     [](Platform& p) { p.reading->machine.nodes[1].kernel_tier = 4; }},
    {"unreachable", "distances", CheckState::fail, "maker of the board",
     [](Platform& p) { p.reading->machine.distance[0][1] = 255; }},
    {"QoS class", "qos-class", CheckState::warn, "qos_class",
     [](Platform& p) { p.cxl.memories[0].ram_qos = 1; }},
    {"media bad", "health", CheckState::fail, "replaced",
     [](Platform& p) {
       p.cxl.memories[0].health = CxlHealth{};
       p.cxl.memories[0].health->media_normal = false;
     }},
    {"poison", "health", CheckState::warn, "soft-offline",
     [](Platform& p) { p.cxl.memories[0].poison_records = 3; }},
    {"cpuset", "cpuset", CheckState::fail, "--cpuset-mems 0,1",
     [](Platform& p) { p.container.memory_nodes = "0"; }},
    {"zone reclaim", "sensors", CheckState::warn, "zone_reclaim_mode",
     [](Platform& p) {
       p.tiering.perf_event_paranoid = 2;
       p.tiering.zone_reclaim_mode = 1;
     }},
    {"huge pages off", "huge-pages", CheckState::warn, "echo madvise",
     [](Platform& p) { p.tiering.huge_pages = "never"; }},
    {"system call filter", "container", CheckState::warn, "SYS_NICE",
     [](Platform& p) {
       p.container.memory_nodes = "0-1";
       p.container.in_container = p.container.seccomp_filter = true;
     }},
    {"fault in a table", "firmware-tables", CheckState::warn, "maker of the board",
     [](Platform& p) {
       p.acpi.cedt->faults.push_back({36, "CHBS too short", "CXL 3.1, 9.18.1.2"});
     }},
};

TEST(Doctor, NamesExactlyThePlantedReason) {
  for (const Seed& seed : seeds) {
    SCOPED_TRACE(seed.what);
    Platform platform = snapshot("single-6.12");
    seed.plant(platform);
    const DoctorReport report = diagnose(platform);
    const Diagnosis& found = diagnosis_of(report, seed.id);

    EXPECT_EQ(found.state, seed.state) << found.summary;
    EXPECT_TRUE(has_fix(found, seed.fix)) << found.summary;
    EXPECT_FALSE(found.summary.empty());
    EXPECT_FALSE(found.evidence.empty());
    const Ids expected = seed.state == CheckState::fail ? Ids{seed.id} : Ids{};
    EXPECT_EQ(in_state(report, CheckState::fail), expected);
  }
}

// After the fix the same machine has no failure: what the planted seeds change is what they report.
TEST(Doctor, DuplicateSerialsAndSplitWindowsAreWarnings) {
  Platform platform = snapshot("interleave2-hb-6.12");
  platform.cxl.memories[1].serial = platform.cxl.memories[0].serial;
  CxlRegion second = platform.cxl.regions[0];
  platform.cxl.regions[0].ways = second.ways = 1;
  platform.cxl.regions[0].memories = {"mem0"};
  second.name = "region1";
  second.memories = {"mem1"};
  platform.cxl.regions.push_back(second);
  const DoctorReport report = diagnose(platform);

  EXPECT_TRUE(has_fix(diagnosis_of(report, "serials"), "sn="));
  EXPECT_TRUE(has_fix(diagnosis_of(report, "interleave"), "provision"));
}

// 504 of 512 blocks: the kernel keeps a few for their own page structures.
TEST(Doctor, FewMissingBlocksAreHarmless) {
  Platform platform = snapshot("single-6.12");
  platform.blocks.blocks.clear();
  platform.dax[0].blocks_online = 504;
  platform.dax[0].blocks_total = 512;
  EXPECT_EQ(diagnosis_of(diagnose(platform), "blocks").state, CheckState::ok);
}

// A real server, as its owner printed it: `cxl list`, `daxctl list`, `lsmem` and nothing else.
TEST(Doctor, ReadsListingsOfAServerWithOfflineBlocks) {
  MemoryTree tree;
  tree.files["cxl-list.json"] = R"([{"memdevs": [{"memdev": "mem0", "ram_size": 137438953472,
      "serial": 12208648699093770240, "numa_node": 1, "host": "0000:b4:00.0"}]},
      {"regions": [{"region": "region9", "resource": 7415261036544, "size": 137438953472,
      "type": "ram", "interleave_ways": 1, "decode_state": "commit"}]}])";
  tree.files["daxctl-list.json"] = R"([{"chardev": "dax9.0", "size": 137438953472,
      "target_node": 2, "align": 2097152, "mode": "system-ram"}])";
  tree.files["lsmem.txt"] =
      "RANGE                                  SIZE   STATE REMOVABLE     BLOCK NODE           "
      "ZONES\n"
      "0x000006be80000000-0x000006de7fffffff  128G offline                 3453-3516    2 "
      "Normal/Movable\n"
      "Memory block size:           2G\n";
  const DoctorReport report = diagnose(read_platform(tree, {true, {}}));

  EXPECT_EQ(in_state(report, CheckState::fail), Ids{"blocks"});
  const Diagnosis& blocks = diagnosis_of(report, "blocks");
  EXPECT_NE(blocks.summary.find("0 of 64"), std::string::npos) << blocks.summary;
  EXPECT_TRUE(has_fix(blocks, "daxctl online-memory dax9.0"));
}

TEST(Doctor, NothingToLookAtIsBlind) {
  MemoryTree tree;
  const DoctorReport report = diagnose(read_platform(tree, {true, {}}));
  EXPECT_TRUE(report.is_blind);
}

// Without privilege the tables are closed: what can be told is told, and the rest is listed.
TEST(Doctor, ClosedFilesAreListedNotGuessed) {
  Platform platform = snapshot("single-6.12");
  platform.acpi.cedt.reset();
  platform.closed = {"sys/firmware/acpi/tables/CEDT", "proc/iomem"};
  platform.iomem->is_hidden = true;
  const DoctorReport report = diagnose(platform);

  EXPECT_EQ(diagnosis_of(report, "firmware-cxl").state, CheckState::ok);
  EXPECT_EQ(diagnosis_of(report, "soft-reserve").state, CheckState::skipped);
  EXPECT_NE(diagnosis_of(report, "soft-reserve").summary.find("needs root"), std::string::npos);
  EXPECT_EQ(report.closed.size(), 2u);
}

// Names come from untrusted files.
TEST(DoctorReport, ControlCharactersAndMarkupStayOut) {
  Platform platform = snapshot("single-6.12");
  platform.cxl.memories[0].is_enabled = false;
  platform.cxl.memories[0].host = "\x1b[2J<script>&\"";
  const DoctorReport report = diagnose(platform);

  EXPECT_EQ(text_of(report, Detail::everything).find('\x1b'), std::string::npos);
  EXPECT_EQ(junit_of(report).find("<script>"), std::string::npos);
  EXPECT_NE(junit_of(report).find("&lt;script&gt;&amp;"), std::string::npos);
}

}  // namespace
}  // namespace cxltier
