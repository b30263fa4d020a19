# SPDX-License-Identifier: BSD-2-Clause
## check-changed: the tests of what is not committed (tests/areas); BASE= a commit to compare with
## check-full: all tests, and unit tests with ASan and UBSan (an hour); what has passed for these very files is not run
##   again, except with FRESH=1
## check-every: check-full with every construct on every version of the runtimes (hours)
## check-vm: the tests in real guests under QEMU: other kernels, arm64, four NUMA nodes (as root);
##   GUESTS= some of them only
## check-shim-cycles: 500 times attach --fast and detach of programs that run (as root);
##   WITH=address: the library with ASan and UBSan, WITH=thread: with TSan
## check-long: 100 million tasks in a job of 32 MiB, counted to the last one (as root; some minutes)
## check-faults: graind killed 200 times, 1,000 processes within seconds, 200 at once (as root; some minutes)
## check-static: 10,000 random static loops, compiled with random options, recorded and compared (as root)
## check-hostile: users who attack graind and each other in all ways, for some minutes beside one who only works
##   (as root)
## check-answers: whether the first advice is right for programs with one problem each, and its prediction comes
##   true (as root; some minutes; ANSWERS= some of them only)
## check-soak: graind for 20 minutes beside programs that come and go: it holds no more than at the begin (as root)
## bench: the cost of being measured, as a table (as root)
## bench-analysis: seconds and memory of the analysis of large traces, as a table
## bench-render: seconds and bytes of drawing large graphs, as a table
## bench-prometheus: one Prometheus and 2,000 simulated nodes, for some minutes (as root)
## sysroot: what a build for another processor needs; then make ARCH=arm64 builds into build/arm64

constructs: $(CONSTRUCT_PROGRAMS) $(OMPT_TOOLS)
# What the tests in guests run.
guest-programs: constructs all $(OMP_PROGRAMS) $(LIBOMP_PROGRAMS) $(ROOT_PROGRAMS) $(TOOLS) $(STATIC_LOOPS)
test-programs: guest-programs $(UNIT_TESTS) $(EXAMPLES)
# What the tests run once more with ASan and UBSan, of a build with SAN=1: the unit tests, and replays of the
# fuzzers' finds.
sanitized: $(UNIT_TESTS) $(REPLAYS)

# Installs what is missing and builds; a new make finds by pkg-config what was just installed.
define prepare_tests
	@tests/install_packages.sh $(BUILD_PACKAGES) $(TEST_PACKAGES) $(1)
	@$(MAKE) --no-print-directory -j$$(nproc) test-programs
endef
check:
	$(prepare_tests)
	@tests/runner/run.py $(B) $(T)
check-changed:
	$(prepare_tests)
	@tests/runner/run.py --changed $(if $(BASE),--base $(BASE)) $(B)
check-full check-every:
	$(call prepare_tests,$(VM_PACKAGES))
	@$(MAKE) --no-print-directory -j$$(nproc) SAN=1 B=$(B)/san sanitized
	@tests/runner/run.py --$(@:check-%=%) $(if $(FRESH),--fresh) $(B) $(T)

check-shim-cycles: test-programs
	@bash tests/root/shim/test_shim_cycles.sh $(B) 500 $(WITH)
ifdef WITH
	@bash tests/root/shim/test_shim_matrix_attached.sh $(B) $(WITH)
endif

# With few tests: tests/vm/run.sh build --short
check-vm:
	@tests/install_packages.sh $(BUILD_PACKAGES) $(TEST_PACKAGES) $(VM_PACKAGES)
	@$(MAKE) --no-print-directory -j$$(nproc) test-programs deb
ifneq ($(if $(GUESTS),$(findstring arm64,$(GUESTS)),all),)
	@$(MAKE) --no-print-directory ARCH=arm64 sysroot
	@$(MAKE) --no-print-directory ARCH=arm64 -j$$(nproc) guest-programs
endif
	@tests/vm/run.sh $(B) $(GUESTS)

check-faults: export EVERY := 1
check-faults: test-programs
	@bash tests/root/graind/test_faults.sh $(B)
check-soak: test-programs
	@bash tests/root/graind/test_soak.sh $(B) 1200
check-hostile: test-programs
	@tests/runner/run.py $(B) root/test_hostile
	@bash tests/root/hostile/load.sh $(B) 300
check-static: test-programs
	@LOOPS=10000 bash tests/root/constructs/test_static_loops.sh $(B)
check-answers: all
	@bash tests/root/answers/test_answers.sh $(B) --long $(ANSWERS)
check-long: test-programs
	@bash tests/root/record/test_long_job.sh $(B) 100000000

bench:
	@tests/install_packages.sh $(BUILD_PACKAGES) $(TEST_PACKAGES)
	@$(MAKE) --no-print-directory -j$$(nproc) test-programs
	@tests/bench/run.sh $(B)
bench-render: $(B)/tests/tools/make_trace $(B)/tests/tools/time_render
	@tests/bench/bench_render.py $(B)
bench-prometheus: all $(B)/tests/omp/demo $(B)/tests/omp/loop_forever
	@tests/bench/bench_prometheus.py $(B)
# Everything is "secondary": what is to be made anew has to be gone with all that is made of it.
bench-analysis:
	@[ -e $(LEARNED)/done ] && [ -z "$$(find analysis -newer $(LEARNED)/done -print -quit)" ] || \
		rm -rf $(LEARNED) $(B)/analysis $(B)/analysis.o $(B)/libanalysis.a $(B)/tests/tools/time_analysis
	@$(MAKE) --no-print-directory -j$$(nproc) $(B)/tests/tools/make_trace $(B)/tests/tools/time_analysis
	@tests/bench/bench_analysis.py $(B)

# What a build for another processor needs: its compiler, and the libraries' packages of it in a tree.
sysroot:
	@tests/install_packages.sh $(BUILD_PACKAGES) \
		$(patsubst arm64,gcc-aarch64-linux-gnu,$(patsubst amd64,gcc-x86-64-linux-gnu,$(ARCH)))
	$(say) FETCH $(SYSROOT)
	@mkdir -p build
	@tests/foreign_tree.sh $(ARCH) $(SYSROOT) libc6-dev libgcc-12-dev libstdc++-12-dev libgomp1 libomp5-14 \
		libomp-14-dev $(filter %-dev,$(BUILD_PACKAGES))

.PHONY: constructs guest-programs test-programs sanitized check check-changed check-full check-every check-vm \
	check-shim-cycles check-long check-answers check-static check-faults check-soak check-hostile bench \
	bench-analysis bench-prometheus bench-render sysroot
