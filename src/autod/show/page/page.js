"use strict";
/* SPDX-License-Identifier: ISC */

/*
 * The live page. It reads the view (model/view/view.h) as a stream and
 * draws it. What is shown is a table of sections, which consist of blocks:
 * lists, tables, trees and terms. They are filled with parts: texts, and the
 * few kinds of elements that NODES makes. Rows keep their elements, and only
 * what differs is written, so that the focus, a selection and what was opened
 * stay. Texts of others are only ever set as text.
 *
 * What the other scripts share with it is the object `desk`, at its end.
 */
const desk = (() => {
const PAGE_ROWS = 200;
const FIRST_ROWS = 30; /* the others come after the first picture */
const EVENTS_MAX = 200;
const REPORT_MS = 60000; /* it is not asked for more often by itself */
const RETRY_MS = [500, 1000, 2000, 4000, 8000];
const MAPS = ["needs", "workers", "tasks", "todo", "ended", "landing", "goals",
	"asks", "repairs", "hosts"];

const byId = (id) => document.getElementById(id);
const now = () => Date.now() / 1000;
const natural = new Intl.Collator("en", { numeric: true }).compare;
const given = (parts) => [parts].flat(Infinity)
	.filter((p) => p != null && p !== "" && p !== false);

const view = { head: {}, team: {}, budget: {}, events: [], report: {} };
let filter = "";

/* --- words ------------------------------------------------------------ */

function duration(seconds) {
	const s = Math.max(0, Math.floor(seconds));
	const two = (a, x, b, y) => a + x + (b ? b + y : "");

	if (s < 60)
		return s + "s";
	if (s < 3600)
		return Math.floor(s / 60) + "m";
	if (s < 86400)
		return two(Math.floor(s / 3600), "h",
			Math.floor(s / 60) % 60, "m");
	return two(Math.floor(s / 86400), "d", Math.floor(s / 3600) % 24, "h");
}

const took = (ms) => ms == null ? "" : duration(ms / 1000);

const CLOCK = new Intl.DateTimeFormat("en-GB",
	{ hour: "2-digit", minute: "2-digit" });
const DAY = new Intl.DateTimeFormat("en-GB",
	{ day: "numeric", month: "short" });

function clock(unix) {
	const at = new Date(unix * 1000);

	return (at.toDateString() === new Date().toDateString() ? "" :
		DAY.format(at) + " ") + CLOCK.format(at);
}

function count(n) {
	if (n == null)
		return "";
	for (const [size, unit] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]])
		if (n >= size) /* cut off, as llmc top does */
			return (n < 10 * size ?
				(Math.floor(n / size * 10) / 10).toFixed(1) :
				Math.floor(n / size)) + unit;
	return String(n);
}

function dollars(micros) {
	if (micros == null)
		return "";
	return micros > 0 && micros < 10000 ? "<$0.01" :
		"$" + (micros / 1e6).toFixed(2);
}

/* What is not known is not nothing. */
function money(row) {
	if (row.cost_micros == null || row.cost_source === "unknown")
		return row.cost_source || row.cost_micros != null ? "?" : "";
	return dollars(row.cost_micros) +
		(row.cost_source === "estimate" ? " est." : "");
}

function tokens(t) {
	if (t == null || typeof t === "number")
		return count(t);
	return `${count(t.input)} in, ${count(t.output)} out, ` +
		`${count(t.cacheRead)} from the cache, ` +
		`${count(t.cacheCreation)} to the cache`;
}

const CLASSES = {
	bad: ["error", "failed", "dead-letter", "offline", "ejected", "red",
		"aborted", "critical", "emergency"],
	warn: ["paused", "limited", "needs_review", "no_changes", "rejected",
		"parked", "blocked", "deferred", "suspect", "held", "stalled",
		"warning", "warn", "waiting for you"],
	good: ["working", "landed", "done", "accepting", "green", "landing",
		"running"],
};
const CLASS_OF = new Map(Object.entries(CLASSES)
	.flatMap(([c, words]) => words.map((w) => [w, c])));

/* A word with its colour and, where it is bad, a mark. */
function word(text) {
	const c = CLASS_OF.get(text);

	return c ? { c, s: (c === "bad" ? "! " : "") + text } : text;
}

/* An object of others in one line. */
function plain(value) {
	if (value == null || typeof value !== "object")
		return value == null ? "" : String(value);
	return Object.entries(value)
		.filter(([, v]) => v != null && v !== "")
		.map(([k, v]) => Array.isArray(value) ? plain(v) :
			k.replace(/_/g, " ") + ": " + plain(v)).join("; ");
}

/* --- parts ------------------------------------------------------------ */

function make(name, attributes, ...children) {
	const e = document.createElement(name);

	for (const [key, value] of Object.entries(attributes || {}))
		e.setAttribute(key, value);
	e.append(...children);
	return e;
}

const MOMENTS = {
	age: (at) => duration(now() - at),
	clock,
	until: (at) => at > now() ? `${clock(at)} (in ${duration(at - now())})` :
		clock(at),
};

function tick(time) {
	const text = MOMENTS[time.dataset.how](Number(time.dataset.at));

	if (time.textContent !== text)
		time.textContent = text;
}

const age = (at) => at ? { at, how: "age" } : "";
const moment = (at) => at ? { at, how: "clock" } : "";
const until = (at) => at ? { at, how: "until" } : "";
const why = (text) => text ? { c: "why", s: text } : "";
const tag = (text) => text ? [" ", { c: "tag", s: text }] : "";
const short = (commit) => commit ? { c: "mono", s: commit.slice(0, 10) } : "";

/* Parts with a text between them. */
function joined(parts, between) {
	return parts.map(given).filter((p) => p.length > 0)
		.flatMap((p, i) => i > 0 ? [between, p] : [p]);
}

