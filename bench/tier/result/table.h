// SPDX-License-Identifier: Apache-2.0
//
// The text form of a document: what it is, matrices, rows, and everything that is doubtful.
#pragma once

#include <string>

#include "bench/tier/result/document.h"

namespace cxltier::bench {

[[nodiscard]] std::string table_of(const Document& document);

}  // namespace cxltier::bench
