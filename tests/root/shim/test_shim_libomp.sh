#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# libgrainshim and libomp. A million small tasks are recorded without a loss. If libomp cannot be recorded from
# inside, probes record it from the first event on, and the job says so. Constructs: test_shim_matrix_libomp.sh.
# usage: tests/root/shim/test_shim_libomp.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
export OMP_NUM_THREADS=2
fib="$B/tests/omp/fib.clang"
shim="$B/libgrainshim.so"
libomp=$(ldconfig -p | awk '$1 == "libomp.so.5" { print $NF; exit }')
summary() { "$GRAINCTL" summary "$1" --json; }

is "without graind the program is as ever" "$(LD_PRELOAD=$shim "$fib" 20 10 | json 'd["correct"]')" True
is "with a socket where nobody listens, too" \
	"$(LD_PRELOAD=$shim GRAIND_SHIM_SOCKET=$T/nobody "$fib" 20 10 | json 'd["correct"]')" True
start_graind || exit 1
is "a graind that has no job for it sends it away" \
	"$(LD_PRELOAD=$shim GRAIND_SHIM_SOCKET=$GRAIND_SOCKET.shim "$fib" 20 10 | json 'd["correct"]')" True

# recorded NAME SOURCE PROGRAM...: checks that this producer records each task correctly and nothing is missing
recorded()
{
	local name=$1 source=$2
	shift 2
	timeout 600 "$GRAINCTL" run --fast --lossless -- "$@" >"$T/out" 2>"$T/err"
	is "$name: result" "$? $(json 'd["correct"]' <"$T/out")" "0 True"
	job=$(sed -n 's/^job \([0-9]*\)$/\1/p' "$T/err" | tail -n 1)
	summary "$job" >"$T/summary"
	is "$name: by whom, and each task" \
		"$(json '[d["source"], d["grains"]["total"], d["events"]["lost"], d["grains"]["incomplete"],
			d["incomplete_regions"], d["events"]["losses"]]' <"$T/summary")" \
		"['$source', $(json 'd["tasks"]' <"$T/out"), 0, 0, 0, {}]"
}
says_why()
{
	is "$1: the job says so" "$("$GRAINCTL" jobs --all --json |
		json "[n[:42] for j in d['jobs'] if j['job'] == $job for n in j['notes'] if 'by probes' in n]")" \
		"['recorded by probes, as without --fast: its']"
}

recorded "a million tasks" shim "$fib" 28 28
tasks=$(json 'd["tasks"]' <"$T/out")
bytes=$(stat -c %s "$GRAIND_STATE_DIR/jobs/$job/trace.grt")
check "at most 32 bytes a task on disk ($((bytes / tasks)))" test $((bytes / tasks)) -le 32
"$GRAINCTL" delete "$job" >/dev/null

# When libomp reports that a region is over, the data that it keeps of the region for the library is gone.
timeout 600 "$GRAINCTL" run --fast --lossless -- "$B/tests/root/programs/nested_many.clang" 3000 >"$T/out" 2>"$T/err"
job=$(sed -n 's/^job \([0-9]*\)$/\1/p' "$T/err" | tail -n 1)
summary "$job" >"$T/summary"
is "12001 regions, most of them nested: result" "$(json 'd["correct"]' <"$T/out")" True
is "12001 regions: each of them whole" \
	"$(json '(len(d["regions"]), {r["threads"] for r in d["regions"] if r["id"] != "0.p0"}, d["incomplete_regions"],
		d["events"]["unclosed_waits"], d["events"]["lost"], d["conservation"]["violations"])' <"$T/summary")" \
	"(12001, {2}, 0, 0, 0, 0)"
"$GRAINCTL" delete "$job" >/dev/null

# GCC's code on libomp.
mkdir "$T/gnu"
ln -s "$libomp" "$T/gnu/libgomp.so.1"
recorded "GCC's code on libomp" uprobes env "LD_LIBRARY_PATH=$T/gnu" "$B/tests/omp/fib" 20 8
is "it was libomp" "$(json 'd["runtime"]' <"$T/summary")" libomp
says_why "GCC's code on libomp"
# libomp under the name that Intel's compilers use.
mkdir "$T/intel"
cp "$libomp" "$T/intel/libiomp5.so"
ln -s libiomp5.so "$T/intel/libomp.so.5"
recorded "libiomp5.so" shim env "LD_LIBRARY_PATH=$T/intel" "$fib" 20 8
is "it was libomp" "$(json 'd["runtime"]' <"$T/summary")" libomp
job=$(LD_LIBRARY_PATH=$T/intel "$GRAINCTL" run -- "$fib" 20 8 2>&1 >/dev/null | sed -n 's/^job //p' | tail -n 1)
is "libiomp5.so, by probes" \
	"$(summary "$job" | json 'd["source"], d["runtime"], d["grains"]["total"], d["events"]["lost"]')" \
	"('uprobes', 'libomp', $(json 'd["grains"]["total"]' <"$T/summary"), 0)"
LD_LIBRARY_PATH=$T/intel start_program "$fib" 34 10 1000000
running=$P
job=$(attach_fast --lossless "$running")
check "libiomp5.so, attached from inside: its file" grep -q "$T/intel/libiomp5.so" "/proc/$running/maps"
becomes "$job" 'j["grains"] > 1000' >/dev/null
"$GRAINCTL" detach "$job" >/dev/null
is "libiomp5.so, attached from inside: $(tail -n 1 "$T/err")" \
	"$(summary "$job" |
		json '(d["source"], d["runtime"], d["grains"]["total"] > 1000, d["events"]["lost"],
			d["conservation"]["violations"])')" \
	"('shim', 'libomp', True, 0, 0)"
kill "$running"

# Other libraries that want to be libomp's tool get to be it.
recorded "another tool" uprobes env "OMP_TOOL_LIBRARIES=$B/tests/tools/libompt_truth.so" \
	"GRAIN_OMPT_TRUTH=$T/truth" "$fib" 20 8
check "another tool: it is told everything, too" \
	test "$(grep -c ' create ' "$T/truth")" -ge "$(json 'd["tasks"]' <"$T/out")"
says_why "another tool"
recorded "tools are forbidden" uprobes env OMP_TOOL=disabled "$fib" 20 8
# The program is run directly: constructors of its libraries run before there is a job.
OMP_TOOL=disabled recorded "tools are forbidden, by whoever runs it" uprobes "$fib" 20 8
LD_LIBRARY_PATH=$T/gnu recorded "GCC's code on libomp, run by itself" uprobes "$B/tests/omp/fib" 20 8
OMP_TOOL_LIBRARIES=$B/tests/tools/libompt_truth.so GRAIN_OMPT_TRUTH=$T/truth \
	recorded "another tool, by whoever runs it" uprobes "$fib" 20 8
says_why "tools are forbidden"
# The library is lost on the way to the program.
"$GRAINCTL" run --fast -- env -u LD_PRELOAD "$fib" 24 16 >"$T/out" 2>"$T/err"
job=$(sed -n 's/^job \([0-9]*\)$/\1/p' "$T/err" | tail -n 1)
summary "$job" >"$T/summary"
is "without the library: by probes" "$(json 'd["source"]' <"$T/summary")" uprobes
says_why "without the library"

stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
