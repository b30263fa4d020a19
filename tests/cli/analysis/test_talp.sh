#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The account as TALP of DLB writes it: its keys in its order, and its formulas (pop metrics, hybrid model).
# usage: tests/cli/analysis/test_talp.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
ctl="$B/grainctl"
export GRAIND_SOCKET="$T/none.sock" GRAIND_STATE_DIR="$T/state"
cd "$T" || exit 1
# Two members, one of which works for 100 us, the other for 60 us; 500 us before it and 400 after it are serial.
cat >serial.log <<'LOG'
grain-log 1
@process pid=1 uid=0 exe=/a cmd=a runtime=libgomp threads=2
@source 1 file=a"b.c line=10 func=main kind=parallel
0 1 0 thread-begin
500000 1 0 region-begin region=1 src=1 threads=2
500000 1 0 member-begin region=1 num=0
500000 2 1 member-begin region=1 num=1
560000 2 1 wait-begin kind=barrier-implicit
600000 1 0 wait-begin kind=barrier-implicit
600000 1 0 wait-end kind=barrier-implicit
600000 2 1 wait-end kind=barrier-implicit
600000 1 0 member-end region=1 num=0
600000 2 1 member-end region=1 num=1
600000 1 0 region-end region=1
1000000 1 0 thread-end
LOG
cat >check.py <<'PY'
import datetime, json, sys
KEYS = """numCpus numMpiRanks numNodes avgCpus cycles instructions numMeasurements numMpiCalls numOmpParallels
numOmpTasks elapsedTime usefulTime mpiTime ompLoadImbalanceTime ompSchedulingTime ompSerializationTime usefulNormdApp
mpiNormdApp maxUsefulNormdProc maxUsefulNormdNode mpiNormdOfMaxUseful parallelEfficiency mpiParallelEfficiency
mpiCommunicationEfficiency mpiLoadBalance mpiLoadBalanceIn mpiLoadBalanceOut ompParallelEfficiency ompLoadBalance
ompSchedulingEfficiency ompSerializationEfficiency""".split()


def unique(pairs):
    assert len(dict(pairs)) == len(pairs), pairs
    return dict(pairs)


whole = json.load(open(sys.argv[1]), object_pairs_hook=unique)
assert list(whole) == ["dlbVersion", "dlbGitVersion", "timestamp", "resources", "popMetrics"], list(whole)
assert list(whole["resources"]) == ["numCpus", "numNodes", "numMpiRanks"]
assert whole["dlbVersion"] == "3.5"
datetime.datetime.strptime(whole["timestamp"], "%Y-%m-%dT%H:%M:%SZ")
assert list(whole["popMetrics"])[0] == "Global"
for name, r in whole["popMetrics"].items():
    assert list(r) == KEYS, list(r)
    useful, imbalance, scheduling, serialization = (
        r[k] for k in ("usefulTime", "ompLoadImbalanceTime", "ompSchedulingTime", "ompSerializationTime"))
    active = useful + imbalance + scheduling + serialization
    for key, part, of in (("parallelEfficiency", useful, active), ("ompParallelEfficiency", useful, active),
                          ("ompLoadBalance", useful + serialization, active - scheduling),
                          ("ompSchedulingEfficiency", active - scheduling, active),
                          ("ompSerializationEfficiency", useful, useful + serialization)):
        assert abs(r[key] - (part / of if of else 0)) < 1e-6, (name, key, r)
    assert active <= r["numCpus"] * r["elapsedTime"] * 1.001 + 1, (name, r)
PY
"$ctl" export serial.log --format talp -o out.json 2>err
is "the export succeeds" "$? $(cat err)" "0 "
is "keys and formulas are DLB's" "$(/usr/bin/python3 check.py out.json 2>&1)" ""
is "what DLB measures of it" \
	"$(json '{k: [r[m] for m in ("numCpus", "numOmpParallels", "elapsedTime", "usefulTime", "ompLoadImbalanceTime",
		"ompSchedulingTime", "ompSerializationTime")] for k, r in d["popMetrics"].items()}' <out.json)" \
	"{'Global': [2, 1, 1000000, 1060000, 40000, 0, 900000], 'a\"b.c:10 main': [2, 1, 100000, 160000, 40000, 0, 0]}"
is "its efficiencies" \
	"$(json '[round(d["popMetrics"]["Global"][k], 4) for k in ("parallelEfficiency", "ompLoadBalance",
		"ompSchedulingEfficiency", "ompSerializationEfficiency")]' <out.json)" "[0.53, 0.98, 1, 0.5408]"
wrong=
for file in "$ROOT"/tests/data/*.log "$ROOT"/tests/fuzz/corpus-log/*; do
	"$ctl" export "$file" --keep-going --format talp -o out.json 2>/dev/null || continue
	/usr/bin/python3 check.py out.json >err 2>&1 || wrong+=" $(basename "$file"): $(tail -1 err)"
done
is "all logs at hand" "$wrong" ""
sed '/^@process/a @capture times=derived' serial.log >derived.log
"$ctl" export derived.log --format talp -o none.json 2>err
is "without an account: one line that says why, no file" \
	"$? $(wc -l <err) $(grep -c 'no account: only durations' err) $(ls none.json 2>/dev/null)" "1 1 1 "
"$ctl" export serial.log --format talp >out 2>err
is "without -o it gets a name" "$? $(cat out) $(ls serial.talp.json)" "0 serial.talp.json serial.talp.json"
