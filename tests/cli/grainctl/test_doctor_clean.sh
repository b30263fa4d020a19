#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# grainctl doctor PID says nothing of processes whose settings are right, and does not take long. It looks at who has
# the CPUs.
. "$(dirname "$0")/../../lib.sh"
. "$ROOT/tests/cli/grainctl/doctor_lib.sh"
clean() { is "nothing is wrong: $1" "$(asked)" ""; finish; }

begin env OMP_NUM_THREADS="$n" ./busy
start=$(date +%s%N)
"$ctl" doctor "$pid" >text
took=$((($(date +%s%N) - start) / 1000000))
check "it ends within two seconds ($took ms)" [ "$took" -le 2000 ]
finish
for i in 1 2 3; do
	begin env OMP_NUM_THREADS="$n" ./busy
	clean "a thread for each CPU, $i"
	begin env OMP_NUM_THREADS="$n" OMP_PROC_BIND=true ./busy
	clean "the same, bound, $i"
	begin env OMP_NUM_THREADS=1 ./busy
	clean "one thread, $i"
	begin env OMP_NUM_THREADS="$n" ./busy i
	clean "a pool that waits, $i"
	begin ./busy s
	clean "a serial program, $i"
done
