# SPDX-License-Identifier: BSD-2-Clause
"""The host of a virtual machine takes unused memory back and gives it slowly:
that is no property of the program that is measured."""
import mmap
import time


def touch(size):
    """Makes the machine have so much memory at hand; returns the seconds that it took."""
    start = time.monotonic()
    with mmap.mmap(-1, size) as memory:
        if hasattr(memory, "madvise"):
            memory.madvise(mmap.MADV_HUGEPAGE)
        for at in range(0, size, 4096):
            memory[at] = 1
    return time.monotonic() - start
