// SPDX-License-Identifier: Apache-2.0
//
// What comes out: the checks, report.json, the table and the sentences.
#pragma once

#include <string>
#include <vector>

#include "bench/redis_demo/options.h"
#include "bench/redis_demo/row_result.h"
#include "bench/redis_demo/session.h"

namespace cxltier::demo {

// One thing that must hold.
struct Check {
  std::string name;
  double value = 0;
  double bound = 0;
  bool ok = false;
  std::string text;  // the figures in words
};

// The checks that these rows allow: without the row cxltier only the digests are compared.
std::vector<Check> run_checks(const std::vector<RowResult>& rows, std::uint64_t budget_bytes);

std::string table_text(const std::vector<RowResult>& rows);
// One sentence about what was gained, and two about what the figures are worth.
std::string closing_text(const std::vector<RowResult>& rows);
std::string report_json(const Session& session, const Options& options,
                        const std::vector<Check>& checks);

}  // namespace cxltier::demo
