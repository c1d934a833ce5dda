/* SPDX-License-Identifier: ISC */

/* How the daemon begins, patrols and stops, and the file that identifies it. */
#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "errtext.h"
#include "file.h"
#include "git-facts.h"
#include "json.h"
#include "life-world.h"
#include "life.h"
#include "clock.h"
#include "mem.h"
#include "serve.h"
#include "settings.h"
#include "unit.h"

/* --- the beginning ---------------------------------------------------- */

START_TEST(floors_begin_from_the_bottom)
{
	struct life_world house = { .low.late = true };
	struct floor_call *calls[2];

	life_world_begin(&house, NULL);
	life_world_expect(&house, "low begins; ");
	/* Calls wait for that too. */
	calls[0] = floor_world_ask(&house.world, "daemon.info", "{}");
	calls[1] = floor_world_call(&house.world, "worker.nuke", "adam", "");
	life_patrol(house.world.core); /* not before all have begun */
	ck_assert_int_eq(life_world_run(&house, 100000), LIFE_GOES_ON);
	life_world_expect(&house, "");
	ck_assert(!floor_call_is_answered(calls[0]));
	life_floor_begun(house.world.core);
	life_world_expect(
	    &house, "high begins; high looks at all; low looks at all; ");
	ck_assert_ptr_null(floor_world_answer(&house.world, calls[0]));
	ck_assert_ptr_nonnull(
	    strstr(floor_world_answer(&house.world, calls[1]), "no worker"));
	life_world_end(&house);
}
END_TEST

START_TEST(a_stop_before_all_have_begun)
{
	struct life_world house = { .low.late = true };
	struct floor_call *call;

	life_world_begin(&house, NULL);
	call = floor_world_call(&house.world, "worker.nuke", "adam", "");
	ck_assert_int_eq(life_world_run(&house, 100), LIFE_GOES_ON);
	ck_assert(!floor_call_is_answered(call));
	house.low.noisy = true;
	life_stop(house.world.core, "the test", false);
	life_world_expect(&house, "low begins; high stops; low stops; ");
	ck_assert_str_eq(
	    floor_world_answer(&house.world, call), "the daemon is stopping");
	life_floor_begun(house.world.core);
	house.low.noisy = false;
	ck_assert_int_eq(life_world_run(&house, 1000), 0);
	life_world_expect(&house, "high closes; low closes; ");
	life_world_end(&house);
}
END_TEST

START_TEST(it_says_who_it_is)
{
	struct life_world house = { .world.options.auto_mode = true };
	struct json_object *json;

	life_world_begin(&house, NULL);
	json = life_world_load(&house, "daemon.json");
	ck_assert_int_eq(json_int_or(json, "pid", 0), getpid());
	ck_assert_str_eq(json_string_or(json, "instance_id", ""),
	    house.world.core->instance);
	ck_assert(json_bool_or(json, "auto", false));
	json_object_put(json);
	ck_assert_int_eq(house.resumes, 0);

	/* It dies; the next one says so, and stops cleanly. */
	floor_world_settle(&house.world);
	floor_world_close(&house.world);
	ck_assert(life_world_exists(&house, "daemon.json"));
	floor_world_open(&house.world);
	life_world_build(&house);
	ck_assert_int_eq(house.resumes, 1);
	life_stop(house.world.core, "the test", false);
	ck_assert_int_eq(life_world_run(&house, 1000), 0);
	ck_assert(!life_world_exists(&house, "daemon.json"));
	floor_world_close(&house.world);
	floor_world_open(&house.world);
	life_world_build(&house);
	ck_assert_int_eq(house.resumes, 1);
	life_world_end(&house);
}
END_TEST

static void
refuse(void *arg, struct server_call *call, struct json_object *params)
{
	(void)arg;
	(void)params;
	serve_refuse(call, API_FAILED, "nobody is here");
}

START_TEST(a_place_that_cannot_be_listened_at)
{
	struct floor_world world;
	struct err err = { 0 };
	cleanup_free char *file = NULL;
	const char *missing;

	floor_world_begin(&world, NULL);
	while ((missing = serve_missing(world.core)) != NULL)
		serve_handle(world.core, missing, refuse, NULL);
	file = workspace_path(&world.workspace, "daemon.json");
	ck_assert_int_eq(
	    file_replace(world.core->socket, "x", 1, 0600, NULL), 0);
	ck_assert_int_lt(life_begin(world.core, &err), 0);
	ck_assert_str_ne(err.msg, "");
	ck_assert(!file_exists(file));
	floor_world_end(&world);
}
END_TEST

START_TEST(a_method_that_nobody_carries_out)
{
	struct floor_world world;

	floor_world_begin(&world, NULL);
	life_begin(world.core, NULL);
}
END_TEST

/* --- patrols ---------------------------------------------------------- */

