#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Programs from Debian packages, unmodified and without debugging symbols, on generated inputs. They behave as they do
# without us, and the recording is complete.
# usage: tests/root/constructs/test_real_programs.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
cd "$T" || exit 1

# sequences COUNT LENGTH ALIGNED: writes a FASTA file of noisy copies of a few ancestors
sequences()
{
	python3 - "$@" <<'PY'
import random, sys
count, length, aligned = map(int, sys.argv[1:])
random.seed(7)
ancestors = ["".join(random.choices("acgt", k=length)) for _ in range(12)]
for n in range(count):
    s = list(random.choice(ancestors))
    for _ in range(random.randrange(length // 8)):
        s[random.randrange(len(s))] = random.choice("acgt")
    if not aligned:
        del s[:random.randrange(8)]
    print(">s%d count=%d;\n%s" % (n, random.randrange(1, 40), "".join(s)))
PY
}

CPU=$(taskset -cp $$ | sed 's/.*: *//; s/[-,].*//') # a CPU that may be used

# a_plain_run_gives OUTPUT COMMAND...: checks that some run without us writes the same as the measured run. The tree
# of fasttreeMP depends on how its threads meet: about 1 of 20 runs gives another tree. If the threads take turns on
# one CPU, there are many different trees. So every other run uses one CPU.
a_plain_run_gives()
{
	local output=$1 run
	shift
	for ((run = 0; run < 150; run++)); do
		cmp "$T/plain.out" "$T/measured.out" && return
		if ((run % 2)); then
			taskset -c "$CPU" "$@" >"$T/plain.out" 2>"$T/plain.err"
		else
			"$@" >"$T/plain.out" 2>"$T/plain.err"
		fi
		[ "$output" = - ] || mv "$output" "$T/plain.out"
	done
	cmp "$T/plain.out" "$T/measured.out"
}

# whole NAME THREADS KIND LEAST OUTPUT COMMAND...: COMMAND writes OUTPUT ("-": its standard output)
whole()
{
	local name=$1 threads=$2 kind=$3 least=$4 output=$5 plain status job
	shift 5
	if ! command -v "$1" >/dev/null; then
		not_ok "$name: $1 is installed" "its package belongs to TEST_PACKAGES of the Makefile"
		return
	fi
	export OMP_NUM_THREADS=$threads OMP_DYNAMIC=false
	"$@" >"$T/plain.out" 2>"$T/plain.err"
	plain=$?
	[ "$output" = - ] || mv "$output" "$T/plain.out"
	"$GRAINCTL" run -- "$@" >"$T/measured.out" 2>"$T/measured.err"
	status=$?
	[ "$output" = - ] || mv "$output" "$T/measured.out"
	is "$name: exit status" "$status" "$plain"
	check "$name: the output of a plain run" a_plain_run_gives "$output" "$@"
	check "$name: which is not empty" test -s "$T/plain.out"
	job=$(sed -n 's/^job \([0-9]*\)$/\1/p' "$T/measured.err" | tail -1)
	if ! "$GRAINCTL" summary "$job" --json >"$T/summary" 2>"$T/err" ||
		! "$GRAINCTL" report "$job" --format json -o "$T/grains" 2>"$T/err"; then
		not_ok "$name: summary and report" "$(tail -3 "$T/err")"
		return
	fi
	python3 - "$name" "$kind" "$least" "$T/summary" "$T/grains" <<'PY'
import collections, json, sys
name, kind, least, summary, grains = sys.argv[1:]
s = json.load(open(summary))


def check(what, good, detail=""):
    print("%s - %s: %s" % ("ok" if good else "not ok", name, what))
    if not good:
        print("# " + str(detail)[:500])


letters = collections.Counter()
bad = []
for line in open(grains):
    g = json.loads(line)
    if g["kind"] == "chunk":
        letters["sections" if "/x" in g["id"] else "loops"] += 1
    if g["incomplete"]:
        bad.append(g["id"])
e = s["events"]
check("nothing lost", e["lost"] == 0 and not sum(e["losses"].values()), e)
check("nothing unmatched", not any(e[k] for k in ("unmatched_begins", "unmatched_ends", "never_begun", "never_ended",
                                                  "unclosed_waits", "read_faults")), e)
check("nothing incomplete", s["grains"]["incomplete"] == 0 and s["incomplete_regions"] == 0,
      (s["grains"]["incomplete"], s["incomplete_regions"], bad[:5]))
check("conservation holds", s["conservation"]["violations"] == 0, s["conservation"])
check("at least %s chunks of %s (%d)" % (least, kind, letters[kind]), letters[kind] >= int(least), letters)
check("the report has every chunk of the summary", sum(letters.values()) == s["grains"]["chunks"], s["grains"])
PY
}

start_graind || exit 1
gm convert -size 900x700 gradient:navy-orange +noise Gaussian plain.miff 2>/dev/null ||
	gm convert -size 900x700 gradient:navy-orange plain.miff
# A guided loop has few chunks: with one thread it has one.
for threads in 1 2 4; do
	whole "gm-blur-$threads" $threads loops $((threads * threads)) result.ppm gm convert plain.miff -blur \
		0x2 result.ppm
done
whole gm-sharpen-2 2 loops 4 result.ppm gm convert plain.miff -sharpen 0x1.5 -rotate 17 result.ppm
sequences 1500 120 0 >sequences.fasta
whole sumaclust-2 2 loops 5000 - sumaclust -t 0.9 -p 2 sequences.fasta
whole sumaclust-4 4 loops 5000 - sumaclust -t 0.9 -p 4 sequences.fasta
sequences 200 150 1 >alignment.fasta
whole fasttree-2 2 sections 2 - fasttreeMP -nt -quiet -nosupport alignment.fasta
whole fasttree-4 4 sections 2 - fasttreeMP -nt -quiet -nosupport alignment.fasta
# These programs load the runtime late, below a BLAS that was linked with it.
cat >product.py <<'PY'
import numpy
a = numpy.arange(360000, dtype=float).reshape(600, 600) / 1e6
print("%.6f" % numpy.trace(a @ a @ a))
PY
cat >product.R <<'R'
a <- matrix((1:360000) / 1e6, 600, 600)
cat(sprintf("%.6f\n", sum(diag(a %*% a %*% a))))
R
whole numpy-2 2 loops 4 - /usr/bin/python3 product.py
whole R-2 2 loops 2 - Rscript product.R

# A process that begins and ends while graind cannot look. The kernel tells what it mapped. Static loops differ from
# other questions for the number of threads only by their code. That code is in files, and the process no longer leads
# to them.
cat >late.sh <<'R'
touch ready
while [ ! -e go ]; do sleep 0.01; done
exec Rscript product.R
R
blind()
{
	rm -f ready go
	"$GRAINCTL" run -- sh late.sh >"$T/blind.out" 2>"$T/blind.err" &
	local run=$! tries
	for ((tries = 0; tries < 300; tries++)); do
		[ -e ready ] && break
		sleep 0.1
	done
	kill -STOP "$GRAIND_PID"
	touch go
	for ((tries = 0; tries < 300; tries++)); do
		[ -s "$T/blind.out" ] && ! pgrep -P "$run" >/dev/null && break
		sleep 0.1
	done
	sleep 0.2
	kill -CONT "$GRAIND_PID"
	wait "$run"
	is "ended unseen: exit status" "$?" 0
	job=$(sed -n 's/^job //p' "$T/blind.err" | tail -1)
}
# Other programs of a busy machine may fill the kernel's space for its messages. The job then says so.
blind_and_told()
{
	local job try
	for try in 1 2 3 4 5; do
		blind
		grep -q "job $job: .*the kernel had no room" "$T/graind.log" || break
	done
	"$GRAINCTL" summary "$job" --json >"$T/summary"
	is "ended unseen: chunks, lost, violations, named" "$(python3 - "$T/summary" <<'PY'
import json, sys
s = json.load(open(sys.argv[1]))
named = any("openblas" in str(d) for d in s["definitions"])
print(s["grains"]["chunks"] >= 2, s["events"]["lost"], s["conservation"]["violations"], named)
PY
)" "True 0 0 True"
}
export OMP_NUM_THREADS=2
blind_and_told
stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
