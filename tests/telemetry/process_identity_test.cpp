// SPDX-License-Identifier: Apache-2.0
//
// Which process a number means: the start time must be found whatever the program calls itself.
#include "runtime/telemetry/process_identity.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <string>

namespace cxltier {
namespace {

// Fields 3 to 24 of proc(5), with 777 as field 22.
const std::string fields = " S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 777 19 20\n";

TEST(ParseStartTime, FindsField22WhateverTheNameIs) {
  for (const char* name :
       {"redis-server", "a b c", ")", "(", ") S 1 2 (", "x) R 9 9 9", "", "\xff\n)"}) {
    EXPECT_EQ(parse_start_time("42 (" + std::string(name) + ")" + fields), 777u) << name;
  }
}

TEST(ParseStartTime, RefusesWhatIsNotSuchAFile) {
  EXPECT_FALSE(parse_start_time("").has_value());
  EXPECT_FALSE(parse_start_time("42 redis S 1 2").has_value());
  EXPECT_FALSE(parse_start_time("42 (redis)").has_value());
  EXPECT_FALSE(parse_start_time("42 (redis) S 1 2 3").has_value());
  EXPECT_FALSE(
      parse_start_time("42 (r) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 -7 1").has_value());
  EXPECT_FALSE(
      parse_start_time("42 (r) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 ").has_value());
  EXPECT_FALSE(
      parse_start_time("42 (r) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 7x 1").has_value());
}

// Every prefix of a good text is either refused or gives a prefix of the number.
TEST(ParseStartTime, IsTotalOnCutTexts) {
  const std::string whole = "42 (redis)" + fields;
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    const auto ticks = parse_start_time({whole.data(), size});
    if (!ticks) continue;
    EXPECT_TRUE(*ticks == 7 || *ticks == 77 || *ticks == 777) << size;
  }
}

TEST(IdentityOfSelf, AgreesWithTheKernel) {
  const Result<ProcessIdentity> self = identity_of_self();
  ASSERT_TRUE(self.ok());
  EXPECT_EQ(self.value().pid, static_cast<std::uint32_t>(::getpid()));
  EXPECT_EQ(self.value().uid, ::geteuid());

  // The name of this program has no blanks, so plain extraction counts the fields right.
  std::ifstream stat("/proc/self/stat");
  std::string field;
  for (int i = 0; i < 22; ++i) stat >> field;
  EXPECT_EQ(std::to_string(self.value().start_time_ticks), field);

  std::ifstream boot("/proc/sys/kernel/random/boot_id");
  std::string id;
  boot >> id;
  EXPECT_EQ(std::string(self.value().boot_id.data()), id);
  EXPECT_NE(self.value().pid_namespace, 0u);
}

TEST(StartTimeOf, SaysThatThereIsNoSuchProcess) {
  const Result<std::uint64_t> start = start_time_of(4'194'305);  // above the kernel's PID_MAX_LIMIT
  EXPECT_EQ(start.error(), ENOENT);
}

}  // namespace
}  // namespace cxltier
