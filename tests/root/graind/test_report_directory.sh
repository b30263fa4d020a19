#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# report-directory of graind.conf(5): a graind with only the capabilities of its unit has summaries of MPI and batch
# jobs written there as the jobs' user. Others' directories, links and wrong names lead nowhere.
# usage: tests/root/graind/test_report_directory.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
. "$(dirname "$0")/../root_lib.sh"
cd "$T" || exit 1
for_all_users
GRAINCTL=$T/public/grainctl
export GRAIND_CONFIG=$T/graind.conf OMP_NUM_THREADS=2 OMP_DYNAMIC=false OMP_WAIT_POLICY=passive
NOBODY=(setpriv --reuid=65534 --regid=65534 --clear-groups)
OTHER=(setpriv --reuid=64020 --regid=64020 --clear-groups)
mkdir -m 755 run "$GRAIND_STATE_DIR"
chown 64000 run "$GRAIND_STATE_DIR"
mkdir -m 1777 shared locked
mkdir -m 700 home
chown 65534:65534 home
export GRAIND_SOCKET=$T/run/graind.sock
cp "$B/tests/omp/fib" fib
HOST=$(hostname | tr -c 'A-Za-z0-9._\n-' _)
settings "report-directory = \"$T/shared\""
CAPS=+bpf,+perfmon,+sys_ptrace,+dac_read_search,+setuid,+setgid,+chown
# ProtectSystem=strict does the same. This does it for one directory.
unshare -m sh -c 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"' "$T/locked" \
	setpriv --reuid=64000 --regid=64000 --clear-groups --inh-caps="$CAPS" --ambient-caps="$CAPS" \
	--bounding-set="-all,$CAPS" --no-new-privs \
	"$T/public/graind" --foreground --state-dir "$GRAIND_STATE_DIR" --socket "$GRAIND_SOCKET" \
	>>"$T/graind.log" 2>&1 &
GRAIND_PID=$!
PIDS+=("$GRAIND_PID")
until_so "graind starts" eval '"$GRAINCTL" status >status'
check "grainctl status shows the directory" grep -qF "summaries of batch and MPI jobs go to $T/shared" status

# run NAME=VALUE...: runs nobody's program with that environment; leaves the job's number in J and its notes in NOTES
run()
{
	J=$("${NOBODY[@]}" env "$@" "$GRAINCTL" run -- ./fib 12 2>&1 >/dev/null | sed -n 's/^job //p')
	NOTES=$("$GRAINCTL" jobs --all --json |
		json "[n for j in d['jobs'] if j['job'] == ${J:-0} for n in j['notes'] if 'report-directory' in n]")
}
rank() { run OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1 "PMIX_NAMESPACE=$1"; }
what() { stat -c '%U %a' "$@" | paste -sd' '; }

# --- Open MPI, all of it as an unprivileged user --------------------------------------
if command -v mpirun >/dev/null && [ -x "$B/tests/root/programs/ranks" ]; then
	cp "$B/tests/root/programs/ranks" ranks
	(cd home && HOME=$T/home TMPDIR=$T/home OMPI_MCA_btl=self,vader OMPI_MCA_btl_vader_single_copy_mechanism=none \
		timeout "${PATIENCE:-120}" "${NOBODY[@]}" "$GRAINCTL" run -- \
			mpirun --oversubscribe -np 2 "$T/ranks" 10) >out 2>err
	is "mpirun of an unprivileged user" "$? $(grep -c 'job [0-9]*: process' err)" "0 2"
	made=(shared/mpi-*)
	is "its ranks' summaries are in one directory" \
		"${#made[@]} $(find shared -mindepth 2 -printf '%f\n' | sed 's/job[0-9]*/jobN/' | sort |
			paste -sd' ')" \
		"1 $HOST-rank0-jobN.json $HOST-rank1-jobN.json"
	is "which are the user's, for nobody else" "$(what "${made[0]}" "${made[0]}"/*)" \
		"nobody 700 nobody 600 nobody 600"
	"${NOBODY[@]}" "$GRAINCTL" merge "${made[0]}" --json >merged.json
	is "merged they are what the program counted" \
		"$(json '[(r["rank"], r["tasks"]) for r in d["merged"][0]["ranks"]], d["merged"][0]["missing"]' \
			<merged.json)" \
		"$(awk '$1 == "rank" { t[$2] = $4 } END { printf "([(0, %d), (1, %d)], [])\n", t[0], t[1] }' out)"
	is "no job says anything" \
		"$("$GRAINCTL" jobs --all --json |
			json '[n for j in d["jobs"] if j["mpi"] for n in j["notes"] if "report-directory" in n]')" "[]"
	rm -rf shared/mpi-*
