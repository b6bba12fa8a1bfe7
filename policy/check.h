// SPDX-License-Identifier: Apache-2.0
//
// Assertions, in three levels.
//
//   CXLTIER_CHECK        always       a broken contract whose continuation would do harm
//   CXLTIER_CHECK_DEBUG  dev, tsan    cheap, on paths that run often
//   CXLTIER_CHECK_SLOW   asan, fuzz   whole-structure checks: is_valid() of a map
//
// What a failure does is decided by the program that links us (check_failed): tests and the CLI die
// with the text; in a preloaded process the controller stops for good and the program runs on.
#pragma once

namespace cxltier {

// Never returns.  `text` is a string literal "file:line: condition".
[[noreturn]] void check_failed(const char* text) noexcept;

}  // namespace cxltier

#define CXLTIER_STRINGIFY_(x) #x
#define CXLTIER_STRINGIFY(x) CXLTIER_STRINGIFY_(x)
#define CXLTIER_CHECK(condition) \
  ((condition)                   \
       ? static_cast<void>(0)    \
       : ::cxltier::check_failed(__FILE__ ":" CXLTIER_STRINGIFY(__LINE__) ": " #condition))

#if CXLTIER_CHECK_LEVEL >= 1
#define CXLTIER_CHECK_DEBUG(condition) CXLTIER_CHECK(condition)
#else
#define CXLTIER_CHECK_DEBUG(condition) static_cast<void>(0)
#endif

#if CXLTIER_CHECK_LEVEL >= 2
#define CXLTIER_CHECK_SLOW(condition) CXLTIER_CHECK(condition)
#else
#define CXLTIER_CHECK_SLOW(condition) static_cast<void>(0)
#endif
