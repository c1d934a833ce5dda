"use strict";
/* SPDX-License-Identifier: ISC */

/*
 * Pictures of a period, of the data of charts.get (model/view/charts.h): the
 * time of the workers with marks, tasks and money over time, the landing queue,
 * goals. All that has a time axis shows the same window of the period, which is
 * moved and zoomed in the first picture. What a colour says, a shape or a
 * pattern says too, and each picture has a table beside it.
 */
(() => {
const { make, duration, dollars } = desk;
const HOUR = 3600000;
const PERIODS = [["", "this run"], [8, "8 hours"], [24, "24 hours"],
	[168, "7 days"]];
/* Of the height of a row: where the bar begins, and how high it is. */
const SHAPES = { working: [0, 1], landing: [0, 1], waiting: [.2, .6],
	limited: [.2, .6], idle: [.42, .16], error: [0, 1], down: [.42, .16] };
const MARKS = {
	ask: ["a person was asked", "M0-5L5 0L0 5L-5 0Z"],
	retry: ["an attempt failed, and the task is tried again",
		"M0-5L5 4H-5Z"],
	failed: ["a task ended without a result",
		"M-5-3L-3-5L0-2L3-5L5-3L2 0L5 3L3 5L0 2L-3 5L-5 3L-2 0Z"],
	failure: ["llmc itself failed, or was repaired",
		"M-4-4H4V4H-4Z"],
};
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 10080,
	43200].map((m) => m * 60000);

function svg(name, attributes, ...children) {
	const e = document.createElementNS("http://www.w3.org/2000/svg", name);

	for (const [key, value] of Object.entries(attributes || {}))
		e.setAttribute(key, value);
	e.append(...children);
	return e;
}

const words = (x, y, anchor, text, c = "") => svg("text",
	{ x, y, "text-anchor": anchor, class: c }, text);
const share = (part, all) => all > 0 ? (100 * part / all).toFixed(1) + " %" : "";
const tenths = (v) => Math.round(v * 10) / 10;
const sum = (list) => list.reduce((a, b) => a + b, 0);
const took = (ms) => duration(ms / 1000);
const plural = (n, one) => `${n} ${one}${n === 1 ? "" : "s"}`;
const TIME = new Intl.DateTimeFormat("en-GB",
	{ hour: "2-digit", minute: "2-digit" });
const DATE = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });

/* What the shapes of the classes are filled with; one for all pictures. */
function patterns() {
	const tile = (name, d) => svg("pattern", { id: `k-${name}`, width: 6,
		height: 6, patternUnits: "userSpaceOnUse" },
	svg("rect", { width: 6, height: 6, class: `k-${name}` }),
	svg("path", { d, class: "over" }));

	return svg("svg", { class: "defs", "aria-hidden": "true" }, svg("defs", null,
		tile("landing", "M-1 1L1-1M0 6L6 0M5 7L7 5"),
		tile("waiting", "M1 1h2v2h-2zM4 4h2v2h-2z"),
		tile("limited", "M1.5 0V6M4.5 0V6"),
		tile("error", "M0 0L6 6M6 0L0 6")));
}

const PATTERNED = new Set(["landing", "waiting", "limited", "error"]);
const paint = (name) => PATTERNED.has(name) ?
	{ fill: `url(#k-${name})` } : { class: `k-${name}` };

/* --- the axis --------------------------------------------------------- */

/* The window of the period, as pixels; `from` and `to` after from_ms. */
class Window {
	constructor(data) {
		this.data = data;
		this.wall = Math.max(1, data.to_ms - data.from_ms);
		this.set(0, this.wall);
	}

	/* Inside of the period, and not less than a minute. */
	set(from, to) {
		const least = Math.min(60000, this.wall);
		const length = Math.min(this.wall, Math.max(least, to - from));
		const middle = (from + to) / 2;

		this.from = Math.min(this.wall - length,
			Math.max(0, to - from < least || to - from > this.wall ?
				middle - length / 2 : from));
		this.to = this.from + length;
	}

