#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Fetches the newest kernel of a series from the machine's own apt sources into
# BUILD_DIRECTORY/vm, once, and prints its path. Debian's cloud kernels have NVMe
# and ext4 built in: they boot without an initial RAM disk and without modules.
# usage: tests/vm/kernel.sh BUILD_DIRECTORY SERIES ARCHITECTURE
set -eu
B=${1:?usage: tests/vm/kernel.sh BUILD_DIRECTORY SERIES ARCHITECTURE} series=$2 architecture=$3
HERE=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$B/vm"
kernel=$(cd "$B/vm" && pwd)/vmlinuz-$series-$architecture
if ! [ -e "$kernel" ]; then
	work=$(mktemp -d "$B/vm/.kernel.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	package="^linux-image-${series//./\\.}\.[0-9].*-cloud-$architecture\$"
	if ! "$HERE/../foreign_tree.sh" --only "$architecture" "$work/tree" "$package"; then
		echo "no package $package can be had from this machine's apt sources" >&2
		exit 1
	fi
	mv "$work"/tree/boot/vmlinuz-* "$kernel"
fi
echo "$kernel"
