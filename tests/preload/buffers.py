# SPDX-License-Identifier: Apache-2.0
"""Buffers of the sizes that numerical programs use: made, filled, sliced, grown, freed."""
import array
import hashlib
import zlib

digest = hashlib.sha256()
for size in (1000, 300_000, 2_000_000, 40_000_000):
    buffer = bytearray(i % 251 for i in range(1000)) * (size // 1000)
    copies = [bytes(buffer[offset::7]) for offset in range(3)]
    numbers = array.array("d", range(size // 100))
    numbers.extend(numbers)
    digest.update(zlib.compress(bytes(buffer), 1))
    for copy in copies:
        digest.update(copy)
    digest.update(numbers.tobytes())
    buffer.extend(copies[0])
    del copies
    digest.update(buffer[-1000:])
print(digest.hexdigest())
