"use strict";
/* SPDX-License-Identifier: ISC */

/*
 * The live page. It reads the view (model/view/view-doc.h) as a stream and
 * draws it: rows keep their elements, and only what differs is written, so that
 * the focus, a selection and what was opened stay. Texts of others are only
 * ever set as text.
 */
(() => {
const PAGE_ROWS = 200;
const EVENTS_MAX = 200;
const RETRY_MS = [500, 1000, 2000, 4000, 8000];
const MAPS = ["needs", "workers", "tasks", "ended", "landing", "goals",
	"people", "repairs"];

const byId = (id) => document.getElementById(id);
const now = () => Date.now() / 1000;
const natural = new Intl.Collator("en", { numeric: true }).compare;

const view = { head: {}, team: {}, budget: {}, events: [] };
const changed = new Set();
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

function clock(unix) {
	const at = new Date(unix * 1000);
	const time = at.toLocaleTimeString("en-GB",
		{ hour: "2-digit", minute: "2-digit" });

	if (at.toDateString() === new Date().toDateString())
		return time;
	return at.toLocaleDateString("en-GB",
		{ day: "numeric", month: "short" }) + " " + time;
}

function count(n) {
	if (n == null)
		return "";
	for (const [size, unit] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]])
		if (n >= size)
			return (n / size).toFixed(n < 10 * size ? 1 : 0) + unit;
	return String(n);
}

function dollars(micros) {
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
	if (t == null)
		return null;
	if (typeof t === "number")
		return count(t);
	return `${count(t.input)} in, ${count(t.output)} out, ` +
		`${count(t.cacheRead)} from the cache, ` +
		`${count(t.cacheCreation)} to the cache`;
}

const BAD = ["error", "failed", "dead-letter", "offline", "ejected", "red",
	"aborted", "critical", "emergency"];
const WARN = ["paused", "limited", "needs_review", "no_changes",
	"rejected", "parked", "blocked", "deferred", "suspect", "held",
	"stalled", "warning", "warn"];
const GOOD = ["working", "landed", "done", "accepting", "green", "landing",
	"running"];

/* A word with its colour and, where it is bad, a mark. */
function word(text) {
	if (!text)
		return "";
	if (BAD.includes(text))
		return { c: "bad", s: "! " + text };
	if (WARN.includes(text))
		return { c: "warn", s: text };
	return GOOD.includes(text) ? { c: "good", s: text } : text;
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

/* --- elements --------------------------------------------------------- */

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

/* A moment: {at, how}. */
const age = (at) => at ? { at, how: "age" } : "";
const moment = (at) => at ? { at, how: "clock" } : "";
const until = (at) => at ? { at, how: "until" } : "";

/* Parts are texts, {s, c} (in a class), {code} and moments. */
function node(part) {
	if (typeof part !== "object")
		return String(part);
	if (part.code)
		return make("code", null, part.code);
	if (part.c)
		return make("span", { class: part.c }, String(part.s));
	const date = new Date(part.at * 1000);
	const time = make("time", { "data-at": part.at, "data-how": part.how,
		datetime: date.toISOString(), title: date.toLocaleString() });

	tick(time);
	return time;
}

function write(element, ...parts) {
	const given = parts.flat(Infinity).filter((p) => p != null && p !== "");
	const now = JSON.stringify(given);

	if (element.written === now)
		return;
	element.written = now;
	element.replaceChildren(...given.map(node));
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
		e.remove();
	}
	for (const e of kept.values()) {
		if (e === next)
			next = next.nextElementSibling;
		else
			parent.insertBefore(e, next);
	}
	parent.kept = kept;
}

/* A list of [term, parts]; those without are left out. */
function terms(dl, list) {
	const given = list.map(([term, ...parts]) => [term,
		parts.flat(Infinity).filter((p) => p != null && p !== "")])
		.filter(([, parts]) => parts.length > 0);

	keep(dl, given.flatMap(([t, p]) => [["dt", t, [t]], ["dd", t, p]]),
		([kind, t]) => kind + t, ([kind]) => make(kind),
		(e, [, , parts]) => write(e, parts));
}

