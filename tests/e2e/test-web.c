/* SPDX-License-Identifier: ISC */

/*
 * The page on 127.0.0.1, asked with curl, and llmc web. Every rule that
 * protects it is tried here against the real daemon; single requests in detail:
 * test-http-request.c, test-web-rules.c, test-http-server.c; its listener
 * through restarts: test-web-listener.c.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "autorun.h"
#include "filed.h"

/* Without what a session is told about itself. */
#define STRANGER "env -u LLMC_AGENT -u LLMC_WORKER -u LLMC_ROOT "

static int port;
static const char *token;

void
unit_before(void)
{
	fleet_begin();
	e2e_env("BROWSER");
}

/* Where it is, as llmc web says. */
static void
find_page(void)
{
	cleanup_json struct json_object *page =
	    e2e_json(e2e_llmc(fleet_root(), "web", "--json", NULL), 0);
	const char *url = json_string_or(page, "url", "");

	port = (int)json_int_or(page, "port", 0);
	ck_assert_int_gt(port, 0);
	e2e_has(url, e2e_path("http://127.0.0.1:%d/#token=", port));
	token = e2e_path("%s", strchr(url, '=') + 1);
	ck_assert_uint_eq(strlen(token), 64);
}

static void
open_page(void)
{
	fleet_do("config", "set", "web.enabled", "true", NULL);
	fleet_up();
	find_page();
}

static const char *
bearer(void)
{
	return e2e_path("-H 'Authorization: Bearer %s'", token);
}

/* The whole answer: head and body. */
static const char *
ask(const char *options, const char *path)
{
	struct e2e_run *run = e2e_sh(NULL,
	    e2e_path("curl -s -i --noproxy '*' --max-time 30 %s "
		     "'http://127.0.0.1:%d%s'",
		options, port, path));

	e2e_expect(run, 0, NULL);
	return run->out;
}

static void
expect(int status, const char *options, const char *path)
{
	const char *answer = ask(options, path);
	const char *first = e2e_path("HTTP/1.1 %d ", status);

	ck_assert_msg(strncmp(answer, first, strlen(first)) == 0,
	    "%s %s: expected %d, got %s", options, path, status,
	    e2e_shown(answer));
}

static bool
is_reachable(void)
{
	return e2e_sh(NULL,
		   e2e_path("curl -s --noproxy '*' --max-time 30 -o /dev/null "
			    "http://127.0.0.1:%d/",
		       port))
		   ->status == 0;
}

/* Read the stream into a file until the daemon ends it, or for a minute. */
static const char *
follow(const char *name)
{
	const char *out = e2e_path("%s/%s", unit_scratch(), name);

	e2e_write(out, "");
	e2e_leave_behind(e2e_path(
	    "curl -s -N --noproxy '*' --max-time 60 %s "
	    "'http://127.0.0.1:%d/view' >'%s' 2>/dev/null; echo END >>'%s'",
	    bearer(), port, out, out));
	auto_wait_shell(e2e_path("grep -q '^event: snapshot$' '%s'", out));
	return out;
}

const int unit_timeout = 120; /* seconds, each */

TEST(the_page_is_off_until_it_is_turned_on)
{
	struct e2e_run *run;

	fleet_fails("llmc config set web.enabled true", "web", NULL);
	e2e_env("BROWSER=true");
	fleet_up();
	fleet_fails("llmc config set web.enabled true", "web", NULL);
	ck_assert(!e2e_exists(e2e_path("%s/.llmc/web.token", fleet_root())));
	/* At once, without a restart; and off again. */
	fleet_do("config", "set", "web.enabled", "true", NULL);
	find_page();
	run = fleet_do("web", NULL);
	ck_assert_str_eq(
	    run->out, e2e_path("http://127.0.0.1:%d/#token=%s\n", port, token));
	ck_assert(is_reachable());
	fleet_do("config", "set", "web.enabled", "false", NULL);
	auto_wait_shell(e2e_path("! curl -s --noproxy '*' -o /dev/null "
				 "http://127.0.0.1:%d/",
	    port));
	fleet_fails("llmc config set web.enabled true", "web", NULL);
	/* Who opens it wants it. */
	run = e2e_llmc(fleet_root(), "web", "--open", NULL);
	e2e_expect(run, 0, "the page was off and is on now");
	find_page();
	ck_assert(is_reachable());
}

