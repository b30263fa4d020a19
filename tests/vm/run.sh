#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Runs the tests that guests.sh lists in real guests; each check is a line that begins with the guest and the test.
# Ends with "N passed, N failed, N skipped". A guest that cannot be built or booted, or that does not end by
# itself, is a failed check.
# usage: tests/vm/run.sh BUILD_DIRECTORY [--short] [GUEST...]
# --short: the few tests that `make check` has
set -u
B=${1:?usage: tests/vm/run.sh BUILD_DIRECTORY [--short] [GUEST...]}
shift
HERE=$(cd "$(dirname "$0")" && pwd)
. "$HERE/guests.sh"
short=
[ "${1:-}" = --short ] && short=1 && shift
[ $# -gt 0 ] || set -- "${GUESTS[@]}"
export B HERE short said
mkdir -p "$B/vm"
said=$(mktemp -d "$B/vm/.said.XXXXXX")
trap 'rm -rf "$said"' EXIT

# show GUEST TEST: what it said, and what is wrong with that it said so little
show()
{
	local base=$B/vm/$1/out/${2//\//_} label="$1 ${2%.sh}" status=absent seconds=0
	[ -e "$base.status" ] && read -r status seconds <"$base.status"
	echo "= $label: $seconds s"
	sed -nE "s,^(ok|not ok|skip) - ,&$label: ,p; /^# /p" "$base.out" 2>/dev/null >"$said/$1.test"
	cat "$said/$1.test"
	if ! grep -qE '^(ok|not ok|skip) - ' "$said/$1.test"; then
		echo "not ok - $label: checked nothing (status $status)"
	elif [ "$status" != 0 ] && ! grep -q '^not ok - ' "$said/$1.test"; then
		echo "not ok - $label: ended with status $status"
		tail -n 5 "$base.out" | sed 's/^/# /'
	fi
}

run_guest()
{
	local name=$1 test start=$SECONDS why
	. "$HERE/guests.sh"
	guest "$name" || { echo "not ok - $name: there is no such guest"; return; }
	[ "$short" ] && TESTS=("${SHORT_TESTS[@]}")
	if why=$("$HERE/boot.sh" "$B" "$name" "${TESTS[@]}" 2>&1); then
		echo "ok - $name: booted and ended by itself, $(cut -d' ' -f1 "$B/vm/$name/out/uptime") s of its own"
	else
		echo "not ok - $name: could not be built, or did not end by itself"
		sed 's/^/# /' <<<"$why"
	fi
	for test in "${TESTS[@]}"; do show "$name" "$test"; done
	echo "= $name: $((SECONDS - start)) s"
}

export -f run_guest show
# Five at a time, shown in their order: with perf-event uprobes a guest waits for its kernel half of the time.
for name; do
	printf '%s\0' "$name"
done | xargs -0 -n 1 -P 5 bash -c 'run_guest "$1" >"$said/$1.part" 2>&1; mv "$said/$1.part" "$said/$1.all"' bash &
for name; do
	until [ -e "$said/$name.all" ]; do sleep 0.2; done
	cat "$said/$name.all"
done | tee "$said/all"
wait
count() { grep -c "^$1 - " "$said/all"; }
passed=$(count ok) failed=$(count 'not ok') skipped=$(count skip)
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
