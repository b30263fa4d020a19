#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What make install puts where, and that it can be taken back; the units; a package that lintian accepts.
# usage: tests/cli/systemd/test_install.sh BUILD_DIRECTORY
. "$(dirname "$0")/../../lib.sh"

cd "$ROOT" || exit 1
D=$T/root
made() { make --no-print-directory B="$B_MAKE" "$@"; }
B_MAKE=${B#"$ROOT"/}
check "make install" made install DESTDIR="$D" PREFIX=/usr
(cd "$D" && find . -type f -printf '%m %P\n' | sort -k 2) >"$T/installed"
is "what it installs" "$(cat "$T/installed")" "644 etc/graind/graind.conf
755 usr/bin/grainctl
755 usr/bin/graind
755 usr/lib/graind/grainctl-full
755 usr/lib/graind/graind-render
644 usr/lib/graind/libgrainshim.so
644 usr/lib/systemd/system/graind-metrics.socket
644 usr/lib/systemd/system/graind.service
644 usr/lib/systemd/system/graind.socket
644 usr/lib/sysusers.d/graind.conf
644 usr/lib/tmpfiles.d/graind.conf
644 usr/share/bash-completion/completions/grainctl
644 usr/share/graind/grafana/graind-fleet.json
644 usr/share/graind/grafana/graind-job.json
644 usr/share/graind/grafana/graind-node.json
644 usr/share/graind/perf-uprobes.conf
644 usr/share/graind/prometheus/graind-alerts.rules.yml
644 usr/share/graind/prometheus/graind-recording.rules.yml
644 usr/share/man/man1/grainctl.1
644 usr/share/man/man5/graind.conf.5
644 usr/share/man/man7/libgrainshim.7
644 usr/share/man/man8/graind-render.8
644 usr/share/man/man8/graind.8
644 usr/share/zsh/vendor-completions/_grainctl"
check "the installed grainctl runs" "$D/usr/bin/grainctl" --version
check "and finds the program with its other verbs" "$D/usr/bin/grainctl" report --view=help
"$D/usr/bin/grainctl" --socket "$T/none.sock" doctor --json >"$T/doctor.json"
is "which knows where graind is" \
	"$(json '[c["command"] for c in d["checks"] if c["name"] == "graind"][0]' <"$T/doctor.json")" \
	"sudo $(realpath "$D")/usr/bin/graind"
mv "$D/usr/lib/graind/grainctl-full" "$T/"
"$D/usr/bin/grainctl" report 1 >"$T/out" 2>&1
is "without it, it says what to do" "$? $(grep -c 'cannot run grainctl-full.* build or install' "$T/out")" "1 1"
mv "$T/grainctl-full" "$D/usr/lib/graind/"
# It looks for libgrainshim.so where it was installed; what fails then is that no graind listens.
"$D/usr/bin/grainctl" --socket "$T/none.sock" --state-dir "$T/state" run --fast -- true >"$T/out" 2>&1
if grep -q libgrainshim "$T/out"; then
	not_ok "the installed grainctl finds its library" "$(cat "$T/out")"
else
	ok "the installed grainctl finds its library"
fi

# The units, as this systemd understands them; the program that they start has to be there.
if command -v systemd-analyze >/dev/null; then
	made install PREFIX="$T/here" SYSCONFDIR="$T/here/etc" >"$T/out"
	check "make install says how to go on" grep -q 'systemctl enable --now graind' "$T/out"
	cp -r "$T/here/lib/systemd/system" "$T/units"
	is "systemd-analyze verify is silent" \
		"$(cd "$T/units" && systemd-analyze verify --man=no "$T/units/graind.service" "$T/units/graind.socket" \
			"$T/units/graind-metrics.socket" 2>&1)" ""
	check "its exposure is at most 3.0" \
		systemd-analyze security --offline=true --threshold=30 "$T/units/graind.service"
	systemd-analyze security --offline=true "$T/units/graind.service" | tail -1 | sed 's/^/# /'
	cp systemd/perf-uprobes.conf "$T/units/" && mkdir -p "$T/units/graind.service.d" &&
		mv "$T/units/perf-uprobes.conf" "$T/units/graind.service.d/"
	is "with the drop-in for old kernels, too" \
		"$(systemd-analyze verify --man=no "$T/units/graind.service" 2>&1)" ""
else
	skip "the units" "no systemd-analyze"
fi
if command -v systemd-sysusers >/dev/null; then
	mkdir -p "$T/tree/etc"
	check "systemd-sysusers makes the user" systemd-sysusers --root="$T/tree" "$ROOT/systemd/graind.sysusers"
	is "and the group" "$(grep -c '^graind:' "$T/tree/etc/passwd" "$T/tree/etc/group" | tr '\n' ' ')" \
		"$T/tree/etc/passwd:1 $T/tree/etc/group:1 "
	[ "$(id -u)" = 0 ] && check "systemd-tmpfiles makes the directories" \
		systemd-tmpfiles --root="$T/tree" --create "$ROOT/systemd/graind.tmpfiles" &&
		is "which belong to it" \
			"$(stat -c '%a %U' "$T/tree/run/graind" "$T/tree/var/lib/graind" |
				sed 's/UNKNOWN/graind/' | sort)" $'711 graind\n755 graind'
