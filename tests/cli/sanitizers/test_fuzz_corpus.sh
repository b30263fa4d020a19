#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What fuzzing the planner and the analysis has found, and files like those, under ASan and UBSan.
# usage: tests/cli/sanitizers/test_fuzz_corpus.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"

cd "$ROOT" || exit 1
replays=$B/san/fuzz
check "builds with ASan and UBSan" sanitized "$replays"/replay_{plan,find,loops,log,trace,words,shim,policy,api,adopt}
corpus=("$ROOT"/tests/fuzz/corpus-plan/*)
check "the corpus is small" [ "$(cat "${corpus[@]}" | wc -c)" -lt 300000 ]
check "the planner survives its ${#corpus[@]} files" timeout 300 "$replays/replay_plan" "${corpus[@]}"
found=("$ROOT"/tests/fuzz/corpus-find/*)
check "that of the search is small, too" [ "$(cat "${found[@]}" | wc -c)" -lt 100000 ]
check "the search for runtimes survives its ${#found[@]} files and these" \
	timeout 300 "$replays/replay_find" "${found[@]}" "${corpus[@]}"
loops=("$ROOT"/tests/fuzz/corpus-loops/*)
check "that of the search for static loops is small" [ "$(cat "${loops[@]}" | wc -c)" -lt 200000 ]
check "the search for static loops survives its ${#loops[@]} files and these" \
	timeout 900 "$replays/replay_loops" "${loops[@]}" "${corpus[@]}"
# Every one gets one line or a plan.
bad=
for file in "${corpus[@]}"; do
	"$B/grainctl" doctor --runtime "$file" --json >"$T/out" 2>"$T/err"
	case $? in
	0) [ -s "$T/out" ] || bad+="$file: no plan; " ;;
	1) [ "$(wc -l <"$T/err")" -eq 1 ] || bad+="$file: $(head -2 "$T/err"); " ;;
	*) bad+="$file: ended with $?; " ;;
	esac
done
is "grainctl doctor says in one line what is wrong with each" "$bad" ""
# Cut and scribbled on: made anew each time, with the same numbers.
mkdir "$T/made"
python3 - "$T/made" "$(ldconfig -p | awk '$1 == "libgomp.so.1" { print $NF; exit }')" <<'PY'
import random, struct, sys
random.seed(1)
whole = open(sys.argv[2], "rb").read()
shoff, = struct.unpack_from("<Q", whole, 0x28)
count, = struct.unpack_from("<H", whole, 0x3c)
for i in range(40):
    data = bytearray(whole)
    if i < 8:
        data = data[:len(data) * i // 8]
    else:
        # Fields of the section table: hostile addresses, sizes, counts, links.
        for _ in range(1 + i % 5):
            at = shoff + random.randrange(count) * 64 + random.choice((4, 8, 16, 24, 32, 40, 44, 56))
            struct.pack_into("<Q", data, at,
                             random.choice((0, 1, 2**63, 2**64 - 1, 2**32, len(data), random.getrandbits(20))))
    open("%s/%02d" % (sys.argv[1], i), "wb").write(data)
PY
check "40 damaged section tables and truncated files" timeout 300 "$replays/replay_plan" "$T"/made/*
check "the search survives them, too" timeout 300 "$replays/replay_find" "$T"/made/*

# Event logs and traces: a graph that agrees with itself and with its own log, or one line.
analysis=("$ROOT"/tests/fuzz/corpus-log/* "$ROOT"/tests/fuzz/corpus-trace/*)
check "the corpora of the analysis are small" [ "$(cat "${analysis[@]}" | wc -c)" -lt 100000 ]
check "the analysis survives its logs" timeout 300 "$replays/replay_log" "$ROOT"/tests/fuzz/corpus-log/*
check "and the logs of the tests" timeout 300 "$replays/replay_log" "$ROOT"/tests/data/*.log
check "the analysis survives its traces" timeout 300 "$replays/replay_trace" "$ROOT"/tests/fuzz/corpus-trace/*
check "and words of hostile processes" timeout 300 "$replays/replay_words" "$ROOT"/tests/fuzz/corpus-words/*
check "rings survive what processes write into them" timeout 300 "$replays/replay_shim" "$ROOT"/tests/fuzz/corpus-shim/*
check "settings are accepted or refused in one line" \
	timeout 300 "$replays/replay_policy" "$ROOT"/tests/fuzz/corpus-policy/*
check "requests are answered" timeout 300 "$replays/replay_api" "$ROOT"/tests/fuzz/corpus-api/*
if [ "$(id -u)" -eq 0 ]; then
	check "what users wrote of jobs is taken back as theirs" \
		timeout 300 "$replays/replay_adopt" "$ROOT"/tests/fuzz/corpus-adopt/*
else
	skip "what users wrote of jobs" "needs root, to be other users"
fi
bad=
for file in "${analysis[@]}"; do
	for option in "" --keep-going; do
		# shellcheck disable=SC2086
		"$B/grainctl" analyze "$file" $option --json >"$T/out" 2>"$T/err"
		case $? in
		0) python3 -m json.tool "$T/out" >/dev/null || bad+="$file: no JSON; " ;;
		1) [ "$(wc -l <"$T/err")" -eq 1 ] || bad+="$file: $(head -2 "$T/err"); " ;;
		*) bad+="$file: ended with $?; " ;;
		esac
	done
done
is "grainctl analyze gives JSON, or says in one line what is wrong with each" "$bad" ""
