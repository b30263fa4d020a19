#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A graind that only pretends: grainctl's requests meet well-formed, odd and
hostile answers without any privilege.

usage: fake_graind.py SOCKET LOG MODE [TRACE]

Every request is one line in LOG: METHOD PATH BODY. Modes: good, refuse (no
runtime), forbid (not your process), garbage, huge, wrong-types, escapes,
forget (the job vanishes), fail (the job fails), running (it has not ended). chunks: as good, in chunks, after an
answer that only announces one. What no HTTP server sends: cut (the answer ends early), cut-chunks, other-chunks,
two-lengths, long-head, not-http, nothing.
"""
import json
import os
import socketserver
import sys
from http.server import BaseHTTPRequestHandler

SOCKET, LOG, MODE = sys.argv[1:4]
TRACE = sys.argv[4] if len(sys.argv) > 4 else None


def job(state):
    out = {
        "job": 7, "state": state, "error": "", "pid": 4711, "uid": 1000, "user": "ann", "exe": "/opt/fib",
        "cmd": "./fib 38 12 with a rather long list of arguments that no line of a terminal can hold",
        "runtime": "libgomp", "method": "uprobe_multi", "threads": 8, "start_ns": 10**9, "end_ns": 8 * 10**9,
        "grains": 12345, "events": 54321, "events_per_s": 7760.0, "lost": 0, "overhead_percent": 2.41,
        "ns_per_event": 900.0, "problems": ["parallel_benefit", "load_balance"], "reason": "exit",
    }
    if MODE == "escapes":
        out.update(cmd="\x1b]0;owned\x07\x1b[2J\nsecond line \u009b31m\u202e", user="a\tb", error="\x1b[31mred")
    if MODE == "wrong-types":
        out.update(pid="x", threads=-5, grains=1e300, problems={"a": 1}, cmd=[1], start_ns=-1, overhead_percent="y")
    if MODE == "fail":
        out.update(state="failed", error="the disk is full")
    return out


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def address_string(self):
        return "unix"

    def log_message(self, *_):
        pass

    def answer(self, status, body):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        if status == 200 and self.broken(data):
            return
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def raw(self, text):
        self.wfile.write(text)
        self.close_connection = True

    def broken(self, data):
        """Whether the mode is one of those that write bytes as they are; they are written then."""
        head = b"HTTP/1.1 200 OK\r\n"
        chunked = head + b"Transfer-Encoding: chunked\r\n\r\n"
        half = b"%x;name=value\r\n%s\r\n" % (len(data) // 2, data[:len(data) // 2])
        rest = b"%X\r\n%s\r\n" % (len(data) - len(data) // 2, data[len(data) // 2:])
        answers = {
            "chunks": b"HTTP/1.1 102 Processing\r\nX: y\r\n\r\n" + chunked + half + rest + b"0\r\nTrailer: x\r\n\r\n",
            "cut": head + b"Content-Length: %d\r\n\r\n" % (len(data) + 1) + data,
            "cut-chunks": chunked + half + rest,
            "other-chunks": chunked + b"-1\r\n" + data,
            "two-lengths": head + b"Content-Length: 5\r\nContent-Length: %d\r\n\r\n" % len(data) + data,
            "long-head": head + b"X: y\r\n" * 2000 + b"\r\n" + data,
            "not-http": b"220 mail.example.org ESMTP\r\n",
            "nothing": b"",
        }
        if MODE not in answers:
            return False
        try:
            self.raw(answers[MODE])
        except OSError:
            pass
        return True

    def huge(self):
        self.send_response(200)
        self.end_headers()
        try:
            for _ in range(200):
                self.wfile.write(b'{"jobs":[' + b" " * (1 << 20))
        except OSError:
            pass
        self.close_connection = True

    def handle_any(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length).decode()
        with open(LOG, "a") as log:
            log.write(f"{self.command} {self.path} {body}".strip() + "\n")
        if MODE == "garbage":
            return self.answer(200, b"\xff\xfe{]not json")
        if MODE == "huge":
            return self.huge()
        if self.command == "POST" and self.path == "/v1/jobs":
            if MODE == "refuse":
                return self.answer(422, {"error": "no OpenMP runtime is in it; link it with -fopenmp"})
            if MODE == "forbid":
                return self.answer(403, {"error": "process 4711 belongs to someone else; ask its owner"})
            return self.answer(201, job("running"))
        if self.path == "/v1/status":
            return self.answer(200,
                               {"version": "9.9.9", "pid": 1, "uid": 0, "jobs_running": 1, "method": "uprobe_multi"})
        if self.path.startswith("/v1/jobs?") or self.path == "/v1/jobs":
            return self.answer(200, {"jobs": [job("running"), 5, {"job": "x"}]})
        if self.path == "/v1/jobs/7/trace" and TRACE:
            with open(TRACE, "rb") as trace:
                return self.answer(200, trace.read())
        if self.path == "/v1/jobs/7" and self.command == "GET" and MODE != "forget":
            return self.answer(200, job("running" if MODE == "running" else "finished"))
        if self.path == "/v1/jobs/7/detach":
            return self.answer(200, job("finished"))
        if self.path == "/v1/jobs/7" and self.command == "DELETE":
            self.send_response(204)
            self.end_headers()
            return None
        return self.answer(404, {"error": "there is no such job"})

    do_GET = do_POST = do_DELETE = handle_any


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


if os.path.exists(SOCKET):
    os.unlink(SOCKET)
Server(SOCKET, Handler).serve_forever()
