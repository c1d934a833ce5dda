"use strict";
/* SPDX-License-Identifier: ISC */

/*
 * #/replay/TASK: how the work on a task went, a page of entries at a time.
 * #/screen/WORKER: a worker's screen, live: it is asked for only while it is
 * seen.
 */
(() => {
const { make } = desk;
const LOOK_MS = 250;
const SLOW_MS = 2000; /* after an error */

const AT = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short",
	hour: "2-digit", minute: "2-digit", second: "2-digit" });
const gone = (d) => d.gone.map((path) => make("p", { class: "box" },
	`A conversation is not there any more: ${path}`));

function drawEntry(e) {
	return make("li", { class: e.kind },
		make("span", { class: "soft" }, e.at ?
			AT.format(new Date(e.at * 1000)) : ""), " ",
		make("b", null, e.kind), " ", make("span", { class: "words" }, e.text));
}

desk.screen("replay", (element, arg) => {
	const list = make("ol", { class: "replay" });
	const more = make("button", { type: "button" }, "Show more");
	const query = `api/replay?task=${encodeURIComponent(arg)}`;
	let next = 0, closed = false;
	const read = async () => {
		more.disabled = true;
		try {
			const d = await desk.get(`${query}&from=${next}`);

			if (closed)
				return;
			if (next === 0)
				element.replaceChildren(
					make("h2", null, d.task ? `How ${d.task} went` :
						`What ${arg} was asked and did`),
					make("p", null, [d.title, d.outcome]
						.filter(Boolean).join(": ")),
					...gone(d), list, more);
			list.append(...d.entries.map(drawEntry));
			next += d.entries.length;
			more.hidden = next >= d.total || d.entries.length === 0;
			if (d.total === 0)
				element.append(make("p", { class: "none" },
					"Nothing is known of it."));
		} catch (e) {
			if (!closed)
				element.append(make("p", { class: "box", role: "alert" },
					e.message));
		}
		more.disabled = false;
	};

	element.append(make("p", { role: "status" }, "Reading the conversation."));
	more.addEventListener("click", read);
	read();
	return () => { closed = true; };
});

desk.screen("screen", (element, arg) => {
	const name = encodeURIComponent(arg);
	const state = make("p", { role: "status" }, "");
	const text = make("pre", { class: "screen", tabindex: "0",
		"aria-label": `The screen of ${arg}` });
	let timer = 0, closed = false;
	const look = async () => {
		let wait = LOOK_MS;

		try {
			const d = await desk.get(`api/screen?worker=${name}`);
			const words = `${d.status}${d.task ? ` on ${d.task}` : ""}`;

			if (text.textContent !== d.text)
				text.textContent = d.text;
			if (state.textContent !== words)
				state.textContent = words;
		} catch (e) {
			wait = SLOW_MS;
			if (state.textContent !== e.message)
				state.textContent = e.message;
		}
		clearTimeout(timer);
		if (!closed && !document.hidden)
			timer = setTimeout(look, wait);
	};
	const seen = () => {
		if (!document.hidden)
			look();
	};

	element.append(make("h2", null, `The screen of ${arg}`), state, text,
		make("p", null, make("a", { class: "go", href: `#/replay/${name}` },
			"What it was asked and did"), " ",
		make("a", { class: "go", href: `#/review/${name}` },
			"What it has changed")));
	document.addEventListener("visibilitychange", seen);
	look();
	return () => {
		closed = true;
		clearTimeout(timer);
		document.removeEventListener("visibilitychange", seen);
	};
});

desk.link("worker", "Its screen", (r) => r.name && r.status !== "offline" ?
	`#/screen/${encodeURIComponent(r.name)}` : "");
desk.link("task", "How it went", (r) => /^t\d+$/.test(r.id || "") ?
	`#/replay/${r.id}` : "");
})();
