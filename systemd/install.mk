# SPDX-License-Identifier: BSD-2-Clause
#
# make install    into PREFIX (/usr/local); DESTDIR=DIR for a package
# make uninstall  what install has put there; jobs and settings are kept
# make deb        a Debian package in build/deb

PREFIX := /usr/local
SYSCONFDIR := /etc
UNITS := lib/systemd/system

# MODE:SOURCE:TARGET below PREFIX
PROGRAMS := 755:$(B)/graind:bin/graind 755:$(B)/grainctl:bin/grainctl \
	755:$(B)/graind-render:lib/graind/graind-render 755:$(B)/grainctl-full:lib/graind/grainctl-full \
	644:$(B)/libgrainshim.so:lib/graind/libgrainshim.so
SETTINGS := 644:systemd/perf-uprobes.conf:share/graind/perf-uprobes.conf
# A package has those from its own tools.
ifneq ($(UNITS_BY),debhelper)
SETTINGS += 644:systemd/graind.socket:$(UNITS)/graind.socket \
	644:systemd/graind-metrics.socket:$(UNITS)/graind-metrics.socket \
	644:$(B)/systemd/graind.service:$(UNITS)/graind.service \
	644:systemd/graind.sysusers:lib/sysusers.d/graind.conf 644:systemd/graind.tmpfiles:lib/tmpfiles.d/graind.conf
endif
PAGES := 644:systemd/man/grainctl.1:share/man/man1/grainctl.1 644:systemd/man/graind.8:share/man/man8/graind.8 \
	644:systemd/man/graind.conf.5:share/man/man5/graind.conf.5 \
	644:systemd/man/libgrainshim.7:share/man/man7/libgrainshim.7 \
	644:systemd/man/graind-render.8:share/man/man8/graind-render.8 \
	644:systemd/completion/grainctl:share/bash-completion/completions/grainctl \
	644:systemd/completion/_grainctl:share/zsh/vendor-completions/_grainctl
# For Prometheus and Grafana, which are usually elsewhere.
WATCHING := $(foreach f,$(sort $(wildcard systemd/prometheus/*.yml)),644:$f:share/graind/prometheus/$(notdir $f)) \
	$(foreach f,$(sort $(wildcard systemd/grafana/*.json)),644:$f:share/graind/grafana/$(notdir $f))
INSTALLED := $(PROGRAMS) $(SETTINGS) $(PAGES) $(WATCHING)

# The unit says where graind is.
$(B)/systemd/graind.service: systemd/graind.service FORCE
	@mkdir -p $(@D)
	@sed 's,/usr/bin/,$(PREFIX)/bin/,' $< >$@

install: all $(B)/systemd/graind.service
	$(Q)for file in $(INSTALLED); do IFS=:; set -- $$file; unset IFS; \
		install -D -m $$1 $$2 $(DESTDIR)$(PREFIX)/$$3 || exit 1; done
	$(Q)[ -e $(DESTDIR)$(SYSCONFDIR)/graind/graind.conf ] || \
		install -D -m 644 systemd/graind.conf $(DESTDIR)$(SYSCONFDIR)/graind/graind.conf
	@[ -n '$(DESTDIR)' ] || echo "Installed. To start it: systemd-sysusers && systemd-tmpfiles --create &&" \
		"systemctl daemon-reload && systemctl enable --now graind"

uninstall:
	$(Q)for file in $(INSTALLED); do rm -f $(DESTDIR)$(PREFIX)/$${file##*:}; done
	$(Q)rmdir $(DESTDIR)$(PREFIX)/lib/graind \
		$(addprefix $(DESTDIR)$(PREFIX)/share/graind,/prometheus /grafana '') 2>/dev/null || true

# debhelper works on a copy that holds nothing but its own files; what is packed is what install puts there.
deb: all
	$(Q)rm -rf $(B)/deb && mkdir -p $(B)/deb/graind
	$(Q)cp -r systemd/debian $(B)/deb/graind/debian
	$(Q)sed 's/@VERSION@/$(VERSION)/' systemd/debian/changelog >$(B)/deb/graind/debian/changelog
	$(Q)cp systemd/graind.service systemd/graind.socket $(B)/deb/graind/debian/
	$(Q)cp systemd/graind-metrics.socket $(B)/deb/graind/debian/graind.graind-metrics.socket
	$(Q)cp systemd/graind.sysusers $(B)/deb/graind/debian/graind.sysusers
	$(Q)cp systemd/graind.tmpfiles $(B)/deb/graind/debian/graind.tmpfiles
	$(Q)cd $(B)/deb/graind && TREE=$(CURDIR) dpkg-buildpackage -b -us -uc -d >../log 2>&1 || \
		{ tail -20 ../log; exit 1; }
	@ls $(B)/deb/*.deb

.PHONY: install uninstall deb FORCE
FORCE:
