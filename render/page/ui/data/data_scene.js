/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The drawing of the graph, as made by layout_full.c or layout_reduced.c:
 * `await report.load_scene()`, after load_columns(). null: there is none.
 * All lengths are in points, x to the right, y downwards.
 *
 * scene.left, right, top, bottom   bounds of everything drawn
 * scene.px_per_ns                  heights of fragments and boxes (floor 3, cap 96)
 * scene.reduced                    one box for each context; else one node for each fragment
 * scene.folded                     it has groups; their members are not drawn
 * scene.stands_for                 number of nodes of the full graph
 * scene.nodes.count and, per node:
 *   .shape[i]      SCENE_FRAGMENT ... SCENE_IDLE
 *   .flags[i]      NODE_CRITICAL | NODE_INCOMPLETE | NODE_UNDEFERRED | NODE_DISCARDED | NODE_CAPPED
 *   .x .y .w .h    Float32Array: the middle, the top, width, height
 *   .context[i]    context it belongs to; of a group: the first; or NONE
 *   .join[i]       of a join: index into report.joins; NONE: no join, or not seen
 *   .region[i]     of a region's fork: index into report.regions; else NONE
 *   .fragment[i]   of a fragment: index into report.fragments; NONE: no fragment, or of length 0
 *   .grains[i]     number that it stands for; of a fork: its children; of a join: contexts that it synchronizes
 *   .time[i]       execution time that it stands for, ns
 * scene.edges.count and, per edge:
 *   .kind[i]       EDGE_CREATION ... EDGE_DEPENDENCE
 *   .critical[i]   0 or 1
 *   .curved[i]     1: points form cubic curves (3 n + 1 of them); 0: corners of right angles
 *   .from[i], .to[i]                 nodes
 *   .first[i] up to .first[i + 1]    points: scene.points[2 k] is x, [2 k + 1] is y (Float32Array)
 *   EDGE_ANCESTOR and EDGE_DEPENDENCE are drawn over other edges
 * scene.node_of[context]   the node that shows it: its first fragment, its box, or the group that holds it;
 *                          NONE: it is not drawn
 */
const SCENE_FRAGMENT = 0, SCENE_BOX = 1, SCENE_CHUNK = 2, SCENE_BOOKKEEPING = 3, SCENE_FORK = 4, SCENE_JOIN = 5,
	SCENE_GROUP = 6, SCENE_IDLE = 7;
const NODE_CRITICAL = 1, NODE_INCOMPLETE = 2, NODE_UNDEFERRED = 4, NODE_DISCARDED = 8, NODE_CAPPED = 16;
const EDGE_CREATION = 0, EDGE_CONTINUATION = 1, EDGE_SYNCHRONIZATION = 2, EDGE_ANCESTOR = 3, EDGE_DEPENDENCE = 4;
/* Coordinates are written in eighths of a point. */
const SCENE_UNIT = 1 / 8;

async function scene_nodes(count, contexts, tick) {
	const nodes = {
		count, shape: new Uint8Array(count), flags: new Uint8Array(count), x: new Float32Array(count),
		y: new Float32Array(count), w: new Float32Array(count), h: new Float32Array(count),
		context: new Int32Array(count), join: new Int32Array(count).fill(NONE),
		region: new Int32Array(count).fill(NONE), fragment: new Int32Array(count).fill(NONE),
		grains: new Int32Array(count), time: new Float64Array(count),
	};
	const shape = await Numbers.of("scene_shape"), x = await Numbers.of("scene_x"), y = await Numbers.of("scene_y"),
		w = await Numbers.of("scene_w"), h = await Numbers.of("scene_h"),
		context = await Numbers.of("scene_context"), ref = await Numbers.of("scene_ref"),
		grains = await Numbers.of("scene_grains"), time = await Numbers.of("scene_time");
	let last_x = 0, last_y = 0, last_context = 0, last_ref = 0;

	for (let i = 0; i < count; i++) {
		const code = shape.next();

		nodes.shape[i] = code & 7;
		nodes.flags[i] = code >> 3;
		nodes.x[i] = (last_x += x.signed()) * SCENE_UNIT;
		nodes.y[i] = (last_y += y.signed()) * SCENE_UNIT;
		nodes.w[i] = w.next() * SCENE_UNIT;
		nodes.h[i] = h.next() * SCENE_UNIT;
		nodes.context[i] = last_context += context.signed();
		last_ref += ref.signed();
		if (nodes.shape[i] === SCENE_JOIN)
			nodes.join[i] = last_ref;
		else if (nodes.shape[i] === SCENE_FORK)
			nodes.region[i] = last_ref;
		else
			nodes.fragment[i] = last_ref;
		nodes.grains[i] = grains.next();
		nodes.time[i] = time.next() * tick;
	}
	return nodes;
}

async function scene_edges(scene, count, points) {
	const nodes = scene.nodes;
	const kind = await Numbers.of("scene_edge"), from = await Numbers.of("scene_from"),
		to = await Numbers.of("scene_to"), x = await Numbers.of("scene_point_x"),
		y = await Numbers.of("scene_point_y");
	const edges = {
		count, kind: new Uint8Array(count), critical: new Uint8Array(count), curved: new Uint8Array(count),
		from: new Int32Array(count), to: new Int32Array(count), first: new Int32Array(count + 1),
	};
	let last_from = 0, last_to = 0, at = 0;

	scene.points = new Float32Array(2 * points);
	for (let i = 0; i < count; i++) {
		const code = kind.next();

		edges.kind[i] = code & 7;
		edges.critical[i] = code >> 3 & 1;
		edges.curved[i] = code >> 4 & 1;
		edges.from[i] = last_from += from.signed();
		edges.to[i] = last_to += to.signed();
		/* The first point is relative to the node that the edge leaves. */
		let px = Math.round(nodes.x[last_from] / SCENE_UNIT), py = Math.round(nodes.y[last_from] / SCENE_UNIT);

		for (let k = code >> 5; k > 0; k--, at++) {
			scene.points[2 * at] = (px += x.signed()) * SCENE_UNIT;
			scene.points[2 * at + 1] = (py += y.signed()) * SCENE_UNIT;
		}
		edges.first[i + 1] = at;
	}
	return edges;
}

/*
 * For contexts without a node of their own. 0: the same node as the parent. Else: what to add to the node
 * before.
 */
async function scene_node_of(nodes, report) {
	const numbers = await Numbers.of("scene_node_of"), node_of = new Int32Array(report.count);
	let last = 0;

	for (let i = 0; i < report.count; i++) {
		const code = numbers.next();

		if (code === 0)
			node_of[i] = report.parent[i] === NONE ? NONE : node_of[report.parent[i]];
		else
			node_of[i] = last += unzigzag(code - 1);
	}
	return node_of;
}

async function load_scene(report) {
	const about = report.report.scene;

	if (!about)
		return null;
	const scene = {
		left: about.left * SCENE_UNIT, right: about.right * SCENE_UNIT, top: about.top * SCENE_UNIT,
		bottom: about.bottom * SCENE_UNIT, px_per_ns: about.px_per_ns, reduced: about.reduced,
		folded: about.folded, stands_for: about.stands_for,
	};

	scene.nodes = await scene_nodes(about.nodes, report.count, report.tick);
	await breathe();
	scene.edges = await scene_edges(scene, about.edges, about.points);
	await breathe();
	scene.node_of = await scene_node_of(scene.nodes, report);
	return scene;
}