TEST(without_a_daemon_it_is_said_what_to_type)
{
	fleet_do("config", "set", "web.enabled", "true", NULL);
	fleet_fails("llmc up --detach", "web", NULL);
}

TEST(it_listens_on_127_0_0_1_only)
{
	const char *lines;

	open_page();
	lines = e2e_sh(NULL,
	    e2e_path("awk '$4 == \"0A\" && $2 ~ /:%04X$/ { print $2 }' "
		     "/proc/net/tcp /proc/net/tcp6",
		port))
		    ->out;
	ck_assert_str_eq(lines, e2e_path("0100007F:%04X\n", port));
}

TEST(the_files_of_the_page_are_open_and_data_needs_the_token)
{
	static const char *const open[] = { "/", "/page.css", "/page.js",
		"/desk.js", "/review.js", "/charts.js", "/replay.js" };
	static const char *const data[] = { "/view", "/metrics", "/report.json",
		"/api/review" };
	const char *wrong;

	open_page();
	wrong = e2e_path(
	    "-H 'Authorization: Bearer %s%c'", token + 1, token[0] ^ 1);
	for (size_t i = 0; i < nitems(open); i++)
		expect(200, "", open[i]);
	for (size_t i = 0; i < nitems(data); i++) {
		expect(401, "", data[i]);
		expect(401, "-I", data[i]);
		expect(401, wrong, data[i]);
		expect(401, "-H 'Authorization: Bearer'", data[i]);
		expect(401, e2e_path("-u 'x:%s'", token), data[i]);
		expect(401, e2e_path("-b 'token=%s'", token), data[i]);
		expect(strncmp(data[i], "/api/", 5) == 0 ? 401 : 404, "",
		    e2e_path("%s?token=%s", data[i], token));
		e2e_lacks(ask("", data[i]), "seq");
	}
	expect(404, bearer(), "/nothing");
	expect(404, bearer(), "/web.token");
	expect(404, bearer(), "/api/task.add");
}

TEST(a_foreign_host_is_refused_before_anything_else)
{
	const char *rebound;

	open_page();
	expect(200, e2e_path("-H 'Host: localhost:%d'", port), "/");
	expect(421, "-H 'Host: evil.example'", "/");
	expect(421, "-H 'Host:'", "/");
	expect(421, e2e_path("-H 'Host: 127.0.0.1:%d'", port + 1), "/");
	expect(421,
	    e2e_path("-H 'Host: evil.example:%d' "
		     "-H 'Origin: http://127.0.0.1:%d' %s",
		port, port, bearer()),
	    "/view");
	expect(421, "-X POST -H 'Host: evil.example'", "/nothing");
	/* A name of others that leads here. */
	rebound = e2e_sh(NULL,
	    e2e_path("curl -s --noproxy '*' --max-time 30 "
		     "--resolve evil.example:%d:127.0.0.1 "
		     "-w '%%{http_code}' -o /dev/null %s "
		     "http://evil.example:%d/view",
		port, bearer(), port))
		      ->out;
	ck_assert_str_eq(rebound, "421");
}

TEST(nothing_but_get_is_answered_and_no_other_origin_is_let_in)
{
	static const char *const methods[] = { "POST", "PUT", "DELETE", "PATCH",
		"OPTIONS", "TRACE" };
	const char *answer;

	open_page();
	for (size_t i = 0; i < nitems(methods); i++) {
		answer = ask(e2e_path("-X %s -d x -H 'Origin: http://evil' "
				      "-H 'Access-Control-Request-Method: GET' "
				      "%s",
				 methods[i], bearer()),
		    "/view");
		e2e_has(answer, "HTTP/1.1 405 ");
		e2e_has(answer, "\nAllow: GET, HEAD\r\n");
		e2e_lacks(answer, "Access-Control");
	}
	expect(400, "-X GET -d x", "/");
}