	fit(width) {
		this.left = width < 500 ? 58 : 84;
		this.width = Math.max(60, width - this.left - 8);
		this.right = this.left + this.width;
	}

	x(at) {
		return this.left + this.width * (at - this.from) /
			(this.to - this.from);
	}

	at(x) {
		return this.from + (x - this.left) / this.width *
			(this.to - this.from);
	}

	/* The part of [from, to] that is seen, in pixels; null = none. */
	clip(from, to) {
		if (to <= this.from || from >= this.to)
			return null;
		const a = this.x(Math.max(from, this.from));
		const b = this.x(Math.min(to, this.to));

		return [a, Math.max(.6, b - a)];
	}

	words(at) {
		const date = new Date(this.data.from_ms + at);

		return this.wall > 20 * HOUR ?
			`${DATE.format(date)} ${TIME.format(date)}` :
			TIME.format(date);
	}

	/* Lines at round moments of local time, with their words below. */
	ticks(height) {
		const room = Math.max(2, Math.floor(this.width / 64));
		const step = STEPS.find((s) => (this.to - this.from) / s <= room) ||
			STEPS.at(-1);
		const first = this.data.from_ms + this.from;
		const zone = new Date(first).getTimezoneOffset() * 60000;
		const g = svg("g", { class: "axis" });

		for (let at = Math.ceil((first - zone) / step) * step + zone -
			this.data.from_ms; at <= this.to; at += step) {
			const date = new Date(this.data.from_ms + at);
			const x = this.x(at).toFixed(1);
			const day = step >= 24 * HOUR || (date.getHours() === 0 &&
				date.getMinutes() === 0);

			g.append(svg("path", { d: `M${x} 0V${height}`,
				class: day ? "day" : "" }));
			if (x > this.left + 14 && x < this.right - 14)
				g.append(words(x, height + 14, "middle", day ?
					DATE.format(date) : TIME.format(date)));
		}
		return g;
	}
}

/* --- the time of the workers ------------------------------------------ */

const pitch = (count) => count <= 12 ? 26 : count <= 40 ? 18 : 12;

/* One path for each class, whatever the number of workers. */
function timePaths(data, w, row) {
	const paths = data.classes.map(() => []);
	const gap = row > 14 ? 3 : 1;

	const shapes = data.classes.map((c) => SHAPES[c.class]
		.map((v) => v * (row - gap)));

	data.workers.forEach((worker, i) => {
		for (const [from, to, c] of worker.spans) {
			const part = w.clip(from, to);

			if (!part)
				continue;
			const wide = tenths(part[1]);

			paths[c].push("M", tenths(part[0]), " ",
				tenths(i * row + gap / 2 + shapes[c][0]), "h", wide,
				"v", tenths(shapes[c][1]), "h-", wide, "z");
		}
	});
	return paths.map((d, c) => svg("path", { d: d.join(""),
		...paint(data.classes[c].class) }));
}

function markGroup(data, w, row) {
	const rows = new Map(data.workers.map((worker, i) => [worker.worker, i]));
	const g = svg("g");

	for (const mark of data.marks) {
		const i = rows.get(mark.worker);
		const x = w.x(mark.at);

		if (mark.at < w.from || mark.at > w.to)
			continue;
		g.append(svg("path", { d: MARKS[mark.kind][1],
			class: `mark mark-${mark.kind}`,
			transform: `translate(${x.toFixed(1)} ` +
				`${i == null ? 0 : (i + .5) * row})` },
		svg("title", null, `${w.words(mark.at)} ` +
			`${mark.worker || "llmc"}: ${mark.text}`)));
	}
	return g;
}

