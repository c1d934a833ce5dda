/* SPDX-License-Identifier: ISC */

/*
 * Work from the page: what a POST needs, asked with curl, and what a person
 * does in a browser (browser.h), where there is one. The rules one by one:
 * test-web-rules.c. With UNIT_SHOTS=FOLDER, pictures are left there.
 */
#include "browser.h"
#include "teamrun.h"

#define IMAGE "<img src=x onerror=window.hurt=1>"

static int port;
static const char *url, *token, *page;

void
unit_begin(void)
{
	if (browser_program() != NULL)
		browser_share();
}

void
unit_before(void)
{
	fleet_begin();
	goal_enable();
	auto_ails("");
	auto_set("web.enabled", "true");
}

const int unit_timeout = 120; /* seconds, each */

static void
find_page(void)
{
	cleanup_json struct json_object *answer =
	    e2e_json(e2e_llmc(fleet_root(), "web", "--json", NULL), 0);

	url = e2e_path("%s", json_string_or(answer, "url", ""));
	port = (int)json_int_or(answer, "port", 0);
	token = strchr(url, '=') + 1;
}

/* As a browser does that has the page open: its name is in the stream. */
static void
follow(void)
{
	const char *out = e2e_path("%s/stream", unit_scratch());

	find_page();
	e2e_write(out, "");
	e2e_leave_behind(e2e_path(
	    "curl -s -N --noproxy '*' --max-time 60 "
	    "-H 'Authorization: Bearer %s' 'http://127.0.0.1:%d/view' >'%s'",
	    token, port, out));
	auto_wait_shell(e2e_path("grep -q '^event: snapshot$' '%s'", out));
	page = strstr(e2e_read(out), "\"page\":\"");
	ck_assert_ptr_nonnull(page);
	page = e2e_path("%.64s", page + 8);
}

static const char *
post(const char *method, const char *fields, const char *body)
{
	struct e2e_run *run = e2e_sh(NULL,
	    e2e_path("curl -s -i --noproxy '*' --max-time 30 %s -d '%s' "
		     "'http://127.0.0.1:%d/api/%s'",
		fields, body, port, method));

	e2e_expect(run, 0, NULL);
	return run->out;
}

/* The fields of our own page; click: of this request. */
static const char *
own(const char *click)
{
	return e2e_path("-H 'Authorization: Bearer %s' "
			"-H 'Origin: http://127.0.0.1:%d' "
			"-H 'Content-Type: application/json' "
			"-H 'X-Llmc-Page: %s' -H 'X-Llmc-Request: %s'",
	    token, port, page, click);
}

static int
count_todo(void)
{
	return (int)strtol(
	    e2e_sh(fleet_root(), "ls .llmc/tasks/todo | wc -l")->out, NULL, 10);
}

TEST(in_view_mode_nothing_is_changed)
{
	fleet_up();
	follow();
	e2e_has(e2e_read(e2e_path("%s/stream", unit_scratch())),
	    "\"mode\":\"view\"");
	e2e_has(post("task.add", own("0123456789abcdef"), "{\"text\":\"x\"}"),
	    "HTTP/1.1 403 ");
	e2e_has(post("task.add", own("0123456789abcdef"), "{\"text\":\"x\"}"),
	    "llmc config set web.mode work");
	ck_assert_int_eq(count_todo(), 0);
	/* A page that is open learns that it may now. */
	fleet_do("config", "set", "web.mode", "work", NULL);
	follow();
	e2e_has(e2e_read(e2e_path("%s/stream", unit_scratch())),
	    "\"mode\":\"work\"");
	e2e_has(post("task.add", own("0123456789abcdef"), "{\"text\":\"x\"}"),
	    "HTTP/1.1 200 ");
	ck_assert_int_eq(count_todo(), 1);
}

