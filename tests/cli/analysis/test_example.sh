#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The example program uses the analysis library alone, and says what is true; the headers work from C and C++.
. "$(dirname "$0")/../../lib.sh"
cd "$ROOT" || exit 1
example="$B/tests/example/grains"

is "it includes the public headers and C's own only" \
	"$(grep -h '^#include' tests/example/*.c |
		grep -vxE '#include ("analysis/include/grain[a-z_]*\.h"|<(inttypes|math|stdio|stdlib|string)\.h>)')" ""
for header in analysis/include/grain*.h; do
	printf '#include "%s"\n' "$header" >"$T/one.c"
	check "$header: by itself in strict C" gcc -std=c11 -pedantic -Wall -Wextra -Werror -I. -fsyntax-only "$T/one.c"
done
printf '#include "%s"\n' analysis/include/grain*.h >"$T/all.cc"
echo 'extern "C" int main() { return grain_graph__load("", nullptr, nullptr, nullptr); }' >>"$T/all.cc"
check "all headers in C++" g++ -std=c++11 -pedantic -Wall -Wextra -Werror -I. -fsyntax-only "$T/all.cc"
g++ -std=c++11 -I. -c -o "$T/all.o" "$T/all.cc"
check "what C++ calls has C's names" grep -q ' U grain_graph__load$' <(nm "$T/all.o")

fib() { "$example" tests/data/fib_two_threads.log; }
says() { check "$1" grep -qxF -- "$3" "$2"; }
fib >"$T/fib"
is "it succeeds" $? 0
says "fib: totals" "$T/fib" "fib 2: 3 tasks and 0 chunks on 2 threads in 650 ns"
# 100 before the only root task, 10 + 20 + 10 and 30 + 10 of it, 200 of its second child, 20 at the end are the span;
# beside them 100 of the first child, 10 and 20 of the two members.
says "fib: work and span" "$T/fib" "work 510 ns, span 360 ns, 0 grains incomplete"
is "fib: the grains, the longest first" \
	"$(sed -n '/^most/,/^$/s/.*ns  fib.c:8  *\(0[^,]*\),.*/\1/p' "$T/fib" | tr '\n' ' ')" \
	"0.p0.s0.0.1 0.p0.s0.0.0 0.p0.s0.0 "
# 200 / (30 + 90 / 2); the parent waits 190 of which its first child runs 100.
says "fib: the longest" "$T/fib" "     200 ns  fib.c:8              0.p0.s0.0.1, parallel benefit 2.67, critical"
says "fib: what cannot be had" "$T/fib" "work_deviation: absent, no single-thread run to compare with"
# 120 of the critical 240 ns of tasks go.
says "fib: what if" "$T/fib" "fib.c:8 ran 2 times as fast: span 240 ns, at least 240 ns instead of 360"
says "fib: creations" "$T/fib" "3 forks, 120 ns"
says "fib: the walk finds the work" "$T/fib" "11 fragments, 510 ns"
says "fib: the walk finds the span" "$T/fib" "360 ns of the fragments are on the critical path"
check "fib: advice" grep -q '^little_parallelism at fib.c:20 saves up to [0-9]* ns$' "$T/fib"

"$example" tests/data/constructs_two_threads.log >"$T/constructs"
is "constructs: ten grains, the longest first" \
	"$(sed -n '/^most/,/^$/s/^ *\([0-9]*\) ns .*/\1/p' "$T/constructs" | tr '\n' ' ')" \
	"110 100 97 95 89 80 68 67 60 50 "
says "constructs: bounds of a chunk" "$T/constructs" \
	"     100 ns  a.c:40               0.p0/l0[70,79], parallel benefit 13.33, critical"

"$example" "$T/none" >"$T/out" 2>"$T/err"
is "no such file: one line says so" "$? $(wc -l <"$T/err") $(wc -c <"$T/out") $(grep -c none "$T/err")" "1 1 0 1"
"$example" >"$T/out" 2>&1
is "no file: usage" "$? $(grep -c usage "$T/out")" "2 1"
