/* SPDX-License-Identifier: ISC */

/* The tools of llmc mcp, in a session of the fake agent with a real daemon. */
#include <ctype.h>
#include <dirent.h>

#include "goalrun.h"

#define ABSENT "No such tool available"

void
unit_before(void)
{
	fleet_begin();
	goal_enable();
	fleet_up();
}

const int unit_timeout = 120; /* seconds, each */

TEST(a_session_has_the_tools)
{
	fleet_add("adam");
	fleet_start("adam",
	    "fake: tool mail_inbox\n"
	    "fake: commit a.txt a");
	fleet_wait("adam", "needs_review");
	e2e_has(fleet_conversation("adam"), "mcp__llmc__mail_inbox");
	e2e_lacks(fleet_conversation("adam"), ABSENT);
	/* And not others. */
	fleet_do("reset", "adam", "--yes", NULL);
	fleet_start("adam", "fake: tool strange\nfake: commit b.txt b");
	fleet_wait("adam", "needs_review");
	e2e_has(fleet_conversation("adam"), ABSENT);
}

/* The worker's own, as its session was told. */
static const char *
socket_of(const char *worker)
{
	struct json_object *json = e2e_load(
	    e2e_path("%s/.llmc/sessions/%s/mcp.json", fleet_root(), worker));
	struct json_object *at = json;
	static const char *const path[] = { "mcpServers", "llmc", "args" };
	const char *socket;

	for (size_t i = 0; i < nitems(path); i++)
		ck_assert(json_object_object_get_ex(at, path[i], &at));
	socket = e2e_path(
	    "%s", json_object_get_string(json_object_array_get_idx(at, 2)));
	json_object_put(json);
	return socket;
}

/* As the daemon does when it turns out that the session may use them all. */
static void
offer_all(const char *worker)
{
	const char *file =
	    e2e_path("%s/.llmc/run/%s/policy.json", fleet_root(), worker);
	struct json_object *policy = e2e_load(file);

	ck_assert(json_object_object_get_ex(policy, "llmc_tools", NULL));
	json_object_object_del(policy, "llmc_tools");
	ck_assert_int_eq(json_save(file, policy, 0600, NULL), 0);
	json_object_put(policy);
}

/* It has no task that a report could be about. */
TEST(the_list_of_tools_changes_in_a_session)
{
	cleanup_buf struct buf steps = BUF_INIT;
	const char *kept = e2e_path("%s/kept", unit_scratch());

	fleet_add("adam");
	for (int i = 0; i < 200; i++)
		buf_addf(&steps,
		    "fake: tool report_progress {\"phase\":\"x\"}\n"
		    "fake: keep %s.new\n"
		    "fake: run mv '%s.new' '%s'\n",
		    kept, kept, kept);
	fleet_start("adam", steps.data);
	fleet_wait_written("adam", ABSENT);
	offer_all("adam");
	while (!e2e_exists(kept) || strstr(e2e_read(kept), ABSENT) != NULL) {
		ck_assert_msg(!unit_is_late(), "no tool");
		poll(NULL, 0, 10); /* a file of another program */
	}
}

/* epoll(7) refuses it, and libevent says so. */
TEST(requests_in_a_plain_file_are_answered)
{
	const char *file = e2e_path("%s/requests", unit_scratch());
	struct e2e_run *run;

	e2e_write(file, "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}\n");
	run = e2e_sh(unit_scratch(),
	    e2e_path("\"$LLMC\" mcp --socket /nonexistent <'%s'", file));
	ck_assert_int_eq(run->status, 0);
	ck_assert_str_eq(run->err, "");
	e2e_has(run->out, "\"id\":7,\"result\":{}");
	run = e2e_sh(
	    unit_scratch(), "\"$LLMC\" mcp --socket /nonexistent </dev/null");
	ck_assert_int_eq(run->status, 0);
	ck_assert_str_eq(run->err, "");
}

/* --- the server's process ---------------------------------------------- */

/* The command line of adam's. */
static const char *server_words;

static bool
is_server(const char *pid)
{
	cleanup_buf struct buf words = BUF_INIT;
	cleanup_free char *path = xasprintf("/proc/%s/cmdline", pid);

	if (file_read(path, 65536, &words, NULL) < 0)
		return false;
	for (size_t i = 0; i + 1 < words.len; i++)
		if (words.data[i] == '\0')
			words.data[i] = ' ';
	return strstr(words.data, server_words) != NULL;
}

/* How many there are; *ret_pid (may be NULL) is one of them. */
static int
servers(int *ret_pid)
{
	DIR *dir;
	const struct dirent *entry;
	int count = 0;

	if (server_words == NULL)
		server_words = e2e_path(" mcp --socket %s ", socket_of("adam"));
	dir = opendir("/proc");
	ck_assert_ptr_nonnull(dir);
	while ((entry = readdir(dir)) != NULL) {
		if (!isdigit((unsigned char)entry->d_name[0]) ||
		    !is_server(entry->d_name))
			continue;
		count++;
		if (ret_pid != NULL)
			*ret_pid = (int)strtol(entry->d_name, NULL, 10);
	}
	closedir(dir);
	return count;
}

static void
wait_servers(int count)
{
	while (servers(NULL) != count) {
		ck_assert_msg(!unit_is_late(), "there are %d servers, not %d",
		    servers(NULL), count);
		poll(NULL, 0, 10); /* processes of others */
	}
}

/* Claude Code does not start it again, so it must not be lost; and nothing may
 * be left of a session. */