TEST(a_change_is_made_once_by_an_open_page_of_ours_and_nobody_else)
{
	const char *answer, *id;

	auto_set("web.mode", "work");
	fleet_up();
	follow();
	id = "X-Llmc-Request: 0123456789abcdef";
	{
		const char *bearer =
		    e2e_path("-H 'Authorization: Bearer %s'", token);
		const char *origin =
		    e2e_path("-H 'Origin: http://127.0.0.1:%d'", port);
		const char *json = "-H 'Content-Type: application/json'";
		const char *name = e2e_path("-H 'X-Llmc-Page: %s'", page);
		const struct {
			const char *fields[5];
			int status;
		} rows[] = {
			{ { "", origin, json, name, "" }, 401 },
			{ { bearer, "", json, name, "" }, 403 },
			{ { bearer, "-H 'Origin: http://evil.example'", json,
			      name, "" },
			    403 },
			{ { bearer, origin, json, name,
			      "-H 'Sec-Fetch-Site: cross-site'" },
			    403 },
			{ { bearer, origin, json, name,
			      "-H 'Sec-Fetch-Site: same-site'" },
			    403 },
			{ { bearer, "-H 'Origin: null'", json, name, "" },
			    403 },
			{ { bearer, origin, json, name,
			      "-H 'Host: evil.example'" },
			    421 },
			{ { bearer, origin, json, name, "-H 'X-Llmc-Page: x'" },
			    400 },
			{ { bearer, origin, json, "", "" }, 403 },
			{ { bearer, origin, json,
			      e2e_path("-H 'X-Llmc-Page: %s'", token), "" },
			    403 },
			{ { bearer, origin, "", name, "" }, 415 },
			{ { bearer, origin, "-H 'Content-Type: text/plain'",
			      name, "" },
			    415 },
			{ { bearer, origin, json, name,
			      "-H 'Transfer-Encoding: chunked'" },
			    411 },
		};

		for (size_t i = 0; i < nitems(rows); i++) {
			answer = post("task.add",
			    e2e_path("%s %s %s %s %s -H '%s'",
				rows[i].fields[0], rows[i].fields[1],
				rows[i].fields[2], rows[i].fields[3],
				rows[i].fields[4], id),
			    "{\"text\":\"x\"}");
			e2e_has(
			    answer, e2e_path("HTTP/1.1 %d ", rows[i].status));
			e2e_lacks(answer, "Access-Control");
		}
	}
	e2e_has(post("task.add", own("a"), "{\"text\":\"x\"}"), " 400 ");
	e2e_has(post("task.add", own("0123456789abcdef"), "{"), " 400 ");
	e2e_has(post("task.add", own("0123456789abcdef"), "[]"), " 400 ");
	e2e_has(
	    post("task.add", own("1123456789abcdef"), "{\"x\":1}"), " 400 ");
	e2e_has(post("daemon.stop", own("0123456789abcdef"), "{}"), " 404 ");
	e2e_has(
	    post("overseer.store.sql", own("0123456789abcdef"), "{}"), " 404 ");
	e2e_sh(unit_scratch(), "head -c 140000 /dev/zero | tr '\\0' x >long");
	e2e_has(e2e_sh(unit_scratch(),
		    e2e_path("curl -s -i --noproxy '*' --max-time 30 %s "
			     "-d @long http://127.0.0.1:%d/api/task.add",
			own("0123456789abcdef"), port))
		    ->out,
	    " 413 ");
	ck_assert_int_eq(count_todo(), 0);
	/* The same click again is answered as before, and not done again. */
	for (int i = 0; i < 3; i++)
		e2e_has(post("task.add", own("2123456789abcdef"),
			    "{\"text\":\"Paint the fence\"}"),
		    " 200 ");
	ck_assert_int_eq(count_todo(), 1);
	/* Its number is no other request's. */
	e2e_has(post("task.add", own("2123456789abcdef"),
		    "{\"text\":\"Paint the house\"}"),
	    "was used for another one");
	e2e_has(post("task.drop", own("2123456789abcdef"),
		    "{\"text\":\"Paint the fence\"}"),
	    " 409 ");
	ck_assert_int_eq(count_todo(), 1);
	e2e_has(
	    post("task.retry", own("3123456789abcdef"), "{\"task\":\"t99\"}"),
	    "t99");
	e2e_has(fleet_do("log", NULL)->out,
	    "by the page: add the task Paint the fence");
	e2e_lacks(fleet_do("log", NULL)->out, "by the page: retry");
}

