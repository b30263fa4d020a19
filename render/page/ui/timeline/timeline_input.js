/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pointers and wheel over a canvas with a time axis: the wheel and two fingers
 * zoom around themselves, dragging pans. What the element does with the rest:
 *   hover(x, y, event), leave(), click(x, y)
 */

/* After the wheel began to scroll the page, it continues to do so for this time, in ms. */
const WHEEL_REST = 350;
const CLICK_SLACK = 4;
let wheel_elsewhere = -Infinity;

addEventListener("wheel", (event) => {
	if (!event.target.closest || !event.target.closest("[data-time-axis]"))
		wheel_elsewhere = event.timeStamp;
}, { passive: true, capture: true });

class TimelineInput {
	constructor(element, axis, time_at, actions) {
		this.element = element;
		this.axis = axis;
		this.time_at = time_at;
		this.actions = actions;
		this.pointers = new Map();
		element.dataset.timeAxis = "";
		element.style.touchAction = "pan-y";
		element.addEventListener("wheel", (e) => this.wheel(e), { passive: false });
		element.addEventListener("pointerdown", (e) => this.down(e));
		element.addEventListener("pointermove", (e) => this.move(e));
		element.addEventListener("pointerup", (e) => this.up(e));
		element.addEventListener("pointercancel", (e) => this.pointers.delete(e.pointerId));
		element.addEventListener("pointerleave", () => actions.leave());
		element.addEventListener("dblclick", (e) => axis.zoom(time_at(this.place(e).x), 0.25));
	}

	place(event) {
		const box = this.element.getBoundingClientRect();

		return { x: event.clientX - box.left, y: event.clientY - box.top };
	}

	/* The time that this many pixels stand for. */
	length(pixels) {
		return this.time_at(pixels) - this.time_at(0);
	}

	wheel(event) {
		/*
		 * The page continues to scroll if it is scrolling, or if the canvas cannot zoom out further.
		 */
		if (event.timeStamp - wheel_elsewhere < WHEEL_REST && !event.ctrlKey) {
			wheel_elsewhere = event.timeStamp;
			return;
		}
		const sideways = event.shiftKey ? event.deltaY || event.deltaX
			: Math.abs(event.deltaX) > Math.abs(event.deltaY) ? event.deltaX : 0;
		const pixels = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;

		if (sideways) {
			event.preventDefault();
			this.axis.pan(this.length(sideways * pixels));
			return;
		}
		if (event.deltaY > 0 && this.axis.is_whole() && !event.ctrlKey)
			return;
		event.preventDefault();
		this.axis.zoom(this.time_at(this.place(event).x),
			Math.exp(Math.max(-1, Math.min(1, event.deltaY * pixels / 300))));
	}

	down(event) {
		if (event.button)
			return;
		this.pointers.set(event.pointerId, this.place(event));
		this.start = this.place(event);
		this.moved = this.pointers.size > 1;
	}

	move(event) {
		const now = this.place(event), before = this.pointers.get(event.pointerId);

		if (!before) {
			this.actions.hover(now.x, now.y, event);
			return;
		}
		if (!this.moved && Math.hypot(now.x - this.start.x, now.y - this.start.y) > CLICK_SLACK) {
			this.moved = true;
			this.element.setPointerCapture(event.pointerId);
			this.actions.leave();
		}
		if (!this.moved)
			return;
		this.pointers.set(event.pointerId, now);
		if (this.pointers.size === 1) {
			this.axis.pan(this.length(before.x - now.x));
			return;
		}
		const other = [...this.pointers].find(([id]) => id !== event.pointerId)[1];
		const factor = Math.max(8, Math.abs(before.x - other.x)) / Math.max(8, Math.abs(now.x - other.x));

		this.axis.zoom(this.time_at(other.x), factor);
	}

	up(event) {
		const known = this.pointers.delete(event.pointerId), { x, y } = this.place(event);

		if (known && !this.moved)
			this.actions.click(x, y);
	}
}
