#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Runs every test of the tree and ends with "N passed, N failed, N skipped".
# usage: tests/run.sh BUILD_DIRECTORY [PATTERN]
set -u
B=${1:?usage: tests/run.sh BUILD_DIRECTORY [PATTERN]}
pattern=${2:-}
cd "$(dirname "$0")/.." || exit 1
# Graphviz keeps what it loads; everything else must be freed.
export LSAN_OPTIONS=suppressions=$PWD/tests/lsan.supp:print_suppressions=0
said=$(mktemp -d "${TMPDIR:-/tmp}/graind-run.XXXXXX")
trap 'rm -rf "$said"' EXIT
passed=0 failed=0 skipped=0 failures=()
# execute NAME COMMAND ARG...: leaves what it said, its status and its seconds.
execute()
{
	local to=$said/${1//\//_} start=$SECONDS
	shift
	timeout -k 10 ${FULL:+3}600 "$@" >"$to.out" 2>&1 </dev/null
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
		printf '\nnot ok - %s ended with status %s\n' "$name" "$status" >>"$to.out"
		f=1
	fi
	# What it would have checked after that nobody misses.
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
	printf '%-34s %4d passed %3d failed %3d skipped  %3d s\n' "$name" "$p" "$f" "$s" "$seconds"
	sed -n 's/^= /    /p' "$to.out"
	sed -n 's/^skip - /    &/p' "$to.out"
	if [ "$f" -gt 0 ]; then
		failures+=("$name")
		grep -v -e '^ok - ' -e '^skip - ' -e '^= ' "$to.out" | head -60 | sed 's/^/    /'
	fi
}
wanted() { [[ -z $pattern || $1 == *$pattern* ]]; }
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
	page/*) command=(/usr/bin/python3 -B "tests/$1" "$B") ;;
	*) command=(bash "tests/$1" "$B") ;;
	esac
}
execute_one() { command_of "$1"; execute "$1" "${command[@]}"; }
export -f execute execute_one command_of
export B said

# What measures no time runs on all CPUs, and is shown in order. Of what runs programs that are recorded, some judge
# neither time nor CPU use nor anything of the whole machine: two at a time, as each leaves half of the time idle by
# itself, the longest first. The rest, and what is new, runs alone.
paired=(shim_attach matrix matrix_attached matrix_versions ompt shim_matrix_attached shim_matrix_libomp attach
	live metrics shim_races shim_rough bodies real_programs shim_cycles retention fleet report_directory guest
	ompt_versions exact dashboards ranks_nodes optout exact_private shim_runtimes accesses compare run_attach counters
	shim_libomp shim_hostile producers shim_rough_attached find_worker daemon_api discovery process_tree numa_pages)
paired=("${paired[@]/%/.sh}")
paired=("${paired[@]/#/root/test_}")
together=() waiting=() pairs=() alone=()
wanted lint && together+=(lint)
for t in "${paired[@]}"; do
	wanted "$t" && pairs+=("$t")
done
for t in tests/unit/test_*.c tests/cli/test_*.sh tests/root/test_*.sh tests/page/test_*.py; do
	[ -e "$t" ] || continue
	t=${t#tests/} t=${t%.c}
	wanted "$t" || continue
	case " ${paired[*]} " in *" $t "*) continue ;; esac
	case $t in
	# These mostly wait, for the kernel, for a system, and for what is too slow: one after the other, beside the others.
	root/test_attach_perf.sh | root/test_ceiling_perf.sh | root/test_render_worker.sh | root/test_hostile_user.sh | root/test_service.sh | \
		root/test_shim_refusals.sh)
		waiting+=("$t")
		;;
	# Takes longest.
	cli/test_sanitizers.sh) together=("$t" "${together[@]}") ;;
	root/* | page/test_speed.py | unit/test_groups_scale) alone+=("$t") ;;
	*) together+=("$t") ;;
	esac
done
# begin NUMBER TEST...: in the background, so many at a time.
begin() { [ $# -gt 1 ] && printf '%s\0' "${@:2}" | xargs -0 -n 1 -P "$1" bash -c 'execute_one "$1"' bash & }
# finish TEST...: waits for what has begun and shows it.
finish()
{
	for t; do
		until [ -e "$said/${t//\//_}.status" ]; do sleep 0.1; done
		show "$t"
	done
}
# The guest's disk is made meanwhile.
[[ " ${pairs[*]} " == *" root/test_guest.sh "* ]] && [ "$(id -u)" -eq 0 ] && nice -n 10 tests/vm/image.sh "$B" amd64 >/dev/null 2>&1 &
begin 1 "${waiting[@]}"
begin $(($(nproc) + 1)) "${together[@]}"
finish "${together[@]}"
begin 2 "${pairs[@]}"
finish "${waiting[@]}" "${pairs[@]}"
wait
for t in "${alone[@]}"; do
	command_of "$t"
	run "$t" "${command[@]}"
done
[ ${#failures[@]} -gt 0 ] && echo "failed: ${failures[*]}"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