/* --- in a browser ----------------------------------------------------- */

static void
open_page(void)
{
	if (browser_program() == NULL)
		unit_skip("there is no chromium (tools/deps.sh lint)");
	find_page();
	browser = browser_new();
	browser_set_size(browser, 360, 740);
	browser_open(browser, url);
	page_wait_text("state", "live");
}

/* A question of an agent, with options. */
static void
ask(void)
{
	auto_set("web.mode", "work");
	auto_task("a.md",
	    "Paint " IMAGE " it.\n"
	    "fake: tool request_orchestrator {\"message\":\"Which " IMAGE
	    " colour?\",\"options\":[\"red\",\"blue" IMAGE "\"],"
	    "\"timeoutSeconds\":3600}\nfake: keep %s\nfake: commit a.txt a",
	    team_kept("answer"));
	auto_up(NULL);
	auto_wait_shell("\"$LLMC\" asks | grep -q colour");
}

/* No button is too small for a thumb, and none is without a name. */
static void
expect_buttons(const char *within)
{
	const char *small = page_value(
	    e2e_path("[...document.querySelectorAll('%s button')].filter(b => {"
		     "const r = b.getBoundingClientRect();"
		     "return r.width && (r.height < 40 || r.width < 40 || "
		     "r.right > 360); }).map(b => b.textContent).join()",
		within));

	ck_assert_str_eq(small, "");
}

TEST(a_question_is_answered_with_two_taps_at_the_phone)
{
	ask();
	open_page();
	page_wait_text("needs", "Which <img");
	page_wait(
	    "document.querySelectorAll('#needs .act button').length == 3");
	expect_buttons("#needs .act");
	page_save("desk-needs");
	e2e_has(browser_read_aloud(browser), "button 0 Answer a1: red\n");
	/* A message to a person has a link: a tap on it, and one on the answer.
	 */
	browser_open(browser, "about:blank");
	browser_open(browser, e2e_path("http://127.0.0.1:%d/#/ask/a1", port));
	page_wait(
	    "document.querySelectorAll('#screen .act button').length == 3");
	page_wait_text("screen", "Which <img");
	expect_buttons("#screen .act");
	page_expect("[...document.querySelectorAll('#screen .act button')]"
		    ".every(b => b.getBoundingClientRect().bottom <= 740) && "
		    "document.documentElement.scrollWidth == 360",
	    "true");
	page_save("desk-ask");
	page_value("document.querySelector('#screen .act button').click()");
	page_wait_text("outcome", "is answered: red");
	page_wait_text("screen", "a1 is not open: it was answered");
	page_value("location.hash = '#'");
	page_wait("!document.getElementById('needs').textContent.includes("
		  "'colour')");
	page_save("desk-answered");
	auto_wait_finished("landed", 1);
	e2e_has(team_read("answer"), "red");
	page_expect_unhurt();
	e2e_has(fleet_do("log", NULL)->out, "by the page: answer a1");
	/* It landed, and is taken back: asked once more, then done. */
	page_wait("!!document.querySelector('#ended summary')");
	page_value("document.querySelector('#ended summary').click()");
	page_wait("!!document.querySelector('#ended .act button')");
	page_value("document.querySelector('#ended .act button').click()");
	page_expect("document.activeElement.textContent", "Cancel");
	page_save("desk-revert");
	page_value("document.querySelector('#ended .act .bad').click()");
	auto_wait_shell("git log --oneline | grep -q -i revert");
	browser_free(browser);
}

/* Three pages ask for the same at once: one wins, and the others are told. */
static const char *
race(const char *method, const char *body)
{
	e2e_sh(unit_scratch(),
	    e2e_path("for i in 1 2 3; do curl -s --noproxy '*' --max-time 30 "
		     "-w '%%{http_code}\\n' -o said.$i %s -d '%s' "
		     "http://127.0.0.1:%d/api/%s >code.$i & done; wait",
		e2e_path("-H 'Authorization: Bearer %s' "
			 "-H 'Origin: http://127.0.0.1:%d' "
			 "-H 'Content-Type: application/json' "
			 "-H 'X-Llmc-Page: %s' "
			 "-H \"X-Llmc-Request: 0123456789abcde$i\"",
		    token, port, page),
		body, port, method));
	ck_assert_str_eq(e2e_sh(unit_scratch(), "cat code.? | sort")->out,
	    "200\n409\n409\n");
	return e2e_sh(unit_scratch(), "cat said.?")->out;
}

