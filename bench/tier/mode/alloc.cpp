// SPDX-License-Identifier: Apache-2.0
//
// What memory costs before it is used: mapping and first touch per page and node, and malloc.
//
// malloc is whatever this process has: preload an allocator to measure it, as in
// `cxltier run -- cxltier bench alloc`.
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "bench/tier/host/node_binding.h"
#include "bench/tier/mode/mode.h"

namespace cxltier::bench {
namespace {

struct TouchShape {
  int node = 0;
  PageKind pages = PageKind::small;
  std::size_t bytes = 16 * mib;
};

struct Touched {
  double seconds = -1;  // negative: it could not be mapped
  PlacementReport report;
};

// From a mapped and bound range to one whose pages are all there.  Where they are is looked up and
// the range unmapped after the clock has stopped.
Touched touch(const TouchShape& shape) {
  constexpr std::size_t huge = 2 * mib;
  const std::size_t mapped_bytes = shape.bytes + huge;
  void* mapped =
      ::mmap(nullptr, mapped_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return {};
  const auto address = reinterpret_cast<std::uintptr_t>(mapped);
  auto* const start = static_cast<volatile char*>(mapped) + (huge - address % huge);
  auto* const plain = const_cast<char*>(start);
  (void)::madvise(plain, shape.bytes,
                  shape.pages == PageKind::thp ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  const NodeWeight node{static_cast<NodeId>(shape.node), 1};
  const int refused = bind_range(plain, shape.bytes, node.node);
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const double begun = now_s();
  for (std::size_t at = 0; at < shape.bytes; at += page) start[at] = 1;
  Touched touched{now_s() - begun, {}};
  const std::span<const std::byte> range(reinterpret_cast<std::byte*>(plain), shape.bytes);
  touched.report = report_of(range, {&node, 1}, shape.pages);
  touched.report.bind_error = refused;
  ::munmap(mapped, mapped_bytes);
  return touched;
}

Cell cost_cell(const std::string& id, const std::string& label, const char* unit) {
  Cell cell;
  cell.mode = "alloc";
  cell.id = "alloc/" + id;
  cell.label = label;
  cell.quantity = "time";
  cell.unit = unit;
  return cell;
}

Task touch_task(Session& session, const TouchShape& shape) {
  Task task;
  task.cell = cost_cell(
      fmt::format("touch/node{}/{}", shape.node, name_of(shape.pages)),
      fmt::format("first touch on node {}, {} pages", shape.node, name_of(shape.pages)), "ns/4KiB");
  task.cell.companion_unit = "GB/s";
  task.cell.nodes = {shape.node};
  task.cell.pages = name_of(shape.pages);
  task.cpu = static_cast<int>(session.cpu_node(session.nearest_cpu_node(shape.node)).cpus.front());
  auto last = std::make_shared<PlacementReport>();
  task.measure = [shape, last] {
    const Touched touched = touch(shape);
    *last = touched.report;
    if (touched.seconds <= 0) return Measured{};
    const double bytes = static_cast<double>(shape.bytes);
    return Measured{touched.seconds * 1e9 / (bytes / 4096), bytes / touched.seconds * 1e-9};
  };
  task.finish = [shape, last](Cell& cell) {
    for (Flag& flag : check_placement(cell.label, *last, shape.pages)) {
      cell.flags.push_back(std::move(flag));
    }
  };
  return task;
}

// A round trip of a number of blocks: all allocated, one byte of each written, all freed.
double malloc_ns(std::size_t size, std::size_t blocks) {
  std::vector<void*> held(blocks);
  const double begun = now_s();
  for (void*& block : held) {
    block = std::malloc(size);
    if (block != nullptr) *static_cast<volatile char*>(block) = 1;
  }
  for (void* block : held) std::free(block);
  return (now_s() - begun) * 1e9 / static_cast<double>(blocks);
}

Task malloc_task(std::size_t size) {
  Task task;
  task.cell = cost_cell(fmt::format("malloc/{}", size),
                        fmt::format("malloc and free of {} bytes", size), "ns");
  const std::size_t blocks = std::max<std::size_t>(16 * mib / size / 4, 16);
  task.measure = [size, blocks] {
    return Measured{malloc_ns(size, std::min<std::size_t>(blocks, 50'000)), 0};
  };
  return task;
}

}  // namespace

ModePart alloc_part(Session& session) {
  ModePart part;
  for (const int node : session.nodes()) {
    for (const PageKind pages : small_and_huge(session)) {
      TouchShape shape{node, pages, session.options.smoke ? 4 * mib : 16 * mib};
      const Bytes free = free_memory(static_cast<NodeId>(node));
      if (free.count > 0 && free.count < 4 * shape.bytes) {
        session.say(fmt::format("node {}: too little free memory to touch more", node));
        continue;
      }
      part.tasks.push_back(touch_task(session, shape));
    }
  }
  for (const std::size_t size : {std::size_t{64}, std::size_t{4096}, std::size_t{65536}, mib}) {
    part.tasks.push_back(malloc_task(size));
  }
  return part;
}

}  // namespace cxltier::bench
