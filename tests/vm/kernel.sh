#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Fetches the newest kernel of a series from the machine's own apt sources into
# BUILD_DIRECTORY/vm, once, and prints its path. Debian's cloud kernels have NVMe
# and ext4 built in: they boot without an initial RAM disk and without modules.
# usage: tests/vm/kernel.sh BUILD_DIRECTORY SERIES ARCHITECTURE
set -eu
B=${1:?usage: tests/vm/kernel.sh BUILD_DIRECTORY SERIES ARCHITECTURE} series=$2 architecture=$3
mkdir -p "$B/vm"
kernel=$(cd "$B/vm" && pwd)/vmlinuz-$series-$architecture
if ! [ -e "$kernel" ]; then
	work=$(mktemp -d "$B/vm/.kernel.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	newest() { apt-cache search --names-only "^linux-image-${series//./\\.}\.[0-9].*-cloud-$architecture\$" | awk '{ print $1 }' | sort -V | tail -1; }
	download() { name=$(newest) && [ "$name" ] && (cd "$work" && apt-get -q download "$name:$architecture") >"$work/log" 2>&1; }
	# The package lists may be absent, or older than the archive.
	if ! download; then
		apt-get -q update >"$work/update" 2>&1 || true
		if ! download; then
			echo "no package linux-image-$series.*-cloud-$architecture can be had from this machine's apt sources: $(tail -1 "$work/log" 2>/dev/null || tail -1 "$work/update")" >&2
			exit 1
		fi
	fi
	dpkg-deb --fsys-tarfile "$work"/*.deb | tar -x -C "$work" --wildcards './boot/vmlinuz-*'
	mv "$work"/boot/vmlinuz-* "$kernel"
fi
echo "$kernel"
