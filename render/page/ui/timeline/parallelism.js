/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Instantaneous parallelism over time: how many fragments run at each moment, exactly. A pixel stands for some time.
 * It shows the mean in that time as a line, and the least and the most as a band. The axis is that of the time-line.
 */
const STEP_BLOCK = 128, PARALLELISM_HEIGHT = 96;
/* The text is updated when the range has not changed for this time, in ms. */
const WORDS_AFTER = 150;

/*
 * Returns a sorted copy of times, which are in 0..last. They are put into buckets, of BUCKET_USUAL times on average,
 * and then each bucket into order. This takes linear time; a bucket that gets far more is sorted by itself.
 */
const BUCKET_USUAL = 4, BUCKET_LARGE = 48;

function sort_times(times, last) {
	const n = times.length, buckets = Math.ceil(n / BUCKET_USUAL) + 1, scale = (buckets - 1) / last;
	const first = new Int32Array(buckets + 2), out = new Float64Array(n);
	const bucket = (time) => Math.max(0, Math.min(buckets - 1, Math.floor(time * scale)));

	for (let i = 0; i < n; i++)
		first[bucket(times[i]) + 2]++;
	for (let b = 0; b < buckets; b++)
		first[b + 2] += first[b + 1];
	for (let i = 0; i < n; i++)
		out[first[bucket(times[i]) + 1]++] = times[i];
	for (let b = 0; b < buckets; b++)
		if (first[b + 1] - first[b] > BUCKET_LARGE)
			out.subarray(first[b], first[b + 1]).sort();
	for (let i = 1; i < n; i++) {
		const time = out[i];
		let k = i;

		for (; k > 0 && out[k - 1] > time; k--)
			out[k] = out[k - 1];
		out[k] = time;
	}
	return out;
}

/* Parallelism as a function of time: it is value[i] from time[i] until time[i + 1]. */
class ParallelismSteps {
	constructor(fragments, last) {
		const n = fragments.count, starts = sort_times(fragments.start, last),
			ends = sort_times(fragments.end, last);
		const time = new Float64Array(2 * n + 2), value = new Int32Array(2 * n + 2);
		let count = 1, running = 0;

		for (let s = 0, e = 0; e < n;) {
			const at = s < n && starts[s] < ends[e] ? starts[s] : ends[e];

			while (e < n && ends[e] === at) {
				running--;
				e++;
			}
			while (s < n && starts[s] === at) {
				running++;
				s++;
			}
			if (value[count - 1] === running)
				continue;
			if (time[count - 1] !== at)
				count++;
			time[count - 1] = at;
			value[count - 1] = running;
		}
		time[count] = Math.max(last, time[count - 1]);
		this.count = count;
		this.time = time.subarray(0, count + 1);
		this.value = value.subarray(0, count);
		this.sum_up();
	}

	/* area[i]: the sum up to time[i]. Blocks have the least and the most of STEP_BLOCK steps. */
	sum_up() {
		const { count, time, value } = this, blocks = Math.ceil(count / STEP_BLOCK);

		this.area = new Float64Array(count + 1);
		this.least = new Int32Array(blocks).fill(0x7fffffff);
		this.most = new Int32Array(blocks);
		this.highest = 0;
		for (let i = 0; i < count; i++) {
			const b = Math.floor(i / STEP_BLOCK);

			this.area[i + 1] = this.area[i] + value[i] * (time[i + 1] - time[i]);
			this.least[b] = Math.min(this.least[b], value[i]);
			this.most[b] = Math.max(this.most[b], value[i]);
			this.highest = Math.max(this.highest, value[i]);
		}
	}

	/* Returns the step at a time. */
	index(at) {
		let low = 0, high = this.count;

		while (high - low > 1) {
			const middle = (low + high) >> 1;

			if (this.time[middle] <= at)
				low = middle;
			else
				high = middle;
		}
		return low;
	}

	area_up_to(at) {
		const i = this.index(at);

		return this.area[i] + this.value[i] * (Math.min(at, this.time[this.count]) - this.time[i]);
	}

