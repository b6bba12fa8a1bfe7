// SPDX-License-Identifier: Apache-2.0
//
// One self-contained page: no network, no other file, readable in light, dark and on a phone.
#pragma once

#include <span>
#include <string>

#include "bench/tier/result/document.h"

namespace cxltier::bench {

// `references` are drawn beside, dashed; of each only latencies, bandwidths, and curves of the
// mixes R, 2:1 and 1:1, without random load.
[[nodiscard]] std::string html_of(const Document& document, std::span<const Document> references);

}  // namespace cxltier::bench
