#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Runs every test of the tree and ends with "N passed, N failed, N skipped".
# usage: tests/run.sh BUILD_DIRECTORY [PATTERN], such as unit/graph, root/test_shim, sanitized/graind
set -u
B=${1:?usage: tests/run.sh BUILD_DIRECTORY [PATTERN]}
pattern=${2:-}
cd "$(dirname "$0")/.." || exit 1
# Graphviz keeps what it loads. Everything else must be freed.
export LSAN_OPTIONS=suppressions=$PWD/tests/lsan.supp:print_suppressions=0
said=$(mktemp -d "${TMPDIR:-/tmp}/graind-run.XXXXXX")
trap 'rm -rf "$said"' EXIT
passed=0 failed=0 skipped=0 failures=()
# The most seconds for one test, in case it hangs.
export LIMIT=600
[ "${FULL:-}" ] && LIMIT=3600
# execute NAME COMMAND ARG...: leaves the command's output, status and seconds
execute()
{
	local to=$said/${1//\//_} start=$SECONDS
	shift
	timeout -k 10 "$LIMIT" "$@" >"$to.out" 2>&1 </dev/null
	echo "$? $((SECONDS - start))" >"$to.part"
	mv "$to.part" "$to.status"
}
show()
{
	local name=$1 to=$said/${1//\//_} status seconds broken p f s
	read -r status seconds <"$to.status"
	p=$(grep -c '^ok - ' "$to.out")
	f=$(grep -c '^not ok - ' "$to.out")
	s=$(grep -c '^skip - ' "$to.out")
	if [ "$status" -ne 0 ] && [ "$f" -eq 0 ]; then
		[ "$status" -eq 124 ] && status="$status: it took more than $LIMIT s"
		printf '\nnot ok - %s ended with status %s\n' "$name" "$status" >>"$to.out"
		f=1
	fi
	# If a script breaks off, nobody misses the checks after that. So this counts as a failure.
	broken=$(grep -A 1 '^Traceback' "$to.out" | grep -oE -m 1 '[^/"]*\.py", line [0-9]+|<stdin>", line [0-9]+')
	if [ "$broken" ] && [ "$f" -eq 0 ]; then
		printf '\nnot ok - %s: a script of it broke off ("%s)\n' "$name" "$broken" >>"$to.out"
		f=1
	fi
	if [ $((p + f + s)) -eq 0 ]; then
		printf '\nnot ok - %s checked nothing\n' "$name" >>"$to.out"
		f=1
	fi
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	printf '%-50s %4d passed %3d failed %3d skipped  %3d s\n' "$name" "$p" "$f" "$s" "$seconds"
	sed -n 's/^= /    /p' "$to.out"
	sed -n 's/^skip - /    &/p' "$to.out"
	if [ "$f" -gt 0 ]; then
		failures+=("$name")
		grep -v -e '^ok - ' -e '^skip - ' -e '^= ' "$to.out" | head -60 | sed 's/^/    /'
	fi
}
# The pattern unit/graph also stands for unit/analysis/graph.
wanted() { [[ -z $pattern || $1 == *${pattern//\//\/*}* ]]; }
run()
{
	wanted "$1" || return
	execute "$@"
	show "$1"
}
command_of()
{
	case $1 in
	lint) command=(tests/lint.sh "$B") ;;
	unit/*) command=("$B/tests/$1") ;;
	sanitized/*) command=(bash tests/sanitized.sh "$B" "${1#*/}") ;;
	page/*) command=(env PYTHONPATH=tests/page/browser /usr/bin/python3 -B "tests/$1" "$B") ;;
	*) command=(bash "tests/$1" "$B") ;;
	esac
}
execute_one() { command_of "$1"; execute "$1" "${command[@]}"; }
export -f execute execute_one command_of
export B said

# Tests that measure no time run on all CPUs and are shown in order. Some tests run recorded programs, but judge
# neither time nor CPU use nor anything of the whole machine. Two of them run at a time, the longest first, because
# each of them is idle half of the time. All other tests, and new ones, run alone.
paired=(hostile_finders guest shim_attach matrix shim_rough_attached matrix_attached matrix_versions ompt
	shim_matrix_attached shim_matrix_libomp policy attach live metrics shim_races shim_rough real_programs
	shim_cycles static_loops retention fleet report_directory ompt_versions exact dashboards ranks_nodes
	optout exact_private shim_runtimes accesses compare run_attach counters shim_libomp shim_hostile
	hostile_state hostile_clients hostile_doors hostile_memory hostile_looks shadow_stack producers
	find_worker daemon_api discovery process_tree numa_pages outside_suite ranks one_store log)
# These mostly wait: for the kernel, for a system, or for slow operations. They run one after another, beside the
# others.
slow=(attach_perf ceiling_perf render_worker hostile_user service shim_refusals)
together=() waiting=() pairs=() alone=()
shopt -s globstar nullglob
# paths NAME...: the paths of those tests of root/ that are wanted
paths()
{
	local name path
	for name; do
		for path in tests/root/*/"test_$name.sh"; do
			wanted "${path#tests/}" && echo "${path#tests/}"
		done
	done
}
mapfile -t pairs < <(paths "${paired[@]}")
mapfile -t waiting < <(paths "${slow[@]}")
wanted lint && together+=(lint)
for t in tests/unit/**/test_*.c tests/cli/**/test_*.sh tests/root/*/test_*.sh tests/page/*/test_*.py; do
	t=${t#tests/} t=${t%.c}
	wanted "$t" || continue
	case " ${pairs[*]} ${waiting[*]} " in *" $t "*) continue ;; esac
	case $t in
	root/* | page/*/test_speed.py | unit/*/test_groups_scale) alone+=("$t") ;;
	*) together+=("$t") ;;
	esac
done
# The unit tests once more with ASan and UBSan, the longest first. They run by themselves, or with all other tests.
sanitized=()
if [[ -z $pattern || $pattern == sanitized/* ]]; then
	long=(tests/unit/**/test_{runtime_finders,log_reader,memory_bound,hostile_trace,render_layout}.c
		tests/unit/**/test_{json,hostile_log,resolve_nonsense}.c)
	for t in "${long[@]#tests/unit/}" $(cd tests/unit && echo **/test_*.c); do
		t=sanitized/${t%.c}
		wanted "$t" && [[ " ${sanitized[*]} " != *" $t "* ]] && sanitized+=("$t")
	done
	[ ${#sanitized[@]} -gt 0 ] && ! env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s -j "$(nproc)" SAN=1 B="$B/san" \
		"${sanitized[@]/#sanitized/$B/san/tests/unit}" && exit 1
fi
together=("${sanitized[@]}" "${together[@]}")
# work NUMBER TEST...: runs the tests, NUMBER at a time
work() { [ $# -gt 1 ] && printf '%s\0' "${@:2}" | xargs -0 -n 1 -P "$1" bash -c 'execute_one "$1"' bash; }
# make_image: makes the guest's disk if one of the given tests needs it
make_image()
{
	[[ " $* " == *" root/graind/test_guest.sh "* || " $* " == *" root/graind/test_service.sh "* ]] &&
		[ "$(id -u)" -eq 0 ] &&
		tests/vm/image.sh "$B" amd64 >/dev/null 2>&1
}
# finish TEST...: waits for tests that were started, and shows their results
finish()
{
	for t; do
		until [ -e "$said/${t//\//_}.status" ]; do sleep 0.1; done
		show "$t"
	done
}
{
	make_image "${waiting[@]}" "${pairs[@]}"
	work 1 "${waiting[@]}"
} &
work $(($(nproc) + 1)) "${together[@]}" &
finish "${together[@]}"
work 2 "${pairs[@]}" &
finish "${waiting[@]}" "${pairs[@]}"
wait
for t in "${alone[@]}"; do
	command_of "$t"
	run "$t" "${command[@]}"
done
[ ${#failures[@]} -gt 0 ] && echo "failed: ${failures[*]}"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
