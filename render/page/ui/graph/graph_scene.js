/* SPDX-License-Identifier: BSD-2-Clause */
/* Turns the drawing of all grains that came with the report (data_scene.js) into a picture for the viewer. */
const SCENE_LOOKS = [LOOK_GRAIN, LOOK_GRAIN, LOOK_GRAIN, LOOK_BOOK, LOOK_FORK, LOOK_JOIN, LOOK_CLOSED, LOOK_IDLE];

/* For nodes that stand for many grains: how many of them have the view's problem, and which is the worst. */
class Folded_problems {
	constructor(app, scene) {
		this.app = app;
		this.scene = scene;
		this.view = null;
	}

	of(node) {
		const { app, scene } = this, view = app.get("view");

		if (this.view !== view) {
			const { data } = app, bit = app.colours.problem_bit(), sign = LOW_IS_BAD.has(view) ? 1 : -1;

			this.view = view;
			this.flagged = new Int32Array(scene.nodes.count);
			this.worst = new Int32Array(scene.nodes.count).fill(NONE);
			for (let c = 0; c < data.count && bit; c++) {
				const at = scene.node_of[c];

				if (at === NONE || !(data.problems[c] & bit))
					continue;
				this.flagged[at]++;
				if (this.worst[at] === NONE ||
					sign * data.metric(view, c) < sign * data.metric(view, this.worst[at]))
					this.worst[at] = c;
			}
		}
		return { flagged: this.flagged[node], worst: this.worst[node] };
	}
}

function scene_picture(app, scene) {
	const { nodes, edges } = scene, count = nodes.count, folded = new Folded_problems(app, scene);
	const look = new Uint8Array(count), left = new Float32Array(count);

	for (let i = 0; i < count; i++) {
		look[i] = SCENE_LOOKS[nodes.shape[i]];
		left[i] = nodes.x[i] - nodes.w[i] / 2;
	}
	const colour = (i) => {
		const view = app.get("view");

		if (nodes.shape[i] !== SCENE_GROUP)
			return app.colours.of(nodes.context[i]);
		if (app.colours.is_problem()) {
			const { worst } = folded.of(i);

			return worst === NONE ? COLOUR_DIM :
				app.colours.of_severity(view, app.data.metric(view, worst));
		}
		return view === "time" ? app.colours.of_time(nodes.time[i] / Math.max(1, nodes.grains[i])) : COLOUR_DIM;
	};
	const words = (i) => {
		if (nodes.shape[i] === SCENE_IDLE)
			return [format_count(nodes.grains[i]) + " idle"];
		return [format_count_short(nodes.grains[i]), format_time(nodes.time[i])];
	};

	return new Picture({
		count, look, x: left, y: nodes.y, w: nodes.w, h: nodes.h, context: nodes.context, flags: nodes.flags,
	}, edges, scene.points, { left: scene.left, top: scene.top, right: scene.right, bottom: scene.bottom }, {
		of: (i) => nodes.shape[i] === SCENE_GROUP ? { folded: i } : null,
		words, colour, px_per_ns: scene.px_per_ns,
		node_of: (context) => typeof context === "number" ? scene.node_of[context] : NONE,
	});
}
