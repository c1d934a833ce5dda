/* SPDX-License-Identifier: ISC */

/*
 * Every section of the live page in a real browser (browser.h), with the view
 * and the report of page-view.json instead of the daemon's: each text in it has
 * an image that would run a script. And the report as a file (report.h). How
 * the page and the daemon go together: test-page.c. Skipped where there is no
 * Chromium. With UNIT_SHOTS=FOLDER, pictures are left there.
 */
#include "autorun.h"
#include "browser.h"
#include "report.h"

#define SECTION_WORDS_MAX 7

/* What each of them shows, among others. */
static const struct {
	const char *id, *words[SECTION_WORDS_MAX];
} sections[] = {
	{ "needs",
	    { "Needs you (3)", "t88: failed", "auto-4: question", "Which one?",
		"llmc task show t88" } },
	{ "budget",
	    { "Today $18.40 est. of $20.00", "Today 4.1M tokens of 5.0M",
		"The last days (UTC), with work by hand",
		"auto-2 limited until", "the service does not answer",
		"$18.40 est. + ?" } },
	{ "workers",
	    { "Workers (4)", "auto-10", "! error", "$0.41 est.",
		"resume it: llmc resume auto-10" } },
	{ "queue",
	    { "Queue (25)", "parked", "7 more wait", "12 more", "Landing queue",
		"checking", "held" } },
	{ "goals",
	    { "Goals (2)", "1 of 4 done, 1 ready, 1 blocked",
		"Leaf 3 - blocked", "waits for", "3 more: llmc goal list" } },
	{ "ended", { "Ended (2)", "! dead-letter", "0123456789" } },
	{ "events", { "t90 of auto-2 has landed", "warn auto-3 failed" } },
	{ "failures",
	    { "repaired", "fixed", "1m", "! critical", "question",
		"Open asks" } },
	{ "delegation",
	    { "3 messages unread (1 to you: llmc mail), 2 open questions",
		"t2 tester (auto-10) working", "e1 helper (auto-1) landed" } },
	{ "report",
	    { "1 task landed, 1 did not", "Run r7", "t81", "! failed",
		"For each that landed", "working: with a result" } },
};

/* The page of a daemon, with the fixture as its answers. */
static const char *
begin(void)
{
	cleanup_json struct json_object *web = NULL;

	fleet_begin();
	auto_set("web.enabled", "true");
	fleet_up();
	web = e2e_json(e2e_llmc(fleet_root(), "web", "--json", NULL), 0);
	browser = browser_new();
	browser_prepare(browser,
	    e2e_path("window.fixture = JSON.parse(JSON.stringify(%s)"
		     ".replaceAll('@IMAGE', `<img src=x "
		     "onerror='window.hurt=1'>`).replaceAll('@LONG', "
		     "'a-word-without-an-end-'.repeat(5)));",
		e2e_read(e2e_source("tests/e2e/page-view.json"))));
	browser_prepare(browser,
	    "window.reports = 0;"
	    "window.tell = (name, body) => window.stream.enqueue("
	    "new TextEncoder().encode(`event: ${name}\\ndata: "
	    "${JSON.stringify(body)}\\n\\n`));"
	    "window.fetch = async (path) => {"
	    "if (path === 'report.json') { reports++; return new "
	    "Response(JSON.stringify(fixture.report)); }"
	    "return new Response(new ReadableStream({ start(c) {"
	    "window.stream = c; tell('snapshot', { seq: 1, view: "
	    "fixture.view }); } })); };");
	return e2e_path("%s", json_string_or(web, "url", ""));
}

/* As it is when it is opened, and with a report. */
static void
open_page(const char *url)
{
	browser_set_size(browser, 1100, 900);
	browser_set_dark(browser, false);
	browser_set_print(browser, false);
	browser_open(browser, "about:blank");
	browser_open(browser, url);
	page_wait("document.getElementById('state').textContent == 'live' && "
		  "document.title.startsWith('(3) project@main')");
	page_expect("reports", "0");
	page_value("document.querySelector('#report button').click()");
	page_wait("document.querySelectorAll('#report tbody tr').length > 8");
}

static void
open_details(void)
{
	page_value("document.querySelectorAll('details').forEach(d => d.open = "
		   "true); new Promise(r => requestAnimationFrame(() => "
		   "setTimeout(r)))");
}