function copier(command) {
	const button = make("button",
		{ type: "button", "aria-label": `Copy ${command}` }, "Copy");
	const say = (text) => {
		button.textContent = text;
		setTimeout(() => { button.textContent = "Copy"; }, 2000);
	};
	const select = () => {
		getSelection().selectAllChildren(button.previousElementSibling);
		say("Selected");
	};

	button.addEventListener("click", () => navigator.clipboard ?
		navigator.clipboard.writeText(command)
			.then(() => say("Copied"), select) : select());
	return button;
}

/* By the member that a part of the kind has. */
const NODES = {
	s: (p) => make("span", { class: p.c }, String(p.s)),
	code: (p) => make("code", null, p.code),
	copy: (p) => make("span", { class: "copy" },
		make("code", null, p.copy), " ", copier(p.copy)),
	href: (p) => make("a", { href: p.href, class: "go" }, p.label),
	box: (p) => make("div", null, ...given(p.box).map(node)),
	meter: (p) => make("meter", { "aria-label": p.meter, value: p.value,
		max: p.max, high: p.max * 0.9 }),
	at: (p) => {
		const date = new Date(p.at * 1000);
		const time = make("time", { "data-at": p.at, "data-how": p.how,
			datetime: date.toISOString(),
			title: date.toLocaleString() });

		tick(time);
		return time;
	},
};

function node(part) {
	if (typeof part !== "object")
		return String(part);
	return NODES[Object.keys(NODES).find((kind) => kind in part)](part);
}

/* A focus in what goes away stays in its section. */
function keepFocus(parent, change) {
	const at = document.activeElement;
	const place = at !== parent && parent.contains(at) &&
		parent.closest("section, main");

	change();
	if (place && !at.isConnected)
		place.focus({ preventScroll: true });
}

function write(element, ...parts) {
	const all = given(parts);
	const now = JSON.stringify(all);

	if (element.written === now)
		return;
	element.written = now;
	keepFocus(element, () => element.replaceChildren(...all.map(node)));
}

/* Have one child for each item, in their order: those that are there stay. */
function keep(parent, items, key, create, fill) {
	const old = parent.kept || new Map();
	const kept = new Map();
	let next = parent.firstElementChild;

	for (const item of items) {
		const k = String(key(item));
		const e = old.get(k) || create(item);

		old.delete(k);
		kept.set(k, e);
		fill(e, item);
	}
	for (const e of old.values()) {
		if (e === next)
			next = next.nextElementSibling;
		keepFocus(parent, () => e.remove());
	}
	for (const e of kept.values()) {
		if (e === next)
			next = next.nextElementSibling;
		else
			parent.insertBefore(e, next);
	}
	parent.kept = kept;
}

const matches = (row) => filter === "" ||
	JSON.stringify(row).toLowerCase().includes(filter);

/* --- blocks ----------------------------------------------------------- */

/* A block is {elements, draw}. */

/* Items: {key, parts}. */
function list(attributes, items, none) {
	const ul = make("ul", attributes);
	const nothing = make("p", { class: "none" });

	return { elements: [ul, nothing], draw() {
		const all = items();

		keep(ul, all, (i) => i.key, () => make("li"),
			(li, i) => write(li, i.parts));
		write(nothing, all.length === 0 ? none : "");
	} };
}

/* Fill a dl with [term, ...parts]; those without parts are left out. */
function fillTerms(dl, terms) {
	const all = terms.map(([term, ...parts]) => [term, given(parts)])
		.filter(([, parts]) => parts.length > 0);

	keep(dl, all.flatMap(([t, p]) => [["dt", t, [t]], ["dd", t, p]]),
		([kind, t]) => kind + t, ([kind]) => make(kind),
		(e, [, , parts]) => write(e, parts));
}

function terms(of) {
	const dl = make("dl");

	return { elements: [dl], draw: () => fillTerms(dl, of()) };
}

/*
 * Columns: [heading, class, row => parts]. The last one is what the row is
 * about; it opens where `detail` (row => terms) is given. Rows that are the
 * same object are not filled again.
 */
function table({ section, caption, columns, detail, rows, key, none, kind }) {
	const row = (tr, cells) => make(tr, { role: "row" }, ...cells);
	const body = make("tbody", { role: "rowgroup" });
	const element = make("table", caption ? { role: "table" } :
		{ role: "table", "aria-labelledby": section + "-h" });
	const nothing = make("p", { class: "none" });
	const left = make("span");
	const button = make("button", { type: "button" }, "Show more");
	const more = make("p", null, left, " ", button);
	const last = columns.length - 1;
	const pattern = row("tr", columns.map(([heading, c], i) => {
		const cell = make(i === 0 ? "th" : "td", { class: c,
			role: i === 0 ? "rowheader" : "cell" });

		if (i === 0)
			cell.scope = "row";
		else if (c !== "wide")
			cell.setAttribute("data-label", heading);
		if (i === last && detail)
			cell.append(make("details", null, make("summary"),
				make("dl")));
		return cell;
	}));
	let shown = PAGE_ROWS;

	/* What is in one that opens is made when it is seen. */
	function fillDetails(details, r) {
		if (details.open)
			fillTerms(details.lastChild, detail(r));
	}

	function fill(tr, r) {
		if (tr.row === r)
			return;
		tr.row = r;
		columns.forEach(([, , parts], i) => {
			const details = i === last && detail &&
				tr.children[i].firstChild;

			write(details ? details.firstChild : tr.children[i],
				parts(r));
			if (details)
				fillDetails(details, r);
		});
	}

	function draw() {
		const all = rows();
		const found = all.filter(matches);
		const first = !body.kept && found.length > FIRST_ROWS;

		if (first)
			setTimeout(draw);
		keep(body, found.slice(0, first ? FIRST_ROWS : shown), key,
			() => pattern.cloneNode(true), fill);
		element.hidden = found.length === 0;
		write(nothing, found.length > 0 ? "" : all.length === 0 ? none :
			`${caption || "Here"}: nothing matches the filter.`);
		more.hidden = found.length <= shown;
		left.textContent = `${found.length - shown} more.`;
	}

	body.addEventListener("toggle", (e) =>
		fillDetails(e.target, e.target.closest("tr").row), true);
	button.addEventListener("click", () => {
		shown += PAGE_ROWS;
		draw();
	});
	if (kind)
		element.classList.add(kind);
	if (caption)
		element.append(make("caption", null, caption));
	element.append(make("thead", { role: "rowgroup" },
		row("tr", columns.map(([heading, c]) => make("th", { scope: "col",
			class: c, role: "columnheader" }, heading)))), body);
	return { elements: [element, nothing, more], draw };
}

