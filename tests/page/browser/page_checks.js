/* SPDX-License-Identifier: BSD-2-Clause */
/* What test_layout.py asks of the page, from computed styles: put into it by the test, no part of it. */
(() => {
	const shown = (e) => e.checkVisibility({ visibilityProperty: true, opacityProperty: true }) &&
		e.getClientRects().length > 0;
	const CONTROLS = "button, input, select, textarea, a[href], summary, [tabindex]";

	function describe(e) {
		const id = e.id ? "#" + e.id : "", part = e.closest("section[id], header[id]");
		const name = e.getAttribute("class") ? "." + e.getAttribute("class").trim().split(/\s+/).join(".") : "";

		return (part && part !== e ? "#" + part.id + " " : "") + e.tagName.toLowerCase() + id + name + " '" +
			(e.getAttribute("aria-label") || e.textContent || "").trim().slice(0, 40) + "'";
	}

	/* Any CSS colour as [red, green, blue, alpha], 0..255 and 0..1. */
	const context = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
	const parsed = new Map();
	function rgba(colour) {
		if (!parsed.has(colour)) {
			context.clearRect(0, 0, 1, 1);
			context.fillStyle = colour;
			context.fillRect(0, 0, 1, 1);
			const [r, g, b, alpha] = context.getImageData(0, 0, 1, 1).data;

			parsed.set(colour, [r, g, b, alpha / 255]);
		}
		return parsed.get(colour);
	}

	function over(top, below) {
		return [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
	}

	function background(e) {
		const layers = [];

		for (let up = e; up; up = up.parentElement) {
			const colour = rgba(getComputedStyle(up).backgroundColor);

			if (colour[3])
				layers.push(colour);
			if (colour[3] === 1)
				break;
		}
		return layers.reduceRight((below, layer) => over(layer, below), [255, 255, 255, 1]);
	}

	function luminance(colour) {
		const [r, g, b] = colour.slice(0, 3).map((v) => v / 255)
			.map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);

		return 0.2126 * r + 0.7152 * g + 0.0722 * b;
	}

	/* Texts that stand out less than this from what is behind them. */
	function faint(least) {
		const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = new Map();
		let texts = 0;

		while (walker.nextNode()) {
			const e = walker.currentNode.parentElement;

			if (!walker.currentNode.data.trim() || !shown(e) || e.closest("script, style, noscript"))
				continue;
			texts++;
			const style = getComputedStyle(e), behind = background(e);
			let ink = rgba(e.namespaceURI.endsWith("svg") ? style.fill : style.color).slice();

			for (let up = e; up; up = up.parentElement)
				ink[3] *= Number(getComputedStyle(up).opacity);
			const [a, b] = [luminance(over(ink, behind)), luminance(behind)].sort((x, y) => y - x);
			const contrast = (a + 0.05) / (b + 0.05);

			if (contrast < least)
				found.set(describe(e), contrast.toFixed(2) + " " + describe(e));
		}
		return { texts, faint: [...found.values()] };
	}

	/* What sticks out of the window at the right, unless its container scrolls or cuts. */
	function sticking_out() {
		const width = document.documentElement.clientWidth;
		const contained = (e) => {
			for (let up = e.parentElement; up && up !== document.body; up = up.parentElement)
				if (getComputedStyle(up).overflowX !== "visible" &&
					up.getBoundingClientRect().right <= width + 1)
					return true;
			return false;
		};

		return [...document.body.querySelectorAll("*")].filter((e) => shown(e) &&
			e.getBoundingClientRect().right > width + 1 && !contained(e)).map(describe);
	}

	/* Text that leaves the box it is in and is not cut there. */
	function spilling() {
		const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = new Set(),
			range = document.createRange();

		while (walker.nextNode()) {
			const e = walker.currentNode.parentElement,
				box = e.closest(".tile, button, td, th, .panel, .tooltip");

			if (!box || !walker.currentNode.data.trim() || !shown(e) ||
				e.closest("script, style, noscript, option, .unseen"))
				continue;
			let cut = false;

			for (let up = e; up !== box.parentElement; up = up.parentElement)
				cut ||= getComputedStyle(up).overflowX !== "visible";
			range.selectNodeContents(walker.currentNode);
			const text = range.getBoundingClientRect(), edge = box.getBoundingClientRect();

			if (!cut && (text.right > edge.right + 1 || text.left < edge.left - 1))
				found.add(describe(box) + " by " +
					Math.round(Math.max(text.right - edge.right, edge.left - text.left)));
		}
		return [...found];
	}

	function controls() {
		return [...document.querySelectorAll(CONTROLS)].filter((e) =>
			shown(e) && !e.disabled && e.tabIndex >= 0);
	}

	/* Controls that a finger cannot hit; links in running text are as large as the text. */
	function small(least) {
		return controls().filter((e) =>
			e.matches("button, input, select, textarea, a, summary")).filter((e) => {
			const box = e.getBoundingClientRect();

			return !e.closest(".skip") && getComputedStyle(e).display !== "inline" &&
				(box.width < least || box.height < least) &&
				!(e.labels && [...e.labels].some((l) => l.getBoundingClientRect().height >= least));
		}).map((e) => Math.round(e.getBoundingClientRect().width) + "x" +
			Math.round(e.getBoundingClientRect().height) + " " + describe(e));
	}

	/* What looks as if it could be clicked, but is in nothing that the keyboard reaches. */
	function mouse_only() {
		return [...document.body.querySelectorAll("*")].filter((e) => shown(e) &&
			getComputedStyle(e).cursor === "pointer" && !e.closest(CONTROLS + ", label")).map(describe);
	}

	function focused() {
		const e = document.activeElement, style = e && getComputedStyle(e);

		if (!e || e === document.body || e === document.documentElement)
			return null;
		window.page_checks.seen = (window.page_checks.seen || new Set()).add(e);
		return { what: describe(e), marked: style.outlineStyle !== "none" || style.boxShadow !== "none" };
	}

	/* Controls that Tab did not come to; of a group moved in by arrows one is enough. */
	function not_focused() {
		return controls().filter((e) => !window.page_checks.seen.has(e)).map(describe);
	}

	window.page_checks = { faint, sticking_out, spilling, controls, small, mouse_only, focused, not_focused };
})();
