// SPDX-License-Identifier: Apache-2.0
//
// Edits LD_PRELOAD where it lies: children get the environment that they find.
#include "runtime/preload/children.h"

#include <string.h>
#include <unistd.h>

#include <array>

#include "runtime/settings/fixed_text.h"

namespace cxltier {
namespace {

constexpr const char* own_name = "libcxltier-preload.so";
constexpr const char* separators = ": ";

// The value of NAME=value, or null.
char* value_in(char** environment, const char* name) noexcept {
  const std::size_t length = strlen(name);
  for (char** at = environment; at != nullptr && *at != nullptr; ++at) {
    if (strncmp(*at, name, length) == 0 && (*at)[length] == '=') return *at + length + 1;
  }
  return nullptr;
}

bool ends_with_own_name(const char* word, std::size_t length) noexcept {
  const std::size_t own_length = strlen(own_name);
  return length >= own_length && memcmp(word + length - own_length, own_name, own_length) == 0;
}

}  // namespace

void remove_own_library(char* list) noexcept {
  char* out = list;
  const char* in = list;
  while (*in != '\0') {
    const std::size_t gap = strspn(in, separators);
    const std::size_t length = strcspn(in + gap, separators);
    const std::size_t skipped = out == list ? gap : 0;  // no separator before the first word
    if (length > 0 && !ends_with_own_name(in + gap, length)) {
      memmove(out, in + skipped, gap - skipped + length);
      out += gap - skipped + length;
    }
    in += gap + length;
  }
  *out = '\0';
}

void apply_children_choice(char** environment, LogLevel log) noexcept {
  const char* const choice = value_in(environment, "CXLTIER_CHILDREN");
  if (choice == nullptr || *choice == '\0' || strcmp(choice, "inherit") == 0) return;
  if (strcmp(choice, "drop") == 0) {
    if (char* const list = value_in(environment, "LD_PRELOAD"); list != nullptr) {
      remove_own_library(list);
    }
    return;
  }
  if (log == LogLevel::off) return;
  std::array<char, 300> line{};
  FixedText text(line);
  text << "cxltier: CXLTIER_CHILDREN=";
  text.append_foreign(choice) << ": unknown choice '";
  text.append_foreign(choice) << "'; known: inherit, drop; using inherit\n";
  [[maybe_unused]] const ssize_t written =
      write(STDERR_FILENO, text.view().data(), text.view().size());
}

}  // namespace cxltier