/* Items: {key, parts, kids}. */
function fillTree(ul, items, depth) {
	keep(ul, items, (i) => i.key + (i.kids.length > 0), (item) => {
		if (item.kids.length === 0)
			return make("li");
		const details = make("details", null, make("summary"), make("ul"));

		details.open = depth < 2;
		return make("li", null, details);
	}, (li, item) => {
		if (item.kids.length === 0) {
			write(li, item.parts);
			return;
		}
		write(li.firstChild.firstChild, item.parts);
		fillTree(li.firstChild.lastChild, item.kids, depth + 1);
	});
}

function tree(items) {
	const ul = make("ul", { class: "tree" });

	return { elements: [ul], draw: () => fillTree(ul, items(), 0) };
}

/* Rows with `parent` as items; those whose parent is unknown are roots. */
function nest(rows, parts) {
	const items = new Map(rows.map((r) =>
		[r.id, { key: r.id, parts: parts(r), kids: [] }]));
	const roots = [];

	for (const row of rows)
		(items.has(row.parent) && row.parent !== row.id ?
			items.get(row.parent).kids : roots).push(items.get(row.id));
	return roots;
}

function line(parts) {
	const p = make("p");

	return { elements: [p], draw: () => write(p, parts()) };
}

/* --- what is shown of a row ------------------------------------------- */

/* The rows of a map: by a member that grows, or (-1) with the last first. */
function sorted(section, member, way) {
	return [...view[section].values()].sort((a, b) =>
		(way || 1) * natural(a[member], b[member]) || natural(a.id, b.id));
}

/* Rows of a map that do not say their key. */
const keyed = (section) => [...view[section]]
	.map(([key, r]) => ({ key, ...r }));

const lines = (r) => r.lines_added == null ? "" :
	`+${r.lines_added} -${r.lines_removed}`;
const overseen = (r) => r.oversight ? plain(r.oversight) :
	r.health && r.health !== "healthy" ? r.health : "";
const spawned = (r) => joined([r.parent, r.role && `as ${r.role}`], " ");
const spent = (r) => [["Cost", money(r)], ["Tokens", tokens(r.tokens)],
	["Lines", lines(r)]];

/* Links of other scripts to what they show about a row: desk.link(). */
const links = {};
const linksOf = (kind, row) => (links[kind] || [])
	.map(([label, href]) => ({ label, href: href(row) }))
	.filter((l) => l.href);
const linked = (kind, row) => ["See", joined(linksOf(kind, row), " ")];

/* What other scripts let a person do with a row: desk.offer(). */
const offers = {};
const offered = (kind, row) => ["Do", shared.mode === "work" &&
	(!row.host || row.host === view.head.host) ?
	(offers[kind] || []).flatMap((of) => of(row)) : ""];

const ofWorker = (r) => [
	linked("worker", r),
	offered("worker", r),
	["Title", r.title],
	["Branch", r.branch],
	["Tool", joined([r.tool, age(r.tool_since_unix)], ", for ")],
	["Model", r.model],
	...spent(r),
	["Oversight", overseen(r)],
	["Paused for", (r.paused_for || []).join(", ")],
	["Until", until(r.until_unix)],
	["Conflicts", r.conflicts || ""],
	["Commit", short(r.commit)],
	["Spawned by", spawned(r)],
	["Session", r.session],
	["Look", { copy: `llmc attach ${r.host && r.host !== view.head.host ?
		r.host + ":" : ""}${r.name}` }],
];

const ofHost = (r) => [
	["Lease until", until(r.lease_unix)],
	["Version", r.version],
	["Can", r.can],
	["Root", r.root],
	["Reach it", r.ssh ? { copy: `ssh ${r.ssh}` } : ""],
];

const ofTask = (r) => [
	linked("task", r),
	offered("task", r),
	["Source", joined([r.source, r.key], ": ")],
	["Label", r.label],
	["Priority", r.priority],
	["Made", moment(r.created_unix)],
	["Given", moment(r.assigned_unix)],
	["Ended", moment(r.finished_unix)],
	["Goal", r.goal],
	["Spawned by", spawned(r)],
	["Run", r.run_id],
	...spent(r),
	["Commit", short(r.commit)],
	["Progress", plain(r.progress)],
	["Report", plain(r.completion)],
	["Verification", r.verification],
	["Last words", r.last_words],
	["History", (r.history || []).map((h, i) => [i > 0 ? "\n" : "",
		moment(h.at_unix), " ", h.what, h.detail ? `: ${h.detail}` : ""])],
	["Look", { copy: `llmc task show ${r.id}` }],
];

const NO_TITLE = "(no title)";

/* Columns of several tables. */
const COLUMN = {
	task: ["Task", "short", (r) => r.id],
	tries: ["Tries", "short num", (r) => r.attempts],
	cost: ["Cost", "short num", money],
	commit: ["Commit", "short", (r) => short(r.commit)],
	ended: ["Outcome", "short", (r) => word(r.outcome)],
	took: ["Took", "short num", (r) => took(r.wall_ms)],
	lines: ["Lines", "short num", lines],
	title: ["Title", "wide", (r) => [r.title || NO_TITLE, why(r.reason)]],
};