/* Something that opens; what is in it is made when it is seen. */
function opens(fill) {
	const summary = make("summary");
	const details = make("details", null, summary);
	const body = make("dl");

	details.append(body);
	details.draw = () => {
		if (details.open)
			terms(body, fill(details.row));
	};
	details.addEventListener("toggle", details.draw);
	return details;
}

function copier() {
	const button = make("button", { type: "button" }, "Copy");
	const say = (text) => {
		button.textContent = text;
		setTimeout(() => { button.textContent = "Copy"; }, 2000);
	};

	button.addEventListener("click", () => {
		const code = button.previousElementSibling;
		const select = () => {
			getSelection().selectAllChildren(code);
			say("Selected");
		};

		if (navigator.clipboard)
			navigator.clipboard.writeText(button.command)
				.then(() => say("Copied"), select);
		else
			select();
	});
	return button;
}

/* --- tables and trees ------------------------------------------------- */

/*
 * Columns: [heading, class, row => parts]. The last one is what it is about; it
 * opens where `detail` (row => terms) is given.
 */
class Table {
	constructor(section, caption, columns, detail, none) {
		this.columns = columns;
		this.detail = detail;
		this.shown = PAGE_ROWS;
		this.none = make("p", { class: "none" }, none);
		this.body = make("tbody", { role: "rowgroup" });
		this.table = make("table", { role: "table" });
		if (caption)
			this.table.append(make("caption", null, caption));
		else
			this.table.setAttribute("aria-labelledby",
				section + "-h");
		this.table.append(make("thead", { role: "rowgroup" },
			make("tr", { role: "row" }, ...columns.map(([h, c]) =>
				make("th", { scope: "col", class: c,
					role: "columnheader" }, h)))), this.body);
		this.more = make("button", { type: "button" });
		this.more.addEventListener("click", () => {
			this.shown += PAGE_ROWS;
			this.draw(this.rows, this.key);
		});
		byId(section).append(this.table, this.none, this.more);
	}

	row() {
		const tr = make("tr", { role: "row" });

		this.columns.forEach(([heading, c], i) => {
			const last = i === this.columns.length - 1;
			const cell = i === 0 ?
				make("th", { scope: "row", role: "rowheader",
					class: c }) :
				make("td", { role: "cell", class: c });

			if (i > 0 && c !== "wide")
				cell.setAttribute("data-label", heading);
			if (last && this.detail)
				cell.append(opens(this.detail));
			tr.append(cell);
		});
		return tr;
	}

	fill(tr, row) {
		this.columns.forEach(([, , parts], i) => {
			const cell = tr.children[i];
			const details = cell.querySelector("details");

			if (!details) {
				write(cell, parts(row));
				return;
			}
			details.row = row;
			write(details.firstChild, parts(row));
			details.draw();
		});
	}

	draw(rows, key) {
		const found = rows.filter(matches);
		const left = found.length - this.shown;

		this.rows = rows;
		this.key = key;
		keep(this.body, found.slice(0, this.shown), key,
			() => this.row(), (tr, row) => this.fill(tr, row));
		this.table.hidden = found.length === 0;
		this.none.hidden = found.length > 0 || rows.length > 0;
		this.more.hidden = left <= 0;
		this.more.textContent = `Show more (${left} left)`;
	}
}

function matches(row) {
	return filter === "" || JSON.stringify(row).toLowerCase().includes(filter);
}

/* Items: {key, parts, kids}. */
function tree(ul, items, depth) {
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
		tree(li.firstChild.lastChild, item.kids, depth + 1);
	});
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

/* Parts with a text between them. */
function joined(parts, between) {
	return parts.filter((p) => p != null && p !== "" && p.length !== 0)
		.flatMap((p, i) => i > 0 ? [between, p] : [p]).flat();
}

/* --- what is shown of a row ------------------------------------------- */

const why = (text) => text ? { c: "why", s: text } : "";
const tag = (text) => text ? [" ", { c: "tag", s: text }] : "";
const short = (commit) => commit ? { c: "mono", s: commit.slice(0, 10) } : "";
const lines = (r) => r.lines_added == null ? "" :
	`+${r.lines_added} -${r.lines_removed}`;

