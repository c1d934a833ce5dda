/* SPDX-License-Identifier: ISC */

/*
 * Reviews on the page, in a real browser (browser.h), against the real daemon.
 * Skipped where there is no Chromium. With UNIT_SHOTS=FOLDER, pictures are left
 * there.
 */
#include "browser.h"
#include "fleet.h"

#define IMAGE    "<img src=x onerror=window.hurt=1>"
#define LINES    5000
#define PAINT_MS 300
#define TRIES    5

/* The time from the answer of the daemon to the first picture of it. */
static const char watch_paint[] =
    "window.fetch = (real => async (...given) => {"
    "const begun = performance.now(), answer = await real(...given);"
    "if (!String(given[0]).startsWith('api/review')) return answer;"
    "const text = await answer.text();"
    "window.asked = performance.now() - begun;"
    "const first = performance.now();"
    "new MutationObserver((list, self) => {"
    "if (!document.querySelector('.chunk')) return; self.disconnect();"
    "requestAnimationFrame(() => setTimeout(() => { window.painted = "
    "performance.now() - first; })); }).observe(document.body, "
    "{ childList: true, subtree: true });"
    "return new Response(text, answer); })(fetch);";

const int unit_timeout = 120; /* seconds, each */

/* The page of what adam has changed. */
static void
open_review(void)
{
	const char *url = json_string_or(
	    e2e_json(e2e_llmc(fleet_root(), "web", "--json", NULL), 0), "url",
	    "");

	browser = browser_new();
	browser_set_size(browser, 1100, 900);
	browser_prepare(browser, watch_paint);
	browser_open(browser, url);
	page_wait("document.getElementById('state').textContent == 'live'");
	page_value("location.hash = '#/review/adam'");
	page_wait("!!document.querySelector('.file')");
}

void
unit_begin(void)
{
	if (browser_program() == NULL)
		unit_skip_all("there is no chromium (tools/deps.sh lint)");
	browser_share();
}

/* adam has finished. */
static void
begin(bool real)
{
	if (real) {
		fleet_begin_real();
		fleet_do("doctor", "trust", "--onboarding", NULL);
	} else {
		fleet_begin();
	}
	fleet_do("config", "set", "web.enabled", "true", NULL);
	fleet_up();
	fleet_add("adam");
	fleet_start("adam", "Paint " IMAGE "\nfake: commit a.txt first");
	fleet_wait("adam", "needs_review");
}

void
unit_after(void)
{
	browser_free(browser);
	browser = NULL;
	fleet_end();
}

static void
commit(const char *script)
{
	e2e_sh(fleet_worktree("adam"),
	    e2e_path("%s; git add -A; git commit -qm 'Add " IMAGE "'", script));
}

TEST(a_long_change_is_soon_seen_and_runs_no_script)
{
	const char *words;
	double painted;

	begin(false);
	commit(e2e_path("for i in 1 2 3 4 5; do seq %d | sed 's/$/ " IMAGE
			"/' >long-$i.c; done; echo '" IMAGE "' >'" IMAGE
			".txt'; seq 2000 >longer; printf "
			"'\\0' >bin; git mv a.txt moved.txt",
	    LINES / 5));
	open_review();
	page_wait("window.painted > 0");
	painted = strtod(page_value("window.painted"), NULL);
	/* The best of some, then what it uses of the processor: others use the
	 * machine, too. */
	for (int i = 0; i < TRIES && painted > PAINT_MS; i++) {
		double from, took;

		page_value("location.hash = '#', window.painted = 0");
		page_wait("!document.querySelector('.file')");
		from = browser_used_ms(browser);
		page_value("location.hash = '#/review/adam'");
		page_wait("window.painted > 0");
		took = browser_used_ms(browser) - from;
		painted = strtod(page_value("window.painted"), NULL);
		painted = i + 1 == TRIES && took < painted ? took : painted;
	}
	printf("# %d lines: painted in %.0f ms, answered in %.0f ms\n", LINES,
	    painted, strtod(page_value("window.asked"), NULL));
	ck_assert_double_le(painted, PAINT_MS);
	words = page_value("document.getElementById('screen').textContent");
	e2e_has(words, "The change of adam");
	e2e_has(words, "Binary: no lines are shown.");
	e2e_has(words, "Show 2000 changed lines");
	e2e_has(words, "Add " IMAGE);
	e2e_has(words, IMAGE ".txt");
	e2e_has(words, "moved.txt");
	e2e_has(words, "llmc review adam --comment");
	/* A part only; the rest comes as it is scrolled to. */
	ck_assert_double_lt(
	    strtod(page_value("document.querySelectorAll('.chunk tr').length"),
		NULL),
	    LINES / 2);
	page_expect("document.querySelector('.add .s').offsetWidth "
		    "> 800",
	    "true");
	page_save("review");
	page_value("[...document.querySelectorAll('.file button')].find(b => "
		   "b.textContent.includes('2000')).click()");
	page_wait("document.querySelectorAll('.file .later').length > 40");
	page_expect_unhurt();
}

static void
type_into(const char *element, const char *text)
{
	page_value(e2e_path("(e => { e.value = \"%s\"; e.dispatchEvent(new "
			    "Event('input')); })(%s)",
	    text, element));
}

