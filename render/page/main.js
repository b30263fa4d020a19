/* SPDX-License-Identifier: BSD-2-Clause */
async function main() {
	const data = await Report.load();

	await data.load_columns();
	window.report = data;
}
main();
