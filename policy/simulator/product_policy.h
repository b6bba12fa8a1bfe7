// SPDX-License-Identifier: Apache-2.0
//
// The product's own policy under test: policy/tiering.h exactly as the runtime runs it, behind
// models of the two sensors that an ordinary user has.
//
//   bits   access bits of all pages, cleared by MADV_COLD and read from smaps: 14 + 10 ms of a core
//          per GiB of 4 KiB pages; no order of accesses
//   rwp    userfaultfd read-write protection on 64 pages of each leaf: a fault of 3 us for each
//          page that is touched, and 0.08 us for each that is armed and read back; faults tell the
//          order
//
// Both open a window that is adapted until 5 to 15 % of the pages are touched in it, and pause so
// that sensing costs 3 % of one core, after a credit of 4 s at the start and after rest: the
// budget of the runtime's controller.  Probes cost nothing here (0.07 % of a core).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "policy/presets.h"
#include "policy/simulator/tiering_policy.h"

namespace cxltier::simulator {

enum class SensorModel : std::uint8_t { rwp, bits };

struct ProductOptions {
  Parameters parameters;
  SensorModel sensor = SensorModel::rwp;
};

[[nodiscard]] std::unique_ptr<TieringPolicy> make_product(const ProductOptions& options);

// Names: those of the presets, which sense by rwp; NAME-bits; and balance-no-guard, -no-admission,
// -no-marginal-step, -no-change-detector, -no-stream-test, each with one mechanism switched off.
// Null if the name is not known.
[[nodiscard]] std::unique_ptr<TieringPolicy> make_product(std::string_view name);
[[nodiscard]] std::span<const std::string_view> product_names();
[[nodiscard]] std::span<const std::string_view> ablation_names();

}  // namespace cxltier::simulator