TEST(of_those_who_answer_one_wins_and_the_others_are_told)
{
	ask();
	follow();
	e2e_has(race("answer", "{\"ask\":\"a1\",\"text\":\"red\"}"),
	    "a1 is being answered by somebody else");
	e2e_has(post("answer", own("f123456789abcdef"),
		    "{\"ask\":\"a1\",\"text\":\"blue\"}"),
	    "a1 is not open any more (answered: red)");
}

TEST(of_those_who_accept_one_wins_and_the_others_are_told)
{
	const char *head;

	auto_set("web.mode", "work");
	fleet_up();
	fleet_add("adam");
	fleet_start("adam", "fake: commit a.txt first");
	fleet_wait("adam", "needs_review");
	head = e2e_git(fleet_worktree("adam"), "rev-parse", "HEAD", NULL);
	follow();
	e2e_has(
	    race("worker.accept",
		e2e_path("{\"worker\":\"adam\",\"commit\":\"%.40s\"}", head)),
	    "adam");
	ck_assert_str_eq(e2e_git(fleet_root(), "log", "--format=%s", "-1", "--",
			     "a.txt", NULL),
	    e2e_git(fleet_root(), "log", "--format=%s", "-1", NULL));
}

TEST(tasks_and_goals_are_added_and_changed_at_the_phone)
{
	auto_set("web.mode", "work");
	fleet_up();
	open_page();
	page_value("location.hash = '#/add'");
	page_wait("document.querySelectorAll('#screen form').length == 2");
	expect_buttons("#screen");
	/* By keys alone. */
	page_value("document.querySelector('#screen textarea').focus(); "
		   "document.execCommand('insertText', false, '" IMAGE
		   " by the phone')");
	browser_press(browser, "Tab");
	browser_press(browser, "Enter");
	page_wait_text("outcome", "done");
	page_expect("document.activeElement.textContent", "Add the task");
	page_save("desk-add");
	auto_wait_shell("grep -rq 'by the phone' .llmc/tasks/todo");
	page_value(
	    "document.querySelector('#screen input').value = 'A goal " IMAGE
	    "'; document.querySelectorAll('#screen form')[1].requestSubmit()");
	auto_wait_shell("\"$LLMC\" goal list | grep -q 'A goal'");
	/* The list is behind the button that goes back. */
	page_value("history.back()");
	page_wait("document.getElementById('screen').hidden");
	page_wait_text("queue", "by the phone");
	page_wait_text("goals", "A goal <img");
	page_value("document.querySelector('#goals button').focus()");
	browser_press(browser, "Enter");
	page_wait_text("goals", "Resume");
	page_wait("!!document.activeElement.closest('#goals')");
	page_value("document.querySelector('#queue summary').click()");
	page_wait(
	    "document.querySelectorAll('#queue .act button').length == 2");
	expect_buttons("#queue .act");
	page_value("const s = document.querySelector('#queue select'); "
		   "s.value = 'urgent'; s.form.requestSubmit()");
	page_wait_text("queue", "urgent");
	for (int dark = 0; dark < 2; dark++) {
		static const int widths[] = { 360, 800, 1400 };

		browser_set_dark(browser, dark == 1);
		for (size_t i = 0; i < nitems(widths); i++) {
			browser_set_size(browser, widths[i], 900);
			page_wait(e2e_path("innerWidth == %d && document."
					   "documentElement.scrollWidth == %d",
			    widths[i], widths[i]));
			page_save(e2e_path(
			    "desk-%d%s", widths[i], dark == 1 ? "-dark" : ""));
		}
	}
	page_expect_unhurt();
	browser_free(browser);
}
