#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Makes the disk of the guests of an architecture in BUILD_DIRECTORY/vm, once, and
# prints its path: packages of the installed release of Debian from the machine's
# own apt sources, with the libraries of what is built here, and the unit that
# runs the tests. No code of the packages is run, so that any machine can make the
# disk of any other. Made anew when one of the scripts or the unit has changed.
# usage: tests/vm/image.sh BUILD_DIRECTORY ARCHITECTURE
set -eu
B=${1:?usage: tests/vm/image.sh BUILD_DIRECTORY ARCHITECTURE} architecture=$2
HERE=$(cd "$(dirname "$0")" && pwd)
. "$HERE/guests.sh"
mkdir -p "$B/vm"
V=$(cd "$B/vm" && pwd)
image=$V/root-$architecture.img
PACKAGES=(base-files base-passwd bash coreutils dash debianutils diffutils findutils grep gzip hostname libc-bin mawk
	sed tar util-linux mount login systemd systemd-sysv udev kmod dpkg passwd init-system-helpers
	libgomp1 libomp5-14 libgfortran5 libbpf1 libelf1 libdw1 libcapstone4 libzstd1 zlib1g libdeflate0 libmicrohttpd12
	libcurl4 libssl3 libjansson4 libsystemd0 libpapi7.0 libpfm4 libhwloc15 libgvc6 libopen-trace-format2-10 libnuma1
	libncursesw6 libconfuse2 libsubid4 python3 binutils bpftool curl procps hwloc-nox numactl)

made_of=$(cat "$0" "$HERE/../foreign_tree.sh" "$HERE/graind-tests.service" | sha256sum)
exec 9>"$V/.image-$architecture.lock"
flock 9
if [ -e "$image" ] && [ "$(cat "$image.made-of" 2>/dev/null)" = "$made_of" ]; then
	echo "$image"
	exit 0
fi
work=$(mktemp -d "$V/.image.XXXXXX")
trap 'rm -rf "$work"' EXIT
tree=$work/tree
"$HERE/../foreign_tree.sh" "$architecture" "$tree" "${PACKAGES[@]}" >&2
rm -rf "$tree"/usr/share/{man,doc,locale,info}

# What the packages would have done themselves when they were installed.
for file in passwd group; do cp "$tree/usr/share/base-passwd/$file.master" "$tree/etc/$file"; done
cp "$tree/usr/share/libc-bin/nsswitch.conf" "$tree/etc/"
ln -sf mawk "$tree/usr/bin/awk"
mknod -m 600 "$tree/dev/console" c 5 1
chmod 1777 "$tree/tmp" "$tree/var/tmp"

cp "$HERE/graind-tests.service" "$tree/etc/systemd/system/"
mkdir -p "$tree/etc/systemd/system/multi-user.target.wants"
ln -sf ../graind-tests.service "$tree/etc/systemd/system/multi-user.target.wants/"
ln -sf multi-user.target "$tree/etc/systemd/system/default.target"
for unit in apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer fstrim.timer e2scrub_all.timer \
	e2scrub_reap.service systemd-timesyncd.service systemd-networkd.service systemd-resolved.service getty.target \
	getty@tty1.service serial-getty@.service systemd-random-seed.service systemd-logind.service \
	systemd-update-utmp.service systemd-pcrphase.service; do
	ln -sf /dev/null "$tree/etc/systemd/system/$unit"
done
: >"$tree/etc/fstab"
echo guest >"$tree/etc/hostname"
# One of its own: not the first boot, at which systemd would set up the rest.
echo "$IMAGE_SIGNATURE$IMAGE_SIGNATURE$IMAGE_SIGNATURE$IMAGE_SIGNATURE" >"$tree/etc/machine-id"

# One partition at 1 MiB, without mounting anything.
MEGABYTES=1536
le32() {
	printf '\\x%02x\\x%02x\\x%02x\\x%02x' $(($1 & 255)) $(($1 >> 8 & 255)) $(($1 >> 16 & 255)) $(($1 >> 24 & 255))
}
put() { printf "$2" | dd of="$work/img" bs=1 seek="$1" conv=notrunc status=none; }
truncate -s $((MEGABYTES + 1))M "$work/img"
mke2fs -q -F -t ext4 -O ^has_journal -E offset=1048576 -m 0 -d "$tree" "$work/img" ${MEGABYTES}M
put 440 "$(le32 0x$IMAGE_SIGNATURE)"
put 446 '\x80\xfe\xff\xff\x83\xfe\xff\xff'"$(le32 2048)$(le32 $((MEGABYTES * 2048)))"
put 510 '\x55\xaa'
mv "$work/img" "$image"
echo "$made_of" >"$image.made-of"
echo "$image"