const int unit_timeout = 300; /* seconds: a browser starts once for all */

void
unit_begin(void)
{
	if (browser_program() == NULL)
		unit_skip_all("there is no chromium (tools/deps.sh lint)");
	browser_share();
}

static void
every_section_shows_what_it_is_for_and_words_of_others_are_words(void)
{
	open_details();
	for (size_t i = 0; i < nitems(sections); i++) {
		const char *text = page_value(
		    e2e_path("document.getElementById('%s').textContent",
			sections[i].id));

		for (size_t j = 0;
		     j < SECTION_WORDS_MAX && sections[i].words[j] != NULL; j++)
			e2e_has(text, sections[i].words[j]);
		e2e_has(text, "<img src=x onerror=");
	}
	page_expect(
	    "document.querySelectorAll('[style], [onerror]').length", "0");
	/* A few figures are not spread over the window. */
	page_expect("document.querySelector('#budget table').offsetWidth < 600",
	    "true");
}

static void
a_report_is_made_when_asked_for_and_not_all_the_time(void)
{
	page_expect("reports", "1");
	/* More has ended: not at once. */
	page_value(
	    "fixture.view.head.outcomes.landed++; tell('change', { seq: 2, "
	    "change: { set: { head: fixture.view.head } } })");
	page_wait("document.getElementById('facts').textContent"
		  ".includes('landed 32')");
	page_expect("reports", "1");
	page_value("document.querySelector('#report button').click()");
	page_wait("reports == 2");
}

static void
nothing_is_wider_than_a_narrow_window(void)
{
	browser_set_size(browser, 320, 700);
	page_wait("innerWidth == 320");
	open_details();
	page_expect("JSON.stringify([...document.querySelectorAll('body *')]"
		    ".filter(e => e.getBoundingClientRect().right > 321)"
		    ".map(e => e.outerHTML.slice(0, 80)).slice(0, 5))",
	    "[]");
	page_expect("document.documentElement.scrollWidth", "320");
	page_save("sections-narrow");
}

/* By Tab alone, each with an outline. */
static void
the_keyboard_reaches_every_control_and_shows_where_it_is(void)
{
	int controls;

	open_details();
	page_value(
	    "window.controls = new Set([...document.querySelectorAll("
	    "'a[href], button, input, summary')].filter(e => "
	    "e.checkVisibility())); window.hidden = []; "
	    "addEventListener('focusin', e => { controls.delete(e.target); "
	    "if (parseFloat(getComputedStyle(e.target).outlineWidth) < 2) "
	    "hidden.push(e.target.outerHTML); }); 0");
	controls = (int)strtol(page_value("controls.size"), NULL, 10);
	ck_assert_int_gt(controls, 40);
	for (int i = 0; i < controls; i++)
		browser_press(browser, "Tab");
	page_expect(
	    "JSON.stringify([...controls].map(e => e.outerHTML.slice(0, "
	    "80)).slice(0, 5))",
	    "[]");
	page_expect(
	    "JSON.stringify(hidden.map(h => h.slice(0, 80)).slice(0, 5))",
	    "[]");
	/* From the list of sections by Enter. */
	for (size_t i = 0; i < nitems(sections); i++) {
		page_value(
		    e2e_path("document.querySelector('nav [href=\"#%s\"]')"
			     ".focus()",
			sections[i].id));
		browser_press(browser, "Enter");
		page_wait(e2e_path(
		    "document.activeElement.id == '%s'", sections[i].id));
		page_expect(
		    e2e_path("document.querySelectorAll('#%s > h2').length",
			sections[i].id),
		    "1");
	}
}

