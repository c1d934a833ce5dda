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
#define TRIES    10

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

static struct browser *browser;

const int unit_timeout = 120; /* seconds, each */

static const char *
value(const char *expression)
{
	return browser_value(browser, expression);
}

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
	browser_wait(
	    browser, "document.getElementById('state').textContent == 'live'");
	value("location.hash = '#/review/adam'");
	browser_wait(browser, "!!document.querySelector('.file')");
}

static void
shot(const char *name)
{
	if (getenv("UNIT_SHOTS") != NULL)
		browser_save(
		    browser, e2e_path("%s/%s.png", getenv("UNIT_SHOTS"), name));
}

void
unit_begin(void)
{
	if (browser_program() == NULL)
		unit_skip_all("there is no chromium (contrib/deps.sh lint)");
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
	fleet_start("adam", "fake: commit a.txt first");
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

	begin(false);
	commit(e2e_path("for i in 1 2 3 4 5; do seq %d | sed 's/$/ " IMAGE
			"/' >long-$i.c; done; echo '" IMAGE "' >'" IMAGE
			".txt'; seq 2000 >longer; printf "
			"'\\0' >bin; git mv a.txt moved.txt",
	    LINES / 5));
	open_review();
	browser_wait(browser, "window.painted > 0");
	/* The best of some: others use the machine, too. */
	for (int i = 0;
	     i < TRIES && strtod(value("window.painted"), NULL) > PAINT_MS;
	     i++) {
		value("location.hash = '#', window.painted = 0");
		browser_wait(browser, "!document.querySelector('.file')");
		value("location.hash = '#/review/adam'");
		browser_wait(browser, "window.painted > 0");
	}
	ck_assert_msg(strtod(value("window.painted"), NULL) <= PAINT_MS,
	    "answered in %s ms, painted in %s ms", value("window.asked"),
	    value("window.painted"));
	words = value("document.getElementById('screen').textContent");
	e2e_has(words, "The change of adam");
	e2e_has(words, "no lines are shown. To see them: git diff --text");
	e2e_has(words, "Show 2000 changed lines");
	e2e_has(words, "Add " IMAGE);
	e2e_has(words, IMAGE ".txt");
	e2e_has(words, "moved.txt");
	e2e_has(words, "llmc review adam --comment");
	/* A part only; the rest comes as it is scrolled to. */
	ck_assert_double_lt(
	    strtod(
		value("document.querySelectorAll('.chunk tr').length"), NULL),
	    LINES / 2);
	ck_assert_str_eq(value("document.querySelector('.add .s').offsetWidth "
			       "> 800"),
	    "true");
	shot("review");
	value("[...document.querySelectorAll('.file button')].find(b => "
	      "b.textContent.includes('2000')).click()");
	browser_wait(
	    browser, "document.querySelectorAll('.file .later').length > 40");
	ck_assert_str_eq(
	    value("document.querySelectorAll('#screen img').length"), "0");
	ck_assert_str_eq(value("String(window.hurt)"), "undefined");
	ck_assert_str_eq(browser_console(browser), "");
}

static void
type_into(const char *element, const char *text)
{
	value(e2e_path("(e => { e.value = \"%s\"; e.dispatchEvent(new "
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
	browser_wait(browser, "!!(" BUTTON("Accept") ")");
	value("(" LINE("two") ").querySelector('.n').click()");
	type_into("document.querySelector('.said textarea')", "why two?");
	value("(" LINE("two") ").focus()");
	browser_press(browser, "ArrowDown");
	browser_press(browser, "Enter");
	browser_wait(browser,
	    "document.activeElement.getAttribute('aria-label') == "
	    "'Comment on b.txt:3'");
	type_into("document.activeElement", IMAGE);
	value("window.before = true, location.reload()");
	browser_wait(browser,
	    "!window.before && document.querySelectorAll('.said textarea').length == 2 && !!(" BUTTON(
		"Send back") ")");
	type_into("document.querySelector('.acts textarea')",
	    "fake: run printf 1 >b.txt\\nfake: commit c.txt fixed");
	/* On a phone, too. */
	browser_set_size(browser, 360, 740);
	browser_set_dark(browser, true);
	ck_assert_str_eq(
	    value("String(document.documentElement.scrollWidth)"), "360");
	ck_assert_str_eq(
	    value("document.querySelector('.add .s').offsetWidth > 200"),
	    "true");
	shot("review-comments");
	value("(" BUTTON("Send back") ").click()");
	if (!real) /* which keeps a list */
		fleet_wait_prompt("- b.txt:2: why two?\n- b.txt:3: " IMAGE);
	browser_wait(browser, "!document.querySelector('.file')");
	fleet_wait("adam", "needs_review");
	ck_assert_str_eq(value("sessionStorage.length"), "1");
	e2e_has(fleet_do("replay", "adam", NULL)->out, "b.txt:2: why two?");
	head = e2e_git(fleet_worktree("adam"), "rev-parse", "HEAD", NULL);
	value("location.hash = '#/review/adam'");
	browser_wait(browser, e2e_path("!!(" BUTTON("Accept %.7s") ")", head));
	value("(" BUTTON("Accept") ").click()");
	browser_wait(browser, "!!(" BUTTON("Land") ")");
	value("(" BUTTON("Land") ").click()");
	browser_wait(browser,
	    "document.getElementById('outcome').textContent.startsWith("
	    "'Landed on main as ')");
	e2e_has(e2e_read(e2e_path("%s/c.txt", fleet_root())), "fixed");
	ck_assert_str_eq(value("String(window.hurt)"), "undefined");
	ck_assert_str_eq(browser_console(browser), "");
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

TEST(a_screen_is_live_while_it_is_seen)
{
	begin(false);
	open_review();
	value("location.hash = '#/screen/adam'");
	browser_wait(browser,
	    "document.querySelector('pre.screen').textContent.length > 10 && "
	    "document.querySelector('#screen [role=status]').textContent == "
	    "'needs_review'");
	value("location.hash = '#/replay/adam'");
	browser_wait(browser,
	    "!!document.querySelector('.replay .asked') && "
	    "document.querySelector('.replay').textContent.includes('fake: "
	    "commit a.txt first')");
	shot("replay");
	ck_assert_str_eq(browser_console(browser), "");
}
