#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What can be said of the sources without running them.
# usage: tests/lint.sh [BUILD_DIRECTORY]; needs a finished build for generated headers
cd "$(dirname "$0")/.." || exit 1
mkdir -p "${1:-build}"
. tests/lib.sh "${1:-build}"

# Everything that is or would be under version control.
if git rev-parse --git-dir >/dev/null 2>&1; then
	git ls-files -co --exclude-standard | while read -r f; do [ -e "$f" ] && echo "$f"; done
else
	find . -path ./build -prune -o -path ./.git -prune -o -type f -print | sed 's|^\./||'
fi | sort >"$T/files"
grep -E '\.[ch]$' "$T/files" | grep -v '^bpf/vmlinux\.h$' >"$T/c"
grep -E '\.sh$|^\.ci/' "$T/files" >"$T/sh"
# none NAME FILE: passes when FILE (of offending lines) is empty.
none() { if [ -s "$2" ]; then not_ok "$1" "$(head -20 "$2")"; else ok "$1"; fi; }

xargs clang-format --dry-run -Werror <"$T/c" >"$T/out" 2>&1
none "clang-format" "$T/out"

# gcc compiled everything already, clang has other warnings.
flags=$(make -s --no-print-directory B="$B" --eval 'lint-flags:; @echo $(CPPFLAGS) $(CFLAGS)' lint-flags)
omp_h=$(gcc -print-file-name=include)
mpi_h=$(for d in $(mpicc --showme:incdirs 2>/dev/null); do printf -- '-idirafter %s ' "$d"; done)
without=()
if [ -z "$mpi_h" ]; then
	skip "warnings of clang, programs of MPI" "no mpicc: make deps installs what is missing"
	without=(-e '^tests/root/programs/ranks\.c$')
fi
# shellcheck disable=SC2086
grep '\.c$' "$T/c" | grep -v -e '\.bpf\.c$' -e '^tests/omp/' "${without[@]}" |
	xargs -P "$(nproc)" -n 4 clang $flags $mpi_h -fsyntax-only >"$T/out" 2>&1
none "warnings of clang" "$T/out"
# Tasks in tasks shadow each other's variables by design; only gcc has OpenMP 5.1 and its header here.
# shellcheck disable=SC2086
grep '^tests/omp/.*\.c$' "$T/c" | xargs -P "$(nproc)" -n 4 clang $flags -Wno-shadow -Wno-unknown-pragmas \
	-Wno-source-uses-openmp -idirafter "$omp_h" -fsyntax-only >"$T/out" 2>&1
none "warnings of clang, observed programs" "$T/out"
while read -r f; do bash -n "$f" 2>&1; done <"$T/sh" >"$T/out"
none "shell syntax" "$T/out"
sed -n 's/^	@\(tests\/[^ ]*\).*/\1/p' Makefile ./*/*.mk ./*/*/*.mk | while read -r f; do
	[ -x "$f" ] || echo "Makefile runs $f, which is not executable"
done >"$T/out"
none "scripts that the Makefile runs" "$T/out"
grep '\.py$' "$T/files" | while read -r f; do
	python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read(), sys.argv[1])' "$f" 2>&1
done >"$T/out"
none "python syntax" "$T/out"
if command -v node >/dev/null; then
	node --check "$B/render/page.html.js" >"$T/out" 2>&1
	none "syntax of the page's scripts" "$T/out"
else
	skip "syntax of the page's scripts" "no node: make deps installs what is missing"
fi

python3 tests/runner/check_list.py <"$T/files" >"$T/out" 2>&1
none "tests/list has every test, tests/areas every file" "$T/out"
# A test of the gate waits for events (until_so). A sleep that only paces says so.
awk '!/^#/ && $5 == "gate" && $1 ~ /\.sh$/ { print "tests/" $1 }' tests/list |
	xargs grep -nE '^[[:space:]]*sleep [^&]*$|; sleep [0-9.$]+( *#.*)?$|seq [0-9]+\).*sleep' | grep -v '# pace: .' \
	>"$T/out"
none "tests of the gate wait for events, not for a length of time" "$T/out"
python3 tests/rooms.py "$B" >"$T/out" 2>&1
none "rooms include and call what tests/rooms.txt allows, one way only" "$T/out"
python3 tests/pages.py >"$T/out" 2>&1
none "what pages name is there" "$T/out"
grep -v '^tests/' "$T/c" | while read -r f; do
	[ "$f" = daemon/graind/recorder/ring_to_trace.c ] && continue
	if grep -qE '"bpf/abi/ring_abi\.h"|\bRING_[A-Z]+_' "$f" &&
		grep -qE '"analysis/trace/trace_format\.h"|\bTRACE_(TASK|WAIT|REGION|TEAM)_' "$f"; then
		echo "$f"
	fi
done >"$T/out"
none "one file converts the ring's events to the trace's" "$T/out"
grep -E '^(analysis|render|uprobes)/.*\.c$' "$T/c" |
	xargs grep -nE '\b(_?exit|abort|perror)\(|\bstderr\b|(^|[^a-z_])v?printf\(' |
	grep -vE ':[[:space:]]*(/\*|\*)' >"$T/out"
none "libraries neither print nor exit" "$T/out"

cut -d/ -f1 "$T/files" | sort -u | grep -vxE \
	'Makefile|bpf|daemon|uprobes|runtime-shim|analysis|render|tests|systemd|README\.md|LICENSE|\..*' >"$T/out"
none "the top level holds what was agreed" "$T/out"
grep -vE '^bpf/vmlinux\.h$|^LICENSE$|^tests/(data/|fuzz/corpus)|\.(svg|png|grt|log|ndjson|json|dot)$' \
	"$T/files" >"$T/texts"
xargs wc -l <"$T/texts" | awk '$2 != "total" && $1 > 800' >"$T/out"
none "no file over 800 lines" "$T/out"
while read -r f; do
	expand -t 8 "$f" | awk -v f="$f" 'length > 120 { print f ":" FNR ": " length " characters" }'
done <"$T/texts" >"$T/out"
none "no line over 120 characters" "$T/out"
awk 'END { if (NR > 200) print FILENAME ": " NR " lines" }' README.md >"$T/out"
none "README.md has at most 200 lines" "$T/out"
awk 'END { if (NR > 150) print FILENAME ": " NR " lines" }' Makefile >"$T/out"
none "the Makefile has at most 150 lines" "$T/out"
grep -E '\.(c|h|sh|py)$' "$T/files" | xargs grep -L 'SPDX-License-Identifier: ' | grep -v '^bpf/vmlinux\.h$' >"$T/out"
none "every source names its licence" "$T/out"

units=$(grep -E '^systemd/.*\.(service|socket|path|timer|slice)$' "$T/files")
if ! command -v systemd-analyze >/dev/null; then
	skip "systemd units" "no systemd-analyze"
elif [ -z "$units" ]; then
	not_ok "systemd units" "there is none in systemd/"
else
	# Not installed yet: a program that exists stands in for ours.
	for u in $units; do
		sed -E 's|^(Exec[A-Za-z]*=[-+!:@]*)/[^ ]*/grain[a-z]*|\1/bin/true|' "$u" >"$T/${u##*/}"
	done
	(cd "$T" && systemd-analyze verify --man=no $(for u in $units; do echo "./${u##*/}"; done)) >"$T/out" 2>&1
	# Units of the machine itself are not ours to judge.
	for u in $units; do echo "${u##*/}"; done >"$T/names"
	grep -F -f "$T/names" "$T/out" >"$T/ours"
	none "systemd-analyze verify is silent" "$T/ours"
fi