/* WCAG 2, level AA: 4.5 for text. */
static void
expect_contrast(void)
{
	page_value(
	    "window.rgb = (text) => text.match(/[\\d.]+/g).map(Number);"
	    "window.light = (c) => c.slice(0, 3).map(v => v / 255).map(v => "
	    "v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)"
	    ".reduce((s, v, i) => s + v * [.2126, .7152, .0722][i], 0);"
	    "window.back = (e) => { for (; e; e = e.parentElement) { const c "
	    "= rgb(getComputedStyle(e).backgroundColor); if (c.length < 4 || "
	    "c[3] > 0) return c; } return [255, 255, 255]; };"
	    "window.ratio = (e) => { const a = light(rgb(getComputedStyle(e)"
	    ".color)), b = light(back(e)); return (Math.max(a, b) + .05) / "
	    "(Math.min(a, b) + .05); }; 0");
	page_expect(
	    "JSON.stringify([...document.querySelectorAll('body *')].filter("
	    "e => e.checkVisibility() && [...e.childNodes].some(n => "
	    "n.nodeType == 3 && n.data.trim()) && ratio(e) < 4.5).map(e => "
	    "[ratio(e), e.outerHTML.slice(0, 80)]).slice(0, 5))",
	    "[]");
	page_expect("ratio(document.body) > 10", "true");
}

static void
text_can_be_read_in_light_and_in_dark(void)
{
	static const char light[] = "light(back(document.body)) > 0.5";

	open_details();
	expect_contrast();
	page_expect(light, "true");
	page_save("sections-light");
	browser_set_dark(browser, true);
	page_wait(e2e_path("!(%s)", light));
	expect_contrast();
	page_save("sections-dark");
}

static void
on_paper_is_all_that_the_page_says(void)
{
	browser_set_print(browser, true);
	page_expect(
	    "[...document.querySelectorAll('nav, button, meter, input')]"
	    ".filter(e => e.checkVisibility()).length",
	    "0");
	/* Of a fleet there is none. */
	page_expect("[...document.querySelectorAll('section')].filter(e => "
		    "e.id !== 'hosts' && !e.checkVisibility()).length",
	    "0");
	for (size_t i = 0; i < nitems(sections); i++)
		for (size_t j = 0;
		     j < SECTION_WORDS_MAX && sections[i].words[j] != NULL; j++)
			e2e_has(page_value(e2e_path(
				    "document.getElementById('%s').innerText",
				    sections[i].id)),
			    sections[i].words[j]);
	page_expect(
	    "getComputedStyle(document.documentElement).backgroundColor",
	    "rgb(255, 255, 255)");
	page_save("sections-print");
	ck_assert_int_ge(browser_sheets(browser), 3);
	/* What is left out because of a filter is told. */
	page_value("document.getElementById('filter').value = 't88'; 0");
	page_expect(
	    "document.getElementById('filter').checkVisibility()", "true");
}

/* Lines of what is read aloud that begin with the role; those without a name
 * fail. */
static int
named(const char *text, const char *role)
{
	size_t len = strlen(role);
	int count = 0;

	for (; *text != '\0'; text = strchr(text, '\n') + 1) {
		if (strncmp(text, role, len) != 0 || text[len] != ' ')
			continue;
		count++;
		ck_assert_msg(strcspn(text, "\n") > len + 3,
		    "%s number %d has no name", role, count);
	}
	return count;
}

static void
a_screen_reader_finds_its_way(void)
{
	static const char *const once[] = { "\nbanner 0 ", "\nmain 0 ",
		"\ncontentinfo 0 ", "\nsearch 0 ", "\nnavigation 0 Sections\n",
		"\nheading 1 project@main\n", "\nsearchbox 0 Filter\n" };
	const char *text = browser_read_aloud(browser);

	for (size_t i = 0; i < nitems(once); i++) {
		e2e_has(text, once[i]);
		e2e_lacks(strstr(text, once[i]) + 1, once[i]);
	}
	e2e_lacks(text, "\nheading 3");
	ck_assert_int_eq(named(text, "heading"), (int)nitems(sections) + 1);
	ck_assert_int_eq(named(text, "region"), (int)nitems(sections));
	ck_assert_int_ge(named(text, "link"), (int)nitems(sections) + 1);
	ck_assert_int_ge(named(text, "button"), 3);
	ck_assert_int_ge(named(text, "DisclosureTriangle"), 10);
	ck_assert_int_eq(named(text, "meter"), 2);
	ck_assert_int_ge(named(text, "table"), 10);
	ck_assert_int_ge(named(text, "columnheader"), 40);
	ck_assert_int_ge(named(text, "rowheader"), 20);
	page_expect("document.querySelectorAll('th:not([scope])').length", "0");
	/* Also where a table is drawn as something else. */
	browser_set_size(browser, 320, 700);
	page_wait("innerWidth == 320");
	text = browser_read_aloud(browser);
	ck_assert_int_ge(named(text, "table"), 10);
	ck_assert_int_ge(named(text, "rowheader"), 20);
}

