// SPDX-License-Identifier: Apache-2.0
//
// Kernel constants that a distribution's headers may lack, from include/uapi/linux of Linux 6.12.
#pragma once

namespace cxltier::uapi {

// mempolicy.h
inline constexpr int mpol_default = 0;
inline constexpr int mpol_preferred = 1;
inline constexpr int mpol_local = 4;
inline constexpr int mpol_preferred_many = 5;  // Linux 5.15
inline constexpr unsigned mpol_f_addr = 1u << 1;
inline constexpr int mpol_mf_move = 1 << 1;
inline constexpr int mpol_f_static_nodes = 1 << 15;
inline constexpr int mpol_mode_flags = 0xe000;  // MPOL_F_STATIC_NODES and its like

// asm-generic/mman-common.h
inline constexpr int madv_cold = 20;  // Linux 5.4

// close_range.h
inline constexpr unsigned close_range_unshare = 1u << 1;  // Linux 5.9

}  // namespace cxltier::uapi
