// SPDX-License-Identifier: Apache-2.0
//
// A program without a loader.
int main() { return 5; }