TEST(every_answer_has_the_fields_that_protect_it)
{
	static const char *const fields[] = {
		("\nContent-Security-Policy: default-src 'none'; script-src "
		 "'self'; style-src 'self'; connect-src 'self'; base-uri "
		 "'none'; form-action 'none'; frame-ancestors 'none'\r\n"),
		"\nX-Content-Type-Options: nosniff\r\n",
		"\nReferrer-Policy: no-referrer\r\n",
		"\nCache-Control: no-store\r\n",
	};
	static const struct {
		const char *options, *path;
	} rows[] = {
		{ "", "/" },
		{ "", "/page.css" },
		{ "", "/page.js" },
		{ "", "/favicon.ico" },
		{ "", "/view" },
		{ "", "/nothing" },
		{ "-X POST", "/" },
		{ "-H 'Host: x'", "/" },
		{ "-H 'X: \t\x01'", "/" },
	};
	const char *answer;

	open_page();
	for (size_t i = 0; i < nitems(rows); i++) {
		answer = ask(rows[i].options, rows[i].path);
		for (size_t j = 0; j < nitems(fields); j++)
			e2e_has(answer, fields[j]);
		e2e_lacks(answer, "Set-Cookie");
		e2e_lacks(answer, "Access-Control");
		e2e_lacks(answer, token);
	}
}

TEST(a_browser_gets_the_page_compressed)
{
	struct e2e_run *run;

	open_page();
	e2e_has(ask("-H 'Accept-Encoding: gzip' -o /dev/null -D -", "/"),
	    "\nContent-Encoding: gzip\r\n");
	run = e2e_sh(NULL,
	    e2e_path("for f in / /page.css /page.js; do\n"
		     "u=http://127.0.0.1:%d$f\n"
		     "curl -s --noproxy '*' $u >plain || exit 1\n"
		     "curl -s --noproxy '*' -H 'Accept-Encoding: gzip' $u | "
		     "gzip -d | cmp - plain || exit 2\n"
		     "[ -s plain ] || exit 3\n"
		     "done",
		port));
	e2e_expect(run, 0, NULL);
}

TEST(the_view_comes_first_and_then_what_changes)
{
	const char *out, *text;

	open_page();
	fleet_add("adam");
	out = follow("stream");
	text = e2e_read(out);
	e2e_has(text, "event: snapshot\ndata: {\"seq\":");
	e2e_has(text, "\"adam\"");
	fleet_start("adam", "fake: commit a.txt x");
	auto_wait_shell(e2e_path(
	    "grep -A1 '^event: change$' '%s' | grep -q needs_review", out));
	/* A head has no body, and does not stay. */
	expect(200, e2e_path("-I %s", bearer()), "/view");
}

TEST(a_page_hears_that_the_daemon_lives_while_nothing_changes)
{
	const char *out;

	e2e_hurry(10);
	open_page();
	out = follow("quiet");
	auto_wait_shell(
	    e2e_path("test $(grep -c '^: beat 1500$' '%s') -ge 3", out));
}

/* --- the report ------------------------------------------------------ */

/* A run with that many tasks that have landed. */
static void
file_tasks(int count)
{
	cleanup_buf struct buf tasks = BUF_INIT;
	int64_t now = clock_wall_ms();

	for (int i = 1; i <= count; i++)
		buf_addf(&tasks,
		    "{\"id\": \"t%d\", \"title\": \"Fix it\", \"step\": "
		    "\"settling\", \"outcome\": \"landed\", \"attempts\": 1, "
		    "\"created_ms\": %" PRId64 ", \"finished_ms\": %" PRId64
		    "}\n",
		    i, now - 5000, now - 1000);
	filed_put_tasks(fleet_root(), tasks.data);
	filed_put_run(fleet_root(), "r1", now - 5000, now);
}

/* Milliseconds that the daemon itself has computed for, without its children.
 */
static double
daemon_ms(void)
{
	return strtod(e2e_sh(NULL,
			  e2e_path("cut -d' ' -f1 /proc/%d/schedstat",
			      fleet_daemon_pid()))
			  ->out,
		   NULL) /
	    1e6;
}

