// SPDX-License-Identifier: Apache-2.0
//
// Paths and texts on the stack.  A seam is not trusted with lengths: what it claims to have written
// beyond the buffer is ignored.
#include "runtime/topology/tree_text.h"

#include <algorithm>

namespace cxltier {

Path& Path::text(std::string_view part) noexcept {
  if (part.size() > length_max_ - length_) {
    length_ = length_max_ = 0;
    text_[0] = '\0';
    return *this;
  }
  std::copy(part.begin(), part.end(), text_.begin() + length_);
  length_ += part.size();
  text_[length_] = '\0';
  return *this;
}

Path& Path::number(std::uint64_t value) noexcept {
  std::array<char, 20> digits{};
  std::size_t first = digits.size();
  do {
    digits[--first] = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value != 0);
  return text({digits.data() + first, digits.size() - first});
}

int TreeText::read(const Path& path) noexcept { return take(tree_.read(path.c_str(), text_)); }

int TreeText::read_link(const Path& path) noexcept {
  return take(tree_.read_link(path.c_str(), text_));
}

int TreeText::take(const Result<std::size_t>& length) noexcept {
  length_ = std::min(length.value_or(0), text_.size());
  return length.error();
}

}  // namespace cxltier