/* --- items of lists ---------------------------------------------------- */

/* The buttons, where they do what the command does. */
function answered(need) {
	const [, parts] = need.ask ? offered("ask", { id: need.ask,
		...view.asks.get(need.ask), host: null }) : [];

	return [parts && /^llmc answer /.test(need.command) || !need.command ?
		"" : { copy: need.command }, parts ? { box: parts } : ""];
}

const needs = () => [...view.needs].filter(([, need]) => matches(need))
	.sort((a, b) => natural(a[0], b[0])).map(([key, need]) => ({ key, parts: [
		{ box: [{ c: "bad", s: `${need.who}: ${need.what}` },
			need.words !== need.what ? why(need.words) : ""] },
		...answered(need)] }));

function limits() {
	const b = view.budget;
	const day = (b.days || []).find((d) => d.day === b.day) || b;
	const today = (name, text, value, max, words) => ({ key: name,
		parts: ["Today ", text, max == null ? ", no limit" :
			[` of ${words(max)} `, { meter: `${name} of today`,
				value: value || 0, max }]] });

	return [
		today("Cost", money(day) || "?", b.cost_micros,
			b.day_cost_micros, dollars),
		today("Tokens", `${count(b.tokens || 0)} tokens`, b.tokens,
			b.day_tokens, count),
		(b.day_cost_micros ?? b.day_tokens) != null && { key: "reset",
			parts: ["The day ends at ", until((b.day + 1) * 86400)] },
		...sorted("workers", "name").filter((w) =>
			w.until_unix > now() || w.status === "limited")
			.map((w) => ({ key: w.name, parts: [w.name, " ",
				word(w.status), " until ",
				w.until_unix ? until(w.until_unix) : "?",
				w.reason ? `: ${w.reason}` : ""] })),
		view.head.outage_since_unix && { key: "outage", parts: [
			{ c: "bad", s: "! the service does not answer" },
			" since ", moment(view.head.outage_since_unix)] },
	].filter((item) => item);
}

const events = () => view.events.filter(matches).reverse().map((e) => ({
	key: e.n,
	parts: [moment(e.at_ms / 1000), /^(warn|error)/i.test(e.level) ?
		{ c: "bad", s: `${e.level} ` } : "", e.words],
}));

function goals() {
	const part = (n) => [n.title || n.id, " - ", word(n.status),
		n.worker ? ` (${n.worker})` : "", why(n.reason)];

	return sorted("goals", "id").filter(matches).map((g) => ({
		key: g.id,
		parts: [g.title || g.id, " - ", word(g.status),
			`, ${g.done} of ${g.total} done`,
			g.ready ? `, ${g.ready} ready` : "",
			g.blocked ? `, ${g.blocked} blocked` : "", " ",
			...offered("goal", g).slice(1)],
		kids: nest(g.nodes || [], part),
	}));
}

function family() {
	const rows = [...sorted("tasks", "id"), ...sorted("ended", "id")];
	const parents = new Set(rows.map((r) => r.parent).filter((p) => p));

	return nest(rows.filter((r) => r.parent || parents.has(r.id)), (r) =>
		[joined([r.id, r.role, r.worker && `(${r.worker})`,
			word(r.outcome || r.step)], " "), ": ", r.title]);
}

function team() {
	const t = view.team;

	return [`${t.mail_open || 0} messages unread`,
		t.mail_person ? ` (${t.mail_person} to you: llmc mail)` : "",
		`, ${t.questions || 0} open questions, ` +
		`${t.reservations || 0} reserved files` +
		(family().length > 0 ? "" : "; no task was delegated") + "."];
}

/* --- the report ------------------------------------------------------- */

const report = {
	words: "", /* why there is none */
	asked: 0, /* when, in ms */
	of: "", /* what it was about */
	timer: 0,
};

/* A report is old when another task has ended, or another run has begun. */
const subject = () => JSON.stringify([view.head.run_id,
	view.head.outcomes]);

async function askReport() {
	clearTimeout(report.timer);
	report.timer = 0;
	report.asked = Date.now();
	report.of = subject();
	try {
		const response = await ask("report.json");
		const text = await response.text();

		report.words = response.ok ? "" : text.trim();
		if (response.ok)
			view.report = JSON.parse(text);
	} catch (e) {
		report.words = "The daemon does not answer.";
	}
	drawSoon(["report"]);
}

/* Once it is shown, it is kept up to date, but not made all the time. */
function renewReport() {
	if (report.asked && !report.timer && report.of !== subject())
		report.timer = setTimeout(askReport,
			Math.max(0, report.asked + REPORT_MS - Date.now()));
}

function reportHead() {
	const button = make("button", { type: "button" }, "Make the report");
	const words = make("div", { role: "status" });

	button.addEventListener("click", askReport);
	return { elements: [button, words], draw() {
		const r = view.report;
		const period = r.period || {};

		write(words, report.words ? [{ c: "bad", s: report.words },
			" In a terminal: ", { code: "llmc report" }] : "",
		r.verdict ? [{ box: [{ c: r.verdict.level === "good" ?
			"good" : "warn", s: r.verdict.words }] },
		{ box: [period.run ? `Run ${period.run}, ` : "",
			moment(period.from_ms / 1000), " to ",
			moment(period.to_ms / 1000),
			period.goes_on ? " (it goes on)" : "",
			`, ${took(period.to_ms - period.from_ms)}`] }] : "");
		button.textContent = r.verdict ? "Make it again" :
			"Make the report";
		renewReport();
	} };
}

