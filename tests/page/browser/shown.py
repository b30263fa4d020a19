# SPDX-License-Identifier: BSD-2-Clause
"""Reading numbers back from how the page writes them."""
import re

UNITS = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9, "cyc": 1, "kcyc": 1e3, "Mcyc": 1e6, "Gcyc": 1e9}


def count_of(text):
    """ "1,234" """
    return int(re.match(r"[\d,]+", text.strip()).group().replace(",", ""))


def is_absent(text):
    return text.strip() in ("–", "")


def is_time(text, ns):
    """Three significant digits and a unit; absent as a dash."""
    if ns is None:
        return is_absent(text)
    m = re.fullmatch(r"\s*(−?)([\d.]+)\s*(ns|µs|ms|s|[kMG]?cyc)\s*", text)
    if not m:
        return bool(re.fullmatch(r"\s*\d+ h \d+ min\s*", text)) and ns >= 599e9
    shown = float(m.group(2)) * UNITS[m.group(3)] * (-1 if m.group(1) else 1)
    return abs(shown - ns) <= max(0.00501 * abs(ns), 0.501)


SIZES = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}


def is_size(text, size):
    """Three significant digits and a unit."""
    if size is None:
        return is_absent(text)
    m = re.match(r"\s*([\d.]+)\s*([KMGT]?i?B)", text)
    return bool(m) and abs(float(m.group(1)) * SIZES[m.group(2)] - size) <= 0.00501 * size


def is_percent(text, percent):
    """ "34 %", "3.4 %" below 10, "<0.1 %" """
    if percent is None:
        return is_absent(text)
    m = re.match(r"\s*(<?)([\d.]+)\s*%", text)
    if not m:
        return False
    if m.group(1):
        return 0 < percent < float(m.group(2))
    return abs(float(m.group(2)) - percent) <= (0.0501 if percent < 9.95 else 0.501)


def is_ratio(text, value):
    """Three significant digits."""
    if value is None:
        return is_absent(text)
    m = re.match(r"\s*([\d.,]+(e\+\d+)?)", text)
    return bool(m) and abs(float(m.group(1).replace(",", "")) - value) <= 0.00501 * abs(value) + 1e-9


def is_count(text, value):
    return is_absent(text) if value is None else not is_absent(text) and count_of(text) == value
