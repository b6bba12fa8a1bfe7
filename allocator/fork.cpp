// SPDX-License-Identifier: Apache-2.0
//
// What a fork does to the heap.
//
// jemalloc registers its fork handlers here, so that ours run around them whenever in the program's
// start that is.  They close two gaps of jemalloc 5.3.0 (je_jemalloc_prefork in src/jemalloc.c):
//
// - It counts the arenas before it takes their locks.  An arena that is made in between is unlocked
//   without having been locked: two threads of the parent are then inside it at once, and the child
//   gets it in the middle of an update.  So no arena is made while a fork is under way.
// - It leaves out the lock under which its address map grows (rtree_t::init_lock), once in a GiB of
//   addresses.  A child that inherits it held hangs at its next such growth.  It guards one store
//   of a pointer, which was either made or not: the child needs a new lock and no more.
#include <pthread.h>

#include "allocator/heap_state.h"
#include "allocator/jemalloc.h"
#include "cxltier/tier_heap.hpp"

namespace cxltier::heap {
namespace {

// jemalloc's own handlers; written once, inside its start-up.
struct ForkHandlers {
  void (*prepare)() = nullptr;
  void (*in_parent)() = nullptr;
  void (*in_child)() = nullptr;
};
constinit ForkHandlers of_jemalloc;

// Before jemalloc's locks, since whoever holds ours may be waiting for one of them.
void prepare() {
  hold_pins();
  tier_heap.hold_for_fork();
  of_jemalloc.prepare();
}

void in_parent() {
  of_jemalloc.in_parent();
  tier_heap.let_go_after_fork();
  let_go_of_pins();
}

void in_child() {
  of_jemalloc.in_child();
  cxltier_je_je_malloc_mutex_postfork_child(nullptr, address_map_lock());
  mapped_ranges.forget_splits_in_transit();
  growth_watch.forget_running_hook();
  tier_heap.let_go_after_fork();
  let_go_of_pins();
}

}  // namespace
}  // namespace cxltier::heap

#pragma GCC visibility push(hidden)
extern "C" {

int cxltier_je_pthread_atfork(void (*prepare)(), void (*parent)(), void (*child)()) noexcept;
int cxltier_je_pthread_atfork(void (*prepare)(), void (*parent)(), void (*child)()) noexcept {
  using namespace cxltier::heap;
  of_jemalloc = {prepare, parent, child};
  return pthread_atfork(cxltier::heap::prepare, in_parent, in_child);
}

}  // extern "C"
#pragma GCC visibility pop
