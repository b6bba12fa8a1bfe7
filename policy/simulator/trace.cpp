// SPDX-License-Identifier: Apache-2.0
//
// Writing, reading and replaying heat traces.
#include "policy/simulator/trace.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <utility>

#include "policy/simulator/arithmetic.h"
#include "policy/simulator/popularity.h"

namespace cxltier::simulator {
namespace {

constexpr std::string_view magic = "cxltier-trace";

// Words of a line, one after another.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}

  std::string_view next() {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
    const std::size_t end = std::min(rest_.find(' '), rest_.size());
    const std::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return word;
  }
  std::optional<std::uint64_t> number() { return number_of(next()); }
  [[nodiscard]] bool at_end() {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
    return rest_.empty();
  }
  [[nodiscard]] std::string_view rest() const { return rest_; }

  static std::optional<std::uint64_t> number_of(std::string_view word) {
    std::uint64_t value = 0;
    const char* const end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data(), end, value);
    if (word.empty() || error != std::errc{} || stop != end || value > 1ull << 52) {
      return std::nullopt;
    }
    return value;
  }

 private:
  std::string_view rest_;
};

// Takes a trace line by line; each step returns what is wrong, or nothing.
class Reader {
 public:
  std::string take(std::string_view line) {
    Words words(line);
    const std::string_view key = words.next();
    if (!has_magic_) return start(key, words);
    if (is_ended_) return "something follows 'end'";
    if (key == "frame") return frame(words);
    if (key == "end") return end(words);
    return trace_.frames.empty() ? head(key, words) : body(key, words);
  }

  [[nodiscard]] bool is_complete() const { return is_ended_; }
  HeatTrace trace() { return std::move(trace_); }

 private:
  std::string start(std::string_view key, Words& words) {
    if (key != magic) return "not a trace: it does not begin with 'cxltier-trace'";
    if (words.number() != trace_version) return "of a version that this program does not know";
    has_magic_ = true;
    return {};
  }

  std::string head(std::string_view key, Words& words) {
    if (key == "program") {
      std::string_view name = words.rest();
      while (!name.empty() && name.front() == ' ') name.remove_prefix(1);
      trace_.program = name;
      std::ranges::replace_if(
          trace_.program, [](char c) { return c < ' ' || c > '~'; }, '?');
      return {};
    }
    if (key != "page_size" && key != "tiers" && key != "stall_permille" &&
        key != "bandwidth_mbps") {
      return {};
    }
    const std::optional<std::uint64_t> value = words.number();
    if (!value) return "no number";
    if (key == "page_size") {
      trace_.page_size = *value;
      return *value < 1024 || *value > 1u << 30 ? "no size of a page" : std::string();
    }
    if (key == "tiers") {
      trace_.tier_count = *value;
      return *value < 1 || *value > tiers_max ? "tiers must be 1 to 8" : std::string();
    }
    if (key == "bandwidth_mbps") {
      trace_.bandwidth_gbps = static_cast<double>(*value) / 1000;
      return {};
    }
    trace_.stall_share = static_cast<double>(*value) / 1000;
    trace_.stall_uncertainty = static_cast<double>(words.number().value_or(0)) / 1000;
    return *value > 1000 ? "more than all of the time" : std::string();
  }

  std::string frame(Words& words) {
    const std::optional<std::uint64_t> time = words.number();
    if (!time) return "no time";
    if (!trace_.frames.empty() && *time <= trace_.frames.back().time_ms) return "time goes back";
    if (trace_.frames.size() == trace_frames_max) return "too many frames";
    trace_.frames.push_back({.time_ms = *time});
    return {};
  }

  std::string body(std::string_view key, Words& words) {
    TraceFrame& now = trace_.frames.back();
    if (key == "pages") {
      for (std::size_t t = 0; t < trace_.tier_count; ++t) {
        const std::optional<std::uint64_t> pages = words.number();
        if (!pages) return "a count of pages is missing";
        now.pages[t] = *pages;
      }
      return {};
    }
    if (key == "moved") {
      const std::optional<std::uint64_t> moved = words.number();
      now.moved_pages = moved.value_or(0);
      return moved ? std::string() : "no number";
    }
    if (key == "window") {
      const std::optional<std::uint64_t> window = words.number();
      now.window_us = window.value_or(0);
      return window ? std::string() : "no number";
    }
    if (key != "heat") return "unknown word '" + std::string(key.substr(0, 32)) + "'";
    while (!words.at_end()) {
      const std::string_view pair = words.next();
      const std::size_t colon = pair.find(':');
      if (colon == std::string_view::npos) return "heat is BIN:PAGES";
      const auto bin = Words::number_of(pair.substr(0, colon));
      const auto pages = Words::number_of(pair.substr(colon + 1));
      if (!bin || !pages || *bin >= heat_bins) return "heat is BIN:PAGES, BIN below 128";
      now.heat[*bin] = *pages;
    }
    return {};
  }

  std::string end(Words& words) {
    if (words.number() != trace_.frames.size()) return "frames are missing";
    is_ended_ = true;
    return {};
  }

  HeatTrace trace_;
  bool has_magic_ = false;
  bool is_ended_ = false;
};

void add_pair(std::string& text, std::string_view key, std::uint64_t value) {
  text += key;
  text += ' ';
  text += std::to_string(value);
  text += '\n';
}

std::uint64_t permille(double share) { return static_cast<std::uint64_t>(share * 1000 + 0.5); }

}  // namespace

