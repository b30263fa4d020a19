/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The style of an SVG: on light and dark ground, on paper, and in each view. Colours are set on the elements
 * of nodes. Their shapes inherit the colours, so one rule for each class is enough.
 */
#include "render/svg/svg_writer.h"

struct theme {
	const char *ground, *panel, *ink, *muted, *line, *rule, *critical, *creation, *synchronization,
		*dependence, *dim;
};

static const struct theme light = {"#FFFFFF", "#F6F7F9", "#1D2330", "#5B6472", "#A9B2C0", "#DDE1E8",
				   "#D11F3A", "#2E8B57", "#FF7F50", "#6B5BD2", "#CDD3DC"};
static const struct theme dark = {"#0F131A", "#161B24", "#E7EAF0", "#9AA4B4", "#566173", "#262D39",
				  "#FF5C70", "#3FB37A", "#FF8F66", "#9A8CFF", "#333C4A"};

static const char shapes[] =
	"text{font-family:Inter,system-ui,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;"
	"font-variant-numeric:tabular-nums;stroke:none}\n"
	"a{cursor:pointer}.headline,.strong{font-weight:700}.count,.label{font-size:8px}\n"
	".label{text-anchor:middle}.closed .label{font-size:10.5px}.closed .strong{font-size:12px}\n"
	".skip .label{font-size:10.5px}\n"
	".bar{stroke-width:1.5;fill:none}\n"
	".node path,.node polygon,.node ellipse,.node circle,.node rect{fill:inherit;stroke:inherit;"
	"stroke-width:inherit;stroke-dasharray:inherit}\n"
	".node .break{stroke-width:1.5;fill:none;stroke-dasharray:none}\n"
	".edges path{fill:none;stroke:inherit;stroke-width:inherit;stroke-dasharray:inherit}\n"
	".node{stroke:none;stroke-width:.8}.edges{stroke-width:1.1}\n"
	".ancestor{stroke-dasharray:4 3}.dependence{stroke-dasharray:2.5 1.8}\n"
	".forward{stroke-width:5;stroke-dasharray:5 3}.edges.critical{stroke-width:2.2}\n"
	".group,.closed,.open,.skip{stroke-width:1.1}.open.siblings,.skip{stroke-dasharray:4 3}\n"
	".flagged{stroke-width:.7}.flagged.c_h1{stroke-width:1.1}.flagged.c_h0{stroke-width:1.6}\n"
	".incomplete{stroke-dasharray:3 2;stroke-width:1.3}.discarded{stroke-dasharray:1.5 1.5;"
	"stroke-width:1.3}\n"
	".undeferred{stroke-width:1.8}.node.critical{stroke-width:2}.critical-mark{stroke-width:2.2}\n"
	".node:hover,.node:focus,.node:target{stroke-width:3;stroke-dasharray:none}.node:target{"
	"stroke-width:5}\n"
	/* One selector for each rule, because a renderer that does not know :target drops the whole rule. */
	".view{display:none}.view.default{display:inline}\n"
	".view:target{display:inline}\n.view:target~.default{display:none}\n"
	".links text{text-decoration:underline}\n";

/* Whether white is easier to read than ink on this colour ("#RRGGBB"). */
static bool is_dark(const char *colour)
{
	double l = view_colour__luminance(colour), ink = view_colour__luminance("#1D2330");

	return 1.05 / (l + .05) > (l + .05) / (ink + .05);
}

/* Adds the fill of all elements with a class that `selector` ends in, and the ink of the text on them. */
static void add_colours(struct format_text *out, const char *selector, size_t layer, bool is_dark_theme)
{
	for (uint8_t i = 0; i < VIEW_COLOURS; i++) {
		const struct view_colour *c = view_colour__get(i);
		const char *fill = is_dark_theme ? c->dark : c->light;
		struct svg_class name = svg__class(layer, i);

		format__printf(out, "%s.%s", selector, name.text);
		if (!layer)
			format__printf(out, ",.f_%s", c->name);
		format__printf(out, "{fill:%s}%s.%s .label{fill:%s}\n", fill, selector, name.text,
			       is_dark(fill) ? "#FFFFFF" : "#1D2330");
	}
}