	/* Returns { mean, least, most } over from..to. */
	over(from, to) {
		const first = this.index(from);
		let past = this.index(to) + 1, least = this.value[first], most = least;

		if (past - 1 > first && this.time[past - 1] >= to)
			past--;
		for (let i = first; i < past;) {
			const whole = i % STEP_BLOCK === 0 && i + STEP_BLOCK <= past, b = Math.floor(i / STEP_BLOCK);

			least = Math.min(least, whole ? this.least[b] : this.value[i]);
			most = Math.max(most, whole ? this.most[b] : this.value[i]);
			i += whole ? STEP_BLOCK : 1;
		}
		return {
			mean: to > from ? (this.area_up_to(to) - this.area_up_to(from)) / (to - from) :
				this.value[first],
			least, most };
	}

	/* Returns the share of from..to in which fewer than `limit` fragments ran. */
	share_below(limit, from, to) {
		let below = 0;

		for (let i = this.index(from); i < this.count && this.time[i] < to; i++)
			if (this.value[i] < limit)
				below += Math.min(to, this.time[i + 1]) - Math.max(from, this.time[i]);
		return to > from ? below / (to - from) : 0;
	}
}

class ParallelismView {
	constructor(app, element) {
		const { summary, fragments } = app.data;

		this.app = app;
		this.axis = time_axis_of(app);
		this.colours = new Colours(app);
		this.threads = summary.threads || app.data.report.tids.length;
		this.steps = new ParallelismSteps(fragments, this.axis.last);
		this.top = Math.max(1, this.threads, this.steps.highest);
		this.repaint = once_a_frame(() => this.paint());
		this.build(element);
		this.listen();
		this.say();
	}

	build(element) {
		this.element = element;
		this.canvas = dom_node("canvas", { class: "tl-canvas", role: "img" });
		this.words = dom_node("span", { class: "muted" });
		this.range = dom_node("span", { class: "muted tl-range", "aria-live": "polite" });
		this.table = dom_node("details", { class: "tl-table" }, dom_node("summary", {}, "As a table"));
		this.tip = dom_node("div", { class: "tooltip tl-tip", role: "tooltip", hidden: true });
		element.append(panel_head("Parallelism over time", null, this.words, this.range), this.canvas,
			this.table, this.tip);
	}

	listen() {
		new TimelineInput(this.canvas, this.axis, (x) => this.time(x), {
			hover: (x, y, event) => this.hover(x, event),
			leave: () => {
				this.tip.hidden = true;
				this.app.set("time_cursor", null);
			},
			click: () => {},
		});
		this.axis.on(() => {
			this.repaint();
			clearTimeout(this.saying);
			this.saying = setTimeout(() => this.say(), WORDS_AFTER);
		});
		for (const key of ["time_cursor", "colours"])
			this.app.on(key, this.repaint);
		this.app.on("paint_now", () => this.width && this.paint());
		this.table.addEventListener("toggle", () => this.fill_table());
		new ResizeObserver(() => {
			this.width = this.element.clientWidth;
			this.repaint();
		}).observe(this.element);
	}

	time(x) {
		const room = axis_room(this.width);

		return this.axis.from + (x - room.left) / room.width * (this.axis.to - this.axis.from);
	}

	hover(x, event) {
		const room = axis_room(this.width), inside = x >= room.left && x <= room.right, at = this.time(x);

		this.app.set("time_cursor", inside ? at : null);
		this.tip.hidden = !inside;
		if (!inside)
			return;
		const pixel = (this.axis.to - this.axis.from) / room.width,
			{ mean, least, most } = this.steps.over(at, at + pixel);

		this.tip.textContent = "at " + format_time(at) + ": " +
			(least === most ? format_plural(least, "fragment") + " at a time"
				: format_plain(Number(mean.toFixed(1))) + " on average, " + least + " to " + most);
		this.tip.style.left = Math.min(event.clientX + 14, innerWidth - 250) + "px";
		this.tip.style.top = event.clientY + 18 + "px";
	}

	/* Writes in words what the picture shows. */
	say() {
		const { from, to } = this.axis, { mean, most } = this.steps.over(from, to), { threads } = this;
		const full = 1 - this.steps.share_below(threads, from, to),
			single = this.steps.share_below(2, from, to);

		this.words.textContent = "on average " + format_plain(Number(mean.toFixed(2))) + " of " +
			format_plural(threads, "thread") + (threads > 1 ?
				"; all of them " + format_percent(100 * full) +
				" of the time, one or none " + format_percent(100 * single) : "");
		this.range.textContent = this.axis.is_whole() ? "" :
			"· " + format_time(from) + " to " + format_time(to);
		this.canvas.setAttribute("aria-label", "Instantaneous parallelism from " + format_time(from) + " to " +
			format_time(to) + ": " + this.words.textContent + "; at most " + most + ".");
		this.fill_table();
	}

