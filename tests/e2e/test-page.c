/* SPDX-License-Identifier: ISC */

/*
 * The live page in a real browser (browser.h), against the real daemon. Skipped
 * where there is no Chromium. With UNIT_SHOTS=FOLDER, pictures are left there.
 */
#include "browser.h"
#include "overrun.h"
#include "scenarios.h"

#define MANY     (getenv("UNIT_WHOLE") != NULL ? 1000 : 300)
#define PAGE_MAX (12288 + 49 * MANY) /* bytes, compressed, with the view */

#define IMAGE "<img src=x onerror='window.hurt=1'>"
#define LONG  "a-word-without-an-end-that-would-not-fit-into-a-narrow-window"

/* Takes the time from the first byte of the view to its first picture. */
static const char watch_paint[] =
    "window.fetch = (real => async (...given) => {"
    "const answer = await real(...given);"
    "if (given[0] !== 'view') return answer;"
    "return new Response(answer.body.pipeThrough(new TransformStream({"
    "transform(bytes, out) { window.first = window.first || performance.now();"
    "out.enqueue(bytes); } })), answer); })(fetch);"
    "new PerformanceObserver(l => { window.painted = "
    "l.getEntries().at(-1).startTime - window.first; })"
    ".observe({ type: 'largest-contentful-paint' });";

static const char *url;

static void
begin(void)
{
	fleet_begin();
	auto_set("web.enabled", "true");
	auto_ails("");
}

static void
begin_supervised(void)
{
	over_begin();
	auto_set("web.enabled", "true");
}

static const char *
page_url(void)
{
	return json_string_or(
	    e2e_json(e2e_llmc(fleet_root(), "web", "--json", NULL), 0), "url",
	    "");
}

/* Without what is behind the #. */
static const char *
page_origin(void)
{
	return e2e_path("%.*s", (int)strcspn(url, "#"), url);
}

static void
open_page(void)
{
	url = page_url();
	browser = browser_new();
	browser_set_size(browser, 1100, 900);
	browser_prepare(browser, watch_paint);
	browser_open(browser, url);
	page_wait("document.getElementById('state').textContent == 'live' && "
		  "document.title != 'llmc'");
}

static void
close_page(void)
{
	browser_free(browser);
}

static void
set_task(void)
{
	auto_task("a.md",
	    "Paint " IMAGE " the fence\nfake: commit a.txt a\nfake: run %s\n",
	    auto_gate("work"));
}

/* A worker in the middle of a task, and its page. */
static void
open_at_work(void)
{
	set_task();
	auto_up("--concurrency", "1", NULL);
	auto_wait_gate("work");
	open_page();
	page_wait_text("workers", "working");
}

static void
expect_own_requests(void)
{
	const char *requests = browser_requests(browser);
	const char *origin = page_origin();

	e2e_has(requests, e2e_path("%sview\n", origin));
	for (const char *line = requests; *line != '\0';
	     line = strchr(line, '\n') + 1)
		ck_assert_msg(strncmp(line, origin, strlen(origin)) == 0 ||
			strncmp(line, "about:blank\n", 12) == 0,
		    "a foreign request: %s", e2e_shown(requests));
}

START_TEST(the_page_shows_work_as_it_goes_on_in_rows_that_stay)
{
	open_at_work();
	/* Words of others are words, and nobody else is asked. */
	page_wait_text("workers", "<img src=x onerror=");
	page_expect_unhurt();
	page_expect(
	    "document.querySelectorAll('[style], [onerror]').length", "0");
	/* The token is in this tab and nowhere else. */
	page_expect("location.href", page_origin());
	page_expect("document.cookie + localStorage.length", "0");
	browser_open(browser, page_origin());
	page_wait_text("state", "live");
	expect_own_requests();
	/* By Tab alone. */
	page_value("window.seen = []; addEventListener('focusin', e => "
		   "seen.push(e.target.getAttribute('href') || e.target.id || "
		   "e.target.tagName)); 0");
	for (int i = 0; i < 15; i++)
		browser_press(browser, "Tab");
	e2e_has(page_value("seen.join(' ')"),
	    "#needs #needs #budget #workers #queue #goals #ended #events "
	    "#failures #delegation #report #/charts filter SUMMARY SUMMARY");
	page_wait_text("queue", "the fence");
	page_wait_text("events", "t1");
	page_value("window.row = document.querySelector('#workers tbody tr');"
		   "window.sum = row.querySelector('summary');"
		   "sum.focus(); sum.click(); 0");
	page_wait("row.querySelector('dl').children.length > 4");
	auto_open_gate("work");
	page_wait_text("ended", "landed");
	page_wait_text("workers", "idle");
	page_wait_text("queue", "No task is in work.");
	page_value("document.querySelector('#report button').click()");
	page_wait_text("report", "Run r1");
	page_wait_text("report", "For each that landed");
	page_expect("row.isConnected && row.querySelector('details').open && "
		    "document.activeElement === sum",
	    "true");
	page_save("work");
	ck_assert_str_eq(browser_console(browser), "");
	close_page();
}
END_TEST