static void add_edges(struct format_text *out, const char *selector, bool dims, const struct theme *t)
{
	format__printf(out,
		       "%s.creation{stroke:%s}%s.continuation{stroke:%s}%s.synchronization{stroke:%s}"
		       "%s.ancestor{stroke:%s}\n",
		       selector, dims ? t->dim : t->creation, selector, dims ? t->dim : t->line, selector,
		       dims ? t->dim : t->synchronization, selector, dims ? t->dim : t->synchronization);
}

/* Adds the colours of a view other than the first, for the elements that `selector` selects. */
static void add_view(struct format_text *out, const struct svg_job *job, size_t layer, const char *selector,
		     const struct theme *t)
{
	const struct view *view = &job->layers[layer].view;

	add_colours(out, selector, layer, t == &dark);
	add_edges(out, selector, view__dims(view), t);
	format__printf(out,
		       "%s.critical{stroke:%s}%s.f%zu:not(.critical){stroke:%s;stroke-width:.8}"
		       "%s.flagged:not(.f%zu):not(.critical):not(.incomplete){stroke:none}\n",
		       selector, t->critical, selector, layer, t->ink, selector, layer);
	format__printf(out, "%s.undeferred:not(.critical){stroke:%s}\n", selector,
		       view__dims(view) ? t->line : t->creation);
}

static void add_layer(struct format_text *out, const struct svg_job *job, size_t layer, const struct theme *t)
{
	const char *name = render_view__name(job->layers[layer].view.view);
	char selector[96];

	snprintf(selector, sizeof(selector), "#view-%s:target~.graph ", name);
	add_view(out, job, layer, selector, t);
	if (!svg__has_own(job, layer))
		return;
	/*
	 * If a node is the target of a link, it is shown in its own view. Renderers that do not know :has()
	 * drop these rules.
	 */
	snprintf(selector, sizeof(selector), ".graph:has(.o%zu:target) ", layer);
	add_view(out, job, layer, selector, t);
	if (t == &light)
		format__printf(out,
			       "svg:has(.o%zu:target) .default{display:none}\n"
			       "svg:has(.o%zu:target) #view-%s{display:inline}\n",
			       layer, layer, name);
}

static void add_theme(struct format_text *out, const struct svg_job *job, const struct theme *t)
{
	bool dims = view__dims(&job->layers[0].view);

	format__printf(out,
		       "svg{background:%s}text{fill:%s}.muted,.count,.frame,.skip "
		       ".label{fill:%s}.ground{fill:%s}.rule{stroke:%s}"
		       ".node .break{stroke:%s}.bar{stroke:%s}.critical-mark{stroke:%s}\n",
		       t->ground, t->ink, t->muted, t->ground, t->rule, t->ground, t->muted, t->critical);
	add_colours(out, "", 0, t == &dark);
	add_edges(out, "", dims, t);
	format__printf(
		out,
		".dependence,.dependence-mark{stroke:%s}.forward{stroke:%s}.group,.closed,.open,.skip"
		"{stroke:%s}.node .shadow{fill:%s}.open{fill:%s}.open.siblings{fill:%s}.skip{fill:%s}\n",
		t->dependence, t->line, t->line, t->panel, t->ground, t->panel, t->ground);
	format__printf(out,
		       ".flagged,.incomplete,.discarded{stroke:%s}.discarded{fill:none!important}"
		       ".undeferred{stroke:%s;fill:%s!important}.critical{stroke:%s}"
		       ".node:hover,.node:focus,.node:target{stroke:%s}\n",
		       t->ink, dims ? t->line : t->creation, t->ground, t->critical, t->ink);
	for (size_t i = 1; i < job->layer_count; i++)
		add_layer(out, job, i, t);
}

void svg_style__add(const struct svg_job *job, struct format_text *out)
{
	format__add(out, "<style>\n");
	format__add(out, shapes);
	add_theme(out, job, &light);
	format__add(out, "@media screen and (prefers-color-scheme:dark){\n");
	add_theme(out, job, &dark);
	/*
	 * On paper there are no links. Paper keeps the colours that it is given, and has everything on one
	 * page.
	 */
	format__add(out, "}\n@media print{svg{width:100%;height:100vh;print-color-adjust:exact;"
			 "-webkit-print-color-adjust:exact}.links{display:none}}\n</style>\n");
}