function drawTime(s, image) {
	const { data, window: w } = s;
	const row = pitch(data.workers.length);
	const height = Math.max(1, data.workers.length) * row;
	const source = s.detail && s.detail.from <= w.from &&
		s.detail.to >= w.to ? s.detail : data;
	const labels = svg("g", { class: row < 14 ? "small" : "" });
	const room = Math.floor((w.left - 6) / (row < 14 ? 5.8 : 6.8));

	data.workers.forEach((worker, i) => labels.append(words(w.left - 6,
		i * row + row / 2 + (row < 14 ? 3 : 4), "end",
		worker.worker.length > room ?
			worker.worker.slice(0, room - 1) + "\u2026" : worker.worker)));
	image.setAttribute("viewBox", `0 -6 ${w.right + 8} ${height + 26}`);
	image.replaceChildren(w.ticks(height), labels,
		...timePaths(source, w, row), markGroup(data, w, row));
	s.row = row;
}

/* What is under the pointer, in words. */
function reading(s, event) {
	const box = s.time.getBoundingClientRect();
	const w = s.window;
	const scale = (w.right + 8) / box.width;
	const at = w.at((event.clientX - box.left) * scale);
	const worker = s.data.workers[Math.floor(
		((event.clientY - box.top) * scale - 6) / s.row)];
	const span = worker && at >= w.from && at <= w.to &&
		worker.spans.find(([from, to]) => from <= at && at < to);

	return !span ? "" : `${worker.worker}: ` +
		`${s.data.classes[span[2]].class}, ${w.words(span[0])} to ` +
		`${w.words(span[1])} (${took(span[1] - span[0])})`;
}

/* --- bars over time ---------------------------------------------------- */

const HIGH = 110;

/* layers: [class, list of values for each step], one above the other. */
function drawBars(s, image, layers, label, line) {
	const { data, window: w } = s;
	const step = data.step_ms;
	const sums = layers[0][1].map((_, i) => sum(layers.map(([, l]) => l[i])));
	const most = Math.max(1, ...sums);
	const y = (value) => HIGH - value / most * (HIGH - 16);
	const children = [w.ticks(HIGH), svg("path",
		{ d: `M${w.left} ${HIGH}H${w.right}`, class: "base" }),
	words(w.left - 6, 20, "end", label(most)),
	words(w.left - 6, HIGH, "end", "0")];

	sums.forEach((all, i) => {
		const part = w.clip(i * step, Math.min((i + 1) * step, w.wall));
		let from = 0;

		if (!part || all === 0)
			return;
		for (const [name, list] of layers) {
			const top = y(from + list[i]);

			if (list[i] > 0)
				children.push(svg("rect", { x: part[0] + .5,
					y: top, width: Math.max(.5, part[1] - 1.5),
					height: Math.max(1, y(from) - top),
					...paint(name) }, svg("title", null,
					`${w.words(i * step)}: ${label(list[i])}`)));
			from += list[i];
		}
	});
	if (line && line <= most)
		children.push(svg("path", { class: "limit",
			d: `M${w.left} ${y(line)}H${w.right}` }));
	image.setAttribute("viewBox", `0 0 ${w.right + 8} ${HIGH + 20}`);
	image.replaceChildren(...children);
}

function drawQueue(s, image) {
	const { data, window: w } = s;
	const most = Math.max(1, data.queue_most);
	const y = (n) => HIGH - n / most * (HIGH - 16);
	let d = `M${w.left} ${HIGH}`;

	data.queue.forEach(([from, n], i) => {
		const next = data.queue[i + 1];
		const part = w.clip(from, next ? next[0] : w.wall);

		if (part)
			d += `H${part[0].toFixed(1)}V${y(n).toFixed(1)}` +
				`H${(part[0] + part[1]).toFixed(1)}V${HIGH}`;
	});
	image.setAttribute("viewBox", `0 0 ${w.right + 8} ${HIGH + 20}`);
	image.replaceChildren(w.ticks(HIGH), svg("path",
		{ d: `M${w.left} ${HIGH}H${w.right}`, class: "base" }),
	words(w.left - 6, 20, "end", String(most)),
	words(w.left - 6, HIGH, "end", "0"),
	svg("path", { d: d + `H${w.right}`, class: "k-landing" }));
}

/* --- tasks and goals ---------------------------------------------------- */

const FILLS = { landed: "working", no_changes: "working", open: "idle" };
const outcome = (task) => task.outcome || "open";

