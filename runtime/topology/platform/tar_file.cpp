// SPDX-License-Identifier: Apache-2.0
//
// Headers of 512 bytes; numbers are octal texts.
#include "runtime/topology/platform/tar_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/topology/platform/files.h"

namespace cxltier {
namespace {

constexpr std::size_t record = 512;
constexpr std::size_t name_length = 100;
constexpr std::size_t size_at = 124;
constexpr std::size_t checksum_at = 148;
constexpr std::size_t type_at = 156;
constexpr std::size_t link_at = 157;
constexpr std::size_t magic_at = 257;
constexpr std::size_t prefix_at = 345;
constexpr std::size_t prefix_length = 155;

void put(std::string& header, std::size_t at, std::string_view text) {
  std::copy(text.begin(), text.end(), header.begin() + static_cast<std::ptrdiff_t>(at));
}

unsigned checksum_of(std::string_view header) {
  unsigned sum = 0;
  for (std::size_t i = 0; i < record; ++i) {
    const bool is_own = i >= checksum_at && i < checksum_at + 8;
    sum += is_own ? ' ' : static_cast<unsigned char>(header[i]);
  }
  return sum;
}

class TarWriter {
 public:
  void add(const std::string& name, char type, const std::string& link, std::string_view bytes) {
    if (name.size() >= name_length) add_long('L', name);
    if (link.size() >= name_length) add_long('K', link);
    add_record(name, type, link, bytes);
  }
  std::string finish() { return std::move(out_) + std::string(2 * record, '\0'); }

 private:
  void add_long(char type, const std::string& text) {
    add_record("././@LongLink", type, "", text + '\0');
  }
  void add_record(const std::string& name, char type, const std::string& link,
                  std::string_view bytes) {
    std::string header(record, '\0');
    put(header, 0, std::string_view(name).substr(0, name_length - 1));
    put(header, 100, type == '5' ? "0000755" : "0000644");
    put(header, 108, "0000000");
    put(header, 116, "0000000");
    put(header, size_at, fmt::format("{:011o}", bytes.size()));
    put(header, 136, "00000000000");
    header[type_at] = type;
    put(header, link_at, std::string_view(link).substr(0, name_length - 1));
    put(header, magic_at, std::string_view("ustar\00000", 8));
    put(header, checksum_at, fmt::format("{:06o}", checksum_of(header)) + '\0' + ' ');
    out_ += header;
    out_ += bytes;
    out_.resize((out_.size() + record - 1) / record * record, '\0');
  }

  std::string out_;
};

std::string field(std::string_view header, std::size_t at, std::size_t length) {
  const std::string_view bytes = header.substr(at, length);
  return std::string(bytes.substr(0, bytes.find('\0')));
}

std::optional<std::size_t> octal(std::string_view text) {
  std::size_t value = 0;
  bool any = false;
  for (const char c : text) {
    if (c == ' ' && !any) continue;
    if (c < '0' || c > '7') break;
    if (value >> 60 != 0) return std::nullopt;
    value = value * 8 + static_cast<std::size_t>(c - '0');
    any = true;
  }
  return any ? std::optional(value) : std::nullopt;
}

// "27 path=some/name\n30 linkpath=..."
std::string pax_value(std::string_view records, std::string_view key) {
  for (const std::string_view line : lines_of(records)) {
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) continue;
    const std::string_view pair = line.substr(space + 1);
    if (pair.starts_with(key) && pair.size() > key.size() && pair[key.size()] == '=') {
      return std::string(pair.substr(key.size() + 1));
    }
  }
  return {};
}

constexpr std::string_view tops[] = {"sys", "proc", "boot", "etc", "run", "var", "usr", "lib"};

// The name below the archive's folder; empty for one that would leave it.
std::string inner_name(std::string_view name) {
  std::string inner;
  bool is_inside = false;
  std::string last;
  for (const std::string_view part : words_of(name, "/")) {
    if (part == "..") return {};
    if (part == ".") continue;
    is_inside = is_inside || std::find(std::begin(tops), std::end(tops), part) != std::end(tops);
    if (is_inside) inner += (inner.empty() ? "" : "/") + std::string(part);
    last = part;
  }
  const bool is_text = last.ends_with(".txt") || last.ends_with(".json");
  return is_inside ? inner : is_text ? last : std::string();
}

class TarReader {
 public:
  explicit TarReader(std::string_view bytes) : rest_(bytes) {}

  std::optional<StoredTree> read() {
    while (rest_.size() >= record && rest_[0] != '\0') {
      if (!take_entry()) return std::nullopt;
    }
    return std::move(tree_);
  }

 private:
  bool take_entry() {
    const std::string_view header = rest_.substr(0, record);
    const std::optional<std::size_t> size = octal(header.substr(size_at, 12));
    const std::optional<std::size_t> sum = octal(header.substr(checksum_at, 8));
    if (!size || !sum || *sum != checksum_of(header) || *size > rest_.size() - record) return false;
    const std::size_t padded = (*size + record - 1) / record * record;
    if (padded > rest_.size() - record) return false;
    const std::string_view bytes = rest_.substr(record, *size);
    store(header, bytes);
    rest_.remove_prefix(record + padded);
    return true;
  }
  void store(std::string_view header, std::string_view bytes);

  std::string_view rest_;
  StoredTree tree_;
  std::string long_name_;
  std::string long_link_;
};

void TarReader::store(std::string_view header, std::string_view bytes) {
  const char type = header[type_at];
  const std::string_view text = bytes.substr(0, bytes.find('\0'));
  if (type == 'L') {
    long_name_ = text;
    return;
  }
  if (type == 'K') {
    long_link_ = text;
    return;
  }
  if (type == 'x') {
    long_name_ = pax_value(bytes, "path");
    long_link_ = pax_value(bytes, "linkpath");
    return;
  }
  std::string name = field(header, 0, name_length);
  const std::string prefix = header.substr(magic_at, 6) == std::string_view("ustar\0", 6)
                                 ? field(header, prefix_at, prefix_length)
                                 : "";
  if (!prefix.empty()) name = prefix + "/" + name;
  if (!long_name_.empty()) name = long_name_;
  const std::string link = long_link_.empty() ? field(header, link_at, name_length) : long_link_;
  long_name_.clear();
  long_link_.clear();
  const std::string inner = inner_name(name);
  if (inner.empty()) return;
  if (type == '0' || type == '\0') tree_.files[inner] = bytes;
  if (type == '2') tree_.links[inner] = link;
  if (type == '5') tree_.folders.insert(inner);
}

}  // namespace

std::string write_tar(const StoredTree& tree, const std::string& folder) {
  TarWriter writer;
  for (const std::string& name : tree.folders) {
    if (tree.files.contains(name) || tree.links.contains(name) || name.empty()) continue;
    writer.add(folder + "/" + name + "/", '5', "", "");
  }
  for (const auto& [name, bytes] : tree.files) writer.add(folder + "/" + name, '0', "", bytes);
  for (const auto& [name, target] : tree.links) writer.add(folder + "/" + name, '2', target, "");
  return writer.finish();
}

std::optional<StoredTree> read_tar(std::string_view bytes) {
  if (!is_tar(bytes)) return std::nullopt;
  return TarReader(bytes).read();
}

bool is_tar(std::string_view bytes) {
  return bytes.size() >= record && bytes.substr(magic_at, 5) == "ustar";
}

}  // namespace cxltier