function overseen(r) {
	if (r.oversight)
		return plain(r.oversight);
	return r.health && r.health !== "healthy" ? r.health : "";
}

function spent(r) {
	return [["Cost", money(r)], ["Tokens", tokens(r.tokens)],
		["Lines", lines(r)]];
}

const ofWorker = (r) => [
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
	["Spawned by", joined([r.parent, r.role && `as ${r.role}`], " ")],
	["Session", r.session],
	["Look", { code: `llmc attach ${r.name}` }],
];

const ofTask = (r) => [
	["Source", joined([r.source, r.key], ": ")],
	["Label", r.label],
	["Priority", r.priority],
	["Made", moment(r.created_unix)],
	["Given", moment(r.assigned_unix)],
	["Ended", moment(r.finished_unix)],
	["Goal", r.goal],
	["Spawned by", joined([r.parent, r.role && `as ${r.role}`], " ")],
	["Run", r.run_id],
	...spent(r),
	["Commit", short(r.commit)],
	["Progress", plain(r.progress)],
	["Report", plain(r.completion)],
	["Verification", r.verification],
	["Last words", r.last_words],
	["History", ...(r.history || []).flatMap((h, i) => [i > 0 ? "\n" : "",
		moment(h.at_unix), " ", h.what, h.detail ? `: ${h.detail}` : ""])],
	["Look", { code: `llmc task show ${r.id}` }],
];

/* --- sections --------------------------------------------------------- */

function titled(section, text, n) {
	write(byId(section + "-h"), text, n ? ` (${n})` : "");
}

function sorted(section, key) {
	return [...view[section].values()].sort((a, b) =>
		natural(a[key], b[key]));
}

const COST = ["Cost", "short num", money];
const WHAT = [["Title", "wide", (r) => [r.title || "-",
	why(r.reason)]]];

const tables = {
	workers: new Table("workers", "", [
		["Worker", "short", (r) => r.name],
		["Status", "short", (r) => word(r.status)],
		["For", "short num", (r) => age(r.since_unix)],
		["Task", "short", (r) => r.task],
		["Try", "short num", (r) => r.attempt],
		["Turn", "short num", (r) => r.turns],
		COST,
		["What", "wide", (r) => [r.title || "-", tag(r.tool),
			tag(overseen(r) && "oversight: " +
				(r.health || "see below")),
			why([r.until_unix > now() && "until " +
				clock(r.until_unix), r.remark || r.reason]
				.filter((t) => t).join(": "))]],
	], ofWorker, "There are no workers. Start some: llmc up --auto"),
	tasks: new Table("queue", "Tasks in work", [
		["Task", "short", (r) => r.id],
		["Step", "short", (r) => word(r.step)],
		["Since", "short num", (r) => age(r.assigned_unix ||
			r.created_unix)],
		["Worker", "short", (r) => r.worker],
		["Try", "short num", (r) => r.attempts],
		["Turns", "short num", (r) => r.turns],
		COST,
		...WHAT,
	], ofTask, "No task is in work."),
	landing: new Table("queue", "Landing queue", [
		["Place", "short", (r) => r.position != null ?
			String(r.position) : "-"],
		["State", "short", (r) => word(r.state)],
		["Worker", "short", (r) => r.worker],
		["Task", "short", (r) => r.task],
		["Waits", "short num", (r) => age(r.queued_unix)],
		["Expected", "short", (r) => until(r.expected_unix)],
		["Title", "wide", (r) => [r.title || "-", why(r.why)]],
	], null, "Nothing waits to land."),
	ended: new Table("ended", "", [
		["Task", "short", (r) => r.id],
		["Outcome", "short", (r) => word(r.outcome)],
		["Ended", "short", (r) => moment(r.finished_unix)],
		["Took", "short num", (r) => r.wall_ms == null ? "" :
			duration(r.wall_ms / 1000)],
		["Try", "short num", (r) => r.attempts],
		COST,
		["Commit", "short", (r) => short(r.commit)],
		...WHAT,
	], ofTask, "No task has ended yet."),
	repairs: new Table("failures", "Failures and repairs", [
		["When", "short", (r) => moment(r.at_unix)],
		["Kind", "short", (r) => r.kind],
		["Class", "", (r) => r.class],
		["Took", "short num", (r) => r.took_ms ?
			duration(r.took_ms / 1000) : ""],
		["What", "wide", (r) => [r.words || "-",
			why(r.outcome || r.result)]],
	], null, "Nothing has failed."),
	people: new Table("failures", "Told to people", [
		["Id", "short", (r) => r.id],
		["Level", "short", (r) => word(r.level)],
		["When", "short", (r) => moment(r.at_unix)],
		["About", "", (r) => joined([r.worker, r.task, r.goal], " ")],
		["State", "", (r) => r.answer ? `answered: ${r.answer}` :
			r.acked ? "read" : "open"],
		["What", "wide", (r) => r.title || "-"],
	], (r) => [["Text", r.text], ["Options", (r.options || []).join(", ")]],
	"Nobody was told anything."),
	days: new Table("budget", "The last days (UTC)", [
		["Day", "short", (r) =>
			new Date(r.day * 864e5).toISOString().slice(0, 10)],
		["Cost", "short num", (r) => [money(r), r.unpriced &&
			r.cost_source !== "unknown" ? " + ?" : ""]],
		["Tokens", "short num", (r) => count(r.tokens)],
		["Attempts", "short num", (r) => r.attempts],
	], null, ""),
};
tables.days.table.classList.add("narrow");

