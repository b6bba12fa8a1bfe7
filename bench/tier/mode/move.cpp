// SPDX-License-Identifier: Apache-2.0
//
// What moving pages costs: move_pages(2) on our own memory, back and forth between two nodes, by
// batch and page size.  Counted are the pages that the kernel says have arrived.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <vector>

#include "bench/tier/mode/mode.h"
#include "runtime/os/page_mover_linux.h"

namespace cxltier::bench {
namespace {

constexpr std::array<std::size_t, 4> batches = {1, 16, 128, PageMover::batch_max};

struct MoveShape {
  int from = 0;
  int to = 0;
  PageKind pages = PageKind::small;
  std::size_t batch = 512;
};

std::size_t unit_bytes(PageKind pages) { return pages == PageKind::small ? 4096 : 2 * mib; }

// Memory that is moved forth and, untimed, back.
class Shuttle {
 public:
  explicit Shuttle(Buffer buffer) : buffer_(std::move(buffer)) {}

  // Microseconds per 4 KiB and GB/s of moving everything, or what 128 calls move; 0 if nothing
  // moved.
  Measured move(const MoveShape& shape) {
    const double begun = now_s();
    const std::size_t units = std::min(units_of(shape.pages), calls_most * shape.batch);
    const std::uint64_t moved = move_units(shape, shape.to, units);
    const double seconds = now_s() - begun;
    MoveShape back = shape;
    back.batch = PageMover::batch_max;
    (void)move_units(back, shape.from, units);
    if (moved == 0) return {};
    const double bytes = static_cast<double>(moved * unit_bytes(shape.pages));
    return {seconds * 1e6 / (bytes / 4096), bytes / seconds * 1e-9};
  }

 private:
  static constexpr std::size_t calls_most = 128;

  [[nodiscard]] std::size_t units_of(PageKind pages) const {
    return buffer_.bytes().size() / unit_bytes(pages);
  }
  std::uint64_t move_units(const MoveShape& shape, int to, std::size_t units) {
    const std::size_t unit = unit_bytes(shape.pages);
    const auto start = reinterpret_cast<std::uintptr_t>(buffer_.bytes().data());
    std::uint64_t arrived = 0;
    for (std::size_t first = 0; first < units; first += shape.batch) {
      const std::size_t count = std::min(shape.batch, units - first);
      for (std::size_t i = 0; i < count; ++i) pages_[i] = start + (first + i) * unit;
      const std::span<int> status(status_.data(), count);
      if (!mover_.move({pages_.data(), count}, static_cast<NodeId>(to), status).ok()) continue;
      arrived += static_cast<std::uint64_t>(std::count(status.begin(), status.end(), to));
    }
    return arrived;
  }

  Buffer buffer_;
  PageMoverLinux mover_;
  std::array<std::uintptr_t, PageMover::batch_max> pages_{};
  std::array<int, PageMover::batch_max> status_{};
};

// The range keeps its binding to `node`: move_pages goes over it, and only new faults obey it.
std::shared_ptr<Shuttle> make_shuttle(Session& session, int node, PageKind pages) {
  int error = 0;
  const std::size_t asked = session.options.buffer_bytes;
  const std::size_t bytes = asked != 0 ? std::max(asked, 4 * mib) : 32 * mib;
  std::optional<Buffer> buffer =
      Buffer::make({bytes, pages, {{static_cast<NodeId>(node), 1}}}, error);
  if (!buffer) {
    session.say(fmt::format("node {}: no room for pages to move", node));
    return nullptr;
  }
  return std::make_shared<Shuttle>(std::move(*buffer));
}

Task move_task(const std::shared_ptr<Shuttle>& shuttle, const MoveShape& shape) {
  Task task;
  Cell& cell = task.cell;
  cell.mode = "move";
  cell.id = fmt::format("move/node{}-node{}/{}/{}", shape.from, shape.to, name_of(shape.pages),
                        shape.batch);
  cell.label = fmt::format("node {} to {}, {} pages, {} per call", shape.from, shape.to,
                           name_of(shape.pages), shape.batch);
  cell.quantity = "time";
  cell.unit = "us/4KiB";
  cell.companion_unit = "GB/s";
  cell.nodes = {shape.from, shape.to};
  cell.pages = name_of(shape.pages);
  cell.extra["batch"] = static_cast<double>(shape.batch);
  task.measure = [shuttle, shape] { return shuttle->move(shape); };
  return task;
}

// What one node can tell: the call itself, asked where pages are.
Task locate_task() {
  Task task;
  task.cell.mode = "move";
  task.cell.id = "move/locate/512";
  task.cell.label = "asking where 512 pages are";
  task.cell.quantity = "time";
  task.cell.unit = "us/4KiB";
  int error = 0;
  std::optional<Buffer> made = Buffer::make({4 * mib, PageKind::small, {}}, error);
  auto buffer = std::make_shared<std::optional<Buffer>>(std::move(made));
  task.measure = [buffer] {
    std::array<std::uintptr_t, PageMover::batch_max> pages{};
    std::array<int, PageMover::batch_max> status{};
    const auto start = reinterpret_cast<std::uintptr_t>((*buffer)->bytes().data());
    for (std::size_t i = 0; i < pages.size(); ++i) pages[i] = start + i * 4096;
    PageMoverLinux mover;
    constexpr int calls = 50;
    const double begun = now_s();
    for (int i = 0; i < calls; ++i) (void)mover.locate(pages, status);
    return Measured{(now_s() - begun) * 1e6 / (calls * static_cast<double>(pages.size())), 0};
  };
  return task;
}

void report_refusals(Session& session) {
  for (Cell& cell : session.document.cells) {
    if (cell.mode != "move" || cell.summary.median > 0) continue;
    session.say(
        fmt::format("{}: the kernel moved nothing (move_pages refused, or no room)", cell.label));
  }
}

}  // namespace

ModePart move_part(Session& session) {
  ModePart part;
  part.tasks.push_back(locate_task());
  const std::vector<int>& nodes = session.nodes();
  if (nodes.size() < 2) {
    session.say("one memory node: pages have nowhere to move, only the call's own cost is shown");
    return part;
  }
  for (const int from : nodes) {
    std::map<PageKind, std::shared_ptr<Shuttle>> shuttles;
    for (const PageKind pages : small_and_huge(session)) {
      shuttles[pages] = make_shuttle(session, from, pages);
    }
    for (const int to : nodes) {
      if (to == from) continue;
      for (const auto& [pages, shuttle] : shuttles) {
        if (!shuttle) continue;
        for (const std::size_t batch : batches) {
          part.tasks.push_back(move_task(shuttle, {from, to, pages, batch}));
        }
      }
    }
  }
  part.conclude = report_refusals;
  return part;
}

}  // namespace cxltier::bench
