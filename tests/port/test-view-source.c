/* SPDX-License-Identifier: ISC */

/* The view as a command follows it, from a daemon that is played here. */
#include "unit.h"

#include <check.h>
#include <sys/stat.h>

#include "cli-private.h"
#include "client.h"
#include "loop.h"
#include "server.h"
#include "view.h"

#define DEADLINE_MS 60000

/* --- instead of the rest of llmc ------------------------------------- */

int
cli_fail_err(struct cli *cli, const char *code, const struct err *err)
{
	(void)cli;
	ck_abort_msg("%s: %s", code, err->msg);
	return CLI_FAILED;
}

static const char *in_file = "fromfile"; /* the worker there */

int
remote_look(struct cli *cli, const char *name, struct json_object *params,
    struct json_object **ret_result, struct err *err)
{
	cleanup_free char *text =
	    xasprintf("{\"workers\": {\"%s\": {}}}", in_file);

	(void)cli;
	(void)err;
	ck_assert_str_eq(name, "view");
	json_object_put(params);
	*ret_result = json_tokener_parse(text);
	return 0;
}

char *
remote_socket(struct cli *cli)
{
	return client_socket_path(&cli->workspace);
}

struct json_object *
roster_daemon(struct cli *cli)
{
	(void)cli;
	return NULL;
}

/* --- the daemon ------------------------------------------------------ */

static struct cli cli;
static struct loop *loop;
static struct server *server;
static struct server_call *follower; /* NULL = nobody follows */
static struct view_source *source;
static char *path;
static int told; /* how often the source has called */

static void
on_gone(void *arg)
{
	(void)arg;
	server_reply(take_ptr(&follower), NULL);
}

static void
send_body(const char *method, int64_t seq, const char *key, const char *text)
{
	struct json_object *body = json_object_new_object();

	json_set_int(body, "seq", seq);
	if (key != NULL)
		json_set(body, key, json_tokener_parse(text));
	ck_assert_int_eq(server_notify(follower, method, body), 0);
}

static void
send_snapshot(int64_t seq, const char *worker)
{
	cleanup_free char *text =
	    xasprintf("{\"workers\": {\"%s\": {}}}", worker);

	send_body("snapshot", seq, "view", text);
}

static void
send_worker(int64_t seq, const char *worker)
{
	cleanup_free char *text =
	    xasprintf("{\"set\": {\"workers\": {\"%s\": {}}}}", worker);

	send_body("change", seq, "change", text);
}

static void
on_call(struct server_call *call, const char *method,
    struct json_object *params, void *arg)
{
	(void)params;
	(void)arg;
	ck_assert_str_eq(method, "view.follow");
	ck_assert_ptr_null(follower);
	follower = call;
	server_on_gone(call, on_gone, NULL);
}

static void
start_daemon(void)
{
	struct err err = { 0 };

	ck_assert_msg(server_new(loop, path, on_call, NULL, &server, &err) == 0,
	    "%s", err.msg);
}

/* --- waiting --------------------------------------------------------- */

struct wait {
	bool (*fn)(const char *word);
	const char *word;
	int64_t until_ms;
};

static void
on_look(void *arg)
{
	const struct wait *wait = arg;

	ck_assert_msg(clock_mono_ms() < wait->until_ms, "%s", wait->word);
	if (wait->fn(wait->word))
		loop_stop(loop, 0);
}

static void
wait_for(bool (*fn)(const char *word), const char *word)
{
	struct wait wait = { fn, word, clock_mono_ms() + DEADLINE_MS };
	struct loop_timer *timer = loop_every(loop, 2, on_look, &wait);

	loop_run(loop);
	loop_timer_free(timer);
}

static bool
is_followed(const char *word)
{
	(void)word;
	return follower != NULL;
}

static bool
is_left(const char *word)
{
	(void)word;
	return follower == NULL;
}

static bool
shows(const char *word)
{
	return view_row(view_source_view(source), "workers", word) != NULL;
}

static bool
is_live(const char *word)
{
	return view_source_live(source) && shows(word);
}

static bool
is_lost(const char *word)
{
	return !view_source_live(source) && shows(word);
}

static void
on_view(void *arg)
{
	(void)arg;
	told++;
}

/* --- the tests ------------------------------------------------------- */

