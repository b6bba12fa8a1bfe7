// SPDX-License-Identifier: Apache-2.0
//
// The checks by name, one file for each stage; `all_checks` puts them in order.
#pragma once

#include <optional>
#include <string>

#include "runtime/doctor/diagnosis.h"

namespace cxltier {

// checks_firmware.cpp
Diagnosis check_firmware(const Platform& platform);
Diagnosis check_tables(const Platform& platform);
Diagnosis check_soft_reserve(const Platform& platform);
// checks_device.cpp
Diagnosis check_device(const Platform& platform);
Diagnosis check_serials(const Platform& platform);
Diagnosis check_health(const Platform& platform);
// checks_kernel.cpp
Diagnosis check_kernel(const Platform& platform);
Diagnosis check_hypervisor(const Platform& platform);
// checks_region.cpp
Diagnosis check_region(const Platform& platform);
Diagnosis check_assembly(const Platform& platform);
Diagnosis check_interleave(const Platform& platform);
// checks_memory.cpp
Diagnosis check_blocks(const Platform& platform);
Diagnosis check_node(const Platform& platform);
Diagnosis check_distances(const Platform& platform);
Diagnosis check_block_size(const Platform& platform);
// checks_link.cpp
Diagnosis check_link(const Platform& platform);
Diagnosis check_latency(const Platform& platform);
Diagnosis check_errors(const Platform& platform);
// checks_tiering.cpp
Diagnosis check_kernel_tiers(const Platform& platform);
Diagnosis check_demotion(const Platform& platform);
Diagnosis check_balancing(const Platform& platform);
Diagnosis check_weights(const Platform& platform);
Diagnosis check_zone(const Platform& platform);
Diagnosis check_qos(const Platform& platform);
// checks_process.cpp
Diagnosis check_cpuset(const Platform& platform);
Diagnosis check_container(const Platform& platform);
Diagnosis check_huge_pages(const Platform& platform);
Diagnosis check_sensors(const Platform& platform);

// "512 MiB", "128 GiB"
std::string bytes_text(std::uint64_t bytes);
// The CXL nodes of the machine: those that a dax instance of CXL memory bound to kmem made.
std::vector<const Node*> cxl_nodes(const Platform& platform);
// dax instances that hold CXL memory, be it through the CXL driver or through hmem in a window.
std::vector<const DaxInstance*> cxl_dax(const Platform& platform);
// Whether an address lies in a window of CEDT or of a root decoder.
bool is_in_window(const Platform& platform, std::uint64_t address);
// "needs root: ..." if the file exists and may not be read.
std::optional<std::string> needs_root(const Platform& platform, const std::string& file);

}  // namespace cxltier
