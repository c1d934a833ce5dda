"use strict";
/* SPDX-License-Identifier: ISC */

/*
 * #/review/WORKER: what a worker has changed, as it would land, with comments
 * on its lines; #/review/task:TASK: what a task landed as. Lines are drawn as
 * they come into sight. Comments are kept in this tab until they are sent.
 */
(() => {
const { make } = desk;
const CHUNK = 100; /* lines that are drawn together */
const FIRST = 200; /* drawn at once, the others when they are near */
const ROW_PX = 20; /* about the height of a line */
const SYNTAX = {
	c: /\/\/.*|\/\*.*?(?:\*\/|$)|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g,
	hash: /(?:^|\s)#.*|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g,
	markup: /<!--.*?(?:-->|$)|"[^"]*"/g,
};
const STATUS = { added: "new", deleted: "removed", renamed: "renamed",
	copied: "copied" };

const number = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;

/* The words that differ, and comments and strings, as elements. */
function paint(cell, line, language) {
	const text = line.s, parts = [];

	for (const [from, to] of line.words || [])
		parts.push([from, to, "w"]);
	if (SYNTAX[language])
		for (const m of text.matchAll(SYNTAX[language]))
			parts.push([m.index, m.index + m[0].length,
				/^["']/.test(m[0]) ? "str" : "rem"]);
	if (parts.length === 0) {
		cell.append(text);
		return;
	}
	const cuts = [...new Set([0, text.length, ...parts.flatMap(
		(p) => [p[0], p[1]])])].sort((a, b) => a - b);

	for (let i = 0; i + 1 < cuts.length; i++) {
		const names = parts.filter((p) => p[0] <= cuts[i] &&
			cuts[i + 1] <= p[1]).map((p) => p[2]);
		const s = text.slice(cuts[i], cuts[i + 1]);

		cell.append(names.length ?
			make("span", { class: names.join(" ") }, s) : s);
	}
}

/* --- comments ----------------------------------------------------------- */

class Comments {
	constructor(key) {
		this.key = `review:${key}`;
		this.list = [];
		this.text = "";
		this.changed = () => {};
		try {
			const kept = JSON.parse(sessionStorage.getItem(this.key));

			if (kept && Array.isArray(kept.list))
				[this.list, this.text] = [kept.list, String(kept.text)];
		} catch (e) { /* written by something else */ }
	}
	find(file, side, line) {
		return this.list.find((c) => c.file === file && c.line === line &&
			c.side === side);
	}
	put(file, side, line, code, text) {
		const found = this.find(file, side, line);

		if (!text.trim())
			this.list = this.list.filter((c) => c !== found);
		else if (found)
			found.text = text;
		else
			this.list.push({ file, side, line, text,
				code: code.slice(0, 200) });
		this.save();
	}
	say(text) {
		this.text = text;
		this.save();
	}
	save() {
		sessionStorage.setItem(this.key, JSON.stringify(
			{ list: this.list, text: this.text }));
		this.changed();
	}
	forget() {
		[this.list, this.text] = [[], ""];
		sessionStorage.removeItem(this.key);
		this.changed();
	}
}

/* --- lines -------------------------------------------------------------- */

const sideOf = (line) => line.k === "-" ? ["old", line.o] : ["new", line.n];

/* The comment is kept as it is typed. */
function openComment(row, file, line, comments, focus) {
	const [side, at] = sideOf(line);
	const next = row.nextElementSibling;

	if (next && next.className === "said") {
		next.querySelector("textarea").focus();
		return;
	}
	const found = comments.find(file.path, side, at);
	const name = `Comment on ${file.path}:${at}` +
		(side === "old" ? " (removed)" : "");
	const area = make("textarea", { "aria-label": name, rows: "3" });
	const gone = make("button", { type: "button" }, "Remove the comment");
	const box = make("tr", { class: "said" }, make("td", { colspan: "4" },
		make("div", null, name), area, gone));

	area.value = found ? found.text : "";
	area.addEventListener("input", () =>
		comments.put(file.path, side, at, line.s, area.value));
	area.addEventListener("keydown", (e) => {
		if (e.key === "Escape") {
			if (!area.value.trim())
				box.remove();
			row.focus();
		}
	});
	gone.addEventListener("click", () => {
		comments.put(file.path, side, at, line.s, "");
		box.remove();
		row.focus();
	});
	row.after(box);
	if (focus)
		area.focus();
}

function drawRow(file, line, comments) {
	if (line.head)
		return make("tr", { class: "hunk" },
			make("td", { colspan: "4" }, line.head));
	const code = make("td", { class: "s" });
	const row = make("tr", { class: { "+": "add", "-": "del" }[line.k] || "same",
		tabindex: "-1" },
	make("td", { class: "o" }, line.o ? String(line.o) : ""),
	make("td", { class: "n" }, line.n ? String(line.n) : ""),
	make("td", { class: "k" }, line.k === " " ? "" : line.k), code);

	paint(code, line, file.language);
	row.line = line;
	row.file = file;
	if (line.k !== "\\" && comments.find(file.path, ...sideOf(line)))
		queueMicrotask(() => openComment(row, file, line, comments));
	return row;
}

function drawChunk(file, lines, comments) {
	const body = make("tbody");

	for (const line of lines)
		body.append(drawRow(file, line, comments));
	return make("table", { class: "chunk" }, make("colgroup", null,
		...["o", "n", "k", "s"].map((c) => make("col", { class: c }))),
	body);
}

/* All lines of a file, with a row where some are left out. */
function flatten(file) {
	return file.hunks.flatMap((h) => [{ head: `Lines from ${h.new}` +
		(h.title ? `: ${h.title}` : "") }, ...h.lines]);
}

class Lines {
	constructor(comments) {
		this.comments = comments;
		this.first = FIRST;
		this.seen = new IntersectionObserver((entries) => {
			for (const e of entries)
				if (e.isIntersecting)
					this.draw(e.target);
		}, { rootMargin: "800px" });
	}
	/* A place for lines that are drawn later, or these lines. */
	draw(place) {
		if (!place.lines)
			return place;
		const table = drawChunk(place.file, place.lines, this.comments);

		this.seen.unobserve(place);
		place.replaceWith(table);
		return table;
	}
	fill(box, file) {
		const lines = flatten(file);

		box.replaceChildren();
		for (let i = 0; i < lines.length; i += CHUNK) {
			const place = make("div", { class: "later" });

			place.file = file;
			place.lines = lines.slice(i, i + CHUNK);
			place.style.height = `${place.lines.length * ROW_PX}px`;
			box.append(place);
			if (this.first > 0)
				this.draw(place);
			else
				this.seen.observe(place);
			this.first -= place.lines.length;
		}
		const row = box.querySelector("tr[tabindex]");

		if (row)
			row.tabIndex = 0;
	}
	/* The next or last line of the file, drawn if it was not. */
	step(row, way) {
		const next = way > 0 ? "nextElementSibling" :
			"previousElementSibling";
		const edge = way > 0 ? "firstElementChild" : "lastElementChild";
		let table = row.closest(".chunk");
		let found = row[next];

		for (;;) {
			while (found && !found.line)
				found = found[next];
			if (found)
				return found;
			if (!table[next])
				return null;
			table = this.draw(table[next]);
			found = table.lastElementChild[edge];
		}
	}
	all() {
		document.querySelectorAll("#screen .later")
			.forEach((place) => this.draw(place));
	}
}

/* --- files --------------------------------------------------------------- */

const counts = (f) => [f.lines_added ?
	make("span", { class: "good" }, `+${f.lines_added}`) : "", " ",
f.lines_deleted ? make("span", { class: "bad" }, `−${f.lines_deleted}`) : ""];

function fileWords(f) {
	return [STATUS[f.status] || "", f.old_path ? `was ${f.old_path}` : "",
		f.binary ? "binary" : "",
		f.mode ? `mode ${f.old_mode} to ${f.mode}` : ""]
		.filter(Boolean).join(", ");
}

function drawFile(file, query, lines, d) {
	const box = make("div", { class: "code" });
	const more = make("button", { type: "button" });
	const card = make("details", { class: "file", open: "" },
		make("summary", null, make("code", null, file.path), " ",
			...counts(file), " ",
			make("span", { class: "soft" }, fileWords(file))),
		box);
	const ask = (extra) => async () => {
		more.disabled = true;
		try {
			const got = await desk.get(`${query}&file=` +
				encodeURIComponent(file.path) + extra);

			if (got.files.length === 0 || got.commit !== d.commit ||
			    got.base !== d.base)
				throw new Error("It has changed: open the review again.");
			lines.first = CHUNK;
			lines.fill(box, got.files[0]);
			more.remove();
			if (got.files[0].too_long)
				box.append(make("p", { class: "soft" }, "The rest is " +
					"too long for this page."));
		} catch (e) {
			desk.say(e.message, true);
			more.disabled = false;
		}
	};

	if (file.too_long) {
		more.append(`Show ${number(file.lines_added + file.lines_deleted,
			"changed line")}`);
		more.addEventListener("click", ask(""));
		box.append(more);
	} else if (file.hunks.length) {
		lines.fill(box, file);
		if (file.status === "modified" || file.status === "renamed") {
			more.append("Show the lines around");
			more.addEventListener("click", ask("&context=1000"));
			card.append(more);
		}
	} else {
		box.append(make("p", { class: "soft" }, file.binary ?
			"Binary: no lines are shown." :
			"No line of it has changed."));
	}
	return card;
}

/* --- the screen ---------------------------------------------------------- */

/* What is to be known before one decides. */
function notes(d) {
	const list = [];

	if (!d.finished)
		list.push(`${d.worker} has not finished (${d.status}): this is what ` +
			"it has changed so far.");
	else if (d.worker && d.uncommitted_files)
		list.push(number(d.uncommitted_files, "file") + " with changes " +
			"that are not committed, and do not land.");
	if (d.conflicts.length)
		list.push(`It conflicts with ${d.landing_branch} in ` +
			`${d.conflicts.join(", ")}; accepted, it goes back to ` +
			`${d.worker} first.`);
	if (d.weakens)
		list.push(`It weakens tests: ${d.weakens}.`);
	if (d.more_files)
		list.push(`${number(d.more_files, "file")} more than this page shows.`);
	return list.map((s) => make("p", { class: "box" }, s));
}

/* What one can do: buttons, or what to type. */
function drawActs(box, d, comments, close) {
	const short = d.commit.slice(0, 7);
	const said = () => comments.list.length +
		(comments.text.trim() ? 1 : 0);

	if (!d.worker || !d.finished) {
		box.replaceChildren();
		return;
	}
	if (desk.mode !== "work") {
		desk.write(box, "To land it: ",
			{ copy: `llmc accept ${d.worker} --commit ${d.commit}` },
			" To send it back with comments: ",
			{ copy: `llmc review ${d.worker} --comment` });
		return;
	}
	const area = make("textarea", { rows: "3",
		"aria-label": "About the work as a whole" });
	const count = make("span", { class: "soft", role: "status" });

	area.value = comments.text;
	area.addEventListener("input", () => comments.say(area.value));
	comments.changed = () => {
		count.textContent = ` ${number(comments.list.length, "comment")} ` +
			"on lines.";
	};
	comments.changed();
	box.replaceChildren(
		make("label", null, "About the work as a whole:", area),
		make("p", null, "Click on the number of a line, or press Enter on " +
			"it, to comment on it.", count),
		desk.action(`Accept ${short}`, "worker.accept",
			{ worker: d.worker, commit: d.commit }, {
				confirm: `Land ${short} on ${d.landing_branch}`,
				done: (r) => {
					comments.forget();
					close();
					return r.needs_conflict_resolution ?
						`It conflicts with ${d.landing_branch}: ` +
						`${d.worker} resolves that first.` :
						r.proposed ? "It becomes a pull request." :
						r.already_incorporated ?
						`It is already on ${d.landing_branch}.` :
						`Landed on ${d.landing_branch} as ` +
						`${(r.commit_sha || "").slice(0, 7)}.`;
				} }), " ",
		desk.action("Send back", "worker.reject", () => {
			const params = { worker: d.worker, commit: d.commit };

			if (said() === 0)
				throw new Error("write what is wrong first.");
			if (comments.text.trim())
				params.text = comments.text;
			if (comments.list.length)
				params.comments = comments.list;
			return params;
		}, { done: () => {
			const n = comments.list.length;

			comments.forget();
			close();
			return `Sent back with ${number(n, "comment")}; ` +
				`${d.worker} works on it again.`;
		} }));
}

function draw(element, d, query) {
	const comments = new Comments(`${d.worker || d.task}:${d.commit}`);
	const lines = new Lines(comments);
	const acts = make("div", { class: "acts" });
	const close = () => { location.hash = "#"; };
	const cards = d.files.map((f) => drawFile(f, query, lines, d));
	const added = d.files.reduce((n, f) => n + f.lines_added, 0);
	const removed = d.files.reduce((n, f) => n + f.lines_deleted, 0);
	const index = make("ul", { class: "index" }, ...d.files.map((f, i) => {
		const go = make("button", { type: "button", class: "path" }, f.path);

		go.addEventListener("click", () => {
			cards[i].open = true;
			cards[i].scrollIntoView();
			cards[i].querySelector("summary").focus();
		});
		return make("li", null, go, " ", ...counts(f), " ",
			make("span", { class: "soft" }, fileWords(f)));
	}));

	element.replaceChildren(
		make("h2", null, d.worker ? `The change of ${d.worker}` :
			`What ${d.task} landed as`),
		make("p", null, [d.task, d.title].filter(Boolean).join(": ")),
		make("p", { class: "soft" }, `${d.worker ? "Commit" : "Landed as"} `,
			make("code", null, d.commit.slice(0, 12)),
			` for ${d.landing_branch}: ${number(d.files.length, "file")}, ` +
			`+${added} −${removed}`),
		make("pre", { class: "message" }, d.message), ...notes(d),
		make("details", { open: "" }, make("summary", null, "Files"), index),
		...cards, acts);
	drawActs(acts, d, comments, close);

	const onClick = (e) => {
		const row = e.target.closest("td.o, td.n") &&
			e.target.closest("tr[tabindex]");

		if (row && desk.mode === "work" && d.finished && d.worker &&
		    row.line.k !== "\\")
			openComment(row, row.file, row.line, comments, true);
	};
	const onKey = (e) => {
		const row = e.target;
		const way = { ArrowDown: 1, ArrowUp: -1 }[e.key];

		if (!row.line)
			return;
		if (way) {
			const next = lines.step(row, way);

			e.preventDefault();
			if (next)
				next.focus();
		} else if (e.key === "Enter") {
			e.preventDefault();
			const cell = row.querySelector("td.n");

			cell.click();
		}
	};
	const onPrint = () => lines.all();

	element.addEventListener("click", onClick);
	element.addEventListener("keydown", onKey);
	addEventListener("beforeprint", onPrint);
	return { mode: () => drawActs(acts, d, comments, close), close: () => {
		lines.seen.disconnect();
		removeEventListener("beforeprint", onPrint);
	} };
}

desk.screen("review", (element, arg) => {
	const of = arg.startsWith("task:") ? `task=${encodeURIComponent(
		arg.slice(5))}` : `worker=${encodeURIComponent(arg)}`;
	const query = `api/review?${of}`;
	let drawn = null, closed = false, mode = desk.mode;

	element.append(make("p", { role: "status" }, "Reading the change."));
	desk.get(query).then((d) => {
		if (!closed)
			drawn = draw(element, d, query);
	}).catch((e) => {
		if (!closed)
			element.replaceChildren(make("h2", null, `Review of ${arg}`),
				make("p", { class: "box", role: "alert" }, e.message));
	});
	/* The mode is told with the view, which may come later. */
	const unwatch = desk.watch && desk.watch(() => {
		if (drawn && mode !== desk.mode)
			drawn.mode();
		mode = desk.mode;
	});

	return () => {
		closed = true;
		if (drawn)
			drawn.close();
		if (unwatch)
			unwatch();
	};
});

desk.link("worker", "The change", (r) => r.task || r.status === "needs_review" ?
	`#/review/${encodeURIComponent(r.name)}` : "");
})();
