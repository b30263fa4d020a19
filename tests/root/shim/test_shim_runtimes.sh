#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# run --fast with several runtimes in a process. Each call reaches the runtime that it would have reached without
# libgrainshim, and events in each of them are recorded.
# usage: tests/root/shim/test_shim_runtimes.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
P=$B/tests/root/programs
libgomp=$(ldconfig -p | awk '$1 == "libgomp.so.1" { print $NF; exit }')
cd "$T" || exit 1
# As in Python wheels: a copy under another name, which only the library that needs it can see.
mkdir private
cp "$P/runtimes" "$P/team_gomp.so" "$P/team_omp.so" .
cp "$(realpath "$libgomp")" private/libgomp-hash
cp team_gomp.so private/team.so
# The new name has the same length in both files: in the copy, and in the library that asks for it.
sed -i 's/libgomp\.so\.1\x00/libgomp-hash\x00/g' private/libgomp-hash private/team.so
# shellcheck disable=SC2016
patchelf --set-rpath '$ORIGIN' private/team.so
is "the copy has another name" "$(objdump -p private/libgomp-hash private/team.so | grep -c 'libgomp\.so')" 0
for plugin in ./team_gomp.so private/team.so ./team_omp.so; do cp $plugin "${plugin%.so}_again.so"; done

# both FIRST SECOND...: runs without graind, and recorded
both()
{
	local name=$1 out
	shift
	out=$(LD_PRELOAD=$B/libgrainshim.so timeout 120 ./runtimes "$@")
	is "$name: right without graind" "$(json '[d["correct"], d["wrong"]]' <<<"$out")" "[True, 0]"
	timeout 120 "$GRAINCTL" run --fast -- ./runtimes "$@" >out 2>err
	is "$name: right under --fast" "$? $(json '[d["correct"], d["wrong"]]' <out)" "0 [True, 0]"
	job=$(sed -n 's/^job \([0-9]*\)$/\1/p' err | tail -n 1)
	"$GRAINCTL" summary "$job" --json >summary
	# On a busy machine the kernel's rings may lose scheduling events: there are thousands of switches a second.
	is "$name: every task" \
		"$(json '[d["grains"]["tasks"], d["grains"]["incomplete"],
			d["events"]["lost"] - d["events"]["losses"].get("ring-full", 0)]' <summary)" \
		"[$(($(json 'd["tasks"]' <out) + 41 * $# * ${TEAM_EARLY:-0})), 0, 0]"
}

start_graind || exit 1
is "the programs are right by themselves" \
	"$(./runtimes ./team_gomp.so private/team.so ./team_omp.so | json 'd["correct"]')" True
both "two libgomp" ./team_gomp.so private/team.so
is "both from inside" "$(json 'd["source"]' <summary)" shim
both "two libgomp, the private one first" private/team.so ./team_gomp.so
both "libgomp, libomp" ./team_gomp.so ./team_omp.so
both "libomp, libgomp" ./team_omp.so ./team_gomp.so
both "two libgomp and libomp" ./team_gomp.so private/team.so ./team_omp.so
# Each is loaded 41 times.
export TEAM_EARLY=7
both "regions while libraries are loaded" ./team_gomp.so private/team.so ./team_omp.so
unset TEAM_EARLY
# One runtime that all objects see, and one that they do not.
LD_PRELOAD="$B/libgrainshim.so $libgomp" ./runtimes private/team.so >out
is "what is in sight of all is taken first, as without it" "$(json 'd["correct"]' <out)" \
	"$(LD_PRELOAD=$libgomp ./runtimes private/team.so | json 'd["correct"]')"
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