/* Supervised: the listener stays, and with it the address and the token. */
START_TEST(the_page_says_lost_and_comes_back_after_a_restart)
{
	int daemon;

	auto_set("overseer.remediate", "false");
	auto_set("auto.concurrency", "1");
	set_task();
	over_start();
	daemon = over_daemon(0);
	auto_wait_gate("work");
	open_page();
	page_wait_text("workers", "working");
	page_wait_text("facts", "autod up");
	ck_assert_int_eq(kill(over_pid(), SIGSTOP), 0);
	fleet_kill(daemon);
	page_wait_text("state", "lost");
	page_wait_text("help", "llmc status");
	page_wait("!document.getElementById('facts').innerText.includes("
		  "'autod up')");
	/* What was last known stays. */
	page_wait_text("workers", "working");
	page_save("lost");
	ck_assert_int_eq(kill(over_pid(), SIGCONT), 0);
	over_daemon(daemon);
	page_wait_text("state", "live");
	page_expect("document.getElementById('help').hidden", "true");
	auto_open_gate("work");
	page_wait_text("ended", "landed");
	/* A page that is loaded again has its token. */
	browser_open(browser, page_origin());
	page_wait_text("state", "live");
	close_page();
	over_stop();
}
END_TEST

/* Not supervised: somebody else may have been at the address meanwhile. */
START_TEST(after_a_restart_alone_the_page_says_what_to_type)
{
	fleet_up();
	open_page();
	fleet_kill(fleet_daemon_pid());
	page_wait_text("state", "lost");
	page_wait_text("help", "llmc web");
	/* The same port, by chance or by the setting; not the same token. */
	auto_set("web.port",
	    e2e_path("%d", (int)strtol(strrchr(url, ':') + 1, NULL, 10)));
	fleet_up();
	page_wait_text("state", "refused");
	page_wait_text("help", "llmc web");
	page_value(
	    e2e_path("location.hash = '%s'", strchr(page_url(), '#') + 1));
	page_wait_text("state", "live");
	close_page();
}
END_TEST

START_TEST(the_page_says_that_a_daemon_hangs_and_comes_back_when_it_goes_on)
{
	pid_t daemon;

	e2e_hurry(10); /* nothing is heard for 4 s */
	fleet_up();
	open_page();
	daemon = fleet_daemon_pid();
	ck_assert_int_eq(kill(daemon, SIGSTOP), 0);
	page_wait_text("state", "lost");
	page_wait_text("help", "said nothing");
	page_wait_text("help", "llmc status");
	page_expect("document.getElementById('main').hidden", "false");
	ck_assert_int_eq(kill(daemon, SIGCONT), 0);
	page_wait_text("state", "live");
	page_expect("document.getElementById('help').hidden", "true");
	close_page();
}
END_TEST

START_TEST(without_the_right_token_the_page_says_what_to_type)
{
	fleet_up();
	url = page_url();
	browser = browser_new();
	browser_open(browser, page_origin());
	page_wait_text("state", "refused");
	page_wait_text("help", "This page needs its token.");
	page_wait_text("help", "llmc web");
	page_value("location.hash = 'token=0123456789abcdef'");
	page_wait_text("help", "The token of this page is not the one");
	page_wait_text("help", "llmc web");
	page_expect("document.getElementById('main').hidden", "true");
	page_value(e2e_path("location.hash = '%s'", strchr(url, '#') + 1));
	page_wait_text("state", "live");
	page_expect("document.getElementById('main').hidden", "false");
	/* A foreign name that leads here gets nothing. */
	browser_open(browser,
	    e2e_path("http://" BROWSER_FOREIGN_HOST "%s",
		strrchr(page_origin(), ':')));
	ck_assert_int_eq(browser_status(browser), 421);
	e2e_has(page_value("document.body.innerText"), "llmc web");
	page_expect("fetch('view', {headers: {Authorization: 'Bearer ' + "
		    "'0'.repeat(64)}}).then(r => r.status)",
	    "421");
	close_page();
}
END_TEST

/* --- many ------------------------------------------------------------ */