TEST(a_report_of_ten_thousand_tasks_is_made_beside_the_loop)
{
	cleanup_json struct json_object *report = NULL;
	const char *body;
	double before, used;
	struct e2e_run *run;

	file_tasks(10000);
	open_page();
	before = daemon_ms();
	/* All at once: they get the same one. */
	run = e2e_sh(unit_scratch(),
	    e2e_path("for i in 1 2 3 4 5 6 7 8; do curl -s -f --noproxy '*' "
		     "--max-time 60 %s -o report.$i "
		     "http://127.0.0.1:%d/report.json & done; wait\n"
		     "for i in 2 3 4 5 6 7 8; do "
		     "cmp report.1 report.$i || exit 1; done",
		bearer(), port));
	e2e_expect(run, 0, NULL);
	used = daemon_ms() - before;
	body = e2e_read(e2e_path("%s/report.1", unit_scratch()));
	ck_assert_int_eq(
	    json_parse(body, strlen(body), SIZE_MAX, &report, NULL), 0);
	ck_assert_str_eq(auto_member(report, "period.run"), "r1");
	ck_assert_str_eq(auto_member(report, "counts.landed"), "10000");
	ck_assert_str_eq(auto_member(report, "left_off.landed"), "9500");
	/* To read the tasks would take it longer. */
	ck_assert_msg(used < 150, "the daemon computed for %.0f ms", used);
	/* A head is a whole answer; a path is one path. */
	expect(200, e2e_path("-I %s", bearer()), "/report.json");
	expect(404, bearer(), "/report.json?run=r1");
	expect(405, e2e_path("-X POST %s", bearer()), "/report.json");
}

TEST(a_report_that_is_being_made_does_not_keep_the_daemon)
{
	file_tasks(10000);
	open_page();
	e2e_expect(
	    e2e_sh(unit_scratch(),
		e2e_path("curl -s --noproxy '*' --max-time 60 %s -o /dev/null "
			 "http://127.0.0.1:%d/report.json & "
			 "'%s' --root '%s' down; wait",
		    bearer(), port, e2e_llmc_path(), fleet_root())),
	    0, NULL);
}

TEST(a_port_that_is_taken_is_named_and_everything_else_goes_on)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof a;
	cleanup_fd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
	ck_assert_int_eq(listen(fd, 1), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&a, &len), 0);
	fleet_do("config", "set", "web.port", e2e_path("%d", ntohs(a.sin_port)),
	    NULL);
	fleet_do("config", "set", "web.enabled", "true", NULL);
	fleet_up();
	fleet_fails("(web.port)", "web", NULL);
	fleet_fails("llmc config set web.port 0", "web", NULL);
	e2e_has(fleet_do("log", "daemon", NULL)->out, "(web.port)");
	fleet_add("adam");
	/* When it is free again, it is used. */
	fd = fd_close(fd);
	find_page();
	ck_assert_int_eq(port, ntohs(a.sin_port));
	/* And another one when the setting changes. */
	fleet_do("config", "set", "web.port", "0", NULL);
	find_page();
	ck_assert(is_reachable());
}

