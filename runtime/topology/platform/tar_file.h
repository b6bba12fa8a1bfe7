// SPDX-License-Identifier: Apache-2.0
//
// A StoredTree as an uncompressed tar archive, and back.
//
// Written: POSIX ustar with GNU's records for long names, one folder above all.  Read: ustar, GNU
// and pax archives; what stands above "sys/", "proc/" and the texts beside them is left out, so an
// archive made by hand
// (`tar cf x.tar sys proc`) reads as well.  Source: POSIX.1-2017, pax; tar(5).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "runtime/topology/platform/stored_tree.h"

namespace cxltier {

[[nodiscard]] std::string write_tar(const StoredTree& tree, const std::string& folder);

// Nothing if the bytes are no tar archive or end within an entry.  Entries that would leave the
// archive's folder are left out.
[[nodiscard]] std::optional<StoredTree> read_tar(std::string_view bytes);

[[nodiscard]] bool is_tar(std::string_view bytes);

}  // namespace cxltier