/* Copies of the task that is in the state, which wait. */
static void
add_many(void)
{
	struct json_object *state = auto_state(), *tasks = NULL;
	const char *first;

	ck_assert(json_object_object_get_ex(state, "tasks", &tasks));
	first = json_object_to_json_string(json_object_array_get_idx(tasks, 0));
	for (int i = 2; i <= MANY; i++) {
		struct json_object *task = json_tokener_parse(first);

		json_set_string(task, "id", e2e_path("t%d", i));
		json_set_string(task, "key", e2e_path("%d.md", i));
		json_set_string(
		    task, "title", e2e_path("Number %d of %d " LONG, i, MANY));
		json_set_string(task, "text", "fake: say nothing");
		json_set_string(task, "step", "waiting");
		json_set_string(task, "worker", NULL);
		json_set_int(task, "created_ms", 1700000000000 + i * 1234567);
		json_object_array_add(tasks, task);
	}
	json_set_int(state, "task_ids", MANY);
	auto_put_state(state);
}

/* What is sent, compressed: the three files and the view. */
static void
expect_small(void)
{
	struct e2e_run *run = e2e_sh(NULL,
	    e2e_path(
		"{ for f in '' page.css page.js; do curl -s --noproxy '*' "
		"--compressed '%s'$f; done; curl -s --noproxy '*' -N "
		"-H 'Authorization: Bearer %s' '%sview' | sed -n '/^data: /{p;q;}'; } | "
		"gzip -6 | wc -c",
		page_origin(), strchr(url, '=') + 1, page_origin()));
	long bytes = strtol(run->out, NULL, 10);

	printf("# %d tasks: %ld bytes, painted within %s ms\n", MANY, bytes,
	    page_value("Math.ceil(painted)"));
	ck_assert_msg(bytes > 10000 && bytes <= PAGE_MAX, "%ld bytes: %s",
	    bytes, e2e_shown(run->err));
}

static void
expect_narrow(void)
{
	browser_set_size(browser, 320, 700);
	page_wait("innerWidth == 320");
	page_value(
	    "document.querySelectorAll('details').forEach((d, i) => { d.open = "
	    "i < 30; }); new Promise(r => setTimeout(r))");
	page_expect(
	    "Array.from(document.querySelectorAll('main *')).filter(e => "
	    "e.getBoundingClientRect().right > 321).length",
	    "0");
	page_expect("document.documentElement.scrollWidth", "320");
}

static void
expect_dark(void)
{
	static const char light[] = "getComputedStyle(document.documentElement)"
				    ".backgroundColor.match(/\\d+/)[0] > 128";

	page_expect(light, "true");
	browser_set_dark(browser, true);
	page_wait(e2e_path("!(%s)", light));
	page_save("narrow-dark");
	browser_set_dark(browser, false);
}

START_TEST(many_tasks_are_a_small_and_quick_page)
{
	auto_task("a.md", "Number 1\nfake: commit a.txt a\nfake: run %s\n",
	    auto_gate("work"));
	auto_up("--concurrency", "1", NULL);
	auto_wait_gate("work");
	auto_kill9_daemon();
	add_many();
	auto_up("--concurrency", "1", NULL);
	open_page();
	page_wait_text("queue-h", e2e_path("(%d)", MANY));
	page_wait(
	    "document.querySelectorAll('#queue tbody')[0].rows.length == 200");
	page_wait(e2e_path(
	    "[...document.querySelectorAll('#queue button')].filter(b => "
	    "!b.hidden).forEach(b => b.click()), document."
	    "querySelectorAll('#queue tbody')[0].rows.length == %d",
	    MANY));
	/* In the order of their numbers. */
	page_expect(
	    e2e_path("document.querySelectorAll('#queue tbody')[0].rows[%d]"
		     ".cells[0].textContent",
		MANY - 1),
	    e2e_path("t%d", MANY));
	page_save("many");
	expect_small();
	expect_narrow();
	expect_dark();
	page_value("document.getElementById('filter').value = 'number 77 of'; "
		   "document.getElementById('filter').dispatchEvent(new "
		   "Event('input'))");
	page_wait(
	    "document.querySelectorAll('#queue tbody')[0].rows.length == 1");
	ck_assert_str_eq(browser_console(browser), "");
	close_page();
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s = suite_create("page");
	TCase *supervised = tcase_create("supervised");
	const TTest *const all[] = {
		the_page_shows_work_as_it_goes_on_in_rows_that_stay,
		after_a_restart_alone_the_page_says_what_to_type,
		the_page_says_that_a_daemon_hangs_and_comes_back_when_it_goes_on,
		without_the_right_token_the_page_says_what_to_type,
		many_tasks_are_a_small_and_quick_page
	};

	if (browser_program() == NULL)
		unit_skip_all("there is no chromium (tools/deps.sh lint)");
	browser_share();
	for (size_t i = 0; i < nitems(all); i++)
		scenarios_add_test(s, begin, all[i]);
	unit_set_timeout(supervised, 120);
	tcase_add_checked_fixture(supervised, begin_supervised, over_end);
	tcase_add_test(
	    supervised, the_page_says_lost_and_comes_back_after_a_restart);
	suite_add_tcase(s, supervised);
	return s;
}
