// SPDX-License-Identifier: Apache-2.0
//
// A library under the name of the preload library that does nothing.
extern "C" int cxltier_fake_preload_is_loaded;
int cxltier_fake_preload_is_loaded = 1;
