/* SPDX-License-Identifier: ISC */

/*
 * The charts of the page in a real browser (browser.h): of a daemon, and with
 * the data of page-charts.js instead of the daemon's. Skipped where there is no
 * Chromium. With UNIT_SHOTS=FOLDER, pictures are left there.
 */
#include "autorun.h"
#include "browser.h"

#define DRAWN_MS 200
#define DRAWS    5

const int unit_timeout = 300; /* seconds: a browser starts once for all */

void
unit_begin(void)
{
	if (browser_program() == NULL)
		unit_skip_all("there is no chromium (tools/deps.sh lint)");
}

static void
open_charts(int workers)
{
	page_value(e2e_path(
	    "sessionStorage.fake = '%d'; location.hash = '#'; 0", workers));
	page_wait("!document.querySelector('.chart')");
	page_value("location.hash = '#/charts'; 0");
	page_wait("!!document.querySelector('.chart-goal text')");
}

/* What the sums say is what the data say. */
static void
words_are_the_sums_of_the_data(void)
{
	static const char *const words[] = { "Time of 100 workers",
		"a person was asked: 75",
		"llmc itself failed, or was repaired: 75",
		"Tasks that ended, per hour", "Today: $18.40 of $20.00",
		"The cost of 1 task is not known", "At most 4 workers",
		"Others: 3, for $1.50", "takes 18 of 30 estimated turns",
		"<img src=x onerror=" };
	const char *text =
	    page_value("document.getElementById('screen').innerText");

	for (size_t i = 0; i < nitems(words); i++)
		e2e_has(text, words[i]);
	e2e_has(text,
	    page_value(
		"(d => d.landed.reduce((a, b) => a + b) + ' with a result, ' "
		"+ d.not_landed.reduce((a, b) => a + b) + ' without')("
		"night(100))"));
	/* In the table, the time of a worker adds up to the day. */
	page_value(
	    "document.querySelector('.chart-time details').open = true; 0");
	page_wait(
	    "document.querySelectorAll('.chart-time tbody tr').length == 100");
	e2e_has(
	    page_value("document.querySelector('.chart-time tbody').innerText"),
	    "auto-100");
}

/* By keys, and by the buttons; "All" is all of it. */
static void
the_timeline_is_zoomed_and_moved(void)
{
	static const char shown[] = "document.querySelector('.chart-time svg "
				    ".axis').textContent";
	cleanup_free char *all = xstrdup(page_value(shown));
	cleanup_free char *zoomed = NULL;

	page_value("document.querySelector('.chart-time svg').focus(); 0");
	browser_press(browser, "+");
	browser_press(browser, "+");
	page_wait(e2e_path("%s != '%s'", shown, all));
	zoomed = xstrdup(page_value(shown));
	browser_press(browser, "ArrowRight");
	page_wait(e2e_path("%s != '%s'", shown, zoomed));
	/* The bars below show the same hours. */
	page_expect(e2e_path("document.querySelector('.chart-money .axis')"
			     ".textContent == %s",
			shown),
	    "true");
	browser_press(browser, "Home");
	page_wait(e2e_path("%s == '%s'", shown, all));
	page_value("[...document.querySelectorAll('.tools button')].find(b => "
		   "b.textContent == 'Zoom in').click(); 0");
	page_wait(e2e_path("%s != '%s'", shown, all));
	/* Two fingers: what is under them stays there. */
	page_value(
	    "(svg => { const box = svg.getBoundingClientRect(); const f = "
	    "(type, id, x) => svg.dispatchEvent(new PointerEvent(type, { "
	    "pointerId: id, clientX: box.left + x, clientY: box.top + 20, "
	    "button: 0 })); svg.setPointerCapture = () => {}; "
	    "f('pointerdown', 1, 300); f('pointerdown', 2, 400); "
	    "f('pointermove', 2, 700); f('pointerup', 1, 300); "
	    "f('pointerup', 2, 700); })(document.querySelector("
	    "'.chart-time svg')); 0");
	page_wait(
	    e2e_path("%s != '%s' && %s != '%s'", shown, all, shown, zoomed));
	browser_press(browser, "Home");
}

