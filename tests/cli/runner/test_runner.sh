#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What runs the tests, on a checkout of planted tests: each of them does one thing that must not be missed.
# usage: tests/cli/runner/test_runner.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
command -v ctest >/dev/null || { skip "what runs the tests" "no ctest: make deps installs it"; exit 0; }
TREE=$T/tree
mkdir -p "$TREE/tests/cli" "$TREE/analysis" "$T/build"
cp "$ROOT/tests/lib.sh" "$TREE/tests"
printf 'analysis graph\ntests/cli first\n' >"$TREE/tests/areas"
echo 'cli/* | *: it is allowed* | why not' >"$TREE/tests/skips"
: >"$TREE/tests/list"

# plant NAME TIER AREAS [LOCKS]: a test, its commands on standard input
plant()
{
	local why=
	[ "$2" = full ] && why=' # takes long'
	{
		echo '. "$(dirname "$0")/../lib.sh"'
		cat
	} >"$TREE/tests/cli/test_$1.sh"
	echo "cli/test_$1.sh 0.5 ${4:--} $3 $2 1$why" >>"$TREE/tests/list"
}
# runs ARG...: the output is in $T/out, the status in STATUS
runs()
{
	"$ROOT/tests/runner/run.py" --tree "$TREE" "$@" >"$T/out" 2>&1
	STATUS=$?
}
# line NAME: what is said of a test, without its seconds
line()
{
	grep -E "^ +[0-9-]+(/[0-9]+)? +cli/test_$1.sh " "$T/out" | tail -n 1 | sed 's/ *[0-9]* s$//; s/^[ 0-9/-]*//' |
		tr -s ' '
}
names() { grep -oE 'cli/test_[a-z]+' "$T/out" | sort | tr '\n' ' '; }
# ran: how many tests ran
ran() { grep -c '^ *[0-9]*/' "$T/out"; }

plant passes gate graph <<<'ok "one"; ok "two"; skip "three" "it is allowed: yes"; echo "= shown"'
runs "$T/build" passes
is "a test that passes" "$STATUS $(tail -n 1 "$T/out")" "0 2 passed, 0 failed, 1 skipped"
is "what a test wants shown is shown" "$(grep -c '^    shown$' "$T/out")" 1
is "its output is kept" "$(grep -c '^ok - ' "$T/build/results/last/cli_test_passes.sh.out")" 2
is "its seconds are kept" "$(cut -d' ' -f2 "$T/build/results/last/seconds")" cli/test_passes.sh

plant fails gate graph <<<'ok "one"; not_ok "two" "the reason"'
plant fails_once gate graph <<<'[ -e "$B/was" ] && ok "late" || not_ok "late" "too early"; touch "$B/was"'
plant traceback gate graph <<<'ok "one"; python3 -c "raise ValueError(1)"; true'
plant checks_nothing gate graph <<<'echo nothing'
plant breaks_off gate graph <<<'ok "one"; exit 3'
plant skips gate graph <<<'ok "one"; skip "two" "I do not like it"'
runs "$T/build"
is "the run has failed" "$STATUS" 1
is "a test that fails" "$(line fails) $(grep -c '^    not ok - two' "$T/out")" \
	"cli/test_fails.sh 1 passed 1 failed 0 skipped 2"
is "the reason is shown" "$(grep -c '^    # the reason' "$T/out")" 2
is "a test that fails once is unsteady, in the last line but one" "$(tail -n 2 "$T/out" | head -n 1)" \
	"1 unsteady (failed once, passed alone): cli/test_fails_once.sh"
is "both of its outputs are kept" "$(cat "$T"/build/results/last/cli_test_fails_once.sh{.first,}.out | cut -c1-6 |
	grep -v '^# ' | tr '\n' ' ')" "not ok ok - l "
is "and its name" "$(sed 's/.* //' "$T/build/results/unsteady")" cli/test_fails_once.sh
is "a script of a test that breaks off" "$(line traceback)" "cli/test_traceback.sh 1 passed 1 failed 0 skipped"
is "a test that checks nothing" "$(line checks_nothing)" "cli/test_checks_nothing.sh 0 passed 1 failed 0 skipped"
is "a test that ends by itself" "$(line breaks_off)" "cli/test_breaks_off.sh 1 passed 1 failed 0 skipped"
is "a skip that is not allowed" "$(line skips)" "cli/test_skips.sh 1 passed 1 failed 0 skipped"
is "the names of all that failed" "$(grep '^failed: ' "$T/out" | cut -d' ' -f2- | tr ' ' '\n' | sort | tr '\n' ' ')" \
	"cli/test_breaks_off.sh cli/test_checks_nothing.sh cli/test_fails.sh cli/test_skips.sh cli/test_traceback.sh "
is "the last line counts each test once" "$(tail -n 1 "$T/out")" "7 passed, 5 failed, 1 skipped"
runs "$T/build"
is "what failed last time runs first" "$(grep -oE 'cli/test_[a-z_]*' "$T/out" | head -5 | grep -c -e passes -e once)" 0

# From here on only what passes.
sed -i '/passes/!d' "$TREE/tests/list"
# A test that leaves processes: one that left its session, and one that does not end by SIGTERM.
plant leaves gate graph <<<'ok "one"
setsid sleep 4711 &
bash -c "trap : TERM; while :; do sleep 4711; done" &
mkdir "$TMPDIR/mine"; mount -t tmpfs none "$TMPDIR/mine" 2>/dev/null
echo "$TMPDIR" >"$B/tmp"
exit 0'
sed -i 's/^trap .cleanup. EXIT$//' "$TREE/tests/lib.sh"
runs "$T/build" leaves
is "processes that a test leaves end" "$(pgrep -f 'sleep 471[1]' | wc -l)" 0
is "they are said" "$(grep -c '# left behind, and ended: process .*sleep 4711' "$T/out")" 3
is "what it has mounted and its folder are gone" \
	"$(grep -c "$(cat "$T/build/tmp")" /proc/self/mountinfo) $([ -e "$(cat "$T/build/tmp")" ] && echo there)" "0 "
