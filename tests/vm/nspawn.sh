#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Boots the disk of the guests of this machine's architecture as a container of
# systemd-nspawn: systemd as process 1 with everything that this machine's own
# kernel has for eBPF, in namespaces of its own. Limits of control groups are not
# enforced where the machine does not delegate them.
# usage: tests/vm/nspawn.sh IMAGE IN_TAR OUT_TAR CONSOLE TEST...
set -eu
image=$1 in=$2 out=$3 console=$4
shift 4
work=$(mktemp -d "${TMPDIR:-/tmp}/graind-nspawn.XXXXXX")
group=graind-nspawn-$$
leave()
{
	for g in "${groups[@]}"; do find "$g" -depth -type d -exec rmdir {} + 2>/dev/null; done
	rm -rf "$work"
}
groups=()
trap leave EXIT
mkdir "$work/tree"
debugfs -R "rdump / $work/tree" "$image?offset=1048576" 2>"$work/debugfs" >&2
[ -x "$work/tree/lib/systemd/systemd" ] || [ -x "$work/tree/usr/lib/systemd/systemd" ] || {
	cat "$work/debugfs" >&2
	exit 1
}
cp "$in" "$work/tree/in.tar"
cat >"$work/tree/etc/systemd/system/graind-tests.service" <<UNIT
[Unit]
Description=Tests of graind
After=multi-user.target
SuccessAction=exit
FailureAction=exit

[Service]
Type=exec
ExecStart=/bin/bash -c 'mkdir /graind && cd /graind && tar -xf /in.tar && exec bash tests/vm/in_guest.sh /out.tar $*'
StandardOutput=journal+console
StandardError=journal+console
Environment=HOME=/root LANG=C.UTF-8
TasksMax=infinity
LimitNOFILE=65536
UNIT
# Of its own: systemd takes the control group that it is started in for the root of its own ones.
for hierarchy in /sys/fs/cgroup/systemd /sys/fs/cgroup/unified /sys/fs/cgroup; do
	[ -e "$hierarchy/cgroup.procs" ] || continue
	mkdir "$hierarchy/$group"
	groups+=("$hierarchy/$group")
done
run()
{
	for g in "${groups[@]}"; do echo $BASHPID >"$g/cgroup.procs"; done
	SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1 exec systemd-nspawn --quiet -b -D "$work/tree" --register=no \
		--keep-unit --console=pipe --capability=all --system-call-filter="bpf perf_event_open @debug @keyring" \
		--bind=/sys/kernel/tracing --bind=/sys/fs/bpf --private-network systemd.condition_needs_update=no
}
timeout -k 10 "${GUEST_SECONDS:-900}" \
	bash -c "$(declare -p groups work); $(declare -f run); run" >"$console" 2>&1 </dev/null ||
	echo "systemd-nspawn ended with $?" >>"$console"
cp "$work/tree/out.tar" "$out"