function drawHead() {
	const h = view.head;
	const ended = Object.entries(h.outcomes || {});
	const facts = [
		[h.version && `llmc ${h.version}`],
		["autod up ", age(h.started_unix)],
		[h.lag_ms != null && `lag ${h.lag_ms} ms`],
		[h.overseen ? "overseer " + ((h.overseer || {}).state || "there") :
			{ c: "soft", s: "no overseer" }],
		[h.auto ? `auto, ${h.concurrency} at once` +
			(h.until_empty ? ", until empty" : "") : "by hand"],
		[h.run_id && `run ${h.run_id} for `, age(h.run_id && h.run_unix)],
		[h.todo != null && `${h.todo} to do`],
		...ended.map(([name, n]) => [n > 0 &&
			word(name), n > 0 && ` ${n}`]),
		[h.stopping && { c: "warn", s: "stopping" }],
		[h.paused && { c: "warn", s: `paused: ${h.paused}` }],
		[h.red && { c: "bad", s: `! ${h.branch} fails its check` }],
		[h.hold && { c: "warn", s: `landing held: ${h.hold}` }],
	].map((parts) => parts.filter((p) => p)).filter((p) => p.length > 0);
	const name = (h.project || "llmc") + (h.branch ? `@${h.branch}` : "");

	write(byId("name"), name);
	keep(byId("facts"), facts.map((parts, i) => ({ parts, i })),
		(f) => f.i, () => make("li"), (li, f) => write(li, f.parts));
	document.title = (view.needs.size > 0 ? `(${view.needs.size}) ` : "") +
		name + " - llmc";
}

function drawNeeds() {
	const list = byId("needs-list");
	const items = [...view.needs].sort((a, b) => natural(a[0], b[0]));

	titled("needs", "Needs you", items.length);
	if (items.length === 0)
		items.push(["", null]);
	keep(list, items, ([key]) => key, ([, need]) => {
		if (!need)
			return make("p", { class: "none" }, "Nothing.");
		return make("div", { class: "need" }, make("div"),
			make("div", null, make("code"), " ", copier()));
	}, (e, [, need]) => {
		if (!need)
			return;
		const [words, act] = e.children;
		const button = act.lastChild;

		write(words, { c: "bad", s: `${need.who}: ${need.what}` },
			need.words !== need.what ? why(need.words) : "");
		act.hidden = !need.command;
		write(act.firstChild, need.command || "");
		button.command = need.command;
		button.setAttribute("aria-label", `Copy ${need.command}`);
	});
}