static void
nothing_is_wider_than_the_window(void)
{
	static const int widths[] = { 360, 800, 1400 };

	for (size_t i = 0; i < nitems(widths); i++)
		for (int dark = 0; dark < 2; dark++) {
			browser_set_dark(browser, dark == 1);
			browser_set_size(browser, widths[i], 1000);
			page_wait(e2e_path("innerWidth == %d", widths[i]));
			page_wait("document.querySelector('.chart-time svg')"
				  ".viewBox.baseVal.width <= innerWidth");
			page_expect(
			    "JSON.stringify([...document.querySelectorAll("
			    "'#screen, #screen *')].filter(e => "
			    "e.checkVisibility() && !e.closest('.defs, "
			    "thead') && e.getBoundingClientRect().right > "
			    "innerWidth + 1).map(e => e.outerHTML.slice(0, "
			    "90)).slice(0, 5))",
			    "[]");
			page_expect("document.documentElement.scrollWidth <= "
				    "innerWidth",
			    "true");
			page_expect(
			    "[...document.querySelectorAll('.tools button')]"
			    ".every(b => b.offsetHeight >= 44)",
			    "true");
			page_save(e2e_path("charts-%d-%s", widths[i],
			    dark == 1 ? "dark" : "light"));
		}
	browser_set_dark(browser, false);
	browser_set_size(browser, 1100, 900);
}

/* 3 to 1 for what is drawn (WCAG 2.1, 1.4.11); patterns and shapes say the rest
 * where colours come near to each other. */
static void
colours_can_be_told_apart(void)
{
	for (int dark = 0; dark < 2; dark++) {
		browser_set_dark(browser, dark == 1);
		page_wait(e2e_path("matchMedia('(prefers-color-scheme: dark)')"
				   ".matches == %s",
		    dark == 1 ? "true" : "false"));
		printf("# %s: %s\n", dark == 1 ? "dark" : "light",
		    page_value("colours()"));
		page_expect("colours().contrast >= 3", "true");
		page_expect("colours().distance >= 15", "true");
	}
	browser_set_dark(browser, false);
}

static void
it_is_read_aloud_and_printed(void)
{
	const char *text = browser_read_aloud(browser);

	e2e_has(text, "\nimage 0 Time of 100 workers. From ");
	e2e_has(text, "\nimage 0 Landing queue. At most 4 workers");
	e2e_has(
	    text, "\nDisclosureTriangle 0 Cost of tasks, per hour as a table");
	browser_set_print(browser, true);
	page_expect(
	    "document.querySelector('.chart-time svg').checkVisibility() && "
	    "!document.querySelector('.tools button').checkVisibility()",
	    "true");
	browser_set_print(browser, false);
}

static void
a_day_of_100_workers_is_drawn_soon(void)
{
	const char *best = page_value("draws(2)"); /* as a page that was used */
	double from = browser_used_ms(browser), used;

	best = page_value(e2e_path("draws(%d)", DRAWS));
	used = (browser_used_ms(browser) - from) / DRAWS;
	printf("# 100 workers x 24 h: %.0f ms of the processor, in %s ms\n",
	    used, best);
	/* The machine may have other things to do. */
	ck_assert_double_le(used, DRAWN_MS);
}

TEST(charts_are_as_they_should_be)
{
	static const struct {
		const char *name;
		void (*check)(void);
	} rows[] = {
#define ROW(name) { #name, name }
		ROW(words_are_the_sums_of_the_data),
		ROW(the_timeline_is_zoomed_and_moved),
		ROW(nothing_is_wider_than_the_window),
		ROW(colours_can_be_told_apart),
		ROW(it_is_read_aloud_and_printed),
		ROW(a_day_of_100_workers_is_drawn_soon), /* ends fetch */
#undef ROW
	};
	cleanup_json struct json_object *web = NULL;

	fleet_begin();
	auto_set("web.enabled", "true");
	fleet_up();
	web = e2e_json(e2e_llmc(fleet_root(), "web", "--json", NULL), 0);
	browser = browser_new();
	browser_prepare(
	    browser, e2e_read(e2e_source("tests/e2e/page-charts.js")));
	browser_set_size(browser, 1100, 900);
	browser_open(browser, json_string_or(web, "url", ""));
	page_wait("document.getElementById('state').textContent == 'live'");
	/* The daemon's own. */
	page_value(
	    "document.querySelector('nav [href=\"#/charts\"]').click(); 0");
	page_wait(
	    "document.getElementById('screen').innerText.includes('as of ')");
	e2e_has(page_value("document.getElementById('screen').innerText"),
	    "0 with a result, 0 without");
	for (size_t i = 0; i < nitems(rows); i++) {
		printf("# %s\n", rows[i].name);
		fflush(stdout);
		open_charts(100);
		rows[i].check();
		page_expect_unhurt();
	}
	browser_free(browser);
}
