// SPDX-License-Identifier: Apache-2.0
//
// What only jemalloc's heap profiling imports, so that the library needs neither libm nor libgcc_s.
//
// Profiling stays off (jemalloc_start.cpp forces it), so these are never called; the answers are
// the ones with which it would take no sample.
#pragma GCC visibility push(hidden)
extern "C" {

double cxltier_je_exp(double x) noexcept;
double cxltier_je_log(double x) noexcept;
double cxltier_je_round(double x) noexcept;
int cxltier_je__Unwind_Backtrace(void* step, void* argument) noexcept;
unsigned long cxltier_je__Unwind_GetIP(void* frame) noexcept;

double cxltier_je_exp(double /*x*/) noexcept { return 1.0; }
double cxltier_je_log(double /*x*/) noexcept { return 0.0; }
double cxltier_je_round(double x) noexcept { return x; }
int cxltier_je__Unwind_Backtrace(void* /*step*/, void* /*argument*/) noexcept { return 0; }
unsigned long cxltier_je__Unwind_GetIP(void* /*frame*/) noexcept { return 0; }

}  // extern "C"
#pragma GCC visibility pop
