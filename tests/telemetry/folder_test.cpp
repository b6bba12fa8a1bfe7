// SPDX-License-Identifier: Apache-2.0
//
// The telemetry folder lies where everybody may write: what was put there beforehand must not be
// trusted.
#include "runtime/telemetry/folder.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "runtime/telemetry/descriptor.h"
#include "tests/telemetry/scratch_folder.h"

namespace cxltier {
namespace {

mode_t mode_of(const std::string& path) {
  struct stat about {};
  EXPECT_EQ(::lstat(path.c_str(), &about), 0) << path;
  return about.st_mode;
}

TEST(TelemetryFolder, IsMadeClosedToOthersAndFoundAgain) {
  const ScratchFolder scratch;
  EXPECT_EQ(open_telemetry_folder(scratch.place(), FolderUse::find).error(), ENOENT);

  const Descriptor made(open_telemetry_folder(scratch.place(), FolderUse::make).value_or(-1));
  const Descriptor found(open_telemetry_folder(scratch.place(), FolderUse::find).value_or(-1));

  EXPECT_TRUE(made.is_open());
  EXPECT_TRUE(found.is_open());
  EXPECT_EQ(mode_of(scratch.folder_path()), static_cast<mode_t>(S_IFDIR | 0700));
}

TEST(TelemetryFolder, PrefersTheUsersOwnRuntimeFolder) {
  const ScratchFolder scratch;
  const ScratchFolder session;
  const FolderPlace place{session.path().c_str(), scratch.path().c_str(), ::geteuid()};

  const Descriptor made(open_telemetry_folder(place, FolderUse::make).value_or(-1));

  EXPECT_TRUE(made.is_open());
  EXPECT_TRUE(std::filesystem::is_directory(session.path() + "/cxltier"));
  EXPECT_FALSE(std::filesystem::exists(scratch.folder_path()));
}

TEST(TelemetryFolder, FallsBackFromAnUnfitRuntimeFolder) {
  const ScratchFolder session;
  ::chmod(session.path().c_str(), 0777);
  for (const std::string& unfit : {std::string(""), std::string("relative"), session.path(),
                                   session.path() + "/absent", std::string("/proc/version")}) {
    const ScratchFolder scratch;
    const FolderPlace place{unfit.c_str(), scratch.path().c_str(), ::geteuid()};
    const Descriptor made(open_telemetry_folder(place, FolderUse::make).value_or(-1));
    EXPECT_TRUE(made.is_open()) << unfit;
    EXPECT_TRUE(std::filesystem::is_directory(scratch.folder_path())) << unfit;
  }
  EXPECT_FALSE(std::filesystem::exists(session.path() + "/cxltier"));
}

TEST(TelemetryFolder, FollowsNoSymbolicLink) {
  const ScratchFolder scratch;
  std::filesystem::create_directory(scratch.path() + "/elsewhere");
  ::chmod((scratch.path() + "/elsewhere").c_str(), 0700);
  std::filesystem::create_directory_symlink(scratch.path() + "/elsewhere", scratch.folder_path());

  const Result<int> folder = open_telemetry_folder(scratch.place(), FolderUse::make);

  EXPECT_TRUE(folder.error() == ELOOP || folder.error() == ENOTDIR) << folder.error();
}

TEST(TelemetryFolder, RefusesOneThatOthersMayEnter) {
  for (const mode_t mode : {0755u, 0777u, 0710u, 0702u, 0740u}) {
    const ScratchFolder scratch;
    std::filesystem::create_directory(scratch.folder_path());
    ASSERT_EQ(::chmod(scratch.folder_path().c_str(), mode), 0);
    EXPECT_EQ(open_telemetry_folder(scratch.place(), FolderUse::make).error(), EPERM) << mode;
  }
}

TEST(TelemetryFolder, RefusesOneOfAnotherOwner) {
  const ScratchFolder scratch;
  FolderPlace place = scratch.place();
  place.uid = ::geteuid() + 1;
  const std::string path = scratch.path() + "/cxltier-" + std::to_string(place.uid);
  std::filesystem::create_directory(path);  // ours, where another user's is expected
  ASSERT_EQ(::chmod(path.c_str(), 0700), 0);

  EXPECT_EQ(open_telemetry_folder(place, FolderUse::make).error(), EPERM);
}

TEST(TelemetryFolder, RefusesAFileInItsPlace) {
  const ScratchFolder scratch;
  write_file(scratch.folder_path(), "");
  EXPECT_EQ(open_telemetry_folder(scratch.place(), FolderUse::make).error(), ENOTDIR);
}

}  // namespace
}  // namespace cxltier
