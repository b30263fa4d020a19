#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Every verb and every option is told by --help, by help VERB, by the manual and by the completion for bash (which that
# for zsh uses).
# usage: tests/cli/grainctl/test_help.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"
ctl="$B/grainctl"
export GRAIND_SOCKET="$T/none.sock" GRAIND_STATE_DIR="$T/state"
man=$ROOT/systemd/man/grainctl.1
PATH=$B:$PATH
# shellcheck source=systemd/completion/grainctl
. "$ROOT/systemd/completion/grainctl"

# offers WORD... : what the completion has for the last of these.
offers()
{
	COMP_WORDS=(grainctl "$@") COMP_CWORD=$# COMPREPLY=()
	_grainctl 2>/dev/null
	printf '%s\n' "${COMPREPLY[@]}"
}
long() { grep -oE -- '(^ {2,}|, )--[a-z][a-z-]*' "$1" | grep -oE -- '--[a-z-]+' | sort -u; }
"$ctl" --help >"$T/help"
is "help is --help" "$("$ctl" help)" "$(cat "$T/help")"
verbs=$(sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p' "$T/help")
check "there are verbs" test "$(wc -w <<<"$verbs")" -gt 12
{ offers ""; offers --; } >"$T/offered"
for option in $(long "$T/help" | grep -v -e '--usage'); do
	check "$option is in the manual" grep -qE -- "Fl -${option#--}( |$)" "$man"
	check "$option is completed" grep -qE -- "^$option(=|$)" "$T/offered"
done
for verb in $verbs; do
	check "$verb is in the manual" grep -q "^\.It Cm $verb\b" "$man"
	check "$verb is completed" grep -qx "$verb" "$T/offered"
	[ "$verb" = help ] && continue
	"$ctl" "$verb" --help >"$T/verb"
	is "help $verb is $verb --help" "$("$ctl" help "$verb")" "$(cat "$T/verb")"
	check "help $verb has an example" grep -q '^Example' "$T/verb"
	offers "$verb" -- >"$T/offers"
	missing='' unsaid=''
	for option in $(long "$T/verb" | grep -v -e '--usage' -e '--color'); do
		[ "$option" = --help ] || grep -qE -- "Fl -${option#--}( |$)" "$man" || missing+=" $option"
		grep -qE -- "^$option(=|$)" "$T/offers" || unsaid+=" $option"
	done
	is "$verb: the manual has every option" "$missing" ""
	is "$verb: every option is completed" "$unsaid" ""
	# Nor is anything offered that is not there.
	extra=''
	for option in $(grep -oE -- '^--[a-z-]+' "$T/offers" | sort -u); do
		grep -qE -- "(^|[ ,])$option\b" "$T/verb" || extra+=" $option"
	done
	is "$verb: nothing else is offered" "$extra" ""
done
is "run: after its options a command" \
	"$(offers run --fast --sample=99 gra | sort -u | grep -x grainctl) $(
		offers run -- gra | grep -x grainctl) $(offers run grainctl --fa)" "grainctl grainctl "
"$ctl" help nothing 2>"$T/err"; is "help of no verb" "$? $(wc -l <"$T/err")" "2 1"
"$ctl" help jobs top 2>"$T/err"; is "help of two" "$? $(wc -l <"$T/err")" "2 1"
# The other programs.
"$B/graind" --help >"$T/graind"
missing=''
for option in $(long "$T/graind" | grep -v -e '--usage' -e '--help'); do
	grep -qE -- "Fl -${option#--}( |$)" "$ROOT/systemd/man/graind.8" || missing+=" $option"
done
is "graind(8) has every option of graind" "$missing" ""
for page in "$ROOT"/systemd/man/*; do
	if command -v mandoc >/dev/null; then
		is "${page##*/} is sound" "$(mandoc -T lint -W warning "$page" 2>&1)" ""
	elif command -v groff >/dev/null; then
		is "${page##*/} is sound" "$(groff -mdoc -Tascii -ww "$page" 2>&1 >/dev/null)" ""
	else
		skip "${page##*/} is sound" "neither mandoc nor groff"
	fi
done

# The benchmark, too, says how it is used.
python3 -B "$ROOT/tests/bench/bench.py" --help >"$T/out" 2>"$T/err"
is "bench.py --help says how it is used" \
	"$? $(grep -c '^usage: bench.py .* BUILD_DIRECTORY' "$T/out") $(wc -c <"$T/err")" "0 1 0"
python3 -B "$ROOT/tests/bench/bench.py" "$B" --short nothing >"$T/out" 2>"$T/err"
is "bench.py names the rows that there are" "$? $(grep -c 'there is no row nothing; there are fib1' "$T/err")" "2 1"
python3 -B "$ROOT/tests/bench/bench.py" "$T" >"$T/out" 2>"$T/err"
is "bench.py wants a directory with graind" "$? $(grep -c 'there is no graind in' "$T/err")" "2 1"
