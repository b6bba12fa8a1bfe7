# SPDX-License-Identifier: Apache-2.0
#
# Work for the interpreter's allocator: many small objects, some large strings, three threads.
import json
import threading

numbers = {str(i): list(range(i % 50)) for i in range(20000)}
threads = [threading.Thread(target=json.dumps, args=(numbers,)) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(json.dumps(numbers)), hash(tuple(sorted(map(len, numbers.values())))))
