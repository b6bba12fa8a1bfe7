// SPDX-License-Identifier: Apache-2.0
//
// Links are followed by hand, a bounded number of times: an archive may hold circles.
#include "runtime/topology/platform/stored_tree.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "runtime/topology/platform/files.h"

namespace cxltier {
namespace {

constexpr int links_max = 40;  // as the kernel

std::string joined(const std::vector<std::string>& parts) {
  std::string path;
  for (const std::string& part : parts) path += (path.empty() ? "" : "/") + part;
  return path;
}

Result<std::size_t> copied(const std::string& text, std::span<char> out) {
  const std::size_t length = std::min(text.size(), out.size());
  std::memcpy(out.data(), text.data(), length);
  return length;
}

// Appends the components of a path, in reverse, to those still to walk.
void push_reversed(std::string_view path, std::vector<std::string>& rest) {
  std::vector<std::string_view> parts = words_of(path, "/");
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) rest.emplace_back(*part);
}

class NameList final : public EntryVisitor {
 public:
  explicit NameList(EntryVisitor& outer) : outer_(outer) {}
  void visit(std::string_view name) noexcept override {
    names.emplace_back(name);
    outer_.visit(name);
  }
  std::vector<std::string> names;

 private:
  EntryVisitor& outer_;
};

}  // namespace

std::string StoredTree::resolved(const std::string& path, Last last) const {
  std::vector<std::string> rest;
  push_reversed(path, rest);
  std::vector<std::string> done;
  int followed = 0;
  while (!rest.empty()) {
    const std::string part = rest.back();
    rest.pop_back();
    if (part == ".") continue;
    if (part == "..") {
      if (done.empty()) return {};
      done.pop_back();
      continue;
    }
    done.push_back(part);
    if (rest.empty() && last == Last::keep) break;
    const auto link = links.find(joined(done));
    if (link == links.end()) continue;
    if (++followed > links_max) return {};
    done.pop_back();
    if (link->second.starts_with("/")) done.clear();
    push_reversed(link->second, rest);
  }
  return joined(done);
}

Result<std::size_t> StoredTree::read(const char* path, std::span<char> out) noexcept {
  const auto file = files.find(resolved(path, Last::follow));
  if (file == files.end()) return Error{ENOENT};
  return copied(file->second, out);
}

Result<std::size_t> StoredTree::read_link(const char* path, std::span<char> out) noexcept {
  const auto link = links.find(resolved(path, Last::keep));
  if (link == links.end()) return Error{ENOENT};
  if (link->second.size() >= out.size()) return Error{ENAMETOOLONG};
  return copied(link->second, out);
}

Result<std::size_t> StoredTree::list(const char* path, EntryVisitor& visitor) noexcept {
  const std::string folder = resolved(path, Last::follow);
  const std::string head = folder.empty() ? folder : folder + "/";
  std::set<std::string> names;
  const auto take = [&](const std::string& entry) {
    if (!entry.starts_with(head) || entry.size() == head.size()) return;
    names.insert(entry.substr(head.size(), entry.find('/', head.size()) - head.size()));
  };
  // Sorted maps: the entries below a folder stand together.
  for (auto at = files.lower_bound(head); at != files.end() && at->first.starts_with(head); ++at) {
    take(at->first);
  }
  for (auto at = links.lower_bound(head); at != links.end() && at->first.starts_with(head); ++at) {
    take(at->first);
  }
  for (auto at = folders.lower_bound(head); at != folders.end() && at->starts_with(head); ++at) {
    take(*at);
  }
  if (names.empty() && !folders.contains(folder)) return Error{ENOENT};
  for (const std::string& name : names) visitor.visit(name);
  return names.size();
}

void RecordingTree::store_link(const std::string& path) {
  if (no_links_.contains(path) || stored_.links.contains(path)) return;
  std::array<char, 4096> target;
  const Result<std::size_t> got = tree_.read_link(path.c_str(), target);
  if (!got.ok()) {
    no_links_.insert(path);
    return;
  }
  stored_.links[path] = std::string(target.data(), std::min(got.value(), target.size()));
}

void RecordingTree::store_links(const std::string& path) {
  // Each round resolves one link more; a link is stored before the next round follows it.
  for (int round = 0; round < links_max; ++round) {
    const std::string real = stored_.resolved(path, StoredTree::Last::follow);
    const std::size_t before = stored_.links.size();
    for (std::size_t slash = real.find('/'); slash != std::string::npos;
         slash = real.find('/', slash + 1)) {
      store_link(real.substr(0, slash));
    }
    store_link(real);
    if (stored_.links.size() == before) return;
  }
}

Result<std::size_t> RecordingTree::read(const char* path, std::span<char> out) noexcept {
  const Result<std::size_t> got = tree_.read(path, out);
  if (!got.ok()) return got;
  store_links(path);
  const std::string real = stored_.resolved(path, StoredTree::Last::follow);
  std::string& file = stored_.files[real];
  const std::size_t length = std::min(got.value(), out.size());
  if (length >= file.size()) file.assign(out.data(), length);
  return got;
}

Result<std::size_t> RecordingTree::read_link(const char* path, std::span<char> out) noexcept {
  const Result<std::size_t> got = tree_.read_link(path, out);
  if (!got.ok()) return got;
  const std::string whole = path;
  const std::size_t slash = whole.rfind('/');
  if (slash != std::string::npos) store_links(whole.substr(0, slash));
  stored_.links[stored_.resolved(whole, StoredTree::Last::keep)] =
      std::string(out.data(), std::min(got.value(), out.size()));
  return got;
}

Result<std::size_t> RecordingTree::list(const char* path, EntryVisitor& visitor) noexcept {
  NameList names(visitor);
  const Result<std::size_t> got = tree_.list(path, names);
  if (!got.ok()) return got;
  store_links(path);
  const std::string real = stored_.resolved(path, StoredTree::Last::follow);
  stored_.folders.insert(real);
  for (const std::string& name : names.names) stored_.folders.insert(real + "/" + name);
  return got;
}

}  // namespace cxltier
