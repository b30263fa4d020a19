#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Shadow stacks: the trial that shows what this kernel's probes do to them, and which files can be in processes that
# have one. What graind decides from that: tests/unit/graind/process/test_shadow_stack.c.
# usage: tests/root/attach/test_shadow_stack.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh" "$1"
. "$(dirname "$0")/../root_lib.sh"
cd "$T" || exit 1
if [ "$(uname -m)" != x86_64 ]; then
	skip "shadow stacks" "this is not an x86-64 machine"
	exit
fi

# Without shadow stacks, the rest of the trial is the same.
is "a call and a return of a child are probed, and it goes on" "$("$B/tests/tools/shadow_trial" plain)" \
	"calls 1 returns 1"
before=$(bpf_objects)
start_graind || exit 1
said=$(grep -c 'shadow stacks' "$T/graind.log")
if grep -qw user_shstk /proc/cpuinfo; then
	is "graind says once what this kernel does" "$said" 1
	if [ "$("$B/tests/tools/shadow_trial")" = "calls 1 returns 1" ]; then
		is "and it is the same as that of a trial" "$(grep -c 'keeps shadow stacks' "$T/graind.log")" 1
	else
		is "and it is the same as that of a trial" "$(grep -c 'does not keep shadow stacks' "$T/graind.log")" 1
	fi
else
	is "where there are none, none counts as kept" "$("$B/tests/tools/shadow_trial")" "calls 0 returns 0"
	is "and graind does not speak of them" "$said" 0
fi
stop_graind
wait_gone "nothing is left in the kernel" "$before"

# A runtime that is linked into a program has the mark of the program.
mark() { "$B/tests/tools/show_plan" "$1" >out 2>err && tail -n 1 out; }
echo 'int main(void) { int n = 0;
_Pragma("omp parallel")
_Pragma("omp atomic")
n++;
return !n; }' >program.c
gcc -fopenmp -static -fcf-protection=full -Wl,-z,shstk program.c -o marked 2>err || not_ok "marked" "$(cat err)"
gcc -fopenmp -static -fcf-protection=none program.c -o plain 2>err || not_ok "plain" "$(cat err)"
is "the plan of a file that is marked for shadow stacks says so" "$(mark marked)" "shadow-stack"
check "and only that" [ "$(mark plain)" != "shadow-stack" ]
check "which has a plan all the same" [ "$(grep -c . out)" -gt 20 ]
