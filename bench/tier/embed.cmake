# SPDX-License-Identifier: Apache-2.0
#
# cmake -DIN=FILE -DOUT=FILE.cpp -DNAME=function -P embed.cmake: writes a C++ file in which NAME()
# returns the text of IN.  As bytes, since compilers bound the length of a literal.
file(READ "${IN}" hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
string(REPLACE "0x0a," "0x0a,\n" bytes "${bytes}")
file(WRITE "${OUT}" "// The bytes of a data file, made by embed.cmake.
#include <string_view>
namespace cxltier::bench {
std::string_view ${NAME}() noexcept;
std::string_view ${NAME}() noexcept {
  static constexpr unsigned char text[] = {
${bytes}};
  return {reinterpret_cast<const char*>(text), sizeof text};
}
}  // namespace cxltier::bench
")
