// SPDX-License-Identifier: Apache-2.0
//
// The access-bit sensor over a fake process that keeps VMAs, access bits and nodes as the kernel
// does.
#include "runtime/sensor/access_bits.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/fakes/fake_process.h"

namespace cxltier {
namespace {

using fakes::FakeProcess;
using fakes::page_bytes;

constexpr std::uintptr_t base = 0x7f0000000000;
constexpr std::uint64_t region = 512u << 10;  // 128 pages
constexpr LayoutLimits limits{{region}, 64};

class AccessBitsTest : public testing::Test {
 protected:
  AccessBitsTest() {
    process.map(heap[0]);
    sensor.follow(heap, limits);
  }

  void touch(std::size_t of_region, std::uint64_t pages, int node = 0) {
    for (std::uint64_t i = 0; i < pages; ++i) {
      process.touch(base + of_region * region + i * page_bytes, node);
    }
  }
  std::span<const Observation> read() {
    const Result<std::size_t> count = sensor.read(tiers, seen);
    EXPECT_TRUE(count.ok());
    return std::span(seen).first(count.value_or(0));
  }

  FakeProcess process;
  const std::vector<AddressRange> heap{{base, base + 4 * region}};
  const NodeTiers tiers{process.machine(), assign_tiers(process.machine(), {})};
  std::vector<SensedRegion> storage{64};
  std::vector<SensedRegion> spare{64};
  std::vector<Observation> seen{64};
  AccessBits sensor{
      {process, process.smaps(), process.numa_maps(), process}, storage, spare, {page_bytes}};
};

TEST_F(AccessBitsTest, MakesEveryRegionAVmaOfItsOwn) { EXPECT_EQ(process.vma_count(), 4u); }

TEST_F(AccessBitsTest, SeesWhatWasTouchedSinceTheLastCool) {
  touch(0, 128);
  touch(1, 128);
  sensor.cool(AccessBits::Cool::all);
  touch(1, 30);

  const auto observed = read();

  ASSERT_EQ(observed.size(), 4u);
  EXPECT_EQ(observed[0].touched_pages, 0u);
  EXPECT_EQ(observed[1].touched_pages, 30u);
  EXPECT_EQ(observed[1].visibility, Visibility::seen);
  EXPECT_EQ(observed[1].first_page.value, (base + region) / page_bytes);
  EXPECT_EQ(observed[1].page_count, 128u);
}

// Full regions keep their policy: nothing is missing there.
TEST_F(AccessBitsTest, LetsWhatIsMissingComeFromSlowerTiers) {
  touch(0, 128);
  touch(1, 30);
  read();

  sensor.grow(Growth::slower);
  touch(1, 128);
  touch(2, 128);
  const auto observed = read();

  EXPECT_EQ(observed[0].resident[0], 128u);
  EXPECT_EQ(observed[1].resident[0], 30u);
  EXPECT_EQ(observed[1].resident[1], 98u);
  EXPECT_EQ(observed[2].resident[1], 128u);
  EXPECT_EQ(process.vma_count(), 4u);  // still one each

  sensor.grow(Growth::local);
  touch(3, 128);
  EXPECT_EQ(read()[3].resident[0], 128u);
  EXPECT_EQ(process.vma_count(), 4u);
}

TEST_F(AccessBitsTest, LetsNewRegionsComeFromSlowerTiers) {
  sensor.grow(Growth::slower);
  const AddressRange more{base + 4 * region, base + 5 * region};
  process.map(more);
  sensor.follow(std::vector{heap[0], more}, limits);
  touch(4, 128);
  EXPECT_EQ(read()[4].resident[1], 128u);
}

TEST_F(AccessBitsTest, KnowsNothingOfARegionThatWasNeverCooled) {
  touch(0, 10);
  EXPECT_EQ(read()[0].visibility, Visibility::unknown);
}

TEST_F(AccessBitsTest, CountsPagesByTier) {
  touch(2, 100, 1);
  touch(3, 40, 2);

  const auto observed = read();

  EXPECT_EQ(observed[2].resident[0], 100u);
  EXPECT_EQ(observed[3].resident[1], 40u);
  EXPECT_EQ(sensor.view().anonymous_pages[1], 100u);
  EXPECT_EQ(sensor.view().anonymous_pages[2], 40u);
}

// A fork child keeps the bits set: "touched" would make everything look hot.
TEST_F(AccessBitsTest, ReadsPagesSharedWithAChildAsUnknown) {
  touch(0, 128);
  process.has_child = true;
  sensor.cool(AccessBits::Cool::all);
  ASSERT_TRUE(sensor.read_residue().ok());
  EXPECT_EQ(read()[0].visibility, Visibility::unknown);

  process.has_child = false;
  sensor.cool(AccessBits::Cool::all);
  EXPECT_EQ(read()[0].visibility, Visibility::seen);
}

// Nothing to clear in what the last read saw untouched; what is touched afterwards is still seen.
TEST_F(AccessBitsTest, ClearsOnlyWhatWasTouched) {
  touch(0, 128);
  touch(1, 128);
  sensor.cool(AccessBits::Cool::touched);
  touch(1, 30);
  ASSERT_EQ(read()[0].touched_pages, 0u);
  const std::uint64_t cooled_before = process.cooled_bytes;

  sensor.cool(AccessBits::Cool::touched);

  EXPECT_EQ(process.cooled_bytes - cooled_before, region);  // regions 0, 2 and 3 are left alone
  touch(0, 128);
  touch(1, 10);
  const auto observed = read();
  EXPECT_EQ(observed[0].touched_pages, 128u);  // all of it: as hot as can be, whatever the time
  EXPECT_EQ(observed[1].touched_pages, 10u);
}

// A region that is touched at an even pace looks the same whether its bits were cleared for the
// window or only before a rest four times as long.
TEST_F(AccessBitsTest, BringsALongerLookDownToTheWindow) {
  constexpr int scans = 200;
  touch(0, 128);
  sensor.cool(AccessBits::Cool::touched);
  std::uint64_t shown = 0;
  for (int scan = 0; scan < scans; ++scan) {
    read();
    process.advance(seconds(4));
    touch(0, 4);  // during the rest
    sensor.cool(AccessBits::Cool::touched);
    process.advance(seconds(1));
    const auto observed = read();
    shown += observed[0].touched_pages;
    sensor.cool(AccessBits::Cool::touched);  // back to a clear region
  }
  EXPECT_NEAR(static_cast<double>(shown) / scans, 0.8, 0.1);  // 4 pages in 5 s, seen for 1 s
}

TEST_F(AccessBitsTest, ForgetsThatARegionWasClearWhenAChildShares) {
  touch(0, 128);
  sensor.cool(AccessBits::Cool::touched);
  read();
  touch(0, 128);
  sensor.cool(AccessBits::Cool::all);
  ASSERT_TRUE(sensor.read_residue().ok());
  EXPECT_EQ(read()[0].touched_pages, 0u);
}

TEST_F(AccessBitsTest, KeepsItsHandsOffLockedMemory) {
  process.lock({base + region, base + 2 * region});
  touch(0, 5);
  sensor.cool(AccessBits::Cool::all);
  touch(0, 7);

  const auto observed = read();

  ASSERT_EQ(observed.size(), 3u);
  EXPECT_EQ(observed[0].touched_pages, 7u);
  EXPECT_EQ(observed[1].first_page.value, (base + 2 * region) / page_bytes);
}

TEST_F(AccessBitsTest, KeepsItsHandsOffMemoryThatTheProgramPlaced) {
  process.application_bound = true;
  sensor.cool(AccessBits::Cool::all);
  EXPECT_TRUE(read().empty());
}

TEST_F(AccessBitsTest, KeepsWhatItKnowsWhenTheHeapGrows) {
  touch(0, 128);
  sensor.cool(AccessBits::Cool::all);
  const std::vector<AddressRange> grown{{base, base + 6 * region}};
  process.map({base + 4 * region, base + 6 * region});

  sensor.follow(grown, limits);
  const auto observed = read();

  ASSERT_EQ(observed.size(), 6u);
  EXPECT_EQ(observed[0].visibility, Visibility::seen);
  EXPECT_EQ(observed[5].visibility, Visibility::unknown);
  EXPECT_TRUE(sensor.is_valid());
}

// 64 regions of 512 KiB are 32 MiB: a heap of 256 MiB needs regions of 4 MiB.
TEST_F(AccessBitsTest, CoarsensToKeepTheVmaBudget) {
  const std::vector<AddressRange> large{{base, base + 512 * region}};
  process.map({base + 4 * region, base + 512 * region});

  sensor.follow(large, limits);

  EXPECT_LE(sensor.size(), 64u);
  EXPECT_EQ(sensor.region_size().count, 8 * region);
}

// When the kernel refuses a split, two regions share a VMA, and neither may claim its bits.
TEST(AccessBits, ReadsRegionsThatShareAVmaAsUnknown) {
  FakeProcess process;
  const std::vector<AddressRange> heap{{base, base + 2 * region}};
  process.map(heap[0]);
  std::vector<SensedRegion> storage(8);
  std::vector<SensedRegion> spare(8);
  std::vector<Observation> seen(8);
  AccessBits sensor({process, process.smaps(), process.numa_maps(), process}, storage, spare,
                    {page_bytes});
  process.faults.at = 4;  // owner_of and bind of the first region, then of the second
  sensor.follow(heap, {{region}, 8});
  process.map({base + 2 * region, base + 3 * region});
  process.touch(base + region);
  sensor.cool(AccessBits::Cool::all);

  const NodeTiers tiers(process.machine(), assign_tiers(process.machine(), {}));
  ASSERT_EQ(sensor.read(tiers, seen).value_or(0), 2u);
  EXPECT_EQ(seen[1].visibility, Visibility::unknown);
}

// Whichever call fails, in whichever order: no crash, a valid layout, and the next scan works.
TEST(AccessBits, SurvivesTheFailureOfEveryCall) {
  for (std::uint64_t at = 1;; ++at) {
    FakeProcess process;
    const std::vector<AddressRange> heap{{base, base + 8 * region}};
    process.map(heap[0]);
    process.faults.at = at;
    std::vector<SensedRegion> storage(16);
    std::vector<SensedRegion> spare(16);
    std::vector<Observation> seen(16);
    AccessBits sensor({process, process.smaps(), process.numa_maps(), process}, storage, spare,
                      {page_bytes});
    const NodeTiers tiers(process.machine(), assign_tiers(process.machine(), {}));

    sensor.follow(heap, {{region}, 16});
    sensor.cool(AccessBits::Cool::all);
    static_cast<void>(sensor.read_residue());
    static_cast<void>(sensor.read(tiers, seen));
    const bool met_failure = process.faults.calls >= at;
    ASSERT_TRUE(sensor.is_valid()) << "call " << at;
    process.faults.at = 0;
    sensor.cool(AccessBits::Cool::all);
    ASSERT_TRUE(sensor.read(tiers, seen).ok()) << "call " << at;
    if (!met_failure) break;
  }
}

}  // namespace
}  // namespace cxltier
