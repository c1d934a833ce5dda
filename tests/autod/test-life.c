/* SPDX-License-Identifier: ISC */

/* How the daemon begins, patrols and stops, and the file that identifies it. */
#include "life-world.h"
#include "git-facts.h"
#include "settings.h"

/* --- the beginning ---------------------------------------------------- */

TEST(floors_begin_from_the_bottom)
{
	struct floor_call *calls[2];

	life_world = (struct life_world){ .low.late = true };
	life_world_begin(NULL);
	life_world_expect("low begins; ");
	/* Calls wait for that too. */
	calls[0] = floor_world_ask("daemon.info", "{}");
	calls[1] = floor_world_call("worker.nuke", "adam", "");
	life_patrol(floor_world.core); /* not before all have begun */
	ck_assert_int_eq(life_world_run(100000), LIFE_GOES_ON);
	life_world_expect("");
	ck_assert(!floor_call_is_answered(calls[0]));
	life_floor_begun(floor_world.core);
	life_world_expect("high begins; high looks at all; low looks at all; ");
	ck_assert_ptr_null(floor_world_answer(calls[0]));
	ck_assert_ptr_nonnull(
	    strstr(floor_world_answer(calls[1]), "no worker"));
}

TEST(a_stop_before_all_have_begun)
{
	struct floor_call *call;

	life_world = (struct life_world){ .low.late = true };
	life_world_begin(NULL);
	call = floor_world_call("worker.nuke", "adam", "");
	ck_assert_int_eq(life_world_run(100), LIFE_GOES_ON);
	ck_assert(!floor_call_is_answered(call));
	life_world.low.noisy = true;
	life_stop(floor_world.core, "the test", false);
	life_world_expect("low begins; high stops; low stops; ");
	ck_assert_str_eq(floor_world_answer(call), "the daemon is stopping");
	life_floor_begun(floor_world.core);
	life_world.low.noisy = false;
	ck_assert_int_eq(life_world_run(1000), 0);
	life_world_expect("high closes; low closes; ");
}

TEST(it_says_who_it_is)
{
	struct json_object *json;

	life_world = (struct life_world){ .options.auto_mode = true };
	life_world_begin(NULL);
	json = life_world_load("daemon.json");
	ck_assert_int_eq(json_int_or(json, "pid", 0), getpid());
	ck_assert_str_eq(json_string_or(json, "instance_id", ""),
	    floor_world.core->instance);
	ck_assert(json_bool_or(json, "auto", false));
	json_object_put(json);
	ck_assert_int_eq(life_world.resumes, 0);

	/* It dies; the next one says so, and stops cleanly. */
	floor_world_settle();
	floor_world_close();
	ck_assert(life_world_exists("daemon.json"));
	floor_world_open();
	life_world_build();
	ck_assert_int_eq(life_world.resumes, 1);
	life_stop(floor_world.core, "the test", false);
	ck_assert_int_eq(life_world_run(1000), 0);
	ck_assert(!life_world_exists("daemon.json"));
	floor_world_close();
	floor_world_open();
	life_world_build();
	ck_assert_int_eq(life_world.resumes, 1);
}

static void
refuse(void *arg, struct server_call *call, struct json_object *params)
{
	(void)arg;
	(void)params;
	serve_refuse(call, API_FAILED, "nobody is here");
}

TEST(a_place_that_cannot_be_listened_at)
{
	struct err err = { 0 };
	cleanup_free char *file = NULL;
	const char *missing;

	floor_world_begin(NULL);
	while ((missing = serve_missing(floor_world.core)) != NULL)
		serve_handle(floor_world.core, missing, refuse, NULL);
	file = workspace_path(&floor_world.workspace, "daemon.json");
	ck_assert_int_eq(
	    file_replace(floor_world.core->socket, "x", 1, 0600, NULL), 0);
	ck_assert_int_lt(life_begin(floor_world.core, &err), 0);
	ck_assert_str_ne(err.msg, "");
	ck_assert(!file_exists(file));
}

TEST_EXIT(70, a_method_that_nobody_carries_out)
{
	floor_world_begin(NULL);
	life_begin(floor_world.core, NULL);
}

/* --- patrols ---------------------------------------------------------- */

TEST(patrols_come_from_the_top)
{
	life_world_begin("[daemon]\npatrol_interval = \"30s\"");
	life_world_expect(
	    "low begins; high begins; high looks at all; low looks at all; ");
	ck_assert_int_eq(life_world_run(29000), LIFE_GOES_ON);
	life_world_expect("");
	ck_assert_int_eq(life_world_run(2000), LIFE_GOES_ON);
	life_world_expect("high patrols; low patrols; ");
	ck_assert_uint_eq(life_patrols(floor_world.core), 1);
	life_patrol(floor_world.core);
	life_world_expect("high looks at all; low looks at all; ");
	ck_assert_uint_eq(life_patrols(floor_world.core), 1);
	life_stop(floor_world.core, "the test", false);
	life_world.low.noisy = true;
	buf_clear(&life_world.trace);
	life_patrol(floor_world.core); /* no patrol while it stops */
	life_world_expect("");
}

TEST(settings_are_taken_again)
{
	cleanup_free char *file = NULL;
	static const char fast[] = "[daemon]\npatrol_interval = \"10s\"\n",
			  wrong[] = "[daemon]\npatrol_interval = 7\n";

	life_world_begin("[daemon]\npatrol_interval = \"1h\"");
	file = workspace_path(&floor_world.workspace, "config.toml");
	ck_assert_int_eq(life_world_run(60000), LIFE_GOES_ON);
	buf_clear(&life_world.trace);
	ck_assert_int_eq(file_replace(file, fast, strlen(fast), 0600, NULL), 0);
	floor_world_accept();
	raise(SIGHUP);
	ck_assert_int_eq(life_world_run(11000), LIFE_GOES_ON);
	life_world_expect("high patrols; low patrols; ");
	ck_assert_int_eq(
	    file_replace(file, wrong, strlen(wrong), 0600, NULL), 0);
	floor_world_accept();
	life_reload(floor_world.core);
	ck_assert_int_eq(life_world_run(11000), LIFE_GOES_ON);
	life_world_expect(
	    "high patrols; low patrols; "); /* the old ones stay */
}