START_TEST(patrols_come_from_the_top)
{
	struct life_world house = { 0 };
	struct floor_call *call;

	life_world_begin(&house, "[daemon]\npatrol_interval = \"30s\"");
	life_world_expect(&house,
	    "low begins; high begins; high looks at all; low looks at all; ");
	ck_assert_int_eq(life_world_run(&house, 29000), LIFE_GOES_ON);
	life_world_expect(&house, "");
	ck_assert_int_eq(life_world_run(&house, 2000), LIFE_GOES_ON);
	life_world_expect(&house, "high patrols; low patrols; ");
	ck_assert_uint_eq(life_patrols(house.world.core), 1);
	call = floor_world_ask(&house.world, "daemon.patrol", "{}");
	ck_assert_ptr_null(floor_world_answer(&house.world, call));
	life_world_expect(&house, "high looks at all; low looks at all; ");
	ck_assert_uint_eq(life_patrols(house.world.core), 1);
	life_stop(house.world.core, "the test", false);
	house.low.noisy = true;
	buf_clear(&house.trace);
	life_patrol(house.world.core); /* no patrol while it stops */
	life_world_expect(&house, "");
	life_world_end(&house);
}
END_TEST

START_TEST(settings_are_taken_again)
{
	struct life_world house = { 0 };
	cleanup_free char *file = NULL;
	static const char fast[] = "[daemon]\npatrol_interval = \"10s\"\n",
			  wrong[] = "[daemon]\npatrol_interval = 7\n";

	life_world_begin(&house, "[daemon]\npatrol_interval = \"1h\"");
	file = workspace_path(&house.world.workspace, "config.toml");
	ck_assert_int_eq(life_world_run(&house, 60000), LIFE_GOES_ON);
	buf_clear(&house.trace);
	ck_assert_int_eq(file_replace(file, fast, strlen(fast), 0600, NULL), 0);
	floor_world_accept(&house.world);
	raise(SIGHUP);
	ck_assert_int_eq(life_world_run(&house, 11000), LIFE_GOES_ON);
	life_world_expect(&house, "high patrols; low patrols; ");
	ck_assert_int_eq(
	    file_replace(file, wrong, strlen(wrong), 0600, NULL), 0);
	floor_world_accept(&house.world);
	life_reload(house.world.core);
	ck_assert_int_eq(life_world_run(&house, 11000), LIFE_GOES_ON);
	life_world_expect(
	    &house, "high patrols; low patrols; "); /* the old ones stay */
	life_world_end(&house);
}
END_TEST

static void
write_settings(struct life_world *house, const char *text)
{
	cleanup_free char *file =
	    workspace_path(&house->world.workspace, "config.toml");

	ck_assert_int_eq(file_replace(file, text, strlen(text), 0600, NULL), 0);
	floor_world_accept(&house->world);
	life_reload(house->world.core);
}

static const char *
command(const struct life_world *house)
{
	return settings_string(
	    house->world.core->settings, "people.notify_command");
}

static bool
has_no_command(void *arg)
{
	return *command(arg) == '\0';
}

/* Or a person who saves a file with a typo is not told of it. */
START_TEST(settings_that_are_just_being_written_are_waited_for)
{
	struct life_world house = { 0 };

	life_world_begin(&house, "[people]\nnotify_command = \"a\"\n");
	ck_assert_int_eq(life_world_run(&house, 1000), LIFE_GOES_ON);
	clock_virtual_end(); /* git is asked */
	write_settings(&house, "");
	ck_assert_int_eq(life_world_run(&house, 500), LIFE_GOES_ON);
	ck_assert_str_eq(command(&house), "a");
	write_settings(&house, "[people]\nnotify_command = \"b\"\n");
	ck_assert_int_eq(life_world_run(&house, 1), LIFE_GOES_ON);
	ck_assert_str_eq(command(&house), "b");
	/* They may be empty. */
	write_settings(&house, "");
	floor_world_wait(&house.world, has_no_command, &house);
	life_world_end(&house);
}
END_TEST

/* --- the end ---------------------------------------------------------- */

START_TEST(a_stop_waits_until_all_are_quiet)
{
	struct life_world house = { 0 };

	life_world_begin_quietly(&house);
	house.low.noisy = true;
	life_stop(house.world.core, "the test", false);
	life_stop(house.world.core, "again", false); /* does not count as a
						      * second stop */
	life_world_expect(&house, "high stops; low stops; ");
	ck_assert_int_eq(house.stopping, 1);
	ck_assert_int_eq(life_world_run(&house, 14000), LIFE_GOES_ON);
	life_world_expect(&house, "");
	ck_assert(life_world_exists(&house, "daemon.json"));
	house.low.noisy = false;
	ck_assert_int_eq(life_world_run(&house, 100), 0);
	life_world_expect(&house, "high closes; low closes; ");
	ck_assert(!house.world.core->state.daemon_running);
	life_world_end(&house);
}
END_TEST