static void
what_is_read_aloud_by_itself_is_news(void)
{
	page_value(
	    "window.said = []; document.querySelectorAll('[aria-live], "
	    "[role=status]').forEach(e => new MutationObserver(l => "
	    "said.push(e.textContent)).observe(e, { subtree: true, "
	    "childList: true, characterData: true, attributes: true })); 0");
	page_expect(
	    "document.querySelectorAll('[aria-live]:not([aria-live=polite])"
	    ", [role=alert]').length",
	    "0");
	/* Time passes, and what goes on by itself. */
	page_value(
	    "window.was = document.getElementById('age').textContent;"
	    "fixture.view.workers['auto-1'].turns = 17; tell('change', { "
	    "seq: 2, change: { set: { workers: { 'auto-1': "
	    "fixture.view.workers['auto-1'] } }, events: [{ n: 3, at_ms: "
	    "1, level: 'info', words: 'something' }] } })");
	page_wait("document.getElementById('age').textContent != was && "
		  "document.getElementById('events').textContent"
		  ".includes('something')");
	page_expect("JSON.stringify(said)", "[]");
	page_value(
	    "tell('change', { seq: 3, change: { set: { needs: { 'd-t5': { "
	    "who: 't5', what: 'failed', words: 'Look', command: 'llmc task "
	    "show t5' } } } } })");
	page_wait("said.length > 0");
}

static void
a_command_is_copied_by_its_button(void)
{
	browser_allow_clipboard(browser);
	page_value("document.querySelector('#needs button').focus()");
	browser_press(browser, "Enter");
	page_wait("document.querySelector('#needs button').textContent == "
		  "'Copied'");
	page_expect("navigator.clipboard.readText()", "llmc task show t88");
	page_wait(
	    "document.querySelector('#needs button').textContent == 'Copy'");
	/* Where it may not be copied, it is selected. */
	page_value("navigator.clipboard.writeText = () => Promise.reject(); "
		   "document.querySelector('#needs button').click()");
	page_wait("String(getSelection()) == 'llmc task show t88'");
}

static void
a_filter_leaves_what_matches_and_says_where_nothing_does(void)
{
	page_value("document.getElementById('filter').value = 'Leaf 3'; "
		   "document.getElementById('filter').dispatchEvent(new "
		   "Event('input'))");
	page_wait("document.querySelectorAll('#workers tbody tr').length == 0");
	e2e_has(page_value("document.getElementById('workers').innerText"),
	    "nothing matches the filter");
	e2e_has(
	    page_value("document.getElementById('goals').innerText"), "Leaf 3");
	e2e_lacks(page_value("document.getElementById('goals').innerText"),
	    "Small goal");
}

TEST(every_section_is_as_it_should_be)
{
	static const struct {
		const char *name;
		void (*check)(void);
	} rows[] = {
#define ROW(name) { #name, name }
		ROW(every_section_shows_what_it_is_for_and_words_of_others_are_words),
		ROW(a_report_is_made_when_asked_for_and_not_all_the_time),
		ROW(nothing_is_wider_than_a_narrow_window),
		ROW(the_keyboard_reaches_every_control_and_shows_where_it_is),
		ROW(text_can_be_read_in_light_and_in_dark),
		ROW(on_paper_is_all_that_the_page_says),
		ROW(a_screen_reader_finds_its_way),
		ROW(what_is_read_aloud_by_itself_is_news),
		ROW(a_command_is_copied_by_its_button),
		ROW(a_filter_leaves_what_matches_and_says_where_nothing_does),
#undef ROW
	};
	const char *url = begin();

	for (size_t i = 0; i < nitems(rows); i++) {
		printf("# %s\n", rows[i].name);
		fflush(stdout);
		open_page(url);
		rows[i].check();
		page_expect_unhurt();
	}
	browser_free(browser);
}

/* --- the report as a file --------------------------------------------- */

