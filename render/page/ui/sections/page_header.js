/* SPDX-License-Identifier: BSD-2-Clause */
/* The bar at the top: the program and its run, and the theme. */
function logo_node() {
	const line = "M10 4C10 8 4 7 4 11S10 14 10 18M10 4C10 8 16 7 16 11S10 14 10 18";
	const box = (x, colour) => svg_node("rect", { x, y: 8.5, width: 4, height: 5, rx: 1, fill: colour });
	const circle = (cy, colour) => svg_node("circle", { cx: 10, cy, r: 3, fill: colour });

	return svg_node("svg", { class: "logo", width: 20, height: 22, viewBox: "0 0 20 22", "aria-hidden": "true" },
		svg_node("path", { d: line, fill: "none", stroke: "var(--line)", "stroke-width": 1.4 }),
		circle(4, "var(--fork)"), circle(18, "var(--join)"), box(2, "var(--d0)"), box(14, "var(--d1)"));
}

/* The program without its folders, then its arguments. */
function short_command(summary) {
	const command = summary.cmd || summary.exe || "";
	const exe = summary.exe || "", name = exe.slice(exe.lastIndexOf("/") + 1);

	if (exe && command.startsWith(exe))
		return name + command.slice(exe.length);
	return command.replace(/^\S*\//, "") || name || "program";
}

function theme_button(app) {
	const button = dom_node("button", { class: "button", type: "button", id: "theme",
		onclick: () => app.choose_theme(app.get("theme") === "dark" ? "light" : "dark") });
	const show = () => {
		const other = app.get("theme") === "dark" ? "Light" : "Dark";

		button.textContent = other;
		button.setAttribute("aria-label", other + " colours");
	};

	app.on("theme", show);
	show();
	return button;
}

/* The address is for the page's state. So this link does not change it. */
function skip_by_link() {
	document.querySelector(".skip").addEventListener("click", (event) => {
		event.preventDefault();
		document.getElementById("lines").focus();
	});
}

function make_header(app, el) {
	const s = app.data.summary, whole = s.cmd || s.exe || "";
	const facts = [
		s.pid === null ? null : "pid " + s.pid,
		s.runtime || null,
		s.threads ? format_plural(s.threads, "thread") : null,
		s.host ? "host " + s.host : null,
	].filter(Boolean);

	el.append(logo_node(),
		s.job === null ? dom_node("b", {}, "graind report") : dom_node("b", {}, "job " + s.job),
		dom_node("bdi", { class: "mono command", title: whole, tabindex: "0" }, short_command(s)),
		dom_node("bdi", { class: "muted about", title: facts.join(" · ") }, facts.join(" · ")),
		dom_node("span", { class: "fill" }), theme_button(app));
	skip_by_link();
}
