/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The account: where the threads' time went, as one bar of 100 %. A click on a cause shows which regions lose most to
 * it.
 */
const CAUSE_COLOURS = {
	useful: "var(--q3)", serial_work: "var(--q1)", serial: "var(--h0)", fork_join: "var(--h1)",
	management: "var(--book)", imbalance: "var(--h2)", lack_of_work: "var(--h3)", locks: "var(--d4)",
	preempted: "var(--d5)", oversubscribed: "var(--d1)", blocked: "var(--d8)", measuring: "var(--line)",
	unknown: "var(--other)",
};
const PARTS_SHOWN = 6;
/* Of the threads' time; what has less is not shown. */
const LEAST_SHOWN = 0.0005;

function account_lost(part) {
	return part.capacity_ns - part.causes_ns.useful - part.causes_ns.serial_work;
}

/* Says what most is lost to, where no advice is about it. */
function verdict_lost(s) {
	const account = s.account, of = (ns) => format_percent(100 * ns / account.capacity_ns);
	const ns = (cause) => account.causes_ns[cause.cause];
	const worst = account.causes.filter((c) => c.lost_to).reduce((a, b) => ns(b) > ns(a) ? b : a);

	return [
		dom_node("h1", {}, `${of(account_lost(account))} of the threads' time is lost, most of it to ` +
			worst.lost_to + "."),
		dom_node("p", { class: "cure" }, dom_node("b", {}, "Costs " + of(ns(worst))),
			": many places lose a little, and no single one is worth an advice. ",
			dom_node("b", {}, "To do: "), "click on a cause below to see where it is."),
	];
}

/* Where the serial code is, by samples: its functions, and the regions around it. */
function account_serial(account) {
	const row = (...nodes) => dom_node("li", {}, nodes);
	const muted = (text) => dom_node("span", { class: "muted" }, text);
	const region = (source, none) => source ? dom_node("code", {}, source) : muted(none);

	if (!account.serial_samples)
		return [];
	return [
		dom_node("h3", {}, "Serial code is in"),
		dom_node("ol", { class: "account-parts account-serial" },
			account.serial_functions.slice(0, PARTS_SHOWN).map((f) => row(
				dom_node("code", { class: "place", title: f.function }, f.function),
				muted(f.source || ""),
				dom_node("b", {}, format_time(f.share * account.serial_ns)),
				muted(format_percent(100 * f.share))))),
		dom_node("h3", {}, "It runs between"),
		dom_node("ol", { class: "account-parts account-between" },
			account.serial_between.slice(0, PARTS_SHOWN).map((gap) => row(
				dom_node("span", { class: "place" }, region(gap.before, "the begin"), " and ",
					region(gap.after, "the end")),
				dom_node("b", {}, format_time(gap.ns)),
				muted(format_percent(100 * gap.ns / account.serial_ns) +
					(gap.function ? ", mostly in " + gap.function : ""))))),
	];
}

/* The parts that have most of a cause. */
function account_parts(app, cause) {
	const account = app.data.summary.account;
	const parts = account.parts.filter((p) => p.causes_ns[cause] > 0)
		.sort((a, b) => b.causes_ns[cause] - a.causes_ns[cause]);
	const rows = parts.slice(0, PARTS_SHOWN).map((part) => dom_node("li", {},
		part.serial ? dom_node("span", { class: "muted" }, "outside of regions") :
			place_node(part.source, app.place(app.definition_at(part.source)).func),
		dom_node("b", {}, format_time(part.causes_ns[cause])),
		dom_node("span", { class: "muted" },
			format_percent(100 * part.causes_ns[cause] / account.capacity_ns))));

	return [dom_node("h3", {}, account.causes.find((c) => c.cause === cause).label,
		", where"), dom_node("ol", { class: "account-parts" }, rows),
	...cause === "serial" || cause === "serial_work" ? account_serial(account) : []];
}

function make_account(app, el) {
	const account = app.data.summary.account;

	if (!account || !(account.why || account.capacity_ns)) {
		el.remove();
		return;
	}
	if (account.why) {
		el.append(panel_head("Where the threads' time went", ""),
			dom_node("p", { class: "muted" }, `Not known: ${account.why}.`));
		return;
	}
	const share = (cause) => account.causes_ns[cause] / account.capacity_ns;
	const shown = account.causes.filter(({ cause }) => share(cause) >= LEAST_SHOWN);
	const e = account.efficiencies, percent = (value) => format_percent(100 * value);
	const parts = dom_node("div", { class: "account-where", "aria-live": "polite" });
	const keys = shown.map(({ cause, label }) => {
		const dot = dom_node("i", { class: "key-dot" });

		dot.style.background = CAUSE_COLOURS[cause];
		return dom_node("button", { class: "key", type: "button", "data-cause": cause, "aria-pressed": "false",
			title: format_time(account.causes_ns[cause]), onclick: () => show(cause) },
		dot, label + " ", dom_node("b", {}, format_percent(100 * share(cause))));
	});
	const bar = dom_node("div", { class: "account-bar", "aria-hidden": "true" }, shown.map(({ cause }) => {
		const part = dom_node("i");

		part.style.background = CAUSE_COLOURS[cause];
		part.style.flexGrow = share(cause);
		return part;
	}));
	const show = (cause) => {
		for (const key of keys)
			key.setAttribute("aria-pressed", String(key.dataset.cause === cause));
		parts.replaceChildren(...account_parts(app, cause));
	};

	el.append(panel_head("Where the threads' time went",
		`${format_plural(account.threads, "thread")} × ${format_time(account.capacity_ns / account.threads)}`,
		dom_node("span", { class: "muted account-factors" }, "parallel efficiency ",
			dom_node("b", {}, percent(e.parallel)), ` = serial ${percent(e.serial)}` +
			` × load balance ${percent(e.load_balance)} × synchronisation ${percent(e.synchronisation)}` +
			` × scheduling ${percent(e.scheduling)} × system ${percent(e.system)}`)),
	bar, dom_node("div", { class: "account-keys" }, keys), parts);
}
