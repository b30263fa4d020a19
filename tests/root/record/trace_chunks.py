# SPDX-License-Identifier: BSD-2-Clause
"""trace_chunks.py TRACE: the number of events in a trace file that the kernel's side wrote
(analysis/trace/trace_format.h)."""
import ctypes
import struct
import sys

zstd = ctypes.CDLL("libzstd.so.1")
zstd.ZSTD_decompress.restype = ctypes.c_size_t
EVENTS = 2

with open(sys.argv[1], "rb") as trace:
    data = trace.read()
at = struct.unpack_from("<I", data, 12)[0]
count = 0
while at + 32 <= len(data):
    _, kind, codec, raw, stored = struct.unpack_from("<IHHII", data, at)
    payload = data[at + 32 : at + 32 + stored]
    at += 32 + stored
    if kind != EVENTS:
        continue
    if codec == 1:
        events = ctypes.create_string_buffer(raw)
        zstd.ZSTD_decompress(events, ctypes.c_size_t(raw), payload, ctypes.c_size_t(len(payload)))
        payload = events.raw
    count += struct.unpack_from("<I", payload)[0]
print(count)
