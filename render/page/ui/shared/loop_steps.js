/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The step of a loop's variable from one iteration to the next. Bounds do not contain it, so it is computed
 * from first value, last value and number of iterations. loop_step(report, loop) is 1 or more.
 * chunk_size(report, chunk) is the number of iterations of all chunks that the grain stands for; NaN:
 * unknown.
 */

/* Per loop: the smallest and the largest value in its chunks. */
function loop_extents(report) {
	const low = new Float64Array(report.loops.length).fill(Infinity),
		high = new Float64Array(report.loops.length).fill(-Infinity);

	for (let c = 0; report.lower && c < report.count; c++) {
		const loop = report.loop[c];

		if (report.kind[c] !== CHUNK || loop === NONE || Number.isNaN(report.lower[c]))
			continue;
		const moved = report.chunks[c] > 1 ? (report.chunks[c] - 1) * report.stride[c] || 0 : 0;
		const values = [report.lower[c], report.upper[c], report.lower[c] + moved, report.upper[c] + moved];

		low[loop] = Math.min(low[loop], ...values);
		high[loop] = Math.max(high[loop], ...values);
	}
	return { low, high };
}

function make_loop_steps(report) {
	const { low, high } = loop_extents(report), steps = new Float64Array(report.loops.length),
		by_source = new Map();
	const said = new Map(report.summary.loops.map((l) => [l.id, l.iterations]));

	for (let l = 0; l < steps.length; l++) {
		const iterations = said.get(report.loop_id(l)), { definition } = report.loops[l];

		if (!(iterations > 1) || !(high[l] > low[l]))
			continue;
		steps[l] = Math.max(1, Math.floor((high[l] - low[l]) / (iterations - 1)));
		by_source.set(definition, steps[l]);
	}
	/* The summary lists only some loops. A loop at the same place in the source has the same step. */
	return steps.map((step, l) => step || by_source.get(report.loops[l].definition) || 1);
}

function loop_step(report, loop) {
	report.loop_steps ??= make_loop_steps(report);
	return report.loop_steps[loop] || 1;
}

function chunk_size(report, chunk) {
	if (!report.lower)
		return NaN;
	const range = Math.abs(report.upper[chunk] - report.lower[chunk]);

	return (Math.floor(range / loop_step(report, report.loop[chunk])) + 1) * report.chunks[chunk];
}
