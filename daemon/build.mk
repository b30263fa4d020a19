# SPDX-License-Identifier: BSD-2-Clause
# The programs, each of its folder and the libraries below. graind's and grainctl's own objects are archives as well, of
# which the tests take what they name.

COMMON_OBJ := $(call objects,daemon/common)
GRAIND_OBJ := $(call objects,daemon/graind)
GRAINCTL_OBJ := $(call objects,daemon/grainctl)
GRAIND_RENDER_OBJ := $(call objects,daemon/graind-render)
ALL_OBJ += $(COMMON_OBJ) $(GRAIND_OBJ) $(GRAINCTL_OBJ) $(GRAIND_RENDER_OBJ)

DAEMON_LIBS := $(call libs_of,libmicrohttpd jansson libsystemd libconfuse) -lpthread
# For URLs, which grainctl fleet asks.
WEB_LIBS := $(call libs_of,libcurl)
COUNTER_LIBS := $(call libs_of,papi) -lpfm
# Who owns which range of ids, which graind asks.
SUBID_LIBS := -lsubid
# On which nodes pages lie and CPUs are.
NUMA_LIBS := $(call libs_of,numa)
# The live view of grainctl.
SCREEN_LIBS := $(call libs_of,ncursesw)
GRAIND_LIBS := $(UPROBES_LIBS) $(COUNTER_LIBS) $(SUBID_LIBS) $(NUMA_LIBS) $(DAEMON_LIBS) $(ANALYSIS_LIBS)
# What most verbs need, and what the others need besides (verbs/main.c).
GRAINCTL_LIBS := $(call libs_of,jansson libelf) -lpthread
GRAINCTL_FULL_LIBS := $(UPROBES_LIBS) $(RENDER_LIBS) $(EXPORT_LIBS) $(SCREEN_LIBS) $(NUMA_LIBS) $(WEB_LIBS) \
	$(DAEMON_LIBS) $(ANALYSIS_LIBS)

$(B)/libcommon.a: $(COMMON_OBJ)
$(B)/libgraind.a: $(filter-out %/main.o,$(GRAIND_OBJ))
$(B)/libgrainctl.a: $(filter-out %/main.o,$(GRAINCTL_OBJ))

$(B)/graind: $(GRAIND_OBJ) $(addprefix $(B)/,libcommon.a libuprobes.a libanalysis.a)
	$(call link,$(GRAIND_LIBS))
# Of the archives comes only what its verbs use.
$(B)/grainctl: $(B)/daemon/grainctl/verbs/main.o $(addprefix $(B)/,libgrainctl.a libcommon.a libuprobes.a)
	$(call link,$(GRAINCTL_LIBS))
$(B)/grainctl-full: $(GRAINCTL_OBJ) $(addprefix $(B)/,libcommon.a libuprobes.a librender.a libanalysis.a)
	$(call link,$(GRAINCTL_FULL_LIBS))
# Reports for graind, which links nothing that draws.
$(B)/graind-render: $(GRAIND_RENDER_OBJ) $(addprefix $(B)/,libcommon.a librender.a libanalysis.a)
	$(call link,$(RENDER_LIBS) $(ANALYSIS_LIBS))
