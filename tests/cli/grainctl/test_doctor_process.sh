#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# grainctl doctor PID: wrong settings of processes that run, each with its cure. Clean ones: test_doctor_clean.sh.
. "$(dirname "$0")/../../lib.sh"
. "$ROOT/tests/cli/grainctl/doctor_lib.sh"
cat >omp.c <<'C'
void inner(void)
{
#pragma omp parallel
	for (volatile long i = 0; i < 3000000; i++)
		;
}
C
# A library with that name has threads of its own.
cat >pool.c <<'C'
#include <pthread.h>
#include <unistd.h>
static void *work(void *arg)
{
	for (;;)
		;
	return arg;
}
void inner(void)
{
	static int begun;
	pthread_t thread;
	for (; begun < sysconf(_SC_NPROCESSORS_ONLN); begun++)
		pthread_create(&thread, 0, work, 0);
}
C
gcc -O1 -shared -fPIC pool.c -o libopenblasp-r0.3.21.so -lpthread &&
	gcc -O1 -fopenmp -DINNER busy.c -o with_pool ./libopenblasp-r0.3.21.so || exit 1

# found NAME LINE: doctor says this among what it finds. What the others on this machine do may hide it.
says() { asked | grep -xF "$1"; }
found()
{
	until_so "$1" says "$2" && ok "$1"
	finish
}

begin env OMP_NUM_THREADS=$((4 * n)) ./busy
"$ctl" doctor "$pid" >text 2>err
is "doctor PID succeeds" "$? $(cat err)" "0 "
# told TEXT COMMAND...: whether the command says this of $pid; it is in the file `text`
told() { "${@:2}" doctor "$pid" >text 2>err && grep "$1" text; }
until_so "the text says what is wrong" told "^wrong    $((4 * n)) threads, but" "$ctl"
check "the text says what is wrong" grep -q "^wrong    $((4 * n)) threads, but" text
check "and the cure" grep -qx " *-> OMP_NUM_THREADS=$n" text
COLUMNS=80 "$ctl" doctor "$pid" >text
is "it fits 80 columns" "$(awk 'length > 80' text)" ""
found "more threads than CPUs" "threads_over_cpus: OMP_NUM_THREADS=$n"
begin env OMP_NUM_THREADS=2 taskset -c "$first" ./busy
found "taskset to one CPU" "bound_to_few_cpus: taskset -apc $cpus $pid"
begin env OMP_NUM_THREADS=2 OMP_PLACES="{$first}" ./busy
found "one place" "bound_to_few_cpus: OMP_PLACES=cores"
begin env OMP_NUM_THREADS=2 GOMP_CPU_AFFINITY="$first" ./busy
found "GOMP_CPU_AFFINITY with one CPU" "bound_to_few_cpus: GOMP_CPU_AFFINITY=$cpus"
begin env OMP_NUM_THREADS=2 OMP_PLACES=threads OMP_PROC_BIND=master ./busy
found "all in the first thread's place" "bound_to_few_cpus: OMP_PLACES=cores"
for setting in GOMP_SPINCOUNT=infinity OMP_WAIT_POLICY=active; do
	for _ in $(seq "$n"); do begin ./busy s; done
	begin env OMP_NUM_THREADS="$n" $setting ./busy
	cure=${setting%%=*}=$([ "${setting%%=*}" = GOMP_SPINCOUNT ] && echo 0 || echo passive)
	found "$setting beside busy loops" "spinning_waits: $cure"
done
begin env OMP_NUM_THREADS=1 taskset -c "$first" ./busy
begin env OMP_NUM_THREADS=1 taskset -c "$first" ./busy
if [ "$n" = 2 ]; then
	found "two jobs on one CPU" "pinned_together: taskset -apc ${cpus##*[-,]} $pid"
else
	pinned() { asked | grep "^pinned_together: taskset -apc"; }
	until_so "two jobs on one CPU" pinned && ok "two jobs on one CPU"
	finish
fi
begin env OMP_NUM_THREADS="$n,2" OMP_MAX_ACTIVE_LEVELS=2 ./busy n
found "nested teams" "nested_teams: OMP_MAX_ACTIVE_LEVELS=1"
begin env OMP_NUM_THREADS="$n" ./with_pool
found "a library's pool beside OpenMP" "library_pool: OPENBLAS_NUM_THREADS=1"
begin env OMP_NUM_THREADS="$n" ./busy
begin env OMP_NUM_THREADS="$n" ./busy
found "two processes with a team for all CPUs" "processes_times_threads: OMP_NUM_THREADS=$((n / 2))"
if command -v clang >/dev/null && clang -O1 -fopenmp -shared -fPIC omp.c -o libinner.so 2>/dev/null &&
	gcc -O1 -fopenmp -DINNER busy.c -o two ./libinner.so 2>/dev/null; then
	begin env OMP_NUM_THREADS="$n" ./two
	found "libgomp and libomp" "two_runtimes: OMP_WAIT_POLICY=passive"
else
	skip "libgomp and libomp" "clang has no libomp here"
fi

# A quota, where cgroups can be made here.
for mount in $(awk '$3 ~ /^cgroup/ { print $2 }' /proc/mounts); do
	group=$mount/graind-test-$$
	mkdir "$group" 2>/dev/null || continue
	if { [ -e "$group/cpu.max" ] && echo "100000 100000" >"$group/cpu.max" ||
		{ [ -e "$group/cpu.cfs_quota_us" ] && echo 100000 >"$group/cpu.cfs_quota_us"; }; } 2>/dev/null; then
		begin env OMP_NUM_THREADS=2 bash -c "echo \$\$ >$group/cgroup.procs && exec ./busy"
		found "a quota of one CPU" "threads_over_quota: OMP_NUM_THREADS=1"
		quota=yes
	fi
	is_empty() { [ ! -s "$group/cgroup.procs" ]; }
	until_so "the group is empty" is_empty
	rmdir "$group"
	[ -n "${quota-}" ] && break
done
[ -n "${quota-}" ] || skip "a quota of one CPU" "no cgroup can be made here"

sleep 1000 & pid=$!
PIDS+=($pid)
is "nothing is wrong: a program without OpenMP" "$(asked)" ""
finish

if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 755 "$T" && cp "$ctl" "$ctl-full" "$T" && chmod 755 "$T"/grainctl*
	begin env OMP_NUM_THREADS=$((4 * n)) ./busy
	as_nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups "$T/grainctl")
	until_so "what can be seen is right" told "OMP_NUM_THREADS=$n" "${as_nobody[@]}"
	"${as_nobody[@]}" doctor "$pid" >/dev/null 2>err
	is "another user's process can be asked for" "$? $(cat err)" "0 "
	check "what cannot be seen is said" grep -q "^unseen   its environment and its libraries" text
	check "what can be seen is right" grep -q "OMP_NUM_THREADS=$n" text
	finish
else
	skip "another user's process can be asked for" "no setpriv to drop root's rights with"
fi
"$ctl" doctor 4194305 >out 2>err
is "a process that is not there" "$? $(cat err)" "1 grainctl: doctor: there is no process 4194305"
