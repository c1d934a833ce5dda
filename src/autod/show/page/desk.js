"use strict";
/* SPDX-License-Identifier: ISC */

/*
 * Work from the page: what changes something goes through desk.post(), with an
 * id of its own for each click, so that the daemon does nothing twice.
 *
 *   post(method, params): the result, or an Error with the words of the daemon
 *   action(label, method, params, { confirm, done }): a button that posts; ""
 *     in view mode. params: an object, or what makes one when it is pressed.
 *     confirm: what the button that is asked for then says. done: called with
 *     the result; the words that it returns are shown.
 *   say(words, failed): in the line at the bottom, which is read out
 */
(() => {
let timer = 0;

desk.say = (words, failed) => {
	const line = desk.byId("outcome");

	clearTimeout(timer);
	line.hidden = !words;
	line.className = failed ? "failed" : "";
	line.textContent = words;
	if (!failed)
		timer = setTimeout(() => { line.hidden = true; }, 15000);
};

function newId() {
	return [...crypto.getRandomValues(new Uint8Array(16))]
		.map((b) => b.toString(16).padStart(2, "0")).join("");
}

desk.post = (method, params) => desk.get(`api/${method}`, {
	method: "POST", body: JSON.stringify(params || {}),
	headers: { "Content-Type": "application/json",
		"X-Llmc-Page": desk.page, "X-Llmc-Request": newId() },
});

async function run(box, { label, name, method, params, done }) {
	const parts = [...box.querySelectorAll("button, input, select, textarea")];
	const at = document.activeElement;
	const place = box.contains(at) && box.closest("section, main");

	parts.forEach((b) => { b.disabled = true; });
	try {
		const result = await desk.post(method,
			typeof params === "function" ? params() : params);

		desk.say((done && done(result)) || (result && result.message) ||
			`${name || label}: done.`);
		return true;
	} catch (e) {
		desk.say(`${name || label}: ${e.message}`, true);
		return false;
	} finally {
		parts.forEach((b) => { b.disabled = false; });
		if (place) /* what is disabled has no focus */
			(at.isConnected ? at : place).focus({ preventScroll: true });
	}
}

/* The button, which asks once more where that is wanted. */
function button(box, what) {
	const { make } = desk;
	const first = make("button", { type: "button",
		...(what.name ? { "aria-label": what.name } : {}) }, what.label);

	first.addEventListener("click", () => {
		if (!what.confirm) {
			run(box, what);
			return;
		}
		const yes = make("button", { type: "button", class: "bad" },
			what.confirm);
		const no = make("button", { type: "button" }, "Cancel");
		const back = () => {
			box.replaceChildren(first);
			first.focus();
		};

		yes.addEventListener("click", () => run(box, what).then(back));
		no.addEventListener("click", back);
		box.replaceChildren(no, yes); /* where no double click hits it */
		no.focus();
	});
	return first;
}

desk.action = (label, method, params, more) => {
	const box = desk.make("span", { class: "act" });

	if (desk.mode !== "work")
		return "";
	box.append(button(box, { label, method, params, ...more }));
	return box;
};

/* --- parts of the page: see NODES in page.js ---------------------------- */

/* What was typed stays while its row is drawn again. */
const drafts = new Map();

/* A field and its button: {field: label, of: what it is for, member: of the
 * parameters, rows} or, with choices, a list to choose from. */
desk.NODES.field = (p) => {
	const { make } = desk;
	const id = `f${newId()}`;
	const key = `${p.method} ${p.of}`;
	const input = p.choices ? make("select", { id }, ...p.choices.map((c) =>
		make("option", c === p.value ? { value: c, selected: "" } :
			{ value: c }, c))) :
		make(p.rows ? "textarea" : "input", { id, autocomplete: "off",
			...(p.rows ? { rows: p.rows } : { type: "text" }) });
	const send = make("button", { type: "submit",
		"aria-label": `${p.act}: ${p.of}` }, p.act);
	const form = make("form", { class: "act" },
		make("label", { for: id }, p.field), input, send);

	if (!p.choices) {
		input.value = drafts.get(key) || "";
		input.addEventListener("input", () => drafts.set(key, input.value));
	}
	form.addEventListener("submit", async (e) => {
		e.preventDefault();
		if (input.value.trim() === "")
			input.focus();
		else if (await run(form, { label: `${p.act}, ${p.of}`,
			method: p.method,
			params: { ...p.params, [p.member]: input.value } }) &&
			!p.choices) {
			drafts.delete(key);
			input.value = "";
		}
	});
	return form;
};

/* A part with a field has a button, too, and is found first. */
desk.NODES.act = (p) => desk.action(p.act, p.method, p.params, p);

/* --- what can be done with a row ------------------------------------------ */

desk.offer("ask", (r) => [
	...(r.kind === "review" ? [] : r.options || []).map((option) => ({ act: option, method: "answer",
		name: `Answer ${r.id}: ${option}`,
		params: { ask: r.id, text: option },
		confirm: option === "abort" ? "Stop it for good" : undefined })),
	...(r.kind === "review" && r.worker ? desk.links("worker",
		desk.view.workers.get(r.worker) || { name: r.worker }) : []),
	...(r.kind === "told" || (r.kind === "review" && (desk.view.workers
		.get(r.worker) || {}).status === "needs_review") ? [] :
		[{ field: "Answer", act: "Send", of: r.id,
		method: "answer", member: "text", params: { ask: r.id } }]),
]);

const PRIORITIES = ["urgent", "high", "normal", "low"];
const priority = (r, task) => ({ field: "Priority", act: "Change", of: task,
	method: "task.priority", member: "priority", params: { task },
	choices: PRIORITIES, value: r.priority || "normal" });
const drop = (task) => ({ act: "Drop", name: `Drop ${task}`,
	method: "task.drop", params: { task }, confirm: `Drop ${task} for good` });

desk.offer("worker", (r) => [(r.paused_for || []).length > 0 ||
	r.status === "paused" ?
	{ act: "Resume", name: `Resume ${r.name}`, method: "auto.resume",
		params: { worker: r.name } } :
	{ act: "Pause", name: `Pause ${r.name}`, method: "worker.pause",
		params: { worker: r.name } }]);

desk.offer("task", (r) => r.outcome ? [
	r.outcome !== "landed" && { act: "Retry", name: `Retry ${r.id}`,
		method: "task.retry", params: { task: r.id } },
	r.outcome === "landed" && r.commit && { act: "Revert",
		name: `Revert ${r.id}`, method: "landing.revert",
		params: { commit: r.commit },
		confirm: `Revert ${r.commit.slice(0, 10)}` },
].filter((p) => p) : [priority(r, r.id), drop(r.id)]);

desk.offer("todo", (r) => [priority(r, r.key), drop(r.key)]);

desk.offer("goal", (r) => [
	r.status === "paused" ?
		{ act: "Resume", name: `Resume ${r.title || r.id}`,
			method: "overseer.goal.resume", params: { goal: r.id } } :
		{ act: "Pause", name: `Pause ${r.title || r.id}`,
			method: "overseer.goal.pause", params: { goal: r.id } },
	{ act: "Cancel", name: `Cancel ${r.title || r.id}`,
		method: "overseer.goal.cancel", params: { goal: r.id },
		confirm: "Give this goal up" }]);

/* --- screens -------------------------------------------------------------- */

/* #/ask/a12, or #/ask/t17: where a message to a person leads. */
desk.screen("ask", (element, id) => {
	const { make, write } = desk;
	const heading = make("h2", null, `Ask ${id}`);
	const box = make("div", { class: "needs" });
	let was = "";
	const draw = () => {
		const r = desk.view.asks.get(id) || [...desk.view.asks.values()]
			.find((a) => [a.task, a.worker, a.question, a.node]
				.includes(id));
		const known = JSON.stringify([r, desk.mode]);

		if (known === was || !desk.view.head.version)
			return;
		was = known;
		write(box, !r ? `${id} is not open: it was answered, or is settled.` :
			[{ box: [{ c: "bad", s: `${r.who}: ${r.kind}` },
				{ c: "why", s: r.words || r.title }] },
			desk.mode === "work" ? desk.offers("ask", r) :
				{ copy: r.command }]);
	};

	element.append(heading, box);
	draw();
	return desk.watch(draw);
});

desk.menu("Add or pause", "#/add", "work");
desk.screen("add", (element) => {
	const { make, write } = desk;
	const box = make("div", { class: "add" });

	element.append(make("h2", null, "Add or pause"), box);
	const draw = () => desk.mode !== "work" ?
		write(box, "This page only shows. To work from it, type: ",
			{ copy: "llmc config set web.mode work" }) :
		write(box,
			{ field: "A task", act: "Add the task", of: "a new one",
				method: "task.add", member: "text", rows: 5 },
			{ field: "A goal, to be planned", act: "Add the goal",
				of: "a new one", method: "overseer.goal.create",
				member: "title" },
			{ box: [{ act: "Pause all", method: "worker.pause",
				params: {} }, { act: "Resume all",
				method: "auto.resume", params: {} }] });

	draw();
	return desk.watch(draw);
});
})();
