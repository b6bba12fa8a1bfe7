// SPDX-License-Identifier: Apache-2.0
//
// Which load generators this processor can run.
#include "bench/tier/kernel/load_kernel.h"

#include <algorithm>
#include <vector>

namespace cxltier::bench {
namespace {

std::vector<LoadKernel> detect() {
  std::vector<LoadKernel> kernels;
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f")) kernels.push_back(load_kernel_avx512);
  if (__builtin_cpu_supports("avx2")) kernels.push_back(load_kernel_avx2);
  kernels.push_back(load_kernel_sse2);
#elif defined(__aarch64__)
  kernels.push_back(load_kernel_neon);
#endif
  kernels.push_back(load_kernel_scalar);
  return kernels;
}

}  // namespace

std::span<const LoadKernel> runnable_kernels() noexcept {
  static const std::vector<LoadKernel> kernels = detect();
  return kernels;
}

const LoadKernel* find_kernel(std::string_view name) noexcept {
  const std::span<const LoadKernel> kernels = runnable_kernels();
  const auto found = std::find_if(kernels.begin(), kernels.end(),
                                  [&](const LoadKernel& kernel) { return kernel.name == name; });
  return found == kernels.end() ? nullptr : &*found;
}

std::string kernel_names() {
  std::string names;
  for (const LoadKernel& kernel : runnable_kernels()) {
    if (!names.empty()) names += ", ";
    names += kernel.name;
  }
  return names;
}

std::uint64_t groups_in(const Mix& mix, std::uint64_t buffer_bytes) noexcept {
  return buffer_bytes / (line_bytes * mix.lines());
}

}  // namespace cxltier::bench
