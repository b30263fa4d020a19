# SPDX-License-Identifier: BSD-2-Clause
# Sourced after root_lib.sh by the tests of sampled addresses.

# accessed NAME "ARG..." COMMAND...: runs the program under `grainctl run ARG...`; leaves the files that accesses.py
# reads
accessed()
{
	local name=$1 options=$2 job
	shift 2
	# shellcheck disable=SC2086
	if ! OMP_NUM_THREADS=2 "$GRAINCTL" run $options -- "$@" >"$T/$name.out" 2>"$T/$name.err"; then
		not_ok "$name: runs" "$(tail -3 "$T/$name.err")"
		return 1
	fi
	job=$(sed -n 's/^job \([0-9]*\)$/\1/p' "$T/$name.err" | tail -1)
	"$GRAINCTL" summary "$job" >"$T/$name.text" && "$GRAINCTL" summary "$job" --json >"$T/$name.summary" &&
		"$GRAINCTL" report "$job" --format json -o "$T/$name.grains" &&
		"$GRAINCTL" export "$job" --format log -o "$T/$name.log" &&
		"$GRAINCTL" summary "$T/$name.log" --json >"$T/$name.again"
	is "$name: the exported log says the same of memory" "$(json 'd["numa"]' <"$T/$name.again")" \
		"$(json 'd["numa"]' <"$T/$name.summary")"
}
node_of_cpu() {
	local at
	at=$(echo "/sys/devices/system/cpu/cpu$1"/node[0-9]*)
	[ -e "$at" ] && echo "${at##*/node}" || echo 0
}
# placed HOME CPU...: NODE:NODE of each task of shared_pages
placed()
{
	local home cpu
	home=$(node_of_cpu "$1")
	for cpu in "${@:2}"; do echo "$(node_of_cpu "$cpu"):$home"; done
}
