/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables. A click on a head sorts. At first only some rows are shown; the user can ask for all. A column is {
 * title, hint, text (left-aligned), value(row): the value to sort by, show(row): text or nodes; without show,
 * the value is shown }. Absent values come last in both directions.
 */
const TABLE_ROWS = 50;

function compare_values(a, b) {
	if (is_absent(a) || is_absent(b))
		return is_absent(a) - is_absent(b);
	return typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a - b;
}

class SortedTable {
	/* what: such as "definitions". sort: index of a column; NONE keeps the order of rows. */
	constructor({ what, columns, rows, sort = NONE, on_rows = null, row_attributes = () => ({}) }) {
		Object.assign(this,
			{ what, columns, rows, on_rows, row_attributes, sorted_by: sort, down: true, all: false });
		this.body = dom_node("tbody");
		this.foot = dom_node("p", { class: "note more" });
		this.heads = columns.map((column, i) => this.head(column, i));
		this.node = dom_node("div", {},
			dom_node("div",
				{ class: "scroll", tabindex: "0", role: "group", "aria-label": "table of " + what },
				dom_node("table", { class: "wide-table" },
					dom_node("thead", {}, dom_node("tr", {}, this.heads)), this.body)),
			this.foot);
		this.show();
	}

	head(column, i) {
		return dom_node("th", { scope: "col", class: column.text ? "text" : null, title: column.hint },
			dom_node("button", { class: "sort", type: "button", onclick: () => this.sort(i) },
				column.title));
	}

	/* Sorts by this column: numbers from the largest, texts by the alphabet. A second call reverses the order. */
	sort(i) {
		this.down = this.sorted_by === i ? !this.down : !this.columns[i].text;
		this.sorted_by = i;
		this.show();
	}

	in_order() {
		if (this.sorted_by === NONE)
			return this.rows;
		const value = this.columns[this.sorted_by].value, sign = this.down ? -1 : 1;

		return this.rows.slice().sort((a, b) => {
			const x = value(a), y = value(b);

			return compare_values(x, y) * (is_absent(x) || is_absent(y) ? 1 : sign);
		});
	}

	row(row) {
		return dom_node("tr", this.row_attributes(row), this.columns.map((column, i) => {
			const shown = column.show ? column.show(row) : column.value(row);

			return dom_node(i ? "td" : "th",
				{ scope: i ? null : "row", class: column.text ? "text" : null },
				is_absent(shown) ? ABSENT : shown);
		}));
	}

	show() {
		const rows = this.in_order(), most = this.all ? rows.length : TABLE_ROWS;

		this.heads.forEach((head, i) => {
			if (i === this.sorted_by)
				head.setAttribute("aria-sort", this.down ? "descending" : "ascending");
			else
				head.removeAttribute("aria-sort");
		});
		this.body.replaceChildren(...rows.slice(0, most).map((row) => this.row(row)));
		this.foot.replaceChildren(...rows.length > TABLE_ROWS ? [dom_node("button", {
			class: "button", type: "button",
			onclick: () => {
				this.all = !this.all;
				this.show();
				this.foot.firstChild.focus();
			}
		}, this.all ? `show the first ${TABLE_ROWS}` : `show all ${format_count(rows.length)}`)] : []);
		if (this.on_rows)
			this.on_rows(rows.slice(0, most));
	}
}

/* "1,000 of 5,432", if the report has only a part of the list. */
function held_remark(summary, list, what) {
	const held = summary[list].length, all = summary[list + "_in_all"] ?? held;

	return held < all ? `this report holds ${format_count(held)} of ${format_count(all)} ${what}` : null;
}
