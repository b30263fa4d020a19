/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fills the sections of body.html. The overview is made from the summary at once. All other sections are made
 * when the columns are decoded.
 */
function make_part(app, id, make) {
	const section = document.getElementById(id);

	try {
		make(app, section);
	} catch (error) {
		console.error(id, error);
		section.replaceChildren(dom_node("p", { class: "failed" },
			"This part could not be shown: " + error.message));
	}
}

/* Waits for the next paint. Pages that are not visible do not paint. */
function painted() {
	return new Promise((resolve) => {
		if (document.hidden)
			setTimeout(resolve);
		else
			requestAnimationFrame(() => setTimeout(resolve));
	});
}

function make_overview(app) {
	make_part(app, "header", make_header);
	make_part(app, "verdict", make_verdict);
	make_part(app, "account", make_account);
	make_part(app, "tiles", make_tiles);
	make_part(app, "lines", make_lines);
	make_part(app, "advice", make_advice);
	make_part(app, "steps", make_steps);
	make_part(app, "definitions", make_definitions);
	make_part(app, "depths", make_depths);
	make_part(app, "loops", make_loops);
	make_part(app, "regions", make_regions);
	make_part(app, "waits", make_waits);
	make_part(app, "locks", make_locks);
	make_part(app, "whatif", make_whatif);
	make_part(app, "samples", make_samples);
	make_part(app, "scheduler", make_scheduler);
	make_part(app, "numa", make_numa);
	make_part(app, "counters", make_counters);
}

/* Makes the parts that need the columns. Called when `ready` is set. */
function make_pictures(app) {
	make_part(app, "graph", make_graph);
	make_part(app, "details", make_details);
	make_part(app, "parallelism", make_parallelism);
	make_part(app, "timeline", make_timeline);
	make_part(app, "distributions", make_distributions);
}

async function main() {
	const waiting = ["graph", "details", "parallelism", "timeline", "distributions"]
		.map((id) => document.getElementById(id));
	const data = await Report.load();

	clean_strings(data.summary);
	clean_strings(data.report);
	format_use_unit(data.summary.unit);
	const app = new App(data), grains = format_plural(data.summary.grains.total, "grain");

	make_overview(app);
	for (const section of waiting)
		section.replaceChildren(dom_node("p", { class: "waiting" }, `reading ${grains} …`));
	await painted();
	try {
		await data.load_columns((share) => {
			for (const section of waiting)
				section.firstChild.textContent = `reading ${grains}: ${Math.round(100 * share)} %`;
		});
	} catch (error) {
		console.error("columns", error);
		for (const section of waiting)
			section.replaceChildren(dom_node("p", { class: "failed" },
				"The numbers of this report are damaged: " + error.message));
		return;
	}
	for (const section of waiting)
		section.replaceChildren();
	window.report = data;
	window.app = app;
	app.set("ready", true);
	make_pictures(app);
}

main().catch((error) => {
	console.error(error);
	document.getElementById("page").append(dom_node("p", { class: "failed" },
		"This report could not be shown: " + error.message));
});
