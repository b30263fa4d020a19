#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Makes the disk of the guests of an architecture in BUILD_DIRECTORY/vm, once, and
# prints its path: the installed release of Debian from the machine's own apt
# sources, with the libraries of what is built here, and the unit that runs the
# tests. Made anew when this script or the unit has changed.
# usage: tests/vm/image.sh BUILD_DIRECTORY ARCHITECTURE
set -eu
B=${1:?usage: tests/vm/image.sh BUILD_DIRECTORY ARCHITECTURE} architecture=$2
HERE=$(cd "$(dirname "$0")" && pwd)
. "$HERE/guests.sh"
mkdir -p "$B/vm"
V=$(cd "$B/vm" && pwd)
image=$V/root-$architecture.img
PACKAGES=(systemd systemd-sysv dbus udev kmod
	libgomp1 libomp5-14 libgfortran5 libbpf1 libelf1 libdw1 libcapstone4 libzstd1 zlib1g libdeflate0 libmicrohttpd12
	libcurl4 libssl3 libjansson4 libsystemd0 libpapi7.0 libpfm4 libhwloc15 libgvc6 libopen-trace-format2-10 libnuma1
	python3 binutils bpftool curl procps util-linux hwloc-nox numactl)

made_of=$({ cat "$0" "$HERE/graind-tests.service"; } | sha256sum)
exec 9>"$V/.image-$architecture.lock"
flock 9
if [ -e "$image" ] && [ "$(cat "$image.made-of" 2>/dev/null)" = "$made_of" ]; then
	echo "$image"
	exit 0
fi
work=$(mktemp -d "$V/.image.XXXXXX")
trap 'rm -rf "$work"' EXIT
tree=$work/tree

# Where this machine gets Debian from, and how.
apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT) $(ORIGIN)' 'Created-By: Packages' |
	sed -n 's/ Debian$//p' | sort -u >"$work/sources.list"
if ! [ -s "$work/sources.list" ]; then
	echo "apt knows no Debian archive here: run 'apt-get update'" >&2
	exit 1
fi
apt-config dump --no-empty --format '%F "%v";%n' Acquire | grep -E '^Acquire::(https?|Check-[A-Za-z-]*|Retries)[ :]' >"$work/apt.conf" || true
if ! mmdebstrap --quiet --mode=root --variant=apt --architectures="$architecture" --include="$(IFS=,; echo "${PACKAGES[*]}")" \
	--aptopt="$work/apt.conf" --aptopt='APT::Install-Recommends "false"' \
	--dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/doc/*' \
	--dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='path-exclude=/usr/share/info/*' \
	--skip=cleanup/apt/lists --customize-hook='rm -rf "$1"/var/cache/apt/* "$1"/var/lib/apt/lists/*' \
	"$(. /etc/os-release && echo "$VERSION_CODENAME")" "$tree" "$work/sources.list" >"$work/log" 2>&1; then
	tail -20 "$work/log" >&2
	exit 1
fi

cp "$HERE/graind-tests.service" "$tree/etc/systemd/system/"
mkdir -p "$tree/etc/systemd/system/multi-user.target.wants"
ln -sf ../graind-tests.service "$tree/etc/systemd/system/multi-user.target.wants/"
ln -sf multi-user.target "$tree/etc/systemd/system/default.target"
for unit in apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer fstrim.timer e2scrub_all.timer e2scrub_reap.service \
	systemd-timesyncd.service systemd-networkd.service systemd-resolved.service getty.target getty@tty1.service \
	serial-getty@.service systemd-random-seed.service systemd-firstboot.service ldconfig.service \
	systemd-update-utmp.service systemd-pcrphase.service; do
	ln -sf /dev/null "$tree/etc/systemd/system/$unit"
done
: >"$tree/etc/fstab"
echo guest >"$tree/etc/hostname"
echo uninitialized >"$tree/etc/machine-id"

# One partition at 1 MiB, without mounting anything.
MEGABYTES=1536
le32() { printf '\\x%02x\\x%02x\\x%02x\\x%02x' $(($1 & 255)) $(($1 >> 8 & 255)) $(($1 >> 16 & 255)) $(($1 >> 24 & 255)); }
put() { printf "$2" | dd of="$work/img" bs=1 seek="$1" conv=notrunc status=none; }
truncate -s $((MEGABYTES + 1))M "$work/img"
mke2fs -q -F -t ext4 -O ^has_journal -E offset=1048576 -m 0 -d "$tree" "$work/img" ${MEGABYTES}M
put 440 "$(le32 0x$IMAGE_SIGNATURE)"
put 446 '\x80\xfe\xff\xff\x83\xfe\xff\xff'"$(le32 2048)$(le32 $((MEGABYTES * 2048)))"
put 510 '\x55\xaa'
mv "$work/img" "$image"
echo "$made_of" >"$image.made-of"
echo "$image"