else
	skip "user and directories" "no systemd-sysusers"
fi

# graind says first what is wrong with its settings, then that it has no such directory.
"$D/usr/bin/graind" --config "$D/etc/graind/graind.conf" --state-dir /dev/null/x >"$T/out" 2>&1
if grep -q graind.conf "$T/out"; then
	not_ok "graind accepts the installed settings" "$(cat "$T/out")"
else
	ok "graind accepts the installed settings"
fi
echo "keep-days = 7" >"$D/etc/graind/graind.conf"
check "make install once more" made install DESTDIR="$D" PREFIX=/usr
is "leaves the administrator's settings" "$(cat "$D/etc/graind/graind.conf")" "keep-days = 7"
check "make uninstall" made uninstall DESTDIR="$D" PREFIX=/usr
is "leaves nothing but them" "$(cd "$D" && find . -type f)" "./etc/graind/graind.conf"

if command -v dh lintian >/dev/null; then
	check "make deb" made deb
	check "lintian accepts the package" lintian --allow-root --fail-on error,warning "$B"/deb/graind_*.deb
	dpkg-deb -x "$B"/deb/graind_*.deb "$T/deb"
	is "the package has what is installed, and the units" \
		"$(cd "$T/deb" &&
			find . -type f -printf '%P\n' | sed 's,^lib/,usr/lib/,; s,\.gz$,,' | grep -v ^usr/share/doc/ |
				grep -v lintian | sort)" \
		"$(cut -d' ' -f2 "$T/installed" | sort)"
else
	skip "the package" "no debhelper or lintian: run 'make deps'"
fi
if command -v zsh >/dev/null; then
	made install PREFIX="$T/here" SYSCONFDIR="$T/here/etc" >"$T/out"
	# A terminal in which somebody presses the tabulator.
	python3 - "$T/here" >"$T/zsh" 2>&1 <<'PY'
import os, pty, select, sys, time
here = sys.argv[1]
pid, fd = pty.fork()
if not pid:
    os.environ.update(PATH=here + "/bin:" + os.environ["PATH"], PS1="> ", TERM="dumb")
    os.execvp("zsh", ["zsh", "-f", "-i"])


def say(text, seconds, until):
    os.write(fd, text.encode())
    said, end = "", time.monotonic() + seconds
    while time.monotonic() < end and until not in said:
        if select.select([fd], [], [], 0.1)[0]:
            said += os.read(fd, 4096).decode(errors="replace")
    return said


say("fpath=(%s/share/zsh/vendor-completions $fpath); autoload -Uz compinit; compinit -D -u; echo re''ady\n"
    % here, 20, "ready")
said = say("grainctl summ\t", 10, "summary")
os.write(fd, b"\x03exit\n")
print("completed" if "summary" in said else repr(said))
PY
	is "zsh completes a verb" "$(cat "$T/zsh")" completed
else
	skip "zsh completes a verb" "no zsh: run 'make deps'"
fi