else
	skip "ranks of an unprivileged user's mpirun" "no Open MPI: make deps installs it"
fi

# --- where it goes ---------------------------------------------------------------------
rank a.1
is "a file's name: host, rank, job" "$(find shared -type f) $NOTES" "shared/mpi-a.1/$HOST-rank0-job$J.json []"
is "it is the summary" "$(md5sum <"shared/mpi-a.1/$HOST-rank0-job$J.json")" \
	"$(md5sum <"$GRAIND_STATE_DIR/jobs/$J/summary.json")"
run A=1
is "a process of no batch or MPI job leaves nothing there" "$(find shared -type f | wc -l) $NOTES" "1 []"
rank ../../up
is "nor one whose launcher's name is a path" "$(find shared home -type f | wc -l) $NOTES" "1 []"
OMPI_COMM_WORLD_RANK=0 PMIX_NAMESPACE=a.1 "$GRAINCTL" run -- ./fib 12 >/dev/null 2>&1
is "nor root's" "$(find shared -type f | wc -l)" 1
rm -rf shared/mpi-*
settings "report-directory = \"$T/shared\"" "report-traces = true"
reload
rank a.6
is "with its trace, if that is wanted" "$(find shared -type f -printf '%f\n' | sort | paste -sd' ') $NOTES" \
	"$HOST-rank0-job$J.grt $HOST-rank0-job$J.json []"
is "which is whole, and the user's alone" \
	"$(md5sum <"shared/mpi-a.6/$HOST-rank0-job$J.grt") $(what "shared/mpi-a.6/$HOST-rank0-job$J.grt")" \
	"$(md5sum <"$GRAIND_STATE_DIR/jobs/$J/trace.grt") nobody 600"
check "and merge does not mind it" "$GRAINCTL" merge shared/mpi-a.6
rm -rf shared/mpi-*
settings "report-directory = \"$T/home/%u\""
reload
rank a.2
is "%u is the user" "$(find home -name '*.json') $NOTES" "home/nobody/mpi-a.2/$HOST-rank0-job$J.json []"
is "whose directory is made" "$(what home/nobody)" "nobody 700"

# --- where it cannot go ------------------------------------------------------------------
settings "report-directory = \"$T/home/no/where\""
reload
rank a.3
is "more than one directory is missing" \
	"$(grep -c "$T/home/no/where: No such file or directory; only the last" <<<"$NOTES")" 1
is "the job has its summary all the same" \
	"$("$GRAINCTL" jobs --all --json |
		json "[j['state'] for j in d['jobs'] if j['job'] == $J]") $(
		[ -s "$GRAIND_STATE_DIR/jobs/$J/summary.json" ] && echo there)" "['finished'] there"
settings "report-directory = \"$T/run\""
reload
rank a.4
is "where the user may not write" \
	"$(grep -c "mpi-a.4: Permission denied; the user has to" <<<"$NOTES") $(find run -name 'mpi*' | wc -l)" "1 0"
settings "report-directory = \"$T/locked/reports\""
reload
rank a.5
is "where the service may not, and what to do" \
	"$(grep -c "locked/reports: Read-only file system; if graind is run by systemd, name it in ReadWritePaths=" \
		<<<"$NOTES") $(ls locked)" "1 "
settings "report-directory = \"relative\""
reload
check "a relative path is refused" grep -q 'graind.conf:1: report-directory is a path that begins with /' graind.log
settings "report-directory = \"$T/shared\""
reload

# --- what others have put there ------------------------------------------------------------
"${OTHER[@]}" mkdir -m 777 shared/mpi-b.1
rank b.1
is "another user's directory" \
	"$(grep -c 'mpi-b.1: it is not the user.s own' <<<"$NOTES") $(find shared/mpi-b.1 -type f | wc -l)" "1 0"