function reportMoney() {
	const m = view.report.money;

	return !m ? [] : [
		["All of this report", dollars(m.total_micros)],
		["For each that landed", dollars(m.per_landed_micros) || "-"],
		["Spent without landing", dollars(m.not_landed_micros)],
		["On what has not ended", dollars(m.open_micros)],
		["By the planner", m.planner_micros ?
			dollars(m.planner_micros) : ""],
		["On repairs of llmc", m.repairs_micros ?
			dollars(m.repairs_micros) : ""],
		["By workers of a person", m.hand_micros ?
			dollars(m.hand_micros) : ""],
		["Of all that, estimated", dollars(m.estimated_micros)],
		["Not known", m.unknown ? `? (tasks: ${m.unknown})` : ""],
		["Checks", plain((view.report.landing || {}).checks)],
		["Not listed", plain(Object.fromEntries(Object.entries(
			view.report.left_off || {}).filter(([, n]) => n > 0)))],
		["Notes", (view.report.notes || []).join("\n")],
	];
}

function reportTime() {
	const time = view.report.time || { rows: {} };

	return [...Object.entries(time.rows), ["all", time.worker_ms]]
		.filter(([, ms]) => ms > 0).map(([use, ms]) => ({
			use: (time.titles || {})[use] || use, ms,
			share: ms / time.worker_ms }));
}

const reportTable = (member, caption, columns, detail) => table({
	caption, columns, detail, key: (r) => r.id || r.at_ms,
	rows: () => view.report[member] || [], none: "",
});

/* --- sections --------------------------------------------------------- */

const SECTIONS = [{
	id: "needs", title: "Needs you", uses: ["needs", "asks"],
	count: () => view.needs.size,
	blocks: [list({ class: "needs", "aria-live": "polite" }, needs,
		"Nothing needs you.")],
}, {
	id: "budget", title: "Budget and limits",
	uses: ["budget", "workers", "head"],
	blocks: [list({ class: "list" }, limits), table({
		caption: "The last days (UTC), with work by hand", kind: "narrow",
		rows: () => (view.budget.days || []).slice(-7).reverse(),
		key: (r) => r.day, none: "",
		columns: [
			["Day", "short", (r) =>
				new Date(r.day * 864e5).toISOString().slice(0, 10)],
			["Cost", "short num", (r) => [money(r), r.unpriced &&
				r.cost_source !== "unknown" ? " + ?" : ""]],
			["Tokens", "short num", (r) => count(r.tokens)],
			["Attempts", "short num", (r) => r.attempts],
		],
	})],
}, {
	id: "hosts", title: "Hosts", uses: ["hosts"],
	count: () => view.hosts.size, hidden: () => view.hosts.size === 0,
	blocks: [table({
		section: "hosts", rows: () => [...view.hosts.values()].sort(
			(a, b) => a.rank - b.rank || natural(a.host, b.host)),
		key: (r) => r.host, detail: ofHost, none: "",
		columns: [
			["Host", "short", (r) => r.host + (r.here ? " (here)" : "")],
			["State", "short", (r) => word(r.state)],
			["Seen", "short num", (r) => age(r.seen_unix)],
			["Busy", "short num", (r) => r.busy == null ? "" :
				`${r.busy} of ${r.slots}`],
			["Waiting", "short num", (r) => r.waiting],
			["Asks", "short num", (r) => r.asks_open],
			["Landed", "short num", (r) => r.landed],
			["Failed", "short num", (r) => r.failed],
			["What", "wide", (r) => r.state === "lost" ?
				"other hosts take its tasks" : r.paused],
		],
	})],
}, {
	id: "workers", title: "Workers", uses: ["workers"],
	count: () => view.workers.size,
	blocks: [table({
		section: "workers", rows: () => sorted("workers", "name"),
		key: (r) => (r.host || "") + r.name, detail: ofWorker,
		none: "There are no workers. Start some: llmc up --auto",
		columns: [
			["Worker", "short", (r) => r.host ?
				`${r.host}:${r.name}` : r.name],
			["Status", "short", (r) => word(r.asks && r.asks.person &&
				r.status === "waiting" ? "waiting for you" : r.status)],
			["For", "short num", (r) => age(r.since_unix)],
			["Task", "short", (r) => r.task],
			["Try", "short num", (r) => r.attempt],
			["Turn", "short num", (r) => r.turns],
			COLUMN.cost,
			["What", "wide", (r) => [r.title || "no task", tag(r.tool),
				tag(overseen(r) && "oversight: " +
					(r.health || "see below")),
				why([r.until_unix > now() && "until " +
					clock(r.until_unix), r.remark || r.reason]
					.filter((t) => t).join(": "))]],
		],
	})],
}, {
	id: "queue", title: "Queue", uses: ["tasks", "todo", "landing", "head"],
	count: () => view.tasks.size + (view.head.tasks_more || 0) +
		(view.head.todo || 0),
	blocks: [table({
		caption: "Tasks in work", rows: () => sorted("tasks", "id"),
		key: (r) => r.id, detail: ofTask, none: "No task is in work.",
		columns: [
			COLUMN.task,
			["Step", "short", (r) => word(r.step)],
			["Since", "short num", (r) => age(r.assigned_unix ||
				r.created_unix)],
			["Worker", "short", (r) => r.worker],
			COLUMN.tries,
			["Turns", "short num", (r) => r.turns],
			COLUMN.cost,
			COLUMN.title,
		],
	}), line(() => view.head.tasks_more ?
		`${view.head.tasks_more} more wait: llmc task list` : ""),
	table({
		caption: "Not taken yet", key: (r) => r.key, none: "",
		detail: (r) => [offered("todo", r),
			["Look", { copy: `llmc task show ${r.key}` }]],
		rows: () => [...view.todo.values()].sort((a, b) =>
			a.rank - b.rank || natural(a.key, b.key)),
		columns: [
			["Name", "", (r) => r.key],
			["Priority", "short", (r) => r.priority],
			["Label", "", (r) => r.label],
			["Title", "wide", (r) => [r.title || NO_TITLE,
				why(r.problem)]],
		],
	}), line(() => view.head.todo > view.todo.size ?
		`${view.head.todo - view.todo.size} more: llmc task list` : ""),
	table({
		caption: "Landing queue", key: (r) => r.id,
		none: "Nothing waits to land.",
		rows: () => [...view.landing.values()].sort((a, b) =>
			(a.position ?? -1) - (b.position ?? -1) ||
			natural(a.id, b.id)),
		columns: [
			["Place", "short", (r) => String(r.position ?? "-")],
			["State", "short", (r) => word(r.state)],
			["Worker", "short", (r) => r.worker],
			["Task", "short", (r) => r.task],
			["Waits", "short num", (r) => age(r.queued_unix)],
			["Expected", "short", (r) => until(r.expected_unix)],
			["Title", "wide", (r) => [r.title || NO_TITLE,
				why(r.why)]],
		],
	})],
}, {
	id: "goals", title: "Goals", uses: ["goals", "head"],
	count: () => view.goals.size,
	blocks: [tree(goals), line(() => view.head.goals_off ||
		(view.head.goals_more ?
			`${view.head.goals_more} more: llmc goal list` :
			view.goals.size === 0 ? "No goal is open." : ""))],
}, {
	id: "ended", title: "Ended", uses: ["ended"],
	count: () => view.ended.size,
	blocks: [table({
		section: "ended", rows: () => sorted("ended", "finished_unix", -1),
		key: (r) => r.id, detail: ofTask, none: "No task has ended yet.",
		columns: [
			COLUMN.task,
			COLUMN.ended,
			["Ended", "short", (r) => moment(r.finished_unix)],
			COLUMN.took,
			COLUMN.tries,
			COLUMN.cost,
			COLUMN.commit,
			COLUMN.title,
		],
	})],
}, {
	id: "events", title: "Events", uses: ["events"],
	blocks: [list({ class: "list log" }, events, "Nothing has happened yet.")],
}, {
	id: "failures", title: "Failures and repairs", uses: ["repairs", "asks"],
	blocks: [table({
		caption: "Failures and repairs of llmc", key: (r) => r.key,
		rows: () => keyed("repairs").sort((a, b) =>
			b.at_unix - a.at_unix || natural(b.key, a.key)),
		none: "Nothing has failed.",
		columns: [
			["When", "short", (r) => moment(r.at_unix)],
			["Kind", "short", (r) => r.kind],
			["Class", "", (r) => r.class],
			["Took", "short num", (r) => took(r.took_ms || null)],
			["What", "wide", (r) => [r.words || "-",
				why(r.outcome || r.result)]],
		],
	}), table({
		caption: "Open asks", none: "Nothing is asked of you.",
		rows: () => sorted("asks", "at_unix", -1), key: (r) => r.id,
		detail: (r) => [offered("ask", { ...r, host: null }),
			["Words", r.words],
			["Options", (r.options || []).join(", ")],
			["Type", r.command]],
		columns: [
			["Id", "short", (r) => r.id],
			["Kind", "short", (r) => r.kind],
			["Level", "short", (r) => word(r.level)],
			["Since", "short", (r) => moment(r.at_unix)],
			["About", "", (r) => r.who],
			["What", "wide", (r) => r.title || NO_TITLE],
		],
	})],
}, {
	id: "delegation", title: "Delegation", uses: ["tasks", "ended", "team"],
	blocks: [line(team), tree(family)],
}, {
	id: "report", title: "Report", uses: ["report", "head"],
	blocks: [reportHead(),
		terms(reportMoney),
		reportTable("landed", "Landed", [COLUMN.task, COLUMN.commit,
			COLUMN.took, COLUMN.tries, COLUMN.lines, COLUMN.cost,
			["Title", "wide", (r) => r.title || NO_TITLE]]),
		reportTable("not_landed", "Not landed", [COLUMN.task, COLUMN.ended,
			COLUMN.took, COLUMN.tries, COLUMN.cost, COLUMN.title],
		(r) => [["It said", r.last_words]]),
		reportTable("open", "Not ended", [COLUMN.task,
			["Step", "short", (r) => word(r.step)],
			COLUMN.tries, COLUMN.cost, COLUMN.title]),
		table({
			caption: "Time of the workers", kind: "narrow",
			rows: reportTime, key: (r) => r.use, none: "",
			columns: [
				["What", "short", (r) => r.use],
				["Time", "short num", (r) => took(r.ms)],
				["Share", "short num", (r) =>
					(100 * r.share).toFixed(1) + " %"],
			],
		}),
		reportTable("oversight", "Oversight", [
			["When", "short", (r) => moment(r.at_ms / 1000)],
			["Worker", "short", (r) => r.worker],
			["Task", "short", (r) => r.task],
			["What", "wide", (r) => r.words]])],
}];

