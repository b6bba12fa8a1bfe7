// SPDX-License-Identifier: Apache-2.0
//
// Looks an address up in /proc/self/maps, by the file name of libc or the loader.
#include "runtime/preload/caller.h"

#include <cstdint>
#include <string_view>

#include "runtime/os/line_reader.h"
#include "runtime/os/process_text_linux.h"
#include "runtime/sensor/maps_text.h"

namespace cxltier {

bool is_system_code(const void* address) noexcept {
  ProcessTextLinux maps;
  if (!maps.open("/proc/self/maps").ok()) return true;
  LineReader lines(maps);
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  while (const std::optional<std::string_view> line = lines.next()) {
    const std::optional<VmaLine> vma = parse_vma_line(*line);
    if (!vma || !vma->range.contains(at)) continue;
    return line->find("/libc.so") != std::string_view::npos ||
           line->find("/libc-2") != std::string_view::npos ||
           line->find("/ld-linux") != std::string_view::npos ||
           line->find("/ld-2") != std::string_view::npos;
  }
  return true;
}

}  // namespace cxltier
