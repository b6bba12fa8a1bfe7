// SPDX-License-Identifier: Apache-2.0
//
// Containers whose elements live on a tier.
#include <cxltier/allocator.hpp>
#include <cxltier/memory_resource.hpp>

#include <cstdio>
#include <map>
#include <string>
#include <vector>

int main() {
  cxltier::memory_resource cold(CXLTIER_COLD);
  std::pmr::vector<std::pmr::string> archive(&cold);
  for (int i = 0; i < 1000; ++i) archive.emplace_back(std::string(100, 'a'));

  using Pair = std::pair<const int, int>;
  std::map<int, int, std::less<>, cxltier::allocator<Pair>> index{
      cxltier::allocator<Pair>(CXLTIER_HOT)};
  for (int i = 0; i < 1000; ++i) index[i] = i;

  std::vector<int, cxltier::allocator<int>> numbers(cxltier::allocator<int>{CXLTIER_CAPACITY});
  numbers.assign(100000, 7);
  auto moved = std::move(numbers);
  const auto copied = moved;

  const bool right = archive.back().size() == 100 && index.size() == 1000 && copied == moved &&
                     copied.get_allocator() == moved.get_allocator() &&
                     cold == cxltier::memory_resource(CXLTIER_COLD) &&
                     !(cold == cxltier::memory_resource(CXLTIER_HOT));
  std::printf("%s\n", right ? "right" : "wrong");
  return right ? 0 : 1;
}
