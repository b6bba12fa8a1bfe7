// SPDX-License-Identifier: Apache-2.0
//
// Texts come from untrusted files: control characters never reach a terminal, markup never XML.
#include "runtime/doctor/report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/topology/platform/printable.h"

namespace cxltier {
namespace {

using Json = nlohmann::ordered_json;

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::string place_of(const Evidence& evidence) {
  const bool is_path = evidence.file.find(' ') == std::string::npos;
  return (is_path ? "/" : "") + printable(evidence.file);
}

void append_check(const Finished& finished, Detail detail, std::string& out) {
  const Diagnosis& diagnosis = finished.diagnosis;
  const bool is_problem = diagnosis.state >= CheckState::warn;
  if (!is_problem && detail == Detail::problems && diagnosis.state == CheckState::skipped) return;
  const std::string reason =
      finished.check->reason == 0 ? "" : fmt::format(" [reason {}]", finished.check->reason);
  out += fmt::format("{:<8}{}: {}{}\n", name_of(diagnosis.state), finished.check->title,
                     printable(diagnosis.summary), is_problem ? reason : "");
  if (!is_problem && detail == Detail::problems) return;
  for (const Evidence& evidence : diagnosis.evidence) {
    out += fmt::format("          {} = {}\n", place_of(evidence), printable(evidence.value));
  }
  if (!diagnosis.reference.empty()) {
    out += fmt::format("          see {}\n", printable(diagnosis.reference));
  }
  for (const std::string& fix : diagnosis.fixes) {
    out += fmt::format("     fix: {}\n", printable(fix));
  }
}

Json check_json(const Finished& finished) {
  const Diagnosis& diagnosis = finished.diagnosis;
  Json evidence = Json::array();
  for (const Evidence& seen : diagnosis.evidence) {
    evidence.push_back({{"file", seen.file}, {"value", seen.value}});
  }
  return {{"id", finished.check->id},
          {"reason", finished.check->reason == 0 ? Json(nullptr) : Json(finished.check->reason)},
          {"stage", name_of(finished.check->stage)},
          {"title", finished.check->title},
          {"state", name_of(diagnosis.state)},
          {"summary", diagnosis.summary},
          {"evidence", evidence},
          {"fixes", diagnosis.fixes},
          {"reference", diagnosis.reference.empty() ? Json(nullptr) : Json(diagnosis.reference)}};
}

std::string junit_case(const Finished& finished) {
  const Diagnosis& diagnosis = finished.diagnosis;
  std::string details = diagnosis.summary;
  for (const Evidence& seen : diagnosis.evidence) details += "; " + seen.file + " = " + seen.value;
  for (const std::string& fix : diagnosis.fixes) details += "; fix: " + fix;
  std::string body;
  if (diagnosis.state == CheckState::fail) {
    body = fmt::format("<failure message=\"{}\">{}</failure>", escaped(diagnosis.summary),
                       escaped(details));
  } else if (diagnosis.state == CheckState::skipped) {
    body = fmt::format("<skipped message=\"{}\"/>", escaped(diagnosis.summary));
  } else {
    body = fmt::format("<system-out>{}</system-out>", escaped(details));
  }
  return fmt::format("  <testcase classname=\"cxltier.doctor.{}\" name=\"{}\">{}</testcase>\n",
                     name_of(finished.check->stage), finished.check->id, body);
}

}  // namespace

std::string text_of(const DoctorReport& report, Detail detail) {
  std::string out;
  for (const Finished& finished : report.checks) append_check(finished, detail, out);
  if (!report.closed.empty()) {
    out += fmt::format("needs root: {} files could not be read:\n", report.closed.size());
    for (const std::string& file : report.closed)
      out += fmt::format("          /{}\n", printable(file));
  }
  out += fmt::format("{} ok, {} warnings, {} failures, {} skipped\n", report.count(CheckState::ok),
                     report.count(CheckState::warn), report.count(CheckState::fail),
                     report.count(CheckState::skipped));
  return out;
}

std::string json_of(const DoctorReport& report) {
  Json checks = Json::array();
  for (const Finished& finished : report.checks) checks.push_back(check_json(finished));
  const Json json = {{"version", 1},
                     {"state", report.is_blind ? "blind" : name_of(report.worst())},
                     {"counts",
                      {{"ok", report.count(CheckState::ok)},
                       {"warn", report.count(CheckState::warn)},
                       {"fail", report.count(CheckState::fail)},
                       {"skipped", report.count(CheckState::skipped)}}},
                     {"checks", checks},
                     {"needs_root", report.closed}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string junit_of(const DoctorReport& report) {
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  out += fmt::format(
      "<testsuite name=\"cxltier doctor\" tests=\"{}\" failures=\"{}\" errors=\"0\" "
      "skipped=\"{}\">\n",
      report.checks.size(), report.count(CheckState::fail), report.count(CheckState::skipped));
  for (const Finished& finished : report.checks) out += junit_case(finished);
  return out + "</testsuite>\n";
}

}  // namespace cxltier