/* Rows with a bar each: [words, class, from, to, words behind it, bold]. */
function drawRows(s, image, rows, all) {
	const width = s.window.right + 8;
	const left = Math.round(Math.min(width * .48, Math.max(...rows.map(
		([text, , , , , bold]) => text.length * (bold ? 7.4 : 6.8))) + 8));
	const scale = (v) => left + v / Math.max(1, all) * (width - left - 76);
	const room = Math.floor(left / 6.8);
	const children = [];

	rows.forEach(([text, name, from, to, behind, bold, title], i) => {
		const y = i * 22;
		const label = words(0, y + 15, "start", text.length > room ?
			text.slice(0, room - 1) + "\u2026" : text,
		bold ? "bold" : "");

		label.append(svg("title", null, title || text));
		children.push(label);
		if (to > from)
			children.push(svg("rect", { x: scale(from), y: y + 4,
				width: Math.max(2, scale(to) - scale(from)),
				height: 14, ...paint(name) }));
		children.push(words(scale(Math.max(from, to)) + 6, y + 15, "start",
			behind, bold ? "bold" : ""));
	});
	image.setAttribute("viewBox", `0 0 ${width} ${rows.length * 22 + 4}`);
	image.replaceChildren(...children);
}

function goalRows(goal) {
	const seen = new Map(goal.nodes.map((n) => [n.id, n]));

	return goal.nodes.map((n) => {
		const open = n.effort != null;
		const after = n.after.filter((id) => seen.has(id));

		return ["\u00a0\u00a0".repeat(n.depth) + (n.critical ? "\u25c6 " : "") +
			`${n.id} ${n.title || ""}`, n.critical ? "critical" : "working",
		open ? n.start : 0, open ? n.start + n.effort : 0,
		n.status.replace(/_/g, " "), n.critical,
		`${n.id} ${n.title || ""}: ${n.status}` +
			(after.length ? `, after ${after.join(", ")}` : "")];
	});
}

/* --- the screen --------------------------------------------------------- */

/* A picture with its words and its table; draw(image) draws it. */
function figure(s, title, says, name, draw, table, more) {
	const image = svg("svg", { role: "img", "aria-label": `${title}. ${says}` });
	const box = make("section", { class: `chart chart-${name}` },
		make("h3", null, title), make("p", { class: "soft" }, says), image);

	if (more)
		box.append(...more);
	if (table) {
		const block = desk.table({ kind: "narrow", none: "", ...table });
		const details = make("details", null, make("summary", null,
			`${title} as a table`), ...block.elements);

		details.addEventListener("toggle", () => block.draw(),
			{ once: true });
		box.append(details);
	}
	s.draws.push(() => draw(image));
	s.box.append(box);
	return image;
}

const swatch = (attributes, d, view = "0 0 18 12") => svg("svg",
	{ class: "swatch", viewBox: view, "aria-hidden": "true" },
	svg("path", { d, ...attributes }));

function legend(data) {
	const all = sum(data.classes.map((c) => c.ms));
	const ul = make("ul", { class: "legend" });

	for (const c of data.classes) {
		const [y, h] = SHAPES[c.class];

		if (c.ms > 0)
			ul.append(make("li", null, swatch(paint(c.class),
				`M0 ${y * 12}h18v${h * 12}h-18z`), " ",
			`${c.title} ${took(c.ms)} (${share(c.ms, all)})`));
	}
	for (const [kind, [title, d]] of Object.entries(MARKS)) {
		const n = data.marks.filter((m) => m.kind === kind).length;

		if (n > 0)
			ul.append(make("li", null, swatch({ class:
				`mark mark-${kind}` }, d, "-9 -6 18 12"), " ",
			`${title}: ${n}`));
	}
	if (data.marks_more > 0)
		ul.append(make("li", null,
			`the ${data.marks_more} earliest marks are left off`));
	return ul;
}