static void
write_settings(const char *text)
{
	cleanup_free char *file =
	    workspace_path(&floor_world.workspace, "config.toml");

	ck_assert_int_eq(file_replace(file, text, strlen(text), 0600, NULL), 0);
	floor_world_accept();
	life_reload(floor_world.core);
}

static const char *
command(void)
{
	return settings_string(
	    floor_world.core->settings, "people.report_command");
}

/* Or a person who saves a file with a typo is not told of it. */
TEST(settings_that_are_just_being_written_are_waited_for)
{
	life_world_begin("[people]\nreport_command = \"a\"\n");
	ck_assert_int_eq(life_world_run(1000), LIFE_GOES_ON);
	clock_virtual_end(); /* git is asked */
	write_settings("");
	ck_assert_int_eq(life_world_run(500), LIFE_GOES_ON);
	ck_assert_str_eq(command(), "a");
	write_settings("[people]\nreport_command = \"b\"\n");
	ck_assert_int_eq(life_world_run(1), LIFE_GOES_ON);
	ck_assert_str_eq(command(), "b");
	/* They may be empty. */
	write_settings("");
	floor_world_until(*command() == '\0');
}

/* --- the end ---------------------------------------------------------- */

TEST(a_stop_waits_until_all_are_quiet)
{
	life_world_begin_quietly();
	life_world.low.noisy = true;
	life_stop(floor_world.core, "the test", false);
	life_stop(floor_world.core, "again", false); /* does not count as a
						      * second stop */
	life_world_expect("high stops; low stops; ");
	ck_assert_int_eq(life_world.stopping, 1);
	ck_assert_int_eq(life_world_run(14000), LIFE_GOES_ON);
	life_world_expect("");
	ck_assert(life_world_exists("daemon.json"));
	life_world.low.noisy = false;
	ck_assert_int_eq(life_world_run(100), 0);
	life_world_expect("high closes; low closes; ");
	ck_assert(!floor_world.core->state.daemon_running);
}

TEST(at_most_fifteen_seconds)
{
	life_world_begin_quietly();
	life_world.high.noisy = true;
	life_stop(floor_world.core, "the test", false);
	ck_assert_int_eq(life_world_run(14990), LIFE_GOES_ON);
	ck_assert_int_eq(life_world_run(20), 0);
	life_world_expect(
	    "high stops; low stops; high closes now; low closes now; ");
	ck_assert(!life_world_exists("daemon.json"));
}

TEST(the_second_stop_is_now)
{
	life_world_begin_quietly();
	life_world.low.noisy = true;
	raise(SIGTERM);
	ck_assert_int_eq(life_world_run(1000), LIFE_GOES_ON);
	life_world_expect("high stops; low stops; ");
	raise(SIGINT);
	ck_assert_int_eq(life_world_run(1000), 0);
	life_world_expect("high closes now; low closes now; ");
	ck_assert_int_eq(life_world.stopping, 1);
}

TEST_ROWS(a_call_stops_it, 2)
{
	bool now = _i == 1;
	struct floor_call *call;

	life_world_begin_quietly();
	life_world.low.noisy = true;
	call = floor_world_ask("daemon.stop", now ? "{\"now\":true}" : "{}");
	ck_assert_int_eq(life_world_run(1000), now ? 0 : LIFE_GOES_ON);
	life_world_expect(now ? "high closes now; low closes now; " :
				"high stops; low stops; ");
	floor_world_close();
	ck_assert_ptr_null(floor_world_answer(call));
	ck_assert_int_eq(
	    json_object_get_int(floor_call_result(call)), getpid());
}

TEST(a_single_request_waits_for_nobody)
{
	life_world_begin_quietly();
	life_world.low.noisy = true;
	floor_world.options.oneshot = true;
	life_stop(floor_world.core, "answered", false);
	life_world_expect("high closes now; low closes now; ");
	ck_assert(!life_world_exists("daemon.json"));
}

static void
on_facts(const struct git_facts *facts, const struct err *err, void *arg)
{
	(void)facts;
	(void)err;
	(void)arg;
}

/* If git were killed, it would leave its lock files. */
TEST(git_is_waited_for)
{
	life_world_begin_quietly();
	floor_world_trap(1, "hang");
	git_facts_read(floor_world.core->git, floor_world.workspace.root,
	    "main", on_facts, NULL);
	life_stop(floor_world.core, "the test", false);
	ck_assert_int_eq(life_world_run(14900), LIFE_GOES_ON);
	ck_assert_int_eq(life_world_run(200), 0);
	life_world_expect(
	    "high stops; low stops; high closes now; low closes now; ");
}

/* The overseer must not take that for the end of the run. */
TEST_ROWS(the_last_write_fails, 2)
{
	bool fails = _i == 1;

	life_world_begin_quietly();
	floor_world_settle();
	floor_world.store_fails = fails;
	life_complete(floor_world.core, "the work is done", false);
	ck_assert_int_eq(life_world_run(1000), fails);
	ck_assert_int_eq(life_world.unwritten > 0, fails);
	ck_assert(!life_world_exists("daemon.json"));
	ck_assert_int_eq(life_world_exists("ended.json"), !fails);
}
