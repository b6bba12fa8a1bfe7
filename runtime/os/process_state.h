// SPDX-License-Identifier: Apache-2.0
//
// What the controller must know of the process that it runs in.  Contract of
// process_state_linux.cpp and of the tests' fake.
#pragma once

namespace cxltier {

class ProcessState {
 public:
  // Another process may map our private pages: a child lives, or the parent that forked us.
  virtual bool shares_pages() noexcept = 0;
  // The process forked at least once: every VMA makes its next fork slower.
  virtual bool forks() noexcept = 0;
  // The kernel backs anonymous memory with huge pages without being asked.
  virtual bool huge_pages_by_default() noexcept = 0;

 protected:
  ~ProcessState() = default;
};

}  // namespace cxltier