static void
begin(bool daemon)
{
	cleanup_free char *dir = xasprintf("%s/.llmc", unit_scratch());

	cli = (struct cli){ 0 };
	cli.workspace.root = xstrdup(unit_scratch());
	cli.workspace.dir = xstrdup(dir);
	ck_assert_int_eq(mkdir(dir, 0700), 0);
	told = 0;
	in_file = "fromfile";
	loop = loop_new();
	path = client_socket_path(&cli.workspace);
	if (daemon)
		start_daemon();
	ck_assert_int_eq(
	    view_source_new(&cli, loop, on_view, NULL, &source), CLI_OK);
}

static void
stop_daemon(void)
{
	server_free(take_ptr(&server));
	if (follower != NULL)
		wait_for(is_left, NULL);
}

static void
end(void)
{
	view_source_free(source);
	if (server != NULL)
		stop_daemon();
	loop_free(loop);
	workspace_release(&cli.workspace);
	free(path);
}

TEST(without_a_daemon_the_files_are_shown)
{
	begin(false);
	ck_assert(is_lost("fromfile"));
	end();
}

static void
write_state(const char *worker)
{
	cleanup_free char *file = workspace_path(&cli.workspace, "llmc.db");

	in_file = worker;
	ck_assert_int_eq(
	    file_replace(file, worker, strlen(worker), 0600, NULL), 0);
}

TEST(without_a_daemon_the_files_are_followed)
{
	begin(false);
	write_state("other");
	wait_for(is_lost, "other");
	ck_assert(!shows("fromfile"));
	ck_assert_int_eq(told, 1);
	end();
}

TEST(a_daemon_that_knows_no_view_leaves_the_files)
{
	begin(true);
	wait_for(is_followed, "a call");
	server_fail(take_ptr(&follower), -32601, "unknown method", NULL);
	write_state("other");
	wait_for(is_lost, "other");
	wait_for(is_followed, "another call"); /* it may be replaced */
	end();
}

TEST(files_do_not_matter_once_a_daemon_was_there)
{
	begin(true);
	wait_for(is_followed, "a call");
	send_snapshot(7, "a");
	wait_for(is_live, "a");
	write_state("other");
	send_worker(8, "b");
	wait_for(is_live, "b");
	stop_daemon();
	write_state("another");
	start_daemon();
	wait_for(is_followed, "another call");
	ck_assert(is_lost("b"));
	send_snapshot(1, "c");
	wait_for(is_live, "c");
	ck_assert(!shows("other") && !shows("another"));
	end();
}

TEST(it_is_live_lost_and_live_again)
{
	begin(true);
	ck_assert(is_lost("fromfile"));
	wait_for(is_followed, "a call");
	send_snapshot(7, "a");
	wait_for(is_live, "a");
	ck_assert(!shows("fromfile"));
	send_worker(8, "b");
	wait_for(is_live, "b");
	ck_assert(shows("a"));
	stop_daemon();
	told = 0;
	wait_for(is_lost, "b"); /* as it was shown last */
	start_daemon();
	wait_for(is_followed, "another call");
	ck_assert(is_lost("b"));
	send_snapshot(1, "c");
	wait_for(is_live, "c");
	ck_assert(!shows("b"));
	ck_assert_int_gt(told, 0);
	end();
}

TEST(a_daemon_that_comes_later_is_found)
{
	begin(false);
	start_daemon();
	wait_for(is_followed, "a call");
	send_snapshot(1, "a");
	wait_for(is_live, "a");
	end();
}

/* What does not fit leads to a new snapshot. */
static void
expect_new_snapshot(void)
{
	wait_for(is_left, "the call ends");
	ck_assert(is_lost("a"));
	wait_for(is_followed, "another call");
	send_snapshot(20, "again");
	wait_for(is_live, "again");
	end();
}

static void
begin_live(void)
{
	begin(true);
	wait_for(is_followed, "a call");
	send_snapshot(7, "a");
	wait_for(is_live, "a");
}

TEST(a_gap_leads_to_a_new_snapshot)
{
	begin_live();
	send_worker(9, "b");
	expect_new_snapshot();
}

TEST(a_change_that_is_none_leads_to_a_new_snapshot)
{
	begin_live();
	send_body("change", 8, "change", "{\"set\": {\"workers\": []}}");
	expect_new_snapshot();
}

TEST(a_notification_of_a_later_version_is_passed_over)
{
	begin_live();
	send_body("weather", 0, NULL, NULL);
	send_worker(8, "b");
	wait_for(is_live, "b");
	ck_assert(shows("a"));
	end();
}