/* 127.0.0.2 stands for what others can reach. */
TEST(elsewhere_the_page_needs_tls_in_front_and_a_login)
{
	struct json_object *page;
	const char *there, *cookie, *login, *answer, *over;

	fleet_up();
	fleet_do("config", "set", "web.enabled", "true", NULL);
	fleet_fails("llmc config set web.origin", "config", "set", "web.listen",
	    "127.0.0.2", NULL);
	/* Of a file that has it, the daemon and llmc say the same. */
	e2e_sh(fleet_root(),
	    "sed -i '/^\\[web\\]/a listen = \"127.0.0.2\"' "
	    ".llmc/config.toml");
	e2e_has(fleet_do("status", NULL)->err, "llmc config set web.origin");
	fleet_fails("llmc config set web.origin", "web", NULL);
	e2e_expect(e2e_llmc(fleet_root(), "config", "set", "web.origin",
		       "http://llmc.example", NULL),
	    1, NULL);
	fleet_do("config", "set", "web.origin", "https://llmc.example", NULL);
	page = e2e_json(fleet_do("--json", "web", NULL), 0);
	port = (int)json_int_or(page, "port", 0);
	login = json_string_or(page, "url", "");
	ck_assert_str_eq(json_string_or(page, "login", ""), login);
	e2e_has(login, "https://llmc.example/#code=");
	token = e2e_read(e2e_path("%s/.llmc/web.token", fleet_root()));
	token = e2e_path("%.64s", token);
	there = e2e_path("--connect-to 127.0.0.1:%d:127.0.0.2:%d "
			 "-H 'Host: llmc.example'",
	    port, port);
	expect(200, there, "/");
	expect(401, there, "/metrics");
	expect(401, e2e_path("%s %s", there, bearer()), "/metrics");
	/* The code is good once, and from the page there only. */
	login = e2e_path("-H 'Content-Type: application/json' "
			 "-d '{\"code\":\"%s\"}'",
	    strchr(login, '=') + 1);
	expect(403,
	    e2e_path("%s %s -H 'Origin: https://evil.example'", there, login),
	    "/login");
	login =
	    e2e_path("%s %s -H 'Origin: https://llmc.example'", there, login);
	answer = ask(login, "/login");
	e2e_has(answer, "HTTP/1.1 200 ");
	e2e_has(answer, "; Secure; HttpOnly; SameSite=Strict\r\n");
	cookie = strstr(answer, "Set-Cookie: ");
	ck_assert_ptr_nonnull(cookie);
	cookie = e2e_path("%s -H 'Cookie: %.*s'", there,
	    (int)strcspn(cookie + 12, ";"), cookie + 12);
	expect(401, login, "/login");
	e2e_has(ask(login, "/login"), "llmc web");
	expect(200, cookie, "/metrics");
	/* It outlives the daemon, and not the page. One that is over ends. */
	fleet_kill(fleet_daemon_pid());
	over = e2e_sh(fleet_root(),
	    "set -- $(tr 0-9a-f 1-9a-f0 <.llmc/web.logins); "
	    "echo \"$1 1\" >>.llmc/web.logins; printf %s $1")
		   ->out;
	fleet_up();
	page = e2e_json(fleet_do("--json", "web", NULL), 0);
	cookie = e2e_path("--connect-to 127.0.0.1:%d:127.0.0.2:%d %s",
	    (int)json_int_or(page, "port", 0),
	    (int)json_int_or(page, "port", 0), strstr(cookie, "-H"));
	port = (int)json_int_or(page, "port", 0);
	expect(200, cookie, "/metrics");
	expect(401,
	    e2e_path("%.*s%s'", (int)(strrchr(cookie, '=') + 1 - cookie),
		cookie, over),
	    "/metrics");
	fleet_fails("web.listen", "config", "unset", "web.origin", NULL);
	/* The same port of another address: our own listener is in the way. */
	fleet_do("config", "set", "web.listen", "127.0.0.1", NULL);
	find_page();
	fleet_do("config", "set", "web.port", e2e_path("%d", port), NULL);
	fleet_do("config", "set", "web.listen", "0.0.0.0", NULL);
	auto_wait_shell("\"$LLMC\" web");
	fleet_do("config", "set", "web.listen", "127.0.0.1", NULL);
	auto_wait_shell("\"$LLMC\" web");
	e2e_lacks(fleet_do("log", "daemon", NULL)->out, "another program");
	expect(401, strstr(cookie, "-H 'Cookie"), "/metrics");
	expect(200, strstr(cookie, "-H"), "/metrics");
	fleet_do("config", "set", "web.enabled", "false", NULL);
	auto_wait_shell("[ ! -s .llmc/web.logins ]");
	fleet_do("config", "set", "web.enabled", "true", NULL);
	find_page();
	expect(401, strstr(cookie, "-H"), "/metrics");
}