std::string write_trace(const HeatTrace& trace) {
  std::string text;
  add_pair(text, magic, trace_version);
  text += "program " + trace.program + "\n";
  add_pair(text, "page_size", trace.page_size);
  if (trace.stall_share) {
    text += "stall_permille " + std::to_string(permille(*trace.stall_share)) + ' ' +
            std::to_string(permille(trace.stall_uncertainty)) + '\n';
  }
  if (trace.bandwidth_gbps) add_pair(text, "bandwidth_mbps", permille(*trace.bandwidth_gbps));
  add_pair(text, "tiers", trace.tier_count);
  for (const TraceFrame& frame : trace.frames) {
    add_pair(text, "frame", frame.time_ms);
    text += "pages";
    for (std::size_t t = 0; t < trace.tier_count; ++t) text += ' ' + std::to_string(frame.pages[t]);
    text += '\n';
    add_pair(text, "moved", frame.moved_pages);
    if (frame.window_us > 0) add_pair(text, "window", frame.window_us);
    text += "heat";
    for (std::size_t bin = 0; bin < heat_bins; ++bin) {
      if (frame.heat[bin] == 0) continue;
      text += ' ' + std::to_string(bin) + ':' + std::to_string(frame.heat[bin]);
    }
    text += '\n';
  }
  add_pair(text, "end", trace.frames.size());
  return text;
}

TraceReading read_trace(std::string_view text) {
  Reader reader;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::string fault = reader.take(line);
    if (!fault.empty()) return {std::nullopt, "line " + std::to_string(number) + ": " + fault};
  }
  if (!reader.is_complete()) return {std::nullopt, "cut short: there is no 'end'"};
  return {reader.trace(), {}};
}

BinRate rate_of_bin(std::size_t bin) {
  const auto rate = [](std::size_t code) {
    const Rate capped{static_cast<std::uint16_t>(std::min<std::size_t>(code, 0xffff))};
    return static_cast<double>(linear_of(capped)) / (1u << rate_fraction_bits);
  };
  // Bin 0 holds what was not touched, and what was touched next to never.
  const double low = bin == 0 ? 0 : rate(bin << heat_bin_bits);
  const double high = rate((bin + 1) << heat_bin_bits);
  return {bin == 0 ? 0 : (low + high) / 2, low, high};
}

std::optional<Workload> workload_of_trace(const HeatTrace& trace, const MachineModel& machine,
                                          double ratio) {
  constexpr std::size_t leaves = 1024;
  constexpr std::size_t phases_max = 200;
  const std::size_t step = trace.frames.size() / phases_max + 1;
  std::uint64_t pages_max = 0;
  Workload workload;
  for (std::size_t i = 0; i < trace.frames.size(); i += step) {
    const TraceFrame& frame = trace.frames[i];
    const std::uint64_t pages =
        std::accumulate(frame.heat.begin(), frame.heat.end(), std::uint64_t{0});
    if (pages == 0) continue;
    pages_max = std::max(pages_max, pages);
    // Leaf after leaf from the hottest bin down.
    Popularity popularity(leaves);
    const double leaf_pages = static_cast<double>(pages) / leaves;
    double position = 0;
    double all = 0;
    for (std::size_t bin = heat_bins; bin-- > 0;) {
      double left = static_cast<double>(frame.heat[bin]);
      const double rate = rate_of_bin(bin).middle;
      while (left > 0) {
        const auto leaf = std::min<std::size_t>(static_cast<std::size_t>(position), leaves - 1);
        const double room = (static_cast<double>(leaf) + 1 - position) * leaf_pages;
        const double part = leaf + 1 == leaves ? left : std::min(left, std::max(room, 1e-9));
        popularity[leaf] += part * rate;
        all += part * rate;
        position += part / leaf_pages;
        left -= part;
      }
    }
    if (all <= 0) continue;
    for (double& share : popularity) share /= all;
    const Nanoseconds start = milliseconds(frame.time_ms - trace.frames.front().time_ms);
    const bool is_first = workload.phases.empty();
    workload.phases.push_back({.start = is_first ? Nanoseconds{} : start, .renewed = {}});
    workload.phases.back().popularity[0] = workload.popularity.size();
    workload.popularity.push_back(std::move(popularity));
  }
  if (workload.phases.empty()) return std::nullopt;
  const std::uint64_t bytes = pages_max * trace.page_size;
  workload.name = "trace";
  workload.leaf_count = leaves;
  workload.leaf_units =
      static_cast<std::uint32_t>(std::max<std::uint64_t>(1, bytes / leaves / unit_bytes));
  workload.class_count = 1;
  workload.classes[0].name = trace.program;
  workload.classes[0].lines = machine.cores * machine.lines_per_core;
  const double stall = std::clamp(trace.stall_share.value_or(1), 0.001, 1.0);
  workload.classes[0].think_ns = machine.tiers[0].idle_ns * (1 - stall) / stall;
  const Nanoseconds last = workload.phases.back().start;
  workload.duration = std::max(seconds(60), last + seconds(10));
  workload.steady_from = {workload.duration.count / 2};
  const auto units = static_cast<double>(footprint_units(workload));
  for (std::size_t t = 0; t + 1 < machine.tier_count; ++t) {
    workload.capacity_units[t] = static_cast<std::uint64_t>(units / (1 + ratio));
  }
  workload.capacity_units[machine.tier_count - 1] = footprint_units(workload);
  return workload;
}

}  // namespace cxltier::simulator