/* With what stands for the texts of others. */
static void
add_expanded(struct buf *out, const char *text)
{
	static const char *const marks[][2] = {
		{ "@IMAGE", "<img src=x onerror='window.hurt=1'>" },
		{ "@LONG",
		    "a-word-without-an-end-that-would-not-fit-into-a-narrow-"
		    "window-or-into-one-that-is-twice-as-wide" },
	};

	while (*text != '\0') {
		size_t i = 0;

		while (i < nitems(marks) &&
		    strncmp(text, marks[i][0], strlen(marks[i][0])) != 0)
			i++;
		if (i == nitems(marks)) {
			buf_addc(out, *text++);
			continue;
		}
		buf_adds(out, marks[i][1]);
		text += strlen(marks[i][0]);
	}
}

/* Words that are short are not broken. */
static void
expect_whole_words(void)
{
	page_expect(
	    "JSON.stringify([...document.querySelectorAll('th, td.s')]"
	    ".filter(e => { const r = document.createRange(); "
	    "r.selectNodeContents(e.querySelector('code') || e); return "
	    "r.getClientRects().length > 1; }).map(e => e.textContent))",
	    "[]");
}

static void
open_report(void)
{
	const char *file = unit_path("report.html");
	cleanup_buf struct buf text = BUF_INIT, html = BUF_INIT;
	cleanup_json struct json_object *fixture = NULL;

	add_expanded(&text, e2e_read(e2e_source("tests/e2e/page-view.json")));
	fixture = json_tokener_parse(text.data);
	ck_assert_ptr_nonnull(fixture);
	report_html(json_object_object_get(fixture, "report"), &html);
	e2e_write(file, html.data);
	browser = browser_new();
	browser_set_size(browser, 1100, 900);
	browser_open(browser, e2e_path("file://%s", file));
}

TEST(a_report_has_its_charts_and_runs_nothing)
{
	static const char *const words[] = { "Needs you", "llmc task show t88",
		"Landed (1)", "Not landed (1)", "Not ended (1)", "Money",
		"Time of 4 workers", "Landing", "Oversight",
		"<img src=x onerror=" };
	static const char *const aloud[] = { "\nmain 0 ",
		"\nheading 1 project: report of run r7",
		"\nheading 2 Landed (1)\n", "\ncolumnheader 0 Title\n" };
	static const char light[] = "getComputedStyle(document.body)"
				    ".backgroundColor.match(/\\d+/)[0] > 128";
	const char *text;

	open_report();
	text = page_value("document.body.innerText");
	for (size_t i = 0; i < nitems(words); i++)
		e2e_has(text, words[i]);
	/* Time of each worker, tasks and money over time, the queue, the most
	 * expensive tasks, a goal; cost by day, time by use. */
	page_expect(
	    "[...document.querySelectorAll('svg[role=img]')].filter(s => "
	    "s.getBoundingClientRect().height > 20 && "
	    "s.querySelector('rect, path') && s.getAttribute('aria-label')"
	    ".length > 10).length",
	    "8");
	page_expect("document.querySelectorAll('.mark title').length", "4");
	expect_whole_words();
	page_save("report");
	/* A screen reader finds its way. */
	text = browser_read_aloud(browser);
	for (size_t i = 0; i < nitems(aloud); i++)
		e2e_has(text, aloud[i]);
	e2e_lacks(text, "\nheading 3");
	page_expect("document.querySelectorAll('th:not([scope])').length", "0");
	/* In a narrow window, in the dark and on paper. */
	browser_set_size(browser, 320, 700);
	page_wait("innerWidth == 320");
	page_expect("document.documentElement.scrollWidth", "320");
	expect_whole_words();
	page_save("report-narrow");
	browser_set_size(browser, 1100, 900);
	page_expect(light, "true");
	browser_set_dark(browser, true);
	page_wait(e2e_path("!(%s)", light));
	page_save("report-dark");
	browser_set_print(browser, true);
	page_wait(light);
	ck_assert_int_ge(browser_sheets(browser), 1);
	page_expect("document.scripts.length", "0");
	/* The file itself was read, and nothing else. */
	text = browser_requests(browser);
	e2e_has(text, "file:///");
	e2e_lacks(strchr(text, '\n') + 1, "http");
	page_expect_unhurt();
	browser_free(browser);
}
