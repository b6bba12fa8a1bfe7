// SPDX-License-Identifier: Apache-2.0
//
// Runs `cxltier stat` and reads its JSON.
#include "bench/redis_demo/runtime_figures.h"

#include <nlohmann/json.hpp>

#include "bench/redis_demo/clock.h"
#include "bench/redis_demo/failure.h"

namespace cxltier::demo {

Capture ask_figures(const std::string& cxltier, int pid, const std::string& home) {
  ChildPlan plan;
  plan.words = {cxltier, "stat", std::to_string(pid), "--json"};
  plan.home = home;
  return spawn_captured(plan);
}

RuntimeFigures read_figures(const Capture& capture) {
  RuntimeFigures figures = parse_figures(read_output(capture, "cxltier stat"));
  figures.read_at_s = now_s();
  return figures;
}

RuntimeFigures parse_figures(const std::string& text) {
  RuntimeFigures figures;
  figures.stat = text;
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    json.at("ticks").get_to(figures.ticks);
    json.at("pages_promoted").get_to(figures.pages_promoted);
    json.at("pages_demoted").get_to(figures.pages_demoted);
    json.at("cpu_s").get_to(figures.cpu_s);
    json.at("refusals").get_to(figures.refusals);
    json.at("over_limit_bytes_max").get_to(figures.over_limit_bytes_max);
  } catch (const nlohmann::json::exception& error) {
    fail(std::string("cxltier stat --json: ") + error.what() + "; it printed: " + text);
  }
  return figures;
}

}  // namespace cxltier::demo