cp "$ROOT/tests/lib.sh" "$TREE/tests"
sed -i '/leaves/d' "$TREE/tests/list"

# A test that hangs, and does not end by SIGTERM, either.
plant hangs gate graph <<<'ok "one"; trap : TERM; while :; do sleep 4711; done'
LIMIT=2 runs "$T/build" hangs
is "a test that hangs has failed" "$STATUS $(line hangs)" "1 cli/test_hangs.sh 1 passed 1 failed 0 skipped"
is "it is said" "$(grep -c 'not ok - cli/test_hangs.sh took more than 2 s' "$T/out")" 2
is "nothing of it is left" "$(pgrep -f 'sleep 471[1]' | wc -l)" 0

# Whoever runs the tests stops: by Ctrl-C, by being killed.
plant waits gate graph <<<'mkdir "$T/its"; echo "$T" >"$B/waits"; ok "one"; sleep 4712; ok "two"'
for how in INT TERM KILL; do
	rm -f "$T/build/waits"
	# In a session of its own: a shell lets what it starts in the background ignore SIGINT.
	/usr/bin/python3 -c 'import os, signal, sys
os.setsid()
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$ROOT/tests/runner/run.py" --tree "$TREE" "$T/build" waits >"$T/out" 2>&1 &
	runner=$!
	until_so "the test runs" test -s "$T/build/waits"
	kill -"$how" "$runner"
	wait "$runner" 2>/dev/null
	STATUS=$?
	until_so "nothing runs after SIG$how" eval '! pgrep -f "sleep 471[2]" >/dev/null'
	until_so "nothing of it is left after SIG$how" eval '! ls "$(cat "$T/build/waits")" >/dev/null 2>&1'
	[ "$how" = KILL ] || is "SIG$how: it says so" "$STATUS $(tail -n 1 "$T/out")" \
		"130 interrupted: 0 of 1 tests had ended; nothing runs any more"
done
sed -i -e '/waits/d' -e '/hangs/d' "$TREE/tests/list"

# Locks and whole machines.
for i in 1 2 3; do
	plant "locked_$i" gate graph mine <<<'mkdir "$B/held" && sleep 0.3 && rmdir "$B/held" && ok "alone"'
done
runs "$T/build" locked
is "tests with the same lock do not run at a time" "$STATUS $(tail -n 1 "$T/out")" "0 3 passed, 0 failed, 0 skipped"
sed -i '/locked/d' "$TREE/tests/list"

# Tiers, and what need not run again.
plant long full other <<<'ok "long"'
echo 'tests/other other' >>"$TREE/tests/areas"
runs "$T/build"
is "the gate leaves out what is long" "$(tail -n 1 "$T/out")" "2 passed, 0 failed, 1 skipped"
runs "$T/build" long
is "a pattern does not" "$(tail -n 1 "$T/out")" "1 passed, 0 failed, 0 skipped"
runs --full "$T/build"
is "what passed for the same files is not run again, but counted" \
	"$(ran) $(tail -n 1 "$T/out")" \
	"0 3 passed, 0 failed, 1 skipped"
runs --full --fresh "$T/build"
is "it is run where it is asked for" "$(ran) $(tail -n 1 "$T/out")" \
	"2 3 passed, 0 failed, 1 skipped"
echo >>"$TREE/analysis/one.c"
runs --full "$T/build"
is "other files are another tree" "$(ran)" 2

# What a change touches.
if command -v git >/dev/null; then
	git -C "$TREE" init -q
	git -C "$TREE" add -A
	git -C "$TREE" -c user.name=a -c user.email=a@b commit -qm one
	plant other gate other <<<'ok "other"'
	git -C "$TREE" add -A
	git -C "$TREE" -c user.name=a -c user.email=a@b commit -qm two
	echo >>"$TREE/analysis/one.c"
	runs --changed "$T/build"
	is "a change of a folder runs the tests of its areas" "$(names)" \
		"cli/test_passes "
	git -C "$TREE" checkout -q analysis
	echo >>"$TREE/tests/cli/test_long.sh"
	runs --changed "$T/build"
	is "a test that has changed runs, also one of check-full" "$(names)" "cli/test_long "
fi

# Bad input.
echo 'cli/test_passes.sh 0.5 - nowhere gate 1' >"$TREE/tests/list"
runs "$T/build"
is "an area that is not known" "$STATUS $(cat "$T/out")" "1 tests/list:1: tests/areas has no area nowhere"
echo 'cli/test_passes.sh 0.5 - graph full 1' >"$TREE/tests/list"
runs "$T/build"
is "no reason for check-full only" "$STATUS $(cat "$T/out")" \
	"1 tests/list:1: say after # why the gate does without cli/test_passes.sh"
echo 'cli/test_passes.sh 0.5 - graph gate 1' >"$TREE/tests/list"
runs "$T/build" nothing_like_it
is "a pattern that names nothing" "$STATUS $(cat "$T/out")" \
	"1 no test has nothing_like_it in its name; tests/list has all of them"
if [ "$(id -u)" -eq 0 ] && mkdir "$T/small" && mount -t tmpfs -o size=64k none "$T/small" 2>/dev/null; then
	dd if=/dev/zero of="$T/small/full" 2>/dev/null
	runs "$T/small"
	is "a full disk" "$STATUS $(tail -n 1 "$T/out" | grep -c 'No space left on device')" "1 1"
	umount "$T/small"
fi