for (const s of SECTIONS) {
	s.heading = make("h2", { id: s.id + "-h" }, s.title);
	s.link = make("li", null, make("a", { href: "#" + s.id }, s.title));
	byId("sections").append(s.link);
	s.box = make("section", { id: s.id, tabindex: "-1",
		"aria-labelledby": s.id + "-h" }, s.heading,
	...s.blocks.flatMap((b) => b.elements));
	byId("main").append(s.box);
	s.link.hidden = s.box.hidden = !!s.hidden;
}

function drawHead() {
	const h = view.head;
	const facts = [
		h.version && `llmc ${h.version}`,
		byId("state").textContent === "live" &&
			["autod up ", age(h.started_unix)],
		h.lag_ms != null && `lag ${h.lag_ms} ms`,
		h.overseen ? "overseer " + ((h.overseer || {}).state || "there") :
			{ c: "soft", s: "no overseer" },
		h.auto ? `auto, ${h.concurrency} at once` +
			(h.until_empty ? ", until empty" : "") : "by hand",
		h.run_id && [`run ${h.run_id} for `, age(h.run_unix)],
		h.todo != null && `${h.todo} to do`,
		...Object.entries(h.run_outcomes || h.outcomes || {})
			.map(([name, n]) => n > 0 && [word(name), ` ${n}`]),
		h.stopping && { c: "warn", s: "stopping" },
		h.paused && { c: "warn", s: `paused: ${h.paused}` },
		h.red && { c: "bad", s: `! ${h.branch} fails its check` },
		h.hold && { c: "warn", s: `landing held: ${h.hold}` },
	].map(given).filter((p) => p.length > 0);
	const name = (h.project || "llmc") + (h.branch ? `@${h.branch}` : "");

	write(byId("name"), name);
	keep(byId("facts"), facts.map((parts, i) => ({ parts, i })),
		(f) => f.i, () => make("li"), (li, f) => write(li, f.parts));
	document.title = (view.needs.size > 0 ? `(${view.needs.size}) ` : "") +
		name + " - llmc";
}