#define BUTTON(words)                                               \
	"[...document.querySelectorAll('.acts button')].find(b => " \
	"b.textContent.startsWith('" words "'))"
#define LINE(words)                                              \
	"[...document.querySelectorAll('.chunk tr')].find(r => " \
	"r.textContent.endsWith('" words "'))"

/* Comments outlive a reload; what was shown is what is accepted. */
static void
comment_and_accept(bool real)
{
	const char *head;

	begin(real);
	fleet_do("config", "set", "web.mode", "work", NULL);
	commit("printf 'one\\ntwo\\nthree\\n' >b.txt");
	open_review();
	page_wait("!!(" BUTTON("Accept") ")");
	page_value("(" LINE("two") ").querySelector('.n').click()");
	type_into("document.querySelector('.said textarea')", "why two?");
	page_value("(" LINE("two") ").focus()");
	browser_press(browser, "ArrowDown");
	browser_press(browser, "Enter");
	page_wait("document.activeElement.getAttribute('aria-label') == "
		  "'Comment on b.txt:3'");
	type_into("document.activeElement", IMAGE);
	page_value("window.before = true, location.reload()");
	page_wait(
	    "!window.before && document.querySelectorAll('.said textarea').length == 2 && !!(" BUTTON(
		"Send back") ")");
	type_into("document.querySelector('.acts textarea')",
	    "fake: run printf 1 >b.txt\\nfake: commit c.txt fixed");
	/* On a phone, too. */
	browser_set_size(browser, 360, 740);
	browser_set_dark(browser, true);
	page_expect("String(document.documentElement.scrollWidth)", "360");
	page_expect(
	    "document.querySelector('.add .s').offsetWidth > 200", "true");
	page_save("review-comments");
	page_value("(" BUTTON("Send back") ").click()");
	if (!real) /* which keeps a list */
		fleet_wait_prompt(
		    "- b.txt:2: why two?\n  The line: two\n- b.txt:3: " IMAGE
		    "\n  The line: three\n");
	page_wait("!document.querySelector('.file')");
	fleet_wait("adam", "needs_review");
	page_expect("sessionStorage.length", "1");
	e2e_has(fleet_do("replay", "adam", NULL)->out, "b.txt:2: why two?");
	head = e2e_git(fleet_worktree("adam"), "rev-parse", "HEAD", NULL);
	page_value("location.hash = '#/review/adam'");
	page_wait(e2e_path("!!(" BUTTON("Accept %.7s") ")", head));
	page_value("(" BUTTON("Accept") ").click()");
	page_wait("!!(" BUTTON("Land") ")");
	page_value("(" BUTTON("Land") ").click()");
	page_wait("document.getElementById('outcome').textContent.startsWith("
		  "'Landed on main as ')");
	e2e_has(e2e_read(e2e_path("%s/c.txt", fleet_root())), "fixed");
	page_expect_unhurt();
}

TEST(comments_go_back_and_what_was_fixed_is_accepted)
{
	comment_and_accept(false);
}

TEST(the_real_claude_code_fixes_what_comments_say)
{
	if (fleet_real_agent() == NULL)
		unit_skip("LLMC_REAL_CLAUDE is not set");
	comment_and_accept(true);
}

#define LOOKS                                                          \
	"performance.getEntriesByType('resource').filter(e => e.name." \
	"includes('/api/screen')).length"

/* How often the screen was asked for in a second. */
static int
looks(void)
{
	return (int)strtol(
	    page_value(
		"(async () => { const was = " LOOKS
		"; await new Promise(r => setTimeout(r, 1000)); return " LOOKS
		" - was; })()"),
	    NULL, 10);
}

static void
hide(bool hidden)
{
	page_value(e2e_path(
	    "Object.defineProperty(document, 'hidden', { configurable: true, "
	    "value: %s }); document.dispatchEvent(new "
	    "Event('visibilitychange'))",
	    hidden ? "true" : "false"));
}

TEST(a_screen_is_live_while_it_is_seen)
{
	begin(false);
	open_review();
	page_value("location.hash = '#/screen/adam'");
	page_wait(
	    "document.querySelector('pre.screen').textContent.length > 10 && "
	    "document.querySelector('#screen [role=status]').textContent == "
	    "'needs_review'");
	page_save("screen");
	/* Four times a second at most, and not at all where nobody looks. */
	ck_assert_int_le(looks(), 4);
	page_wait(LOOKS " >= 3");
	hide(true);
	ck_assert_int_le(looks(), 1); /* that was under way */
	ck_assert_int_eq(looks(), 0);
	hide(false);
	page_value("window.was = " LOOKS);
	page_wait(LOOKS " > was");
	page_value("location.hash = '#'");
	ck_assert_int_le(looks(), 1);
	ck_assert_int_eq(looks(), 0);
	page_value("location.hash = '#/replay/adam'");
	page_wait(
	    "!!document.querySelector('.replay .asked') && "
	    "document.querySelector('.replay').textContent.includes('Paint " IMAGE
	    "') && document.querySelector('.replay').textContent.includes('fake: "
	    "commit a.txt first')");
	page_save("replay");
	page_expect_unhurt();
}