/* The window moves: all that has a time axis is drawn again, once a frame. */
function move(s, from, to) {
	s.window.set(from, to);
	if (!s.frame)
		s.frame = requestAnimationFrame(() => {
			s.frame = 0;
			s.over.forEach((draw) => draw());
		});
	clearTimeout(s.timer);
	if (s.data.binned_ms > 0 && s.window.to - s.window.from < s.window.wall / 2)
		s.timer = setTimeout(() => refine(s), 300);
}

/* Spans were drawn together: those of the window alone may not be so many. */
async function refine(s) {
	const { from, to } = s.window;
	const length = to - from;
	const first = Math.max(0, from - length / 2);
	const last = Math.min(s.window.wall, to + length / 2);

	if (s.detail && s.detail.from <= from && s.detail.to >= to &&
		s.detail.to - s.detail.from <= 3 * length)
		return;
	try {
		const more = await desk.get("api/charts?from_ms=" +
			Math.floor(s.data.from_ms + first) + "&to_ms=" +
			Math.ceil(s.data.from_ms + last));
		const by = new Map(more.workers.map((w) => [w.worker, w]));
		const off = more.from_ms - s.data.from_ms;

		s.detail = { from: first, to: last, classes: s.data.classes,
			workers: s.data.workers.map((w) => ({ worker: w.worker,
				spans: ((by.get(w.worker) || {}).spans || [])
					.map(([a, b, c]) => [a + off, b + off, c]) })) };
		move(s, s.window.from, s.window.to);
	} catch (e) { /* what is drawn stays */ }
}

/* By mouse, fingers and keys. The time under each finger stays there. */
function steer(s, image, read) {
	const fingers = new Map();
	const x = (event) => {
		const box = image.getBoundingClientRect();

		return (event.clientX - box.left) / box.width *
			(s.window.right + 8);
	};
	const zoom = (by, at) => {
		const { from, to } = s.window;
		const middle = at == null ? (from + to) / 2 : at;

		move(s, middle - (middle - from) * by, middle + (to - middle) * by);
	};
	const step = (by) => {
		const { from, to } = s.window;

		move(s, from + (to - from) * by, to + (to - from) * by);
	};
	const keys = { ArrowLeft: () => step(-.2), ArrowRight: () => step(.2),
		"+": () => zoom(.5), "=": () => zoom(.5), "-": () => zoom(2),
		Home: () => move(s, 0, s.window.wall) };

	image.addEventListener("keydown", (event) => {
		if (!keys[event.key] || event.ctrlKey || event.altKey || event.metaKey)
			return;
		event.preventDefault();
		keys[event.key]();
	});
	image.addEventListener("wheel", (event) => {
		if (!event.ctrlKey)
			return; /* the page scrolls */
		event.preventDefault();
		zoom(event.deltaY < 0 ? .8 : 1.25, s.window.at(x(event)));
	}, { passive: false });
	image.addEventListener("dblclick", (event) =>
		zoom(.5, s.window.at(x(event))));
	image.addEventListener("pointerdown", (event) => {
		if (event.button !== 0 || x(event) < s.window.left)
			return;
		image.setPointerCapture(event.pointerId);
		fingers.set(event.pointerId, { x: x(event) });
		fingers.forEach((f) => { f.at = s.window.at(f.x); });
	});
	image.addEventListener("pointermove", (event) => {
		const finger = fingers.get(event.pointerId);

		read.textContent = reading(s, event);
		if (!finger)
			return;
		finger.x = x(event);
		const [a, b] = [...fingers.values()];
		const { from, to, left, width } = s.window;
		const scale = b && Math.abs(b.x - a.x) > 8 ?
			Math.abs((b.at - a.at) / (b.x - a.x)) : (to - from) / width;

		move(s, a.at - (a.x - left) * scale,
			a.at - (a.x - left) * scale + scale * width);
	});
	for (const name of ["pointerup", "pointercancel"])
		image.addEventListener(name, (event) => {
			fingers.delete(event.pointerId);
			fingers.forEach((f) => { f.at = s.window.at(f.x); });
		});
	image.addEventListener("pointerleave", () => { read.textContent = ""; });
	image.setAttribute("tabindex", 0);
	return [["Zoom in", "+"], ["Zoom out", "-"], ["Earlier", "ArrowLeft"],
		["Later", "ArrowRight"], ["All", "Home"]].map(([label, key]) => {
		const button = make("button", { type: "button" }, label);

		button.addEventListener("click", () => keys[key]());
		return button;
	});
}

