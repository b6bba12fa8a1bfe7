// SPDX-License-Identifier: Apache-2.0
//
// A value or the errno of the system call that failed.
//
// Partial success is a value, never an error: "moved 500 of 512, 12 refused" is a value.
#pragma once

#include <optional>
#include <utility>

namespace cxltier {

// A positive errno.
struct Error {
  int number = 0;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  constexpr Result(T value) noexcept : value_(std::move(value)) {}  // NOLINT: reads as a return
  constexpr Result(Error error) noexcept : error_(error.number) {}  // NOLINT: reads as a return
  [[nodiscard]] constexpr bool ok() const noexcept { return value_.has_value(); }
  // pre: ok()
  [[nodiscard]] constexpr const T& value() const noexcept { return *value_; }
  [[nodiscard]] constexpr T value_or(T other) const noexcept { return ok() ? *value_ : other; }
  // 0 when ok().
  [[nodiscard]] constexpr int error() const noexcept { return error_; }

 private:
  std::optional<T> value_;
  int error_ = 0;
};

// What a call without a value returns.
struct Done {};

}  // namespace cxltier