/* --- drawing ---------------------------------------------------------- */

const changed = new Set();
const watchers = new Set(); /* of the screens that are open */
let frame = 0;

function drawBlock(draw) {
	try {
		draw();
	} catch (e) { /* the others are drawn */
		reportError(e);
	}
}

function draw() {
	frame = 0;
	if (changed.has("head") || changed.has("needs"))
		drawBlock(drawHead);
	for (const s of SECTIONS) {
		if (!s.uses.some((name) => changed.has(name)))
			continue;
		if (s.hidden)
			s.link.hidden = s.box.hidden = s.hidden();
		if (s.count)
			write(s.heading, s.title, s.count() ? ` (${s.count()})` : "");
		s.blocks.forEach((b) => drawBlock(b.draw));
	}
	changed.clear();
	watchers.forEach(drawBlock);
}

/* A page that nobody sees is not drawn, but its title is. */
function drawSoon(sections) {
	for (const s of sections)
		changed.add(s);
	if (document.hidden)
		drawHead();
	else if (frame === 0)
		frame = requestAnimationFrame(draw);
}

/* --- the view --------------------------------------------------------- */

function reset(whole) {
	for (const name of ["head", "team", "budget"])
		view[name] = whole[name] || {};
	for (const name of MAPS)
		view[name] = new Map(Object.entries(whole[name] || {}));
	view.events = whole.events || [];
	drawSoon(Object.keys(view));
}

function apply(change) {
	const touched = new Set();

	for (const [name, value] of Object.entries(change.set || {})) {
		touched.add(name);
		if (view[name] instanceof Map)
			for (const [key, row] of Object.entries(value))
				view[name].set(key, row);
		else
			view[name] = value;
	}
	for (const [name, keys] of Object.entries(change.unset || {})) {
		touched.add(name);
		if (view[name] instanceof Map) /* others are not ours */
			keys.forEach((key) => view[name].delete(key));
	}
	if (change.events) {
		touched.add("events");
		view.events = view.events.concat(change.events)
			.slice(-EVENTS_MAX);
	}
	drawSoon(touched);
}

/* --- the stream ------------------------------------------------------- */

let token = null;
let seq = 0;
let tries = 0;
let timer = 0;
let link = null; /* an AbortController while there is a stream */
let since = now(); /* of the state */
let beat = 15000; /* the daemon is heard this often, in ms, if it can speak */
let watchdog = 0;

function setState(state, words) {
	const e = byId("state");

	if (e.textContent !== state) {
		since = now();
		e.textContent = state;
		e.className = state === "live" ? "good" : "bad";
		if (view.head.version)
			drawSoon(["head"]);
	}
	byId("help").hidden = !words;
	if (words)
		write(byId("help"), words);
	showAge();
}

function showAge() {
	const state = byId("state").textContent;

	byId("age").textContent = state === "connecting" ? "" :
		`for ${duration(now() - since)}`;
}

/* A daemon that hangs keeps its connections: what tells is silence. */
function heard() {
	const silence = beat * 8 / 3;

	clearTimeout(watchdog);
	watchdog = setTimeout(() => {
		link.abort();
		lost("The daemon has said nothing for " +
			`${duration(silence / 1000)}: it hangs.`);
	}, silence);
}

function unlinked() {
	link = null;
	clearTimeout(watchdog);
	clearTimeout(timer);
}

function lost(words) {
	unlinked();
	setState("lost", [words + " What is below is what it said last. It is " +
		"tried again by itself; if it does not come back, type: ",
	{ code: "llmc status" }, " If it runs again but this page stays so, it " +
		"has a new address; type: ", { code: "llmc web" }]);
	timer = setTimeout(follow,
		RETRY_MS[Math.min(tries++, RETRY_MS.length - 1)]);
}

/* What has no token, or a wrong one, cannot be repaired from here. */
function refused(words) {
	unlinked();
	setState("refused", [words + " Type this, and open the address that it " +
		"prints: ", { code: "llmc web" }]);
}

function message(text) {
	let name = "", data = "";

	for (const line of text.split("\n")) {
		if (line.startsWith("event: "))
			name = line.slice(7);
		else if (line.startsWith("data: "))
			data += line.slice(6);
		else if (line.startsWith(": beat "))
			beat = Number(line.slice(7));
	}
	if (data === "")
		return;
	const body = JSON.parse(data);

	if (name === "desk") {
		Object.assign(shared, body);
		document.body.dataset.mode = shared.mode;
		return;
	}
	if (name === "snapshot") {
		reset(body.view);
		byId("main").hidden = false;
	} else if (name === "change" && body.seq === seq + 1) {
		apply(body.change);
	} else {
		throw new Error("a change is missing");
	}
	seq = body.seq;
	tries = 0;
	setState("live");
}

async function read(response) {
	const reader = response.body.getReader();
	const decoder = new TextDecoder();
	let text = "";

	for (;;) {
		const { done, value } = await reader.read();

		if (done)
			return;
		text += decoder.decode(value, { stream: true });
		const parts = text.split("\n\n");

		text = parts.pop();
		parts.forEach(message);
		heard();
	}
}