START_TEST(at_most_fifteen_seconds)
{
	struct life_world house = { 0 };

	life_world_begin_quietly(&house);
	house.high.noisy = true;
	life_stop(house.world.core, "the test", false);
	ck_assert_int_eq(life_world_run(&house, 14990), LIFE_GOES_ON);
	ck_assert_int_eq(life_world_run(&house, 20), 0);
	life_world_expect(
	    &house, "high stops; low stops; high closes now; low closes now; ");
	ck_assert(!life_world_exists(&house, "daemon.json"));
	life_world_end(&house);
}
END_TEST

START_TEST(the_second_stop_is_now)
{
	struct life_world house = { 0 };

	life_world_begin_quietly(&house);
	house.low.noisy = true;
	raise(SIGTERM);
	ck_assert_int_eq(life_world_run(&house, 1000), LIFE_GOES_ON);
	life_world_expect(&house, "high stops; low stops; ");
	raise(SIGINT);
	ck_assert_int_eq(life_world_run(&house, 1000), 0);
	life_world_expect(&house, "high closes now; low closes now; ");
	ck_assert_int_eq(house.stopping, 1);
	life_world_end(&house);
}
END_TEST

START_TEST(a_call_stops_it)
{
	bool now = _i == 1;
	struct life_world house = { 0 };
	struct floor_call *call;

	life_world_begin_quietly(&house);
	house.low.noisy = true;
	call = floor_world_ask(
	    &house.world, "daemon.stop", now ? "{\"now\":true}" : "{}");
	ck_assert_int_eq(life_world_run(&house, 1000), now ? 0 : LIFE_GOES_ON);
	life_world_expect(&house,
	    now ? "high closes now; low closes now; " :
		  "high stops; low stops; ");
	floor_world_close(&house.world);
	ck_assert_ptr_null(floor_world_answer(&house.world, call));
	ck_assert_int_eq(
	    json_object_get_int(floor_call_result(call)), getpid());
	life_world_end(&house);
}
END_TEST

START_TEST(a_single_request_waits_for_nobody)
{
	struct life_world house = { 0 };

	life_world_begin_quietly(&house);
	house.low.noisy = true;
	house.world.options.oneshot = true;
	life_stop(house.world.core, "answered", false);
	life_world_expect(&house, "high closes now; low closes now; ");
	ck_assert(!life_world_exists(&house, "daemon.json"));
	life_world_end(&house);
}
END_TEST

static void
on_facts(const struct git_facts *facts, const struct err *err, void *arg)
{
	(void)facts;
	(void)err;
	(void)arg;
}

/* If git were killed, it would leave its lock files. */
START_TEST(git_is_waited_for)
{
	struct life_world house = { 0 };

	life_world_begin_quietly(&house);
	floor_world_trap(&house.world, 1, "hang");
	git_facts_read(house.world.core->git, house.world.workspace.root,
	    "main", on_facts, NULL);
	life_stop(house.world.core, "the test", false);
	ck_assert_int_eq(life_world_run(&house, 14900), LIFE_GOES_ON);
	ck_assert_int_eq(life_world_run(&house, 200), 0);
	life_world_expect(
	    &house, "high stops; low stops; high closes now; low closes now; ");
	life_world_end(&house);
}
END_TEST

START_TEST(the_last_write_fails)
{
	struct life_world house = { 0 };

	life_world_begin_quietly(&house);
	floor_world_settle(&house.world);
	house.world.store_fails = true;
	life_stop(house.world.core, "the test", false);
	ck_assert_int_eq(life_world_run(&house, 1000), 1);
	ck_assert_int_ge(house.unwritten, 1);
	ck_assert(!life_world_exists(&house, "daemon.json"));
	life_world_end(&house);
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *suite = suite_create("life");
	const char *fork_mode = getenv("CK_FORK");
	TCase *fatal = tcase_create("fatal"), *call = tcase_create("call");

	unit_case(suite, "beginning",
	    (const TTest *const[]){ floors_begin_from_the_bottom,
		a_stop_before_all_have_begun, it_says_who_it_is,
		a_place_that_cannot_be_listened_at, NULL });
	unit_case(suite, "patrols",
	    (const TTest *const[]){ patrols_come_from_the_top,
		settings_are_taken_again,
		settings_that_are_just_being_written_are_waited_for, NULL });
	unit_case(suite, "end",
	    (const TTest *const[]){ a_stop_waits_until_all_are_quiet,
		at_most_fifteen_seconds, the_second_stop_is_now,
		a_single_request_waits_for_nobody, git_is_waited_for,
		the_last_write_fails, NULL });
	tcase_add_loop_test(call, a_call_stops_it, 0, 2);
	suite_add_tcase(suite, call);
	/* Not if the test would end the whole program. */
	if (fork_mode == NULL || strcmp(fork_mode, "no") != 0)
		tcase_add_exit_test(
		    fatal, a_method_that_nobody_carries_out, 70);
	suite_add_tcase(suite, fatal);
	return suite;
}
