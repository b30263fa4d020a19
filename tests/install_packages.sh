#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Installs the Debian packages named as arguments that are missing; needs root
# only when one is.
set -eu
missing=()
for p in "$@"; do
	dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing+=("$p")
done
[ ${#missing[@]} -eq 0 ] && exit 0
if [ "$(id -u)" -ne 0 ]; then
	echo "missing packages: ${missing[*]}; run 'sudo make deps' once" >&2
	exit 1
fi
command -v apt-get >/dev/null || {
	echo "missing packages: ${missing[*]}; this script knows apt-get only, install them by hand" >&2
	exit 1
}
echo "installing: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { apt-get -q update && apt-get -q -y --no-install-recommends install "${missing[@]}"; } >"$log" 2>&1; then
	tail -20 "$log" >&2
	echo "could not install: ${missing[*]} (see above)" >&2
	exit 1
fi