const facts = make("ul", { class: "list" });
byId("budget-h").after(facts);

function gauge(name, used, limit) {
	return { key: name, meter: limit ? [used, limit] : null };
}

function drawBudget() {
	const b = view.budget;
	const days = (b.days || []).slice(-7).reverse();
	const today = days.find((d) => d.day === b.day) ||
		{ cost_micros: b.cost_micros, cost_source: b.cost_source };
	const limit = (n, f) => n != null ? ` of ${f(n)}` : ", no limit";
	const items = [
		{ ...gauge("cost", b.cost_micros, b.day_cost_micros), parts: [
			"Today ", money(today), limit(b.day_cost_micros, dollars)] },
		{ ...gauge("tokens", b.tokens, b.day_tokens), parts: ["Today ",
			count(b.tokens || 0), " tokens",
			limit(b.day_tokens, count)] },
	];

	if (b.day_cost_micros != null || b.day_tokens != null)
		items.push({ key: "reset", parts: ["The day ends at ",
			until((b.day + 1) * 86400)] });
	for (const w of sorted("workers", "name"))
		if (w.until_unix > now() || w.status === "limited")
			items.push({ key: w.name, parts: [w.name, " ",
				word(w.status), " until ",
				w.until_unix ? until(w.until_unix) : "?",
				w.reason ? `: ${w.reason}` : ""] });
	if (view.head.outage_since_unix)
		items.push({ key: "outage", parts: [{ c: "bad",
			s: "! the service does not answer" }, " since ",
		moment(view.head.outage_since_unix)] });
	keep(facts, items, (i) => i.key,
		(i) => make("li", null, make("span"), " ",
			make("meter", { "aria-label": i.key + " of today" })),
		(li, i) => {
			const meter = li.lastChild;

			write(li.firstChild, i.parts);
			meter.hidden = !i.meter;
			if (!i.meter)
				return;
			meter.max = i.meter[1];
			meter.high = i.meter[1] * 0.9;
			meter.value = i.meter[0];
		});
	tables.days.draw(days, (d) => d.day);
}

function drawWorkers() {
	titled("workers", "Workers", view.workers.size);
	tables.workers.draw(sorted("workers", "name"), (r) => r.name);
}

function drawQueue() {
	const place = (r) => r.position == null ? -1 : r.position;

	titled("queue", "Queue", view.tasks.size);
	tables.tasks.draw(sorted("tasks", "id"), (r) => r.id);
	tables.landing.draw([...view.landing.values()].sort((a, b) =>
		place(a) - place(b) || natural(a.id, b.id)), (r) => r.id);
}

function drawEnded() {
	tables.ended.draw([...view.ended.values()].sort((a, b) =>
		b.finished_unix - a.finished_unix || natural(b.id, a.id)),
	(r) => r.id);
}

function drawFailures() {
	const at = (r) => -(r.at_unix || 0);

	tables.repairs.draw([...view.repairs].map(([key, r]) => ({ key, ...r }))
		.sort((a, b) => at(a) - at(b) || natural(b.key, a.key)),
	(r) => r.key);
	tables.people.draw([...view.people.values()].sort((a, b) =>
		at(a) - at(b) || natural(b.id, a.id)), (r) => r.id);
}

const goals = make("ul", { class: "tree" });
const noGoals = make("p", { class: "none" });
byId("goals").append(goals, noGoals);

function drawGoals() {
	const parts = (n) => [n.title || n.id, " - ", word(n.status),
		n.worker ? ` (${n.worker})` : "", why(n.reason)];

	tree(goals, sorted("goals", "id").filter(matches).map((g) => ({
		key: g.id,
		parts: [g.title || g.id, " - ", word(g.status),
			`, ${g.done} of ${g.total} done`,
			g.ready ? `, ${g.ready} ready` : "",
			g.blocked ? `, ${g.blocked} blocked` : "",
			g.stalled ? [", ", word("stalled")] : ""],
		kids: nest(g.nodes || [], parts),
	})), 0);
	write(noGoals, view.head.goals_off || (view.head.goals_more ?
		`${view.head.goals_more} more: llmc goal list` :
		view.goals.size === 0 ? "No goal is open." : ""));
}