TEST(it_says_how_to_reach_it_from_elsewhere)
{
	struct json_object *all;
	const char *out;

	fleet_do("config", "set", "web.enabled", "true", NULL);
	all = e2e_json(fleet_do("--json", "web", "--all", NULL), 0);
	ck_assert_uint_eq(json_object_array_length(all), 0);
	fleet_up();
	find_page();
	e2e_sh(unit_scratch(), "mkdir bin");
	e2e_script(e2e_path("%s/bin/tailscale", unit_scratch()),
	    "#!/bin/sh\necho '{\"Self\":{\"DNSName\":\"box.t.ts.net.\"}}'\n");
	out = e2e_sh(fleet_root(),
	    e2e_path("PATH='%s/bin':\"$PATH\" '%s' web --share", unit_scratch(),
		e2e_llmc_path()))
		  ->out;
	e2e_has(out, e2e_path("ssh -N -L %d:127.0.0.1:%d ", port, port));
	e2e_has(out, "llmc config set web.origin https://box.t.ts.net\n");
	e2e_has(
	    out, e2e_path("tailscale serve --bg http://127.0.0.1:%d\n", port));
	e2e_has(out, "reverse proxy");
	/* From anywhere. */
	all = e2e_json(e2e_llmc("/", "--json", "web", "--all", NULL), 0);
	ck_assert_uint_eq(json_object_array_length(all), 1);
	ck_assert_str_eq(auto_member(all, "0.root"), fleet_root());
	ck_assert_str_eq(auto_member(all, "0.url"),
	    e2e_path("http://127.0.0.1:%d/#token=%s", port, token));
	fleet_do("down", NULL);
	e2e_has(e2e_llmc("/", "web", "--all", NULL)->out, "no daemon runs");
}

TEST(the_browser_is_not_told_the_token_in_its_words)
{
	const char *seen = e2e_path("%s/seen", unit_scratch());

	e2e_script(e2e_path("%s/browser", unit_scratch()),
	    "#!/bin/sh\n{ echo \"$@\"; cat \"$2\"; } >\"$FLEET/part\"\n"
	    "mv \"$FLEET/part\" \"$FLEET/seen\"\n");
	open_page();
	e2e_env(e2e_path("BROWSER='%s/browser' --new", unit_scratch()));
	fleet_do("web", "--open", NULL);
	auto_wait_shell(e2e_path("[ -e '%s' ]", seen));
	e2e_has(e2e_read(seen),
	    e2e_path("--new %s/.llmc/web.html\n", fleet_root()));
	e2e_has(e2e_read(seen),
	    e2e_path("url=http://127.0.0.1:%d/#token=%s\"", port, token));
}

/* What an agent prints when it runs this in its session. */
static const char *
inside(const char *command)
{
	const char *out = e2e_path("%s/seen.txt", fleet_worktree("adam"));

	fleet_start("adam",
	    e2e_path(
		"fake: run ( %s ) >seen.txt 2>&1; echo status $? >>seen.txt",
		command));
	fleet_wait("adam", "needs_review,no_changes");
	out = e2e_read(out);
	fleet_do("reset", "adam", "--yes", NULL);
	fleet_wait("adam", "idle");
	return out;
}

TEST(an_agent_does_not_get_the_address)
{
	const char *out;

	e2e_skip_sandboxed("its box has not this repository");
	open_page();
	fleet_add("adam");
	out = inside(
	    e2e_path("cd '%s' && '%s' web", fleet_root(), e2e_llmc_path()));
	e2e_has(out, "status 1");
	e2e_lacks(out, token);
	out = inside(e2e_path(
	    "cd '%s' && " STRANGER "'%s' web", fleet_root(), e2e_llmc_path()));
	e2e_has(out, "this is a worker's session");
	e2e_lacks(out, token);
}

TEST(an_agent_in_a_sandbox_cannot_read_the_token)
{
	const char *out;

	e2e_need_boxes("");
	e2e_write(fleet_prompt_log(), "");
	fleet_do("config", "set", "defaults.sandbox", "worktree", NULL);
	fleet_do("config", "set", "defaults.sandbox_write",
	    e2e_path("[\"%s\"]", fleet_prompt_log()), NULL);
	fleet_do(
	    "config", "set", "defaults.env", "[\"FAKE_CLAUDE_LOG\"]", NULL);
	open_page();
	fleet_add("adam");
	out = inside(e2e_path("cat '%s/.llmc/web.token'; ls '%s/.llmc'; "
			      "curl -s --noproxy '*' "
			      "http://127.0.0.1:%d/view",
	    fleet_root(), fleet_root(), port));
	e2e_has(out, "status ");
	e2e_lacks(out, token);
	e2e_lacks(out, "\nweb.token");
	e2e_lacks(out, "snapshot");
}