const KEYS = "Drag to move it, Ctrl and the wheel or two fingers zoom; with " +
	"the keyboard: arrows, + and -, Home.";

function drawAll(s, data) {
	const hour = data.step_ms === HOUR ? "hour" : took(data.step_ms);
	const m = data.money;
	const step = (i) => s.window.words(i * data.step_ms);
	const read = make("p", { class: "read soft", "aria-hidden": "true" });
	const at = ["Time", "short", (r) => step(r.i)];
	const tools = make("div", { class: "tools" });
	const workers = data.workers.length + data.workers_more;

	s.data = data;
	s.window = new Window(data);
	s.draws = [];
	s.box.replaceChildren(patterns());
	s.time = figure(s, `Time of ${plural(workers, "worker")}`,
		`From ${s.window.words(0)} to ${s.window.words(s.window.wall)}` +
		` (${took(s.window.wall)}). ` + KEYS +
		(data.workers_more ? ` ${data.workers_more} workers are left off.` : ""),
		"time", (image) => drawTime(s, image), {
			rows: () => data.workers, key: (r) => r.worker,
			columns: [["Worker", "short", (r) => r.worker],
				...data.classes.map((c, i) => [c.class, "short num",
					(r) => r.class_ms[i] ? took(r.class_ms[i]) : ""])],
		}, [read, tools, legend(data)]);
	tools.append(...steer(s, s.time, read));
	if (data.marks.length > 0) {
		const marks = desk.table({ kind: "", none: "", rows: () => data.marks
			.map((mark, i) => ({ ...mark, i })).reverse(), key: (r) => r.i,
		columns: [["Time", "short", (r) => s.window.words(r.at)],
			["Worker", "short", (r) => r.worker || "llmc"],
			["Task", "short", (r) => r.task],
			["What", "short", (r) => MARKS[r.kind][0]],
			["Words", "wide", (r) => r.text]] });
		const details = make("details", null, make("summary", null,
			`${plural(data.marks.length, "mark")} in words`),
		...marks.elements);

		details.addEventListener("toggle", () => marks.draw(),
			{ once: true });
		s.box.lastElementChild.append(details);
	}
	figure(s, `Tasks that ended, per ${hour}`,
		`${sum(data.landed)} with a result, ` +
		`${sum(data.not_landed)} without (hatched).`, "landed",
		(image) => drawBars(s, image, [["working", data.landed],
			["error", data.not_landed]], String), {
			rows: () => data.landed.map((n, i) => ({ i, n,
				lost: data.not_landed[i] })), key: (r) => r.i,
			columns: [at, ["With a result", "short num", (r) => r.n],
				["Without", "short num", (r) => r.lost]],
		});
	figure(s, `Cost of tasks, per ${hour}`, `${dollars(m.tasks_micros)}` +
		`${m.estimated_micros > 0 ? " (estimated)" : ""}; a task's cost is ` +
		"spread over the time worked on it." + (m.earlier_micros > 0 ?
		` ${dollars(m.earlier_micros)} of it was spent before, or when is ` +
		"not known." : "") + (m.unknown > 0 ?
		` The cost of ${plural(m.unknown, "task")} is not known.` : "") +
		(m.day_cost_micros > 0 ? ` Today: ${dollars(m.today_micros || 0)} of ` +
		`${dollars(m.day_cost_micros)} (budget.day_cost); the dashed line is ` +
		"an even pace of it." : ""), "money",
	(image) => drawBars(s, image, [["money", m.steps]], dollars,
		m.day_cost_micros * data.step_ms / (24 * HOUR)), {
		rows: () => m.steps.map((n, i) => ({ i, n })), key: (r) => r.i,
		columns: [at, ["Cost", "short num", (r) => dollars(r.n)]],
	});
	figure(s, "Landing queue", data.queue_most > 0 ?
		`At most ${plural(data.queue_most, "worker")} with finished work ` +
		"that waited to land, or landed." : "Nothing waited to land.",
	"queue", (image) => drawQueue(s, image));
	s.over = s.draws.slice();
	if (m.tasks.length > 0)
		figure(s, "The most expensive tasks", "Filled: with a result; " +
			"hatched: without one; pale: not ended." + (m.more > 0 ?
			` Others: ${m.more}, for ${dollars(m.more_micros)}.` : ""),
		"tasks", (image) => drawRows(s, image, m.tasks.map((t) =>
			[`${t.id} ${t.title || ""}`, FILLS[outcome(t)] || "error", 0,
				t.cost_micros, dollars(t.cost_micros)]),
		m.tasks[0].cost_micros), {
			rows: () => m.tasks, key: (r) => r.id,
			columns: [["Task", "short", (r) => r.id],
				["Cost", "short num", (r) => dollars(r.cost_micros)],
				["Ended", "short", outcome],
				["Title", "wide", (r) => r.title]],
		});
	for (const goal of data.goals)
		figure(s, `Goal ${goal.id}: ${goal.title || ""}`,
			`${goal.done} of ${goal.total} done. ` +
			(goal.critical_effort > 0 ? "The critical path (\u25c6) " +
			`takes ${goal.critical_effort} of ${goal.effort} estimated ` +
			"turns; a bar begins when what it waits for can have ended." : "") +
			(goal.nodes_more ? ` ${goal.nodes_more} nodes are left off.` : ""),
			"goal", (image) => drawRows(s, image, goalRows(goal),
				goal.critical_effort), {
				rows: () => goal.nodes, key: (r) => r.id,
				columns: [["Node", "short", (r) => r.id],
					["Status", "short", (r) => r.status],
					["Critical", "short", (r) => r.critical ? "yes" : ""],
					["After", "short", (r) => r.after.join(", ")],
					["Title", "wide", (r) => r.title]],
			});
	resize(s);
}

