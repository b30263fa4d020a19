#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A server that is not quite Prometheus. The first part of a path says in which way.

usage: odd_prometheus.py PORT
"""
import http.server
import json
import sys

LABELS = {"instance": "\x1b]0;owned\x07\u202e\u009b31m", "job": "graind", "user": "a\nb",
          "command": "\x1b[2J" + "x" * 5000, "exported_job": "9" * 400, "problem": "%s%n" * 50, "version": "\t"}


def hostile(query):
    items = [{"metric": LABELS, "value": [0, value]} for value in ("1e308", "-Inf", "NaN", "", "1x")]
    items += [{"metric": dict(LABELS, instance="b"), "value": [0, "1e300"]}, {"metric": [], "value": [0, "1"]}, 5, None,
              {"metric": {"instance": 7}, "value": "1"}, {"value": []}]
    return {"status": "success", "data": {"resultType": "vector", "result": items}}


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def answer(self, status, body, headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body if isinstance(body, bytes) else json.dumps(body).encode())

    def do_GET(self):
        mode = self.path.split("/")[1]
        if mode == "endless":
            self.answer(200, b"[")
            try:
                while True:
                    self.wfile.write(b" " * (1 << 20))
            except OSError:
                return
        answers = {
            "text": (200, b"<html>\xff hello"),
            "other": (200, {"status": "ok", "jobs": []}),
            "matrix": (200, {"status": "success", "data": {"resultType": "matrix", "result": []}}),
            "missing": (404, b"not here"),
            "error": (422, {"status": "error", "errorType": "execution",
                            "error": "query processing would load too many samples"}),
            "denied": (401, b""),
            "empty": (200, {"status": "success", "data": {"resultType": "vector", "result": []}}),
            "hostile": (200, hostile(self.path)),
        }
        if mode == "redirect":
            return self.answer(302, b"", [("Location", "http://127.0.0.1:1/")])
        return self.answer(*answers[mode])


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
