// SPDX-License-Identifier: Apache-2.0
//
// Walks sys/bus/dax/devices and reads origins off the paths of the device tree.
#include "runtime/topology/platform/dax_list.h"

namespace cxltier {
namespace {

bool has_number(std::string_view name, std::string_view prefix) {
  return name.starts_with(prefix) && name.size() > prefix.size() &&
         name.find_first_not_of("0123456789", prefix.size()) == std::string_view::npos;
}

}  // namespace

void place_dax(const std::string& path, DaxInstance& dax) {
  dax.path = path;
  std::string_view above;
  for (const std::string_view part : words_of(path, "/")) {
    if (has_number(part, "ndbus")) {
      dax.origin = DaxOrigin::persistent;
      return;
    }
    if (has_number(part, "hmem.")) dax.origin = DaxOrigin::hmem;
    if (has_number(part, "dax_region") && has_number(above, "region")) {
      dax.origin = DaxOrigin::cxl;
      dax.region = above;
    }
    above = part;
  }
}

std::vector<DaxInstance> read_dax_list(Files& files) {
  std::vector<DaxInstance> list;
  for (const std::string& name : files.names("sys/bus/dax/devices")) {
    const std::string folder = "sys/bus/dax/devices/" + name;
    DaxInstance dax;
    dax.name = name;
    place_dax(files.link(folder), dax);
    dax.size = files.number(folder + "/size").value_or(0);
    dax.start = files.number(folder + "/mapping0/start");
    if (!dax.start) dax.start = files.number(folder + "/resource");
    dax.target_node = files.signed_number(folder + "/target_node");
    dax.numa_node = files.signed_number(folder + "/numa_node");
    dax.driver = last_name(files.link(folder + "/driver"));
    list.push_back(std::move(dax));
  }
  return list;
}

}  // namespace cxltier
