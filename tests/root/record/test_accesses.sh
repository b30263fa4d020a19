#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Sampled addresses of memory. If every page fault is sampled, each task has as many as it touches pages, with the
# addresses of these pages and on their node. Samples above the limit are counted. If an event gives no addresses, the
# job says so.
# usage: tests/root/record/test_accesses.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
. "$(dirname "$0")/accesses_lib.sh"
program=$B/tests/omp/shared_pages
source=$ROOT/tests/omp/shared_pages.c
all=page-faults:period=1
last=$(($(nproc) - 1))
[ "$last" -gt 0 ] || last=0

# rests NAME OPTIONS: records shared_pages. It goes on and ends when graind has asked where the pages are that its tasks
# have touched, and has looked at its memory since.
rests()
{
	local name=$1 go status
	let_go "$name" &
	go=$!
	PIDS+=("$go")
	RESTS_FOR=$T/$name.rest accessed "$name" "$2" "$program" 0 60 0 "${cpus[@]}"
	status=$?
	wait "$go"
	return $status
}
let_go()
{
	until_so "$1: pages of the first tasks" knows_pages "$1" 0
	touch "$T/$1.rest.0"
	until_so "$1: pages of the other tasks" knows_pages "$1" 1 && await_looks
	touch "$T/$1.rest.1"
}
# knows_pages NAME REGION: the trace so far has accesses of 600 pages, from the beginning of that region on
knows_pages()
{
	curl -s --unix-socket "$GRAIND_SOCKET" http://graind/v1/jobs >"$T/jobs"
	curl -s --unix-socket "$GRAIND_SOCKET" \
		"http://graind/v1/jobs/$(json 'd["jobs"][0]["job"]' <"$T/jobs")/trace" >"$T/part"
	"$GRAINCTL" export "$T/part" --format log >"$T/part.log" || return
	python3 - "$T/$1.out" "$2" "$T/part.log" <<-'EOF'
		import json, re, sys
		memory = json.load(open(sys.argv[1]))
		since, count = None, 0
		for line in open(sys.argv[3]):
		    begun = re.match(r"(\d+) .* region-begin region=%s " % sys.argv[2], line)
		    if begun:
		        since = int(begun.group(1))
		    found = re.match(r"(\d+) \d+ \d+ access addr=(0x[0-9a-f]+) ", line)
		    if found and since and int(found.group(1)) > since:
		        count += 0 <= int(found.group(2), 16) - memory["start"] < memory["bytes"]
		print(since, count)
		sys.exit(count < 600)
	EOF
}

start_graind || exit 1
cpus=(0 $last 0 $last)
# shellcheck disable=SC2046
rests pages "--sample=99 --memory-event $all" &&
	python3 "$HERE/record/accesses.py" pages "$T/pages" 60 "$source" $(placed 0 "${cpus[@]}")
# shellcheck disable=SC2046
rests inside "--fast --sample=99 --memory-event $all" &&
	python3 "$HERE/record/accesses.py" inside "$T/inside" 60 "$source" $(placed 0 "${cpus[@]}")

# The program ends at once. Pages whose node can no longer be asked for are counted.
if accessed short "--sample=99 --memory-event $all" "$program" 0 60 0 "${cpus[@]}"; then
	is "short: causes are those of all that is not known" \
		"$(json '((a := d["numa"]["addresses"])["samples"]
			- a["local"] - a["remote"] - sum(a["unknown"].values()))' <"$T/short.summary")" 0
	is "short: all tasks' pages are there" \
		"$(json 'sum(x["samples"] for x in d["numa"]["addresses"]["definitions"]) >= 1200' \
			<"$T/short.summary")" True
fi
# There is a limit per second. Of 320,000 faults, those above the limit are lost and counted.
if accessed many "--sample=99 --memory-event $all" "$B/tests/omp/pages" 400 2; then
	is "many: at most 10000 a second and CPU, and the rest is counted" \
		"$(json '((a := d["numa"]["addresses"])["samples"] <= 10000 * (d["wall_ns"] / 1e9 + 1) * '"$(nproc)"',
			a["lost"] + a["samples"] > 300000)' <"$T/many.summary")" "(True, True)"
fi
# With the usual frequency, a part of the faults is sampled. The kernel counts the faults of all programs on a CPU:
# with 99 a second, a program of 0.3 s beside others may have no sample.
if accessed some "--sample=999 --memory-event page-faults" "$B/tests/omp/pages" 200 4; then
	samples=$(json 'd["numa"]["addresses"]["samples"]' <"$T/some.summary")
	is "some: far fewer than there were ($samples)" \
		"$(json '0 < d["numa"]["addresses"]["samples"] < 0.2 * 4 * 2 * 199 * 100' <"$T/some.summary")" True
fi

# The processor's own event, or why there is none.
accessed own "--sample" "$program" 100 10 0 "${cpus[@]}" &&
	is "own: its name, or why it has none" \
		"$(json '((a := d["numa"]["addresses"]).get("event") in ("mem-loads", "ibs_op")
			or "addresses" in a["why"] or "samples of" in a["why"])' \
		<"$T/own.summary")" True
why='addresses of accesses are not sampled: remote ones are judged by where pages are'
accessed none "--sample --memory-event none" "$program" 100 10 0 "${cpus[@]}" &&
	is "none: not asked for" "$(json 'd["numa"]["addresses"]' <"$T/none.summary")" \
		"{'available': False, 'why': '$why'}"

# refused WHAT PATTERN ARG...: checks that grainctl refuses these arguments
refused()
{
	local what=$1 pattern=$2
	shift 2
	"$GRAINCTL" run "$@" -- "$program" 0 1 0 0 >"$T/bad.out" 2>"$T/bad.err"
	is "$what: refused before it runs" "$? $(wc -c <"$T/bad.out")" "2 0"
	is "$what: one line says why" "$(wc -l <"$T/bad.err") $(grep -c -- "$pattern" "$T/bad.err")" "1 1"
}
refused "an unknown event" \
	"no event is called 'page-fualts' here; the nearest whose samples have addresses is 'page-faults'" \
	--sample --memory-event page-fualts
refused "one without addresses" "'context-switches': its samples have no address of data; those of page-faults" \
	--sample --memory-event context-switches
refused "one of the processor without precise" "'cycles': its samples have no address of data" \
	--sample --memory-event cycles
refused "a period of the processor's" "'cycles:precise=2:period=100': period= is for events of the kernel" \
	--sample --memory-event cycles:precise=2:period=100
refused "a frequency" "freq= is what --sample says" --sample --memory-event page-faults:freq=5
refused "a modifier that it does not have" "no event with such modifiers" --sample --memory-event page-faults:nonsense
refused "no name" "1 to 63 characters" --sample --memory-event ''
refused "two words" "no blanks" --sample --memory-event 'page faults'
refused "without samples" "goes with sample_hz (--sample)" --memory-event page-faults
refused "with samples alone" "goes with sample_hz (--sample)" --sample-only --memory-event page-faults
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