TEST(the_server_lives_as_long_as_its_session)
{
	int first = 0, second = 0;

	fleet_add("adam");
	wait_servers(1);
	servers(&first);
	/* A key that was typed, a terminal that has gone. */
	kill(first, SIGINT);
	kill(first, SIGHUP);
	fleet_start("adam",
	    "fake: tool mail_inbox\n"
	    "fake: commit a.txt a");
	fleet_wait("adam", "needs_review");
	e2e_lacks(fleet_conversation("adam"), ABSENT);
	ck_assert_int_eq(servers(&second), 1);
	ck_assert_int_eq(first, second);
	/* The agent is killed, and comes back. */
	second = fleet_agent_pid("adam");
	fleet_kill(second);
	fleet_next_agent_pid("adam", second);
	wait_servers(1);
	servers(&second);
	ck_assert_int_ne(first, second);
	fleet_do("nuke", "adam", "--yes", NULL);
	wait_servers(0);
}

/* --- without a daemon --------------------------------------------------- */

static int
occurrences(const char *text, const char *words)
{
	int count = 0;

	for (; (text = strstr(text, words)) != NULL; text++)
		count++;
	return count;
}

TEST(a_call_outlives_the_daemon_and_is_answered_once)
{
	const char *gate = e2e_path("%s/gate", unit_scratch());
	int daemon, server = 0;

	fleet_add("adam");
	fleet_start("adam",
	    e2e_path("fake: run until [ -e '%s' ]; do sleep 0.05; done\n"
		     "fake: tool mail_inbox\n"
		     "fake: tool mail_inbox\n"
		     "fake: commit a.txt a",
		gate));
	fleet_wait_written("adam", "sleep 0.05");
	daemon = fleet_daemon_pid();
	kill(daemon, SIGSTOP);
	e2e_write(gate, "");
	fleet_wait_written("adam", "mcp__llmc__mail_inbox");
	wait_servers(1);
	servers(&server);
	kill(server, SIGINT);
	fleet_kill(daemon);
	fleet_up();
	fleet_wait("adam", "needs_review");
	e2e_lacks(fleet_conversation("adam"), ABSENT);
	ck_assert_int_eq(
	    occurrences(fleet_conversation("adam"), "\"type\":\"tool_result\""),
	    4);
	ck_assert_int_eq(servers(&daemon), 1);
	ck_assert_int_eq(server, daemon);
}

/* --- from the shell of a session ---------------------------------------- */

/* Say these lines to an llmc mcp that a worker's shell starts; what that many
 * lines of it were. */
static const char *
talk(const char *worker, const char *socket, const char *env, const char *lines,
    int count)
{
	const char *base = e2e_path("%s/talk", unit_scratch());

	e2e_write(e2e_path("%s.in", base), lines);
	e2e_script(e2e_path("%s.sh", base),
	    e2e_path("#!/bin/sh\nset -eu\n"
		     "rm -f '%s.fifo' '%s.out'\nmkfifo '%s.fifo'\n"
		     "%s '%s' mcp --socket '%s' <'%s.fifo' >'%s.out' &\n"
		     "exec 3>'%s.fifo'\ncat '%s.in' >&3\n"
		     "until [ \"$(wc -l <'%s.out')\" -ge %d ]; do\n"
		     "sleep 0.02; done\nexec 3>&-\nwait\n",
		base, base, base, env, e2e_llmc_path(), socket, base, base,
		base, base, base, count));
	fleet_start(worker, e2e_path("fake: run '%s.sh'", base));
	fleet_wait(worker, "no_changes");
	fleet_do("reset", worker, "--yes", NULL);
	fleet_wait(worker, "idle");
	return e2e_read(e2e_path("%s.out", base));
}

#define INBOX                                                                 \
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":" \
	"{\"name\":\"mail_inbox\",\"arguments\":{}}}\n"

/* The socket says who speaks, not a variable; and a session at the socket of
 * another is nobody. */
TEST(a_session_cannot_speak_as_another)
{
	const char *out;

	e2e_skip_sandboxed("it does not see the socket of another");
	fleet_add("adam");
	fleet_add("eve");
	fleet_do("mail", "send", "eve", "A secret.", NULL);
	e2e_has(fleet_do("mail", "inbox", "--all", NULL)->out, "A secret.");
	out = talk("adam", socket_of("eve"), "LLMC_WORKER=eve", INBOX, 1);
	e2e_has(out, "\"isError\":true");
	e2e_has(out, "may not");
	e2e_lacks(out, "secret");
	/* Its own box is empty, which is no error. */
	out = talk("adam", socket_of("adam"), "LLMC_WORKER=eve", INBOX, 1);
	e2e_lacks(out, "\"isError\":true");
	e2e_lacks(out, "secret");
	/* Nor is a session without one. */
	out = talk("adam", socket_of("eve"),
	    "env -u LLMC_WORKER -u LLMC_AGENT -u LLMC_ROOT", INBOX, 1);
	e2e_has(out, "may not");
	e2e_lacks(out, "secret");
	/* Nor a process whose parents have ended. */
	out = talk("adam", socket_of("eve"), "setsid -f env -i", INBOX, 1);
	e2e_has(out, "may not");
	e2e_lacks(out, "secret");
}

TEST(a_thousand_calls_are_answered_each_once)
{
	cleanup_buf struct buf lines = BUF_INIT;
	const char *out;

	fleet_add("adam");
	for (int i = 1; i <= 1000; i++)
		buf_addf(&lines,
		    "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\","
		    "\"params\":{\"name\":\"mail_inbox\"}}\n",
		    i, i % 10 == 0 ? "resources/list" : "tools/call");
	out = talk("adam", socket_of("adam"), "env", lines.data, 1000);
	ck_assert_int_eq(occurrences(out, "\n"), 1000);
	ck_assert_int_eq(occurrences(out, "\"code\":-32601"), 100);
	for (int i = 1; i <= 1000; i++)
		ck_assert_int_eq(
		    occurrences(out, e2e_path("\"id\":%d,", i)), 1);
}
