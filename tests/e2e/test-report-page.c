/* SPDX-License-Identifier: ISC */

/*
 * The report as a file for a browser (report.h) in a real one
 * (browser.h): the report of page-view.json, in which each text has an image
 * that would run a script. Skipped where there is no Chromium. With
 * UNIT_SHOTS=FOLDER, pictures are left there.
 */
#include "base.h"
#include "browser.h"
#include "e2e.h"
#include "report.h"

static struct browser *browser;

static void
expect(const char *expression, const char *wanted)
{
	const char *found = browser_value(browser, expression);

	ck_assert_msg(strcmp(found, wanted) == 0, "%s is %s, expected %s",
	    expression, e2e_shown(found), wanted);
}

static void
save(const char *name)
{
	const char *folder = getenv("UNIT_SHOTS");

	if (folder != NULL)
		browser_save(browser, e2e_path("%s/%s.png", folder, name));
}

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

static void
begin(void)
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

/* Words that are short are not broken. */
static void
expect_whole_words(void)
{
	expect("JSON.stringify([...document.querySelectorAll('th, td.s')]"
	       ".filter(e => { const r = document.createRange(); "
	       "r.selectNodeContents(e.querySelector('code') || e); return "
	       "r.getClientRects().length > 1; }).map(e => e.textContent))",
	    "[]");
}

static void
end(void)
{
	const char *requests = browser_requests(browser);

	expect("document.images.length + String(window.hurt) + "
	       "document.scripts.length",
	    "0undefined0");
	/* The file itself, and nothing else. */
	e2e_has(requests, "file:///");
	e2e_lacks(strchr(requests, '\n') + 1, "http");
	ck_assert_str_eq(browser_console(browser), "");
	browser_free(browser);
}

void
unit_begin(void)
{
	if (browser_program() == NULL)
		unit_skip_all("there is no chromium (contrib/deps.sh lint)");
}

TEST(a_report_has_its_charts_and_runs_nothing)
{
	static const char *const words[] = { "Needs you", "llmc task show t88",
		"Landed (1)", "Not landed (1)", "Not ended (1)", "Money",
		"Time of 4 workers", "Landing", "Oversight",
		"<img src=x onerror=" };
	const char *text;

	begin();
	text = browser_value(browser, "document.body.innerText");
	for (size_t i = 0; i < nitems(words); i++)
		e2e_has(text, words[i]);
	/* Tasks over time, cost by day, time by use: each with its words. */
	expect("document.querySelectorAll('svg').length", "3");
	expect("[...document.querySelectorAll('svg')].filter(s => "
	       "s.getBoundingClientRect().height > 20 && "
	       "s.querySelector('rect') && s.getAttribute('role') == 'img' && "
	       "(s.querySelector('title') || s.getAttribute('aria-label')))"
	       ".length",
	    "3");
	expect_whole_words();
	save("report");
	end();
}

TEST(a_report_fits_into_a_narrow_window)
{
	begin();
	browser_set_size(browser, 320, 700);
	browser_wait(browser, "innerWidth == 320");
	expect("document.documentElement.scrollWidth", "320");
	expect_whole_words();
	save("report-narrow");
	end();
}

TEST(a_report_can_be_read_in_dark_and_on_paper)
{
	static const char light[] = "getComputedStyle(document.body)"
				    ".backgroundColor.match(/\\d+/)[0] > 128";

	begin();
	expect(light, "true");
	browser_set_dark(browser, true);
	browser_wait(browser, e2e_path("!(%s)", light));
	save("report-dark");
	browser_set_print(browser, true);
	browser_wait(browser, light);
	ck_assert_int_ge(browser_sheets(browser), 1);
	end();
}

TEST(a_screen_reader_finds_its_way_in_a_report)
{
	const char *text;

	begin();
	text = browser_read_aloud(browser);
	e2e_has(text, "\nmain 0 ");
	e2e_has(text, "\nheading 1 project: report of run r7");
	e2e_has(text, "\nheading 2 Landed (1)\n");
	e2e_has(text, "\ncolumnheader 0 Title\n");
	e2e_lacks(text, "\nheading 3");
	expect("document.querySelectorAll('th:not([scope])').length", "0");
	end();
}
