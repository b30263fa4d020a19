#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Fetches the OpenMP runtimes that the matrix is tested with, besides the
# system's own, into BUILD_DIRECTORY/runtimes/NAME/: libgomp of other Debian
# suites, libomp of the other LLVMs. The archives are those of the machine's
# own apt sources. Prints one line each, "NAME DIRECTORY" or "NAME - REASON".
# What was fetched once is kept. A runtime that needs a newer C library has it
# and its loader beside it: programs get that as interpreter and run path.
# Of the GCCs that are in no suite as a library there is libgomp.a: programs
# are linked with it.
# usage: tests/runtimes.sh BUILD_DIRECTORY [NAME...]
set -u
B=${1:?usage: tests/runtimes.sh BUILD_DIRECTORY [NAME...]}
shift
only=" $* "
mkdir -p "$B/runtimes"
R=$(cd "$B/runtimes" && pwd)
KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg

# The URI from which the installed suite comes.
archive()
{
	apt-get indextargets --format '$(REPO_URI) $(SUITE) $(ORIGIN) $(COMPONENT)' 'Created-By: Packages' 2>/dev/null |
		awk '$3 == "Debian" && $4 == "main" && $2 !~ /security|updates|backports/ { print $1; exit }'
}

# apt on a scratch state: scratch SUITE ARGUMENT...
scratch()
{
	local dir=$R/.apt-$1
	shift
	apt-get -q -o Dir::Etc::sourcelist="$dir/sources.list" -o Dir::Etc::sourceparts=/nonexistent \
		-o Dir::State="$dir/state" -o Dir::State::status="$dir/status" -o Dir::Cache="$dir/cache" \
		-o Acquire::Languages=none -o Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled=false \
		-o APT::Sandbox::User=root -o Acquire::Retries=2 -o Acquire::http::Timeout=20 "$@"
}

# update SUITE: its package list, once a call of this script
update()
{
	local dir=$R/.apt-$1 uri
	[ -e "$dir/updated" ] && return 0
	uri=$(archive)
	[ "$uri" ] || return 1
	mkdir -p "$dir/state/lists/partial" "$dir/cache/archives/partial"
	: >"$dir/status"
	# An old suite's signatures may have expired.
	echo "deb [signed-by=$KEYRING check-valid-until=no] $uri $1 main" >"$dir/sources.list"
	scratch "$1" update >"$dir/log" 2>&1 && ! grep -q '^[EW]:' "$dir/log" && : >"$dir/updated"
}

# fetch NAME SUITE PACKAGE FILE: the package's FILE (a shell pattern) becomes NAME/;
# with a fifth argument the suite's C library too
fetch()
{
	local name=$1 suite=$2 package=$3 file=$4 dir=$R/$1 work
	[ "$only" = "  " ] || [[ $only == *" $name "* ]] || return
	if [ -e "$dir/version" ]; then
		echo "$name $dir"
		return
	fi
	work=$(mktemp -d "$R/.fetch.XXXXXX")
	if ! command -v apt-get >/dev/null; then
		echo "$name - no apt-get"
	elif [ "$suite" != . ] && ! update "$suite"; then
		echo "$name - the package list of $suite could not be had: $(tail -1 "$R/.apt-$suite/log" 2>/dev/null)"
	elif ! (
		cd "$work" || exit
		if [ "$suite" = . ]; then
			apt-get -q download "$package"
		else
			scratch "$suite" download "$package"
		fi
	) >"$work/log" 2>&1 || ! dpkg-deb -x "$work"/*.deb "$work/tree" 2>>"$work/log"; then
		echo "$name - $package could not be had: $(tail -1 "$work/log")"
	elif ! compgen -G "$work/tree/$file" >/dev/null; then
		echo "$name - $package has no $file"
	else
		mkdir -p "$work/new"
		if [ "${5:-}" ]; then
			(cd "$work" && mkdir libc && cd libc && scratch "$suite" download libc6 &&
				dpkg-deb -x ./*.deb tree) >"$work/log" 2>&1
			cp -a "$work"/libc/tree/{usr/,}lib/*-linux-gnu/{ld-linux*,lib*.so.*} "$work/new/" 2>/dev/null
			if ! compgen -G "$work/new/ld-linux*" >/dev/null; then
				echo "$name - libc6 of $suite could not be had: $(tail -1 "$work/log")"
				rm -rf "$work"
				return
			fi
		fi
		cp -a "$work"/tree/$file "$work/new/"
		dpkg-deb -f "$work"/*.deb Version >"$work/new/version"
		rm -rf "$dir"
		mv "$work/new" "$dir"
		echo "$name $dir"
	fi
	rm -rf "$work"
}

fetch gomp-9 bullseye libgcc-9-dev 'usr/lib/gcc/*/9/libgomp.a'
fetch gomp-10 bullseye libgomp1 'usr/lib/*/libgomp.so.1*'
fetch gomp-11 . libgcc-11-dev 'usr/lib/gcc/*/11/libgomp.a'
fetch gomp-13 trixie libgcc-13-dev 'usr/lib/gcc/*/13/libgomp.a'
fetch gomp-14 trixie libgomp1 'usr/lib/*/libgomp.so.1*' libc
fetch gomp-15 sid libgcc-15-dev 'usr/lib/gcc/*/15/libgomp.a'
fetch gomp-sid sid libgomp1 'usr/lib/*/libgomp.so.1*' libc
fetch omp-11 bullseye libomp5-11 'usr/lib/llvm-11/lib/libomp.so*'
fetch omp-13 . libomp5-13 'usr/lib/llvm-13/lib/libomp.so*'
fetch omp-15 . libomp5-15 'usr/lib/llvm-15/lib/libomp.so*'
fetch omp-16 . libomp5-16 'usr/lib/llvm-16/lib/libomp.so*'
fetch omp-17 trixie libomp5-17t64 'usr/lib/llvm-17/lib/libomp.so*' libc
fetch omp-18 trixie libomp5-18 'usr/lib/llvm-18/lib/libomp.so*' libc
fetch omp-19 . libomp5-19 'usr/lib/llvm-19/lib/libomp.so*'