	paint() {
		if (!this.width)
			return;
		const context = canvas_size(this.canvas, this.width, PARALLELISM_HEIGHT), room = axis_room(this.width);
		const top = 12, bottom = PARALLELISM_HEIGHT - 8, y = (v) => bottom - v / this.top * (bottom - top);
		const pixels = Math.floor(room.width), pixel = (this.axis.to - this.axis.from) / room.width;
		const columns = Array.from({ length: pixels }, (unused, x) =>
			this.steps.over(this.axis.from + x * pixel, this.axis.from + (x + 1) * pixel));

		context.clearRect(0, 0, this.width, PARALLELISM_HEIGHT);
		this.paint_scale(context, room, y);
		this.paint_band(context, room, columns, y);
		const cursor = this.app.get("time_cursor");

		if (cursor !== null && cursor !== undefined) {
			context.fillStyle = this.colours.variable("muted");
			context.fillRect(Math.round(room.left + (cursor - this.axis.from) / pixel), top, 1,
				bottom - top);
		}
	}

	paint_scale(context, room, y) {
		const line = (value, name, dash) => {
			context.strokeStyle = this.colours.variable(name);
			context.lineWidth = 1;
			context.setLineDash(dash);
			context.beginPath();
			context.moveTo(room.left, Math.round(y(value)) + 0.5);
			context.lineTo(room.right, Math.round(y(value)) + 0.5);
			context.stroke();
			context.setLineDash([]);
		};

		context.font = "11px system-ui, sans-serif";
		context.textAlign = "right";
		context.textBaseline = "middle";
		context.fillStyle = this.colours.variable("muted");
		context.fillText("0", room.left - 8, y(0));
		context.fillText(room.left < 70 ? String(this.threads) : format_plural(this.threads, "thread"),
			room.left - 8, y(this.threads));
		if (this.top > this.threads * 1.3)
			context.fillText(String(this.top), room.left - 8, y(this.top));
		line(0, "hair", []);
		line(this.threads, "muted", [4, 3]);
	}

	paint_band(context, room, columns, y) {
		const colour = this.colours.variable("d0"), step = (x, v) => {
			context.lineTo(room.left + x, y(v));
			context.lineTo(room.left + x + 1, y(v));
		};

		/* The band from the least to the most. */
		context.fillStyle = colour;
		context.globalAlpha = 0.22;
		context.beginPath();
		columns.forEach(({ most }, x) => step(x, most));
		for (let x = columns.length - 1; x >= 0; x--) {
			context.lineTo(room.left + x + 1, y(columns[x].least));
			context.lineTo(room.left + x, y(columns[x].least));
		}
		context.fill();
		/* The area below the mean. */
		context.globalAlpha = 0.16;
		context.beginPath();
		context.moveTo(room.left, y(0));
		columns.forEach(({ mean }, x) => step(x, mean));
		context.lineTo(room.left + columns.length, y(0));
		context.fill();
		context.globalAlpha = 1;
		context.strokeStyle = colour;
		context.lineWidth = 1.4;
		context.beginPath();
		columns.forEach(({ mean }, x) => step(x, mean));
		context.stroke();
	}

	/* Fills the table: the shown range in twenty parts. */
	fill_table() {
		if (!this.table.open)
			return;
		const body = dom_node("tbody"), { from, to } = this.axis, part = (to - from) / 20;

		for (let i = 0; i < 20; i++) {
			const { mean, least, most } = this.steps.over(from + i * part, from + (i + 1) * part);

			body.append(dom_node("tr", {}, dom_node("td", { class: "text" }, format_time(from + i * part)),
				dom_node("td", { class: "text" }, format_time(from + (i + 1) * part)),
				dom_node("td", {}, mean.toFixed(2)), dom_node("td", {}, least),
				dom_node("td", {}, most)));
		}
		while (this.table.children.length > 1)
			this.table.lastChild.remove();
		this.table.append(dom_node("div", { class: "scroll" }, dom_node("table", {}, dom_node("thead", {},
			dom_node("tr", {}, ["from", "to", "mean", "least", "most"].map((text, i) =>
				dom_node("th", { scope: "col", class: i < 2 ? "text" : null }, text)))), body)));
	}
}

function make_parallelism(app, el) {
	if (app.data.fragments.count)
		app.parallelism = new ParallelismView(app, el);
}
