#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What a user without rights sees of graind as a service, from the command line: transcript.sh, which stays in
# out/service_transcript.txt.
# usage: tests/vm/test_transcript.sh BUILD_DIRECTORY
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/service_lib.sh"

install_package
users
systemctl stop graind.socket graind.service
S=out/service_transcript.txt
bash "$(dirname "$0")/transcript.sh" >$S
# said PATTERN: what a command said, of which the line that was typed fits the pattern; the first such command
said() { awk -v p="$1" '/^[a-z]*\$ / { if (on) exit; on = $0 ~ p; next } on && NF' $S; }
is "the service is started" "$(said '^root. systemctl is-active')" active
check "alice is an ordinary user" \
	grep -q '^uid=[0-9]*(alice) gid=[0-9]*(alice) groups=[0-9]*(alice)$' <(said '^alice. id$')
RUN=$(said '^alice. grainctl run' | sed -n 's/^job //p')
ATTACHED=$(said '^alice. grainctl attach' | sed -n 's/^job //p')
check "run and attach print their jobs" [ "${RUN:-0}" -gt 0 -a "${ATTACHED:-0}" -gt "${RUN:-0}" ]
is "the attached one runs" "$(said '^alice. grainctl jobs$' | grep -c "^ *$ATTACHED  alice .* running ")" 1
is "then both are finished" \
	"$(said '^alice. grainctl jobs --all' | grep -c "^ *\($RUN\|$ATTACHED\)  alice .* finished ")" 2
check "the summary begins with the verdict" \
	grep -qE '^(fib\.c:[0-9]* [a-z]*|the whole program): [a-z ]*, costs up to ' \
	<(said '^alice. grainctl summary' | sed -n 1p)
is "and says whether to trust it" "$(said '^alice. grainctl summary' | grep -c '^  trust .*: 0 events lost')" 1
is "the report is an SVG of hers" \
	"$(said '^alice. grainctl report' | awk 'NR == 1 { print $3 } END { print }' | tr '\n' ' ')" "alice <?xml "
for typed in attach 'attach --fast' summary report delete; do
	is "bob is refused $typed, in one line" \
		"$(said "^bob. grainctl $typed [0-9]" |
			awk 'NR == 1 { print $1, $2 } END { print NR, $0 != "" && /^.exit status [13].$/ }' |
			tr '\n' ' ')" "grainctl: ${typed%% *}: 2 1 "
done
is "and sees nothing of alice's" "$(said '^bob. grainctl jobs' | grep -c alice)" 0
is "nothing else failed" "$(grep -c '^.exit status' $S)" 5
check "the package is purged" dpkg -P graind
