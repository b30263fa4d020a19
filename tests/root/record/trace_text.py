# SPDX-License-Identifier: BSD-2-Clause
"""trace_text.py TRACE: the text lines of a trace file (analysis/trace/trace_format.h)."""
import ctypes
import struct
import sys

zstd = ctypes.CDLL("libzstd.so.1")
zstd.ZSTD_decompress.restype = ctypes.c_size_t

with open(sys.argv[1], "rb") as trace:
    data = trace.read()
at = struct.unpack_from("<I", data, 12)[0]
while at + 32 <= len(data):
    _, kind, codec, raw, stored = struct.unpack_from("<IHHII", data, at)
    payload = data[at + 32 : at + 32 + stored]
    at += 32 + stored
    if kind != 1:
        continue
    if codec == 1:
        text = ctypes.create_string_buffer(raw)
        size = zstd.ZSTD_decompress(text, ctypes.c_size_t(raw), payload, ctypes.c_size_t(len(payload)))
        payload = text.raw[:size]
    sys.stdout.write(payload.decode())
