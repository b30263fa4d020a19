/* SPDX-License-Identifier: BSD-2-Clause */
/* NUMA nodes: what ran on each, and what memory was there. If something is absent, the text says why. */

function area_title(area) {
	return area.name || (area.module ? `other data of ${area.module}` : {
		allocation: "an allocation", heap: "the heap",
		stack: "the first thread's stack", other: "smaller parts" }[area.kind] || "a mapping");
}

function resident_bytes(numa, look) {
	return look ? look.pages.reduce((sum, pages) => sum + pages, look.hidden) * numa.pages.page_bytes : 0;
}

function first_capital(text) {
	return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/* The part of the area on each node. */
function spread_node(numa, area) {
	const all = area.last ? area.last.pages.reduce((sum, pages) => sum + pages, 0) : 0;

	if (!all)
		return ABSENT;
	return numa.nodes.map((node, i) => area.last.pages[i] ?
		dom_node("span", { class: "spread",
			title: `node ${node.node}: ${format_bytes(area.last.pages[i] * numa.pages.page_bytes)}` },
			`${node.node}: ${format_percent(100 * area.last.pages[i] / all)} `) : null);
}

function node_columns(numa) {
	const team = numa.nodes.reduce((sum, node) => sum + (node.team_ns || 0), 0);
	const memory = numa.nodes.reduce((sum, node) => sum + node.bytes_last, 0);
	const size = (title, value, hint) => ({ title, hint, value, show: (node) => format_bytes(value(node)) });

	return [
		{ ...count_column("node", (node) => node.node), text: true, show: (node) => String(node.node) },
		count_column("CPUs", (node) => node.cpus),
		size("memory", (node) => node.memory_bytes, "that the machine has there"),
		only_if_any({ title: "teams' time", hint: "of fragments in parallel regions that ran there",
			value: (node) => node.team_ns,
			show: (node) => [format_time(node.team_ns), bar_node(team ? node.team_ns / team : 0)] }),
		size("pages at first", (node) => node.bytes_first,
			"of the program, when its memory was looked at first"),
		{ title: "at last", value: (node) => node.bytes_last, hint: "when it was looked at last",
			show: (node) =>
				[format_bytes(node.bytes_last), bar_node(memory ? node.bytes_last / memory : 0)] },
		...numa.nodes.length > 1 ? numa.nodes.map((to, i) => ({ title: `to ${to.node}`,
			hint: "distance as the machine tells; 10: its own", value: (node) => node.distances[i] })) : [],
	];
}

function area_columns(numa) {
	return [
		{ title: "memory", text: true, value: area_title,
			show: (area) => place_node(area_title(area), area.name ? area.module : "") },
		{ title: "kind", text: true, value: (area) => area.kind },
		{ title: "size", value: (area) => area.bytes, show: (area) => format_bytes(area.bytes) },
		{ title: "in memory", value: (area) => resident_bytes(numa, area.last),
			hint: "of large ones estimated from some pages",
			show: (area) => area.last ? format_bytes(resident_bytes(numa, area.last)) : ABSENT },
		{ title: "on nodes", value: (area) => area.on_node_percent, show: (area) => spread_node(numa, area) },
		only_if_any({ title: "far", value: (area) => area.far_percent,
			show: (area) => format_percent(area.far_percent),
			hint: "part of the teams' time on other nodes than its pages" }),
		...numa.pages.areas.some((area) => area.accesses) ? [
			{ title: "samples", value: (area) => area.accesses ? area.accesses.samples : 0,
				hint: "of the teams' accesses to it" },
			{ title: "remote", value: (area) => area.accesses && area.accesses.remote_percent,
				hint: "of these",
				show: (area) => area.accesses ? format_percent(area.accesses.remote_percent) : ABSENT },
		] : [],
		{ title: "", text: true, value: (area) => area.misplaced ? "misplaced first touch" : "" },
	];
}

function thread_node_columns(numa) {
	const all = (thread) => thread.node_ns.reduce((sum, ns) => sum + ns, 0);

	return [
		{ ...count_column("thread", (thread) => thread.tid), text: true, show: (thread) => String(thread.tid) },
		...numa.nodes.map((node, i) => share_of(`on node ${node.node}`, (thread) => thread.node_ns[i], all)),
	];
}

function access_columns(numa) {
	return [
		{ title: "from node", text: true, value: (row) => String(numa.nodes[row.from].node) },
		...numa.nodes.map((node, i) => ({ title: `to ${node.node}`, value: (row) => row.percent[i],
			show: (row) => [format_percent(row.percent[i]), bar_node(row.percent[i] / 100)] })),
	];
}

function sampled_columns() {
	return [
		{ title: "of", text: true, value: (row) => row.source || row.problem || "unknown" },
		count_column("samples", (row) => row.samples),
		{ title: "remote", value: (row) => row.remote_percent,
			hint: "of those of which the page's node is known",
			show: (row) =>
				[format_percent(row.remote_percent), bar_node((row.remote_percent || 0) / 100)] },
	];
}

/* NUMA balancing waits for the next use of some pages. Some kernels do not report the nodes of these. */
function hidden_sentence(numa) {
	const hidden = numa.pages.areas.reduce((sum, area) => sum + (area.last ? area.last.hidden : 0), 0);

	return hidden ? `On which node ${format_bytes(hidden * numa.pages.page_bytes)} of them lie ` +
		"this kernel did not tell: " +
		"NUMA balancing waited for their next use." : "";
}

function address_sentence(addresses) {
	if (!addresses.available)
		return `${first_capital(addresses.why)}.`;
	return `Addresses were sampled by ${addresses.event}: ${format_plural(addresses.samples, "sample")}, of ` +
		`${format_count(addresses.samples - addresses.local - addresses.remote)} ` +
		`the page's node is not known; ${format_count(addresses.lost)} were lost.`;
}

function remote_sentence(remote) {
	if (!remote.available)
		return `Remote accesses are not known: ${remote.why}.`;
	if (remote.by === "addresses")
		return `${format_percent(remote.percent)} of the teams' sampled accesses are remote.`;
	return `At least ${format_percent(remote.least_percent)} of the teams' accesses are remote ` +
		"if all pages are used alike, " +
		`${format_percent(remote.alike_percent)} if every thread uses all of them.`;
}

function make_numa(app, el) {
	const numa = app.data.summary.numa;
	const table = (what, rows, columns) =>
		new SortedTable({ what, rows, columns: telling_columns(columns, rows) }).node;

	if (!numa || (!numa.nodes.length && !app.data.summary.grains.total))
		return;
	el.append(panel_head("NUMA", numa.available ? `${format_plural(numa.nodes.length, "node")}; ` +
		`${format_plural(numa.moved_grains, "grain")} ran on several` : ""));
	if (!numa.available)
		el.append(dom_node("p", { class: "muted" }, `${first_capital(numa.why)}.`));
	else
		el.append(dom_node("p", {}, remote_sentence(numa.remote)), dom_node("p", { class: "muted" },
			address_sentence(numa.addresses)));
	if (numa.allowed_cpus && numa.available)
		el.append(dom_node("p", { class: "muted" },
			`The program could use CPUs ${numa.allowed_cpus} and nodes ${numa.allowed_nodes}.`));
	if (!numa.available)
		return;
	el.append(table("nodes", numa.nodes, node_columns(numa)));
	if (!numa.pages.available)
		el.append(dom_node("p", { class: "muted" }, `Where its memory lay is not known: ${numa.pages.why}.`));
	else if (numa.pages.areas.length)
		el.append(panel_head("Memory", "the parts with the most pages"),
			table("areas", numa.pages.areas, area_columns(numa)),
			...hidden_sentence(numa) ? [dom_node("p", { class: "muted" }, hidden_sentence(numa))] : []);
	if (numa.remote.available)
		el.append(panel_head("Accesses", numa.remote.by === "addresses" ? "between nodes, as sampled" :
			"between nodes, if every thread uses all memory"), table("accesses",
			numa.remote.accesses_percent.map((percent, from) => ({ from, percent })),
			access_columns(numa)));
	if (numa.addresses.available && numa.addresses.definitions.length)
		el.append(panel_head("Sampled accesses", "of each construct, and of grains with a problem"),
			table("samples", [...numa.addresses.definitions, ...numa.addresses.problems],
				sampled_columns()));
	if (numa.threads.length)
		el.append(panel_head("Threads by node", "time of their fragments"),
			table("threads", numa.threads, thread_node_columns(numa)));
}
