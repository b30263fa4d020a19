#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Unpacks Debian packages of another architecture, and what they depend on,
# into a tree: `foreign_tree.sh ARCH TREE PACKAGE...`. The sources are this
# machine's own; its list of packages and of architectures stays as it is.
# With --only, without what they depend on; ^PATTERN$ is then the package with
# the newest of the names that match. A tree that is complete is kept.
set -eu
only=
[ "$1" = --only ] && { only=1; shift; }
arch=$1 tree=$2
shift 2
stamp=$tree/.complete
[ -e "$stamp" ] && [ "$(cat "$stamp")" = "$arch $*" ] && exit 0
apt=$tree.apt
rm -rf "$tree" "$apt"
mkdir -p "$tree/usr/bin" "$tree/usr/sbin" "$tree/usr/lib" "$apt/state/lists/partial" "$apt/cache/archives/partial"
apt=$(realpath "$apt")
for d in bin sbin lib; do ln -s "usr/$d" "$tree/$d"; done
: >"$apt/status"
options=(-q -o "APT::Architecture=$arch" -o "APT::Architectures::=$arch" -o "Dir::State=$apt/state"
	-o "Dir::State::status=$apt/status" -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User=root
	-o APT::Install-Recommends=false -o DPkg::Post-Invoke= -o APT::Update::Post-Invoke=
	-o Dir::Etc::apt.conf.d=none)
{
	apt-get "${options[@]}" update
	if [ -n "$only" ]; then
		names=()
		for name; do
			[[ $name == ^* ]] &&
				name=$(apt-cache "${options[@]}" search --names-only "$name" | cut -d' ' -f1 | sort -V |
					tail -1)
			names+=("$name")
		done
		(cd "$apt/cache/archives" && apt-get "${options[@]}" download "${names[@]}")
	else
		apt-get "${options[@]}" -y --download-only install "$@"
	fi
} >"$apt/log" 2>&1 || {
	tail -5 "$apt/log" >&2
	echo "could not fetch packages for $arch (see above)" >&2
	exit 1
}
# As dpkg would have it, so that packages can be installed there.
info=$tree/var/lib/dpkg/info
mkdir -p "$info"
for deb in "$apt"/cache/archives/*.deb; do
	name=$(dpkg-deb -f "$deb" Package)
	[ "$(dpkg-deb -f "$deb" Multi-Arch)" = same ] && name=$name:$arch
	dpkg-deb --fsys-tarfile "$deb" | tee >(tar -t | sed 's,^\.,,; s,/$,,; s,^$,/.,' >"$info/$name.list") |
		tar -C "$tree" --keep-directory-symlink --no-same-owner -x
	{ dpkg-deb -f "$deb" && echo "Status: install ok installed" && echo; } >>"$tree/var/lib/dpkg/status"
done
rm -rf "$apt"
echo "$arch $*" >"$stamp"
