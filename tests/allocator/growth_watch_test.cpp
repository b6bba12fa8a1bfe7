// SPDX-License-Identifier: Apache-2.0
//
// A hook runs when the heap is large enough, on one thread at a time, never inside itself, and as
// often as it asks for.
#include "allocator/growth_watch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace cxltier::heap {
namespace {

// Hooks have no argument but the caller, so what they do and saw is here.
struct Scene {
  GrowthWatch watch;
  std::atomic<int> calls{0};
  std::atomic<int> inside{0};
  std::atomic<int> inside_max{0};
  std::atomic<const void*> caller{nullptr};
  Attention answer = Attention::done;
};
Scene* scene = nullptr;

Attention count_call(const void* caller) noexcept {
  scene->calls.fetch_add(1);
  scene->caller.store(caller);
  return scene->answer;
}

class GrowthWatchTest : public testing::Test {
 protected:
  GrowthWatchTest() { scene = &scene_; }
  // What malloc does.
  void enter(int times = 1) {
    for (int i = 0; i < times; ++i) {
      if (scene_.watch.due()) scene_.watch.attend(&scene_);
    }
  }
  Scene scene_;
};

TEST_F(GrowthWatchTest, IsNotDueUnasked) {
  scene_.watch.grown_to(1u << 30);

  EXPECT_FALSE(scene_.watch.due());
}

TEST_F(GrowthWatchTest, CallsOnceWhenTheHeapReachesTheThreshold) {
  scene_.watch.request(1000, count_call, 10);
  scene_.watch.grown_to(999);
  enter();
  EXPECT_EQ(scene_.calls, 0);

  scene_.watch.grown_to(1000);
  enter(3);

  EXPECT_EQ(scene_.calls, 1);
  EXPECT_EQ(scene_.caller, &scene_);
  EXPECT_FALSE(scene_.watch.due());
  scene_.watch.grown_to(2000);
  EXPECT_FALSE(scene_.watch.due());
}

TEST_F(GrowthWatchTest, IsDueAtOnceIfTheHeapIsLargeAlready) {
  scene_.watch.request(1000, count_call, 5000);

  enter();

  EXPECT_EQ(scene_.calls, 1);
}

TEST_F(GrowthWatchTest, WaitsAfterAgain) {
  scene_.answer = Attention::again;
  scene_.watch.request(0, count_call, 0);
  enter();
  ASSERT_EQ(scene_.calls, 1);

  enter(static_cast<int>(GrowthWatch::entries_between_calls) - 1);
  EXPECT_EQ(scene_.calls, 1);
  enter();
  EXPECT_EQ(scene_.calls, 2);
}

TEST_F(GrowthWatchTest, NeverRunsInsideItself) {
  scene_.watch.request(
      0,
      [](const void* caller) noexcept {
        scene->calls.fetch_add(1);
        if (scene->watch.due()) scene->watch.attend(caller);  // the hook allocates
        return Attention::done;
      },
      0);

  enter();

  EXPECT_EQ(scene_.calls, 1);
}

TEST_F(GrowthWatchTest, KeepsARequestThatTheHookMakes) {
  scene_.watch.request(
      0,
      [](const void*) noexcept {
        scene->watch.request(500, count_call, 100);
        return Attention::done;
      },
      0);
  enter();
  EXPECT_FALSE(scene_.watch.due());

  scene_.watch.grown_to(500);
  enter();

  EXPECT_EQ(scene_.calls, 1);
}

TEST_F(GrowthWatchTest, IsDisarmedByANullHook) {
  scene_.watch.request(0, count_call, 0);

  scene_.watch.request(0, nullptr, 0);
  scene_.watch.grown_to(1u << 30);
  enter();

  EXPECT_EQ(scene_.calls, 0);
}

// In a fork child the thread that ran the hook is gone and would block it for ever.
TEST_F(GrowthWatchTest, RunsAgainAfterTheChildForgotAHookThatNeverReturned) {
  scene_.watch.request(
      0,
      [](const void*) noexcept {
        scene->watch.forget_running_hook();
        scene->watch.request(0, count_call, 0);
        scene->watch.attend(nullptr);  // what the child's next malloc does
        return Attention::done;
      },
      0);

  enter();

  EXPECT_EQ(scene_.calls, 1);
}

TEST_F(GrowthWatchTest, RunsOnOneThreadAtATime) {
  scene_.watch.request(
      0,
      [](const void*) noexcept {
        const int inside = scene->inside.fetch_add(1) + 1;
        if (inside > scene->inside_max) scene->inside_max = inside;
        std::this_thread::yield();
        scene->inside.fetch_sub(1);
        scene->calls.fetch_add(1);
        return Attention::again;
      },
      0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) threads.emplace_back([this] { enter(20000); });
  for (std::thread& thread : threads) thread.join();

  EXPECT_EQ(scene_.inside_max, 1);
  // 80,000 entries, one call in 1,024; entries during a call may or may not be counted.
  EXPECT_GE(scene_.calls, 2);
  EXPECT_LE(scene_.calls, 80);
}

}  // namespace
}  // namespace cxltier::heap
