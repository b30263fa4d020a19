#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Runs the tests and ends with "N passed, N failed, N skipped". What failed runs once more at the end, alone: failed
# twice is failed; passed alone is unsteady, which is said in the last line but one and is no failure.
# All output is kept in BUILD_DIRECTORY/results, the seconds of each test in its file "seconds".
# usage: tests/run.sh BUILD_DIRECTORY [PATTERN], such as unit/graph, root/test_shim, sanitized/graind
# Without FULL=1 (make check-full) only the gate: all but what tests/full_only.txt lists and the sanitized unit tests.
# A pattern runs what it names, wherever that belongs.
set -u
B=${1:?usage: tests/run.sh BUILD_DIRECTORY [PATTERN]}
pattern=${2:-}
cd "$(dirname "$0")/.." || exit 1
# Graphviz keeps what it loads. Everything else must be freed.
export LSAN_OPTIONS=suppressions=$PWD/tests/lsan.supp:print_suppressions=0
said=$B/results
rm -rf "$said"
mkdir -p "$said" || exit 1
passed=0 failed=0 skipped=0 failures=()
# The most seconds for one test, in case it hangs.
export LIMIT=1800
[ "${EVERY:-}" ] && LIMIT=5400
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
	echo "$seconds $name" >>"$said/seconds"
	printf '%-50s %4d passed %3d failed %3d skipped  %3d s\n' "$name" "$p" "$f" "$s" "$seconds"
	sed -n 's/^= /    /p' "$to.out"
	sed -n 's/^skip - /    &/p' "$to.out"
	if [ "$f" -gt 0 ]; then
		failures+=("$name")
		grep -v -e '^ok - ' -e '^skip - ' -e '^= ' "$to.out" | head -60 | sed 's/^/    /'
		echo "    # all of it: $to.out"
	fi
}
# What only check-full runs: each line a test and, after "#", why.
full_only=$(sed 's/ *#.*//; /^$/d' tests/full_only.txt | tr '\n' ' ')
# The pattern unit/graph also stands for unit/analysis/graph.
wanted()
{
	if [ "$pattern" ]; then
		[[ $1 == *${pattern//\//\/*}* ]]
	else
		[[ ${FULL:-} || " $full_only" != *" $1 "* ]]
	fi
}
# run NAME: runs a test by itself.
run()
{
	command_of "$1"
	execute "$1" "${command[@]}"
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
if [[ -z $pattern && ${FULL:-} || $pattern == sanitized/* ]]; then
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
# finish WORKER TEST...: waits for tests that a process works on, and shows their results. If that process has died,
# a test that has left nothing has failed.
finish()
{
	local worker=$1 t to
	for t in "${@:2}"; do
		to=$said/${t//\//_}
		until [ -e "$to.status" ]; do
			if ! kill -0 "$worker" 2>/dev/null && [ ! -e "$to.status" ]; then
				echo "# what runs the tests has died" >>"$to.out"
				echo "125 0" >"$to.status"
			fi
			sleep 0.1
		done
		show "$t"
	done
}
{
	make_image "${waiting[@]}" "${pairs[@]}"
	work 1 "${waiting[@]}"
} &
slow_worker=$!
work $(($(nproc) + 1)) "${together[@]}" &
finish $! "${together[@]}"
work 2 "${pairs[@]}" &
finish $! "${pairs[@]}"
finish $slow_worker "${waiting[@]}"
wait
for t in "${alone[@]}"; do
	run "$t"
done
# Once more, alone. What such a test had counted is taken off first.
again=("${failures[@]}") failures=() unsteady=()
[ ${#again[@]} -gt 0 ] && echo "once more, alone: ${again[*]}"
for t in "${again[@]}"; do
	to=$said/${t//\//_}
	mv "$to.out" "$to.first.out"
	passed=$((passed - $(grep -c '^ok - ' "$to.first.out")))
	failed=$((failed - $(grep -c '^not ok - ' "$to.first.out")))
	skipped=$((skipped - $(grep -c '^skip - ' "$to.first.out")))
	rm -f "$to.status"
	before=${#failures[@]}
	run "$t"
	[ ${#failures[@]} -eq "$before" ] && unsteady+=("$t")
done
[ ${#unsteady[@]} -gt 0 ] && echo "${#unsteady[@]} unsteady (failed once, passed alone): ${unsteady[*]}"
[ ${#failures[@]} -gt 0 ] && echo "failed: ${failures[*]}"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
