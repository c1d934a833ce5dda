"use strict";
/* SPDX-License-Identifier: ISC */

/*
 * What test-page-charts.c puts into the page: the charts of 100 workers in a
 * day as charts.get has them, with an image that would run a script in each
 * text, and what it measures.
 */
(() => {
const IMAGE = "<img src=x onerror='window.hurt=1'>";
const DAY = 86400000;
const HOUR = 3600000;
const NAMES = ["working", "landing", "waiting", "limited", "idle", "error", "down"];

function night(workers) {
	const sums = NAMES.map(() => 0);
	let seed = 7;
	const random = (n) => {
		seed = (seed * 1103515245 + 12345) % 2147483648;
		return Math.floor(seed / 65536) % n;
	};
	const rows = [];

	for (let i = 1; i <= workers; i++) {
		const own = NAMES.map(() => 0);
		const spans = [];

		for (let at = 0; at < DAY;) {
			const c = random(3) ? random(2) : random(NAMES.length);
			/* As many as charts.get has at most: 240 of each. */
			const to = at + DAY / 240;

			spans.push([at, to, c]);
			own[c] += to - at;
			sums[c] += to - at;
			at = to;
		}
		rows.push({ worker: `auto-${i}`, class_ms: own, spans });
	}
	rows[0].worker = IMAGE;
	const steps = [...Array(24).keys()];
	const landed = steps.map(() => random(9));
	const cost = steps.map(() => random(3000000));
	const node = (id, depth, start, effort, critical) => ({ id, depth, start,
		effort, critical, after: depth ? ["P1"] : [], status: "todo",
		title: `Node ${IMAGE}` });

	return { from_ms: 1769846400000, to_ms: 1769846400000 + DAY,
		now_ms: 1769846400000 + DAY, binned_ms: 0,
		classes: NAMES.map((name, i) => ({ class: name, ms: sums[i],
			title: name === "idle" ? "idle or offline" : name })),
		workers: rows, workers_more: 0, marks_more: 0,
		marks: [...Array(300).keys()].map((i) => ({ at: i * DAY / 300,
			kind: ["ask", "retry", "failed", "failure"][i % 4],
			worker: i % 4 === 3 ? null : `auto-${1 + i % workers}`,
			task: i % 4 === 3 ? null : `t${i}`, text: `${IMAGE} ${i}` })),
		step_ms: HOUR, landed, not_landed: steps.map((i) => i % 3),
		money: { steps: cost, earlier_micros: 0, unknown: 1, more: 3,
			more_micros: 1500000, estimated_micros: 1,
			tasks_micros: cost.reduce((a, b) => a + b, 0),
			total_micros: cost.reduce((a, b) => a + b, 0),
			day_cost_micros: 20000000, today_micros: 18400000,
			tasks: steps.slice(0, 12).map((i) => ({ id: `t${i}`,
				title: IMAGE, outcome: ["landed", "failed", null][i % 3],
				cost_micros: 3000000 - i * 100000,
				cost_source: "reported" })) },
		queue: [...Array(400).keys()].map((i) => [i * 216000, i % 5]),
		queue_most: 4,
		goals: [{ id: "g7", title: IMAGE, status: "active", done: 1, total: 3,
			effort: 30, critical_effort: 18, nodes_more: 0,
			nodes: [node("P1", 0, null, null, false),
				node("T1.1", 1, 0, 12, true),
				node("T1.2", 1, 0, 12, false),
				node("T1.3", 1, 12, 6, true)] }] };
}

/* The daemon's own answers, until sessionStorage.fake is how many workers. */
const real = window.fetch;

window.fetch = async (path, options) => sessionStorage.fake &&
	String(path).startsWith("api/charts") ?
	new Response(JSON.stringify(night(Number(sessionStorage.fake)))) :
	real(path, options);
window.night = night;

/* From the data to the picture, laid out: the best of several, in ms. */
window.body = night(100);
window.draws = async (times) => {
	const all = [];
	const frame = () => new Promise((r) => requestAnimationFrame(r));

	for (let i = 0; i < times; i++) {
		let from = 0;

		location.hash = "#";
		while (document.querySelector(".chart"))
			await frame();
		window.fetch = async () => ({ ok: true, json: async () => {
			from = performance.now();
			return body;
		} });
		location.hash = "#/charts";
		while (!document.querySelector(".chart-goal svg text"))
			await new Promise((r) => setTimeout(r));
		document.body.getBoundingClientRect();
		all.push(performance.now() - from);
	}
	return Math.round(Math.min(...all));
};

/* --- colours ----------------------------------------------------------- */

/* Machado, Oliveira and Fernandes (2009), severity 1. */
const EYES = [[1, 0, 0, 0, 1, 0, 0, 0, 1],
	[.152286, 1.052583, -.204868, .114503, .786281, .099216, -.003882,
		-.048116, 1.051998],
	[.367322, .860646, -.227968, .280085, .672501, .047413, -.01182,
		.04294, .968881]];
const linear = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) /
	255).map((v) => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
const light = (c) => .2126 * c[0] + .7152 * c[1] + .0722 * c[2];

function lab(c, eye) {
	const s = [0, 3, 6].map((i) => Math.min(1, Math.max(0, eye[i] * c[0] +
		eye[i + 1] * c[1] + eye[i + 2] * c[2])));
	const f = (t) => t > .008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116;
	const x = f((.4124 * s[0] + .3576 * s[1] + .1805 * s[2]) / .95047);
	const y = f(light(s));
	const z = f((.0193 * s[0] + .1192 * s[1] + .9505 * s[2]) / 1.08883);

	return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

/* Of the classes: the least contrast to the page, and the least distance of
 * two of them (CIE 1976), for eyes that see all colours, no red, no green. */
window.colours = () => {
	const style = getComputedStyle(document.documentElement);
	const value = (name) => linear(style.getPropertyValue(name).trim());
	const back = light(value("--back"));
	const all = NAMES.filter((n) => n !== "down").map((n) => value(`--k-${n}`));
	const ratios = all.map(light).map((l) => (Math.max(l, back) + .05) /
		(Math.min(l, back) + .05));
	const distances = EYES.flatMap((eye) => all.flatMap((a, i) =>
		all.slice(i + 1).map((b) => Math.hypot(...lab(a, eye)
			.map((v, k) => v - lab(b, eye)[k])))));

	return { contrast: Math.min(...ratios), distance: Math.min(...distances) };
};
})();
