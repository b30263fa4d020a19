# SPDX-License-Identifier: BSD-2-Clause
# gcc optimizes the analysis as a whole; what comes out is an ordinary object, so that linking stays cheap.
# Most of its work is done in small functions, in other files, that are called for every event. Which paths are
# the usual ones gcc learns once per build directory: a copy of the analysis that counts analyses a generated trace.

ANALYSIS_OBJ := $(call objects,analysis)
ANALYSIS_LIBS := $(call libs_of,hwloc) -lzstd -lz -lm
ALL_OBJ += $(ANALYSIS_OBJ)
INLINE_MORE := --param inline-unit-growth=300 --param max-inline-insns-auto=200 \
	--param max-inline-insns-single=400 --param large-function-growth=1000 --param large-unit-insns=100000
LEARNED := $(B)/learned

ifneq ($(SAN)$(TRIPLET)$(findstring clang,$(shell $(CC) --version 2>/dev/null)),)
$(B)/libanalysis.a: $(ANALYSIS_OBJ)
else
# gcc finds what it has learned of a file by the name that it was told then, the same in both copies: of two rooms no
# two files have one name.
ifdef LEARNING
LEARN := -fprofile-generate -fprofile-update=single
LEARN_LINK := -fprofile-generate
$(B)/tests/tools/time_analysis: LDFLAGS += -fprofile-generate
else
LEARNING := $(abspath $(B))/analysis/
LEARN_LINK := -fprofile-use
# What was changed since is compiled without it, until bench-analysis or a new build directory learns again.
LEARN = $(if $(shell find $^ -newer $(LEARNED)/done -print -quit),,-fprofile-use -Wno-missing-profile)
$(LEARNED)/done:
	$(say) LEARN analysis
	@mkdir -p $(@D) $(LEARNING)
	$(Q)$(MAKE) --no-print-directory B=$(LEARNED) LEARNING=$(LEARNING) \
		$(LEARNED)/tests/tools/make_trace $(LEARNED)/tests/tools/time_analysis
	$(Q)cd $(@D) && tests/tools/make_trace tasks.grt 100000 8 >log && \
		tests/tools/make_trace loop.grt 20 8 100000 >>log && \
		tests/tools/time_analysis tasks.grt grains tasks.log >>log && \
		tests/tools/time_analysis loop.grt grains loop.log >>log && \
		tests/tools/time_analysis tasks.log >>log && tests/tools/time_analysis loop.log >>log && \
		rm -f *.grt *.log grains
	@touch $@
$(ANALYSIS_OBJ): | $(LEARNED)/done
endif
$(ANALYSIS_OBJ): CFLAGS += -O3 $(INLINE_MORE) -flto -fno-fat-lto-objects $(LEARN) \
	-dumpdir $(LEARNING) -dumpbase $(<F) -dumpbase-ext .c
$(B)/analysis.o: $(ANALYSIS_OBJ)
	$(say) LTO $@
	$(Q)$(CC) $(CFLAGS) -O3 -w $(LEARN_LINK) -flto=auto -r -flinker-output=nolto-rel -o $@ $^
$(B)/libanalysis.a: $(B)/analysis.o
endif
