// SPDX-License-Identifier: Apache-2.0
//
// A reader must get through anything that can lie where a page should be: cut, torn, old, new,
// made up, or not a file at all.
#include "runtime/telemetry/reader.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <random>

#include "runtime/telemetry/descriptor.h"
#include "tests/telemetry/scratch_folder.h"

namespace cxltier {
namespace {

constexpr std::uint32_t pid = 42;

std::string bytes_of_page(const TelemetryPage& page) {
  return {reinterpret_cast<const char*>(&page), sizeof page};
}

TelemetryPage good_page() {
  TelemetryPage page;
  page.header.magic = telemetry_magic;
  page.header.version = telemetry_version;
  page.header.size = sizeof(TelemetryPage);
  page.header.pid = pid;
  page.generation = 8;
  page.state = RunState::active;
  page.page_size = 65536;
  page.ticks = 99;
  page.node_count = 1;
  page.tier_count = 1;
  return page;
}

// A folder with one file named 42.
class PageFixture : public testing::Test {
 protected:
  PageFixture() : folder_(open_telemetry_folder(scratch_.place(), FolderUse::make).value_or(-1)) {}

  PageFailure read_bytes(std::string_view bytes) {
    write_file(path(), bytes);
    return read_there();
  }
  PageFailure read_there() {
    return read_telemetry_page({folder_.number(), pid, ::geteuid()}, page_);
  }
  std::string path() { return scratch_.page_path(pid); }

  ScratchFolder scratch_;
  Descriptor folder_;
  TelemetryPage page_;
};

TEST_F(PageFixture, AGoodPageIsRead) {
  EXPECT_EQ(read_bytes(bytes_of_page(good_page())), PageFailure::none);
  EXPECT_EQ(page_.ticks, 99u);
  EXPECT_EQ(page_.page_size, 65536u);
}

TEST_F(PageFixture, NothingThere) { EXPECT_EQ(read_there(), PageFailure::absent); }

TEST_F(PageFixture, EveryShorterFileIsDamagedOrUnfinished) {
  const std::string whole = bytes_of_page(good_page());
  for (std::size_t size = 0; size < whole.size(); size += 1 + size / 16) {
    EXPECT_EQ(read_bytes({whole.data(), size}), PageFailure::damaged) << size;
  }
}

TEST_F(PageFixture, AnUpdateThatNeverEndsIsBusy) {
  TelemetryPage page = good_page();
  page.generation = 9;
  EXPECT_EQ(read_bytes(bytes_of_page(page)), PageFailure::busy);
}

TEST_F(PageFixture, APageWithoutItsHeaderYetIsBusy) {
  EXPECT_EQ(read_bytes(std::string(sizeof(TelemetryPage), '\0')), PageFailure::busy);
}

TEST_F(PageFixture, AnOlderShorterPageHasZerosForWhatItDoesNotKnow) {
  TelemetryPage page = good_page();
  page.header.size = offsetof(TelemetryPage, heat_histogram);
  page.heat_histogram.fill(77);  // beyond the page's own size: not its values
  EXPECT_EQ(read_bytes(bytes_of_page(page)), PageFailure::none);
  EXPECT_EQ(page_.ticks, 99u);
  EXPECT_EQ(page_.heat_histogram.front(), 0u);

  const std::string whole = bytes_of_page(page);
  EXPECT_EQ(read_bytes({whole.data(), page.header.size}), PageFailure::none);
  EXPECT_EQ(page_.ticks, 99u);
}

TEST_F(PageFixture, ANewerLongerPageIsReadAsFarAsKnown) {
  TelemetryPage page = good_page();
  page.header.version = 9;
  page.header.size = sizeof(TelemetryPage) + 512;
  EXPECT_EQ(read_bytes(bytes_of_page(page) + std::string(512, 'n')), PageFailure::none);
  EXPECT_EQ(page_.ticks, 99u);
}

TEST_F(PageFixture, WrongMagicVersionOrSizeIsDamaged) {
  TelemetryPage page = good_page();
  page.header.magic[0] = 'X';
  EXPECT_EQ(read_bytes(bytes_of_page(page)), PageFailure::damaged);
  page = good_page();
  page.header.version = 0;
  EXPECT_EQ(read_bytes(bytes_of_page(page)), PageFailure::damaged);
  page = good_page();
  page.header.size = telemetry_size_min - 1;
  EXPECT_EQ(read_bytes(bytes_of_page(page)), PageFailure::damaged);
}

TEST_F(PageFixture, HostileValuesAreCutToWhatIsSafe) {
  TelemetryPage page = good_page();
  page.node_count = ~0u;
  page.tier_count = ~0u;
  page.page_size = 12345;
  page.policy.fill('x');
  page.reason.fill('\x1b');
  for (TelemetryNode& node : page.nodes) node = {~0u, 0xee, 0xee, 0xffff, ~std::uint64_t{0}};

  EXPECT_EQ(read_bytes(bytes_of_page(page)), PageFailure::none);

  EXPECT_EQ(page_.node_count, 64u);
  EXPECT_EQ(page_.tier_count, 8u);
  EXPECT_EQ(page_.page_size, 4096u);
  EXPECT_EQ(std::string(page_.policy.data()), std::string(31, 'x'));
  EXPECT_EQ(std::string(page_.reason.data()), std::string(159, '?'));
  EXPECT_EQ(page_.nodes[3].tier, 0xff);
  EXPECT_EQ(page_.nodes[3].kind, static_cast<std::uint8_t>(NodeKind::unknown));
}

TEST_F(PageFixture, NoiseNeverComesOutUnsafe) {
  const char* const given = std::getenv("CXLTIER_TEST_SEED");
  const unsigned seed = given != nullptr ? static_cast<unsigned>(std::atoi(given)) : 7041776u;
  SCOPED_TRACE("CXLTIER_TEST_SEED=" + std::to_string(seed));
  std::mt19937 random(seed);
  const std::size_t spared = offsetof(TelemetryPage, state);
  for (int round = 0; round < 300; ++round) {
    std::string bytes = bytes_of_page(good_page());
    for (auto flips = random() % 400; flips > 0; --flips) {
      bytes[spared + random() % (bytes.size() - spared)] = static_cast<char>(random());
    }
    ASSERT_EQ(read_bytes(bytes), PageFailure::none);
    ASSERT_TRUE(is_printable(page_));
  }
}

TEST_F(PageFixture, WhatIsNotAFileOfOursIsRefusedWithoutWaiting) {
  ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
  EXPECT_EQ(read_there(), PageFailure::damaged);
  std::filesystem::remove(path());
  std::filesystem::create_symlink("/etc/passwd", path());
  EXPECT_EQ(read_there(), PageFailure::damaged);
  std::filesystem::remove(path());
  std::filesystem::create_directory(path());
  EXPECT_EQ(read_there(), PageFailure::damaged);
}

TEST_F(PageFixture, AFileOfAnotherOwnerIsForbidden) {
  write_file(path(), bytes_of_page(good_page()));
  EXPECT_EQ(read_telemetry_page({folder_.number(), pid, ::geteuid() + 1}, page_),
            PageFailure::forbidden);
}

}  // namespace
}  // namespace cxltier
