#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Open MPI on two nodes that share a file system, with a graind on each. The ranks' summaries are written to one
# directory. Merged, they give what the program counted. The nodes are UTS namespaces. Open MPI starts its daemon on
# the other node.
# usage: tests/root/fleet/test_ranks_nodes.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
if ! command -v mpirun >/dev/null || [ ! -x "$B/tests/root/programs/ranks" ]; then
	skip "ranks on two nodes" "no Open MPI: make deps installs it"
	exit 0
fi
cd "$T" || exit 1
chmod 755 "$T"
export GRAIND_CONFIG=$T/graind.conf OMP_NUM_THREADS=2 OMP_DYNAMIC=false OMP_WAIT_POLICY=passive
NOBODY=(setpriv --reuid=65534 --regid=65534 --clear-groups)
echo "report-directory = \"$T/shared/%u\"" >graind.conf
mkdir -m 1777 shared
mkdir -m 700 home
chown 65534:65534 home
mkfifo far
chown 65534 far
cp "$B/tests/root/programs/ranks" ranks

declare -A node
for n in n1 n2; do
	unshare -u sh -c 'hostname "$1" && exec sleep 1000' - "$n" &
	node[$n]=$!
	PIDS+=("$!")
done
for i in $(seq 2400); do
	[ "$(nsenter -t "${node[n2]}" -u hostname 2>/dev/null)" = n2 ] &&
		[ "$(nsenter -t "${node[n1]}" -u hostname)" = n1 ] && break
	sleep 0.05
done
on() { nsenter -t "${node[$1]}" -u "${@:2}"; }
is "two nodes" "$(on n1 hostname) $(on n2 hostname)" "n1 n2"
for n in n1 n2; do
	mkdir "state-$n"
	# This does not use the function, because the process that the test ends must be graind.
	nsenter -t "${node[$n]}" -u "$B/graind" --foreground --state-dir "$T/state-$n" \
		--socket "$T/$n.sock" >>"$n.log" 2>&1 &
	PIDS+=("$!")
	for i in $(seq 2400); do "$GRAINCTL" --socket "$T/$n.sock" status >/dev/null 2>&1 && break; sleep 0.05; done
done

# What mpirun asks the other node to run: HOST COMMAND...
printf '#!/bin/sh\n[ "$1" = n2 ] || exit 1\nshift\necho "$*" >%s/far\n' "$T" >agent
chmod 755 agent
exec 7<>far
while read -r command <&7; do
	HOME=$T/home TMPDIR=$T/home on n2 "${NOBODY[@]}" sh -c "$command" 7<&- &
done >far.log 2>&1 &
PIDS+=("$!")
(cd home && HOME=$T/home TMPDIR=$T/home on n1 timeout 100 "${NOBODY[@]}" mpirun --mca plm_rsh_agent "$T/agent" \
	--mca btl self,vader,tcp --mca btl_vader_single_copy_mechanism none --mca btl_tcp_if_include lo \
	--mca oob_tcp_if_include lo --host n1:2,n2:1 -np 3 "$T/ranks" 20 "$T/go") >out 2>err 7<&- &
program=$!
PIDS+=("$program")
for i in $(seq 1200); do
	mapfile -t pids < <(pgrep -u 65534 -f "^$T/ranks 20")
	[ "${#pids[@]}" -eq 3 ] && break
	sleep 0.1
done
is "three ranks" "${#pids[@]}" 3
# In MPI_Init threads come and go.
sleep 1
said=
for pid in "${pids[@]}"; do
	rank=$(tr '\0' '\n' <"/proc/$pid/environ" | sed -n 's/^OMPI_COMM_WORLD_RANK=//p')
	n=n$((rank / 2 + 1))
	said+=$("$GRAINCTL" --socket "$T/$n.sock" --state-dir "$T/state-$n" attach "$pid" 2>&1 |
		sed 's/^job [0-9]*$/attached /')
done
is "each is attached to by the graind of its node" "$said" "attached attached attached "
touch go
wait "$program"
is "mpirun ends well" "$? $(grep -c '^rank' out)" "0 3"
for i in $(seq 1200); do [ "$(find shared -name '*.json' | wc -l)" -eq 3 ] && break; sleep 0.1; done
directory=$(find shared/nobody -mindepth 1 -maxdepth 1)
is "one directory" "$(wc -l <<<"$directory") $(grep -c '^shared/nobody/mpi-[0-9]*$' <<<"$directory")" "1 1"
is "with the summaries of both nodes" \
	"$(find "$directory" -type f -printf '%f\n' | sed 's/job[0-9]*/jobN/' | sort | paste -sd' ')" \
	"n1-rank0-jobN.json n1-rank1-jobN.json n2-rank2-jobN.json"
"${NOBODY[@]}" "$GRAINCTL" merge "$directory" --json >merged.json 2>err
is "merged without a word by its user" "$? $(cat err)" "0 "
is "each rank, where it was, its tasks, and their sum" \
	"$(json '(" ".join("%d:%s:%d" % (r["rank"], r["host"], r["tasks"]) for r in d["merged"][0]["ranks"])
		+ " %d" % d["merged"][0]["totals"]["tasks"])' <merged.json)" \
	"$(awk '$1 == "rank" { t[$2] = $4 } $1 == "all" { a = $2 }
		END { printf "0:n1:%d 1:n1:%d 2:n2:%d %d\n", t[0], t[1], t[2], a }' out)"
is "on two nodes, none is missing" \
	"$(json 'd["merged"][0]["hosts"], d["merged"][0]["size"], d["merged"][0]["missing"]' <merged.json)" "(2, 3, [])"
check "the slowest is named, with its node" \
	grep -qE '^The slowest is rank 2 \(job [0-9]+ on n2\)' <("$GRAINCTL" merge "$directory")
check "one node alone lacks a rank" grep -q '^Missing: rank 2: ' <("$GRAINCTL" merge "$directory"/n1-*)
