// SPDX-License-Identifier: Apache-2.0
//
// The page with its data put in: page.html holds everything but the figures.
#include "bench/tier/result/html.h"

#include <algorithm>
#include <string_view>

namespace cxltier::bench {

std::string_view page_html() noexcept;  // made from page.html when this is built

namespace {

// Inside a script element "</" would end it, and "<!--" would open a comment.
std::string script_safe(const std::string& json) {
  std::string safe;
  safe.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

Document drawn_part(Document reference) {
  std::erase_if(reference.cells, [](const Cell& cell) {
    const bool wanted = cell.mix == "R" || cell.mix == "2:1" || cell.mix == "1:1";
    return cell.mode == "curve" && (!wanted || cell.id.find("-random") != std::string::npos);
  });
  return reference;
}

void replace(std::string& text, std::string_view mark, const std::string& with) {
  const std::size_t at = text.find(mark);
  if (at != std::string::npos) text.replace(at, mark.size(), with);
}

}  // namespace

std::string html_of(const Document& document, std::span<const Document> references) {
  std::string list = "[";
  for (const Document& reference : references) {
    if (list.size() > 1) list += ',';
    list += json_of(drawn_part(reference));
  }
  list += ']';
  std::string page(page_html());
  replace(page, "@RESULT@", script_safe(json_of(document)));
  replace(page, "@REFERENCES@", script_safe(list));
  return page;
}

}  // namespace cxltier::bench
