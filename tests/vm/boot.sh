#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Boots a guest on the tests of a built tree; leaves what they said in
# BUILD_DIRECTORY/vm/GUEST/out, what the guest said in console.log beside it.
# QEMU ends with 0 even after a panic: only out/rc tells that all of it ran.
# usage: tests/vm/boot.sh BUILD_DIRECTORY GUEST TEST...
set -eu
B=${1:?usage: tests/vm/boot.sh BUILD_DIRECTORY GUEST TEST...} name=$2
shift 2
B=$(cd "$B" && pwd)
HERE=$(cd "$(dirname "$0")" && pwd)
. "$HERE/guests.sh"
guest "$name"
mkdir -p "$B/vm/$name"
V=$(cd "$B/vm/$name" && pwd)
[ -z "$KERNEL" ] || kernel=$("$HERE/kernel.sh" "$B" "$KERNEL" "$ARCHITECTURE")
image=$("$HERE/image.sh" "$B" "$ARCHITECTURE")
rm -rf "$V/out" "$V/console.log"

boot_machine()
{
	truncate -s 64M "$V/out.tar"
	disk() { printf '%s\n' -drive "if=none,id=$1,format=raw,file=$2,$4" -device "nvme-ns,drive=$1,nsid=$3"; }
	mapfile -t disks < <(printf '%s\n' -device nvme,serial=graind,id=nvme
		disk root "$image" 1 snapshot=on,cache=unsafe
		disk in "$V/in.tar" 2 readonly=on
		disk out "$V/out.tar" 3 cache=unsafe)
	tests=$*
	[ "${SYSTEM:-}" ] ||
		APPEND+=" systemd.unit=graind-tests.service$(printf ' systemd.mask=systemd-udev%s' d.service \
			-trigger.service d-kernel.socket d-control.socket)"
	APPEND+=" root=PARTUUID=$IMAGE_SIGNATURE-01 rw panic=-1 quiet systemd.condition_needs_update=no"
	timeout -k 10 "${GUEST_SECONDS:-1800}" nice -n "${NICE:-10}" "${MACHINE[@]}" -nodefaults -nographic \
		-no-reboot -nic none -serial "file:$V/console.log" -kernel "$kernel" "${disks[@]}" -append \
		"$APPEND graind.tests=${tests// /,}" >"$V/qemu.log" 2>&1 </dev/null ||
		echo "QEMU ended with $?" >>"$V/qemu.log"
}
tar -c -f "$V/in.tar" --exclude='*.o' --exclude='*.d' --exclude='*.objects' -C "$HERE/../.." tests systemd \
	--transform='s,^\./,build/,' -C "$(guest_build "$B")" ./graind ./graind-render ./grainctl ./grainctl-full \
	./libgrainshim.so ./tests/omp ./tests/tools ./tests/root \
	$(cd "$(guest_build "$B")" && ls -d ./deb/graind_*.deb 2>/dev/null)
if [ "$KERNEL" ]; then
	boot_machine "$@"
else
	"$HERE/nspawn.sh" "$image" "$V/in.tar" "$V/out.tar" "$V/console.log" "$@" 2>"$V/qemu.log" || true
fi
tar -x -C "$V" -f "$V/out.tar" >/dev/null 2>&1 || true
rm -f "$V/in.tar" "$V/out.tar"
if ! [ -e "$V/out/rc" ]; then
	tail -n 3 "$V/qemu.log" >&2
	tail -n 20 "$V/console.log" >&2
	exit 1
fi
