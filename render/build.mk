# SPDX-License-Identifier: BSD-2-Clause
RENDER_OBJ := $(call objects,render)
RENDER_LIBS := $(call libs_of,libgvc libcgraph jansson libdeflate libcrypto)
# Traces for other tools, which only grainctl writes.
EXPORT_LIBS := $(call libs_of,otf2)
ALL_OBJ += $(RENDER_OBJ)

$(B)/librender.a: $(RENDER_OBJ)

# The report's page: its parts in one file, which becomes part of the program. ui/ORDER says in which order.
UI := render/page/ui
PAGE := $(B)/render/page.html
PAGE_STYLES := $(addprefix $(UI)/,$(shell sed -n '/\.css$$/p' $(UI)/ORDER))
PAGE_SCRIPTS := $(addprefix $(UI)/,$(shell sed -n '/\.js$$/p' $(UI)/ORDER))
# In the page's policy only this style and this script have a hash, so that nothing else is ever run.
page_hash = sha256-$$(sha256sum < $(1) | cut -c -64 | tr a-f A-F | basenc --base16 -d | base64)
$(PAGE): $(UI)/frame/head.html $(UI)/frame/body.html $(UI)/ORDER $(PAGE_STYLES) $(PAGE_SCRIPTS)
	$(say) PAGE $@
	@mkdir -p $(@D)
	$(Q)cat $(PAGE_STYLES) > $@.css
	$(Q){ echo '(() => {'; echo '"use strict";'; cat $(PAGE_SCRIPTS); echo '})();'; } > $@.js
	$(Q){ cat $(UI)/frame/head.html; \
		echo "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; \
	script-src '$(call page_hash,$@.js)'; style-src '$(call page_hash,$@.css)'; \
	base-uri 'none'; form-action 'none'\">"; \
		printf '<style>'; cat $@.css; echo '</style>'; cat $(UI)/frame/body.html; echo '<!--DATA-->'; \
		printf '<script>'; cat $@.js; echo '</script>'; echo '</body></html>'; } > $@
$(B)/render/page/page_template.o: $(PAGE)