function resize(s) {
	s.wide = s.box.clientWidth || 600;
	s.window.fit(s.wide);
	s.draws.forEach((draw) => draw());
}

desk.screen("charts", (element, arg) => {
	const s = { box: make("div"), draws: [], over: [] };
	const made = make("span", { class: "soft", role: "status" });
	const choice = make("select", { id: "charts-period" }, ...PERIODS.map(
		([hours, label]) => make("option", { value: hours,
			...(String(hours) === arg ? { selected: "" } : {}) }, label)));
	const again = make("button", { type: "button" }, "Refresh");
	const observer = new ResizeObserver(() => {
		if (s.data && s.box.clientWidth !== s.wide)
			resize(s);
	});
	let wanted = 0;

	async function load() {
		const mine = ++wanted;
		const hours = Number(choice.value);

		made.textContent = "reading the records \u2026";
		try {
			const data = await desk.get("api/charts" + (hours > 0 ?
				`?from_ms=${Date.now() - hours * HOUR}` : ""));

			if (mine !== wanted)
				return;
			drawAll(s, data);
			made.textContent = `as of ${TIME.format(data.now_ms)}`;
		} catch (e) {
			if (mine === wanted)
				made.textContent = e.message;
		}
	}

	element.append(make("h2", null, "Charts"), make("p", { class: "tools" },
		make("label", { for: "charts-period" }, "Period"), " ", choice, " ",
		again, " ", made), s.box);
	choice.addEventListener("change", () => {
		location.replace("#/charts" +
			(choice.value ? `/${choice.value}` : ""));
	});
	again.addEventListener("click", load);
	observer.observe(s.box);
	load();
	return () => {
		wanted = -1;
		clearTimeout(s.timer);
		cancelAnimationFrame(s.frame);
		observer.disconnect();
	};
});
desk.menu("Charts", "#/charts");
})();