/* The token goes nowhere else. */
const ask = (path, signal, { headers, ...more } = {}) => fetch(path, {
	cache: "no-store", signal, ...more,
	headers: { Authorization: `Bearer ${token}`, ...headers } });

async function follow() {
	const mine = new AbortController();

	clearTimeout(timer);
	if (link)
		link.abort();
	link = mine;
	heard();
	try {
		const response = await ask("view", mine.signal);

		if (response.status === 401) {
			refused(token === "-" ? "You are not logged in here." :
				"The token of this page is not the one of the " +
				"daemon, which may have been started again.");
			return;
		}
		if (!response.ok) {
			lost((await response.text()).trim());
			return;
		}
		await read(response);
	} catch (e) {
		if (mine.signal.aborted)
			return;
	}
	mine.abort();
	if (link === mine)
		lost("The daemon does not answer.");
}

/* --- screens ---------------------------------------------------------- */

/* Views of other scripts, in place of the sections: #/NAME/ARGUMENT. */
const screens = new Map();
let left = null; /* what to call when the open one closes */

function closeScreen() {
	const fn = left;

	left = null;
	if (fn)
		fn();
}

/* What the address names. The token comes before anything is asked for. */
function route() {
	const found = /^#\/([a-z]+)(?:\/(.*))?$/.exec(location.hash);
	const draw = found && screens.get(found[1]);
	const screen = byId("screen");
	let arg = "";

	if (!token)
		return;
	closeScreen();
	screen.hidden = !draw;
	document.body.classList.toggle("on-screen", !!draw);
	if (!draw) {
		screen.replaceChildren();
		if (/^#[a-z]+$/.test(location.hash) && byId(location.hash.slice(1)))
			byId(location.hash.slice(1)).scrollIntoView();
		return;
	}
	try {
		arg = decodeURIComponent(found[2] || "");
	} catch (e) { /* it is shown as it is */
		arg = found[2];
	}
	screen.replaceChildren(make("p", null,
		make("a", { href: "#", class: "go" }, "Back to the list")));
	const box = make("div");

	screen.append(box);
	left = draw(box, arg) || null;
	screen.focus({ preventScroll: true });
	scrollTo(0, 0);
}

/* The words of a refusal, or of a daemon that does not answer. */
async function get(path, options) {
	const response = await ask(path, null, options).catch(() => {
		throw new Error("The daemon does not answer.");
	});

	if (!response.ok)
		throw new Error((await response.text()).trim());
	return response.json();
}

/* The token comes behind the #, which is not sent to anybody; it leaves the
 * address at once and lives as long as this tab. */
async function login() {
	const found = /^#code=([0-9a-f]+)$/.exec(location.hash);

	if (!found)
		return;
	history.replaceState(null, "", location.pathname);
	try {
		await get("login", { method: "POST",
			headers: { "Content-Type": "application/json" },
			body: JSON.stringify({ code: found[1] }) });
	} catch (e) { /* an earlier login may still count */
		shared.say(e.message, true);
	}
}

function takeToken() {
	const found = /^#token=([0-9a-f]+)$/.exec(location.hash);

	if (found) {
		sessionStorage.setItem("token", found[1]);
		history.replaceState(null, "", location.pathname);
	}
	if (!found && token && !location.hash.startsWith("#code="))
		return;
	/* Where something speaks TLS for it, a cookie takes its place. */
	token = location.protocol === "https:" ? "-" :
		sessionStorage.getItem("token");
	if (token)
		login().then(follow);
	else
		refused("This page needs its token.");
}

/* --- time ------------------------------------------------------------- */

let ticking = 0;

function ticks() {
	document.querySelectorAll("time").forEach(tick);
	showAge();
}

function seen() {
	clearInterval(ticking);
	if (document.hidden)
		return;
	ticks();
	ticking = setInterval(ticks, 1000);
	if (changed.size > 0)
		drawSoon([]);
}

document.addEventListener("visibilitychange", seen);
addEventListener("hashchange", () => {
	takeToken();
	route();
});
document.addEventListener("DOMContentLoaded", () => {
	takeToken();
	route();
});
byId("filter").addEventListener("input", (e) => {
	filter = e.target.value.trim().toLowerCase();
	drawSoon(Object.keys(view));
});
for (const name of MAPS)
	view[name] = new Map();
seen();

/*
 * For the other scripts, which are loaded after this one.
 *
 *   make, write, keep, table, list, terms, tree: as above
 *   get(path), get(path, options of fetch): JSON; fails with the words
 *   screen(name, draw): what #/NAME/ARGUMENT shows: draw(element, argument)
 *     draws it, and may return what to call when it closes
 *   menu(label, href, mode): a link to a screen beside those to the sections,
 *     in work mode only if mode is "work"
 *   link(kind, label, row => href): a link in the details of the rows of a
 *     kind ("worker", "task"); "" = not in this row
 *   offer(kind, row => parts): what can be done with the rows of a kind
 *     ("worker", "task", "todo", "goal", "ask") in work mode
 *   watch(fn): call it when the view has changed; returns what ends that
 *   mode: "view", or "work" where the page may change things (desk.js)
 */
const shared = { byId, make, write, keep, table, list, terms, tree, line, word, joined,
	given, view, age, moment, until, took, duration, clock, dollars, count,
	get, mode: "view", NODES, drawSoon, links: linksOf,
	screen: (name, draw) => screens.set(name, draw),
	menu: (label, href, mode) => byId("screens").append(make("li",
		mode ? { class: mode } : null, make("a", { href }, label))),
	link: (kind, label, href) =>
		(links[kind] = links[kind] || []).push([label, href]),
	offers: (kind, row) => offered(kind, row).slice(1),
	offer: (kind, of) => (offers[kind] = offers[kind] || []).push(of),
	watch: (fn) => {
		watchers.add(fn);
		return () => watchers.delete(fn);
	},
};

return shared;
})();