"${NOBODY[@]}" mkdir -m 700 home/target
"${OTHER[@]}" ln -s "$T/home/target" shared/mpi-b.2
rank b.2
is "a link to a directory of the user's" "${#NOTES} $(find home/target -type f | wc -l)" "${#NOTES} 0"
check "which is said" test "${#NOTES}" -gt 40
"${NOBODY[@]}" mkdir -m 777 shared/mpi-b.3
"${NOBODY[@]}" chmod 777 shared/mpi-b.3
rank b.3
is "one where everybody may write" \
	"$(grep -c 'others may write there' <<<"$NOTES") $(find shared/mpi-b.3 -type f | wc -l)" "1 0"
"${OTHER[@]}" touch shared/mpi-b.4
rank b.4
is "a file" "$(grep -c 'mpi-b.4: Not a directory' <<<"$NOTES")" 1
# The user's own links. The files that they lead to do not change.
"${NOBODY[@]}" mkdir -m 700 shared/mpi-b.5
echo precious >home/file
chown 65534 home/file
next="$HOST-rank0-job$((J + 1)).json"
"${NOBODY[@]}" ln -s "$T/home/file" "shared/mpi-b.5/$next"
"${NOBODY[@]}" ln -s "$T/home/file" "shared/mpi-b.5/.$next.new"
rank b.5
is "links in the user's directory are not followed" "$(cat home/file) $(stat -c %F "shared/mpi-b.5/$next") $NOTES" \
	"precious regular file []"

# --- a batch job -----------------------------------------------------------------------------
G=$(find /sys/fs/cgroup -maxdepth 1 -name freezer)
[ -n "$G" ] || G=/sys/fs/cgroup
# No other test has this one.
SLURM=slurm_$$
if mkdir -p "$G/$SLURM/uid_65534/job_4711/step_0" 2>/dev/null; then
	sh -c 'echo $$ >"$0/uid_65534/job_4711/step_0/cgroup.procs" && shift 0 && exec "$@"' "$G/$SLURM" \
		"${NOBODY[@]}" env SLURM_PROCID=3 SLURM_NTASKS=4 "$GRAINCTL" run -- ./fib 12 >/dev/null 2>err
	J=$(sed -n 's/^job //p' err)
	is "a step of Slurm" "$(find shared/slurm-4711 -type f)" "shared/slurm-4711/$HOST-rank3-job$J.json"
	is "merge by the batch job" \
		"$("$GRAINCTL" merge --batch slurm:4711 --json |
			json 'd["merged"][0]["cluster_job"], d["merged"][0]["size"], d["merged"][0]["missing"]')" \
		"('slurm:4711', 4, [[0, 2]])"
	is "merge by its directory" \
		"$("$GRAINCTL" merge shared/slurm-4711 --json |
			json 'd["merged"][0]["cluster_job"], d["merged"][0]["size"], d["merged"][0]["missing"]')" \
		"('slurm:4711', 4, [[0, 2]])"
	until_so "the cgroup of the step is empty" rmdir "$G/$SLURM/uid_65534/job_4711/step_0"
	rmdir "$G/$SLURM/uid_65534/job_4711" "$G/$SLURM/uid_65534" "$G/$SLURM"
	mkdir -p "$G/pbs.service/jobid/93.head"
	sh -c 'echo $$ >"$0/pbs.service/jobid/93.head/cgroup.procs" && shift 0 && exec "$@"' "$G" \
		"${NOBODY[@]}" "$GRAINCTL" run -- ./fib 12 >/dev/null 2>err
	J=$(sed -n 's/^job //p' err)
	is "a job of PBS" "$(find shared/pbs-93.head -type f)" "shared/pbs-93.head/$HOST-job$J.json"
	until_so "the cgroup of the job is empty" eval \
		'cd "$G" && { rmdir -p pbs.service/jobid/93.head; ! [ -e pbs.service/jobid/93.head ]; }'
else
	skip "a job of Slurm by its cgroup" "cgroups cannot be made here"
fi

stop_graind
is "graind ends cleanly" "$GRAIND_STATUS" 0