const team = make("p");
const family = make("ul", { class: "tree" });
byId("delegation").append(team, family);

function drawDelegation() {
	const t = view.team;
	const rows = [...sorted("tasks", "id"), ...sorted("ended", "id")];
	const parents = new Set(rows.map((r) => r.parent).filter((p) => p));
	const parts = (r) => [joined([r.id, r.role, r.worker &&
		`(${r.worker})`, word(r.outcome || r.step)], " "), ": ", r.title];

	tree(family, nest(rows.filter((r) => r.parent || parents.has(r.id)),
		parts), 0);
	write(team, `${t.mail_open || 0} letters unread` +
		(t.mail_person ? ` (${t.mail_person} to you: llmc mail)` : "") +
		`, ${t.questions || 0} open questions, ` +
		`${t.reservations || 0} reservations` +
		(parents.size > 0 ? "" : "; no task was delegated") + ".");
}

const events = make("ol", { class: "list log" });
byId("events").append(events);

function drawEvents() {
	keep(events, view.events.filter(matches).reverse(), (e) => e.n,
		() => make("li"), (li, e) => write(li, moment(e.at_ms / 1000),
			/^(warn|error)/i.test(e.level) ?
				{ c: "bad", s: `${e.level} ` } : "", e.words));
}

/* Who draws what. */
const drawers = [
	[drawHead, "head", "needs"],
	[drawNeeds, "needs"],
	[drawBudget, "budget", "workers", "head"],
	[drawWorkers, "workers"],
	[drawQueue, "tasks", "landing"],
	[drawGoals, "goals", "head"],
	[drawEnded, "ended"],
	[drawEvents, "events"],
	[drawFailures, "repairs", "people"],
	[drawDelegation, "tasks", "ended", "team"],
];
let frame = 0;

function draw() {
	frame = 0;
	for (const [fn, ...sections] of drawers)
		if (sections.some((s) => changed.has(s)))
			try {
				fn();
			} catch (e) { /* the other sections are drawn */
				reportError(e);
			}
	changed.clear();
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

function reset(given) {
	for (const name of ["head", "team", "budget"])
		view[name] = given[name] || {};
	for (const name of MAPS)
		view[name] = new Map(Object.entries(given[name] || {}));
	view.events = given.events || [];
	drawSoon([...MAPS, "head", "team", "budget", "events"]);
}

function apply(change) {
	const touched = new Set();

	for (const [name, value] of Object.entries(change.set || {})) {
		touched.add(name);
		if (!MAPS.includes(name))
			view[name] = value;
		else
			for (const [key, row] of Object.entries(value))
				view[name].set(key, row);
	}
	for (const [name, keys] of Object.entries(change.unset || {})) {
		touched.add(name);
		for (const key of keys)
			view[name].delete(key);
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
	{ code: "llmc status" }]);
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

async function follow() {
	const mine = new AbortController();

	clearTimeout(timer);
	if (link)
		link.abort();
	link = mine;
	heard();
	try {
		const response = await fetch("view", { cache: "no-store",
			headers: { Authorization: `Bearer ${token}` },
			signal: mine.signal });

		if (response.status === 401) {
			refused("The token of this page is not the one of the " +
				"daemon.");
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

/* The token comes behind the #, which is not sent to anybody; it leaves the
 * address at once and lives as long as this tab. */
function takeToken() {
	const found = /^#token=([0-9a-f]+)$/.exec(location.hash);

	if (found) {
		sessionStorage.setItem("token", found[1]);
		history.replaceState(null, "", location.pathname);
	}
	if (!found && token)
		return;
	token = sessionStorage.getItem("token");
	if (token)
		follow();
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
addEventListener("hashchange", takeToken);
byId("filter").addEventListener("input", (e) => {
	filter = e.target.value.trim().toLowerCase();
	drawSoon(["workers", "tasks", "ended", "goals", "repairs", "events"]);
});
for (const name of MAPS)
	view[name] = new Map();
seen();
takeToken();
})();
