/* SPDX-License-Identifier: ISC */

#include "errand-world.h"
#include "strays.h"

/* A starter that is killed while the command runs; returns what the command
 * wrote to the fifo. */
static char *
start_and_die(const struct errand_spec *spec, const char *on)
{
	pid_t pid = fork();
	char *said;

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		struct run run;

		run_init(&run);
		if (errand_start(
			run.loop, spec, run_done, &run, &run.errand, NULL) < 0)
			_exit(1);
		loop_run(run.loop);
		_exit(2);
	}
	said = fifo_hear(on);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	return said;
}

TEST(it_outlives_its_starter_and_happens_once)
{
	const char *dir = fresh_dir(), *on = fresh_fifo(), *go = fresh_fifo();
	const char *effect = unit_path("effect");
	cleanup_free char *command =
	    xasprintf("echo before; echo warn >&2; echo >'%s'; read x <'%s'; "
		      "echo done >>'%s'; echo after; exit 4",
		on, go, effect);
	cleanup_free char *text = NULL;
	struct errand_spec spec = spec_for(dir, command);
	struct run run;

	unlink(effect);
	free(start_and_die(&spec, on));
	spec.command = NULL;
	run_adopt(&run, &spec);
	ck_assert(!file_exists(effect));
	fifo_say(go);
	run_wait(&run);
	ck_assert(!run.result.lost);
	ck_assert_int_eq(run.result.status, 4);
	ck_assert_str_eq(run.result.out.data, "before\nafter\n");
	ck_assert_str_eq(run.result.err.data, "warn\n");
	text = text_of(effect);
	ck_assert_str_eq(text, "done\n");
	run_release(&run);
	/* Again, now that it has ended. */
	run_adopt(&run, &spec);
	run_wait(&run);
	ck_assert_int_eq(run.result.status, 4);
	ck_assert_str_eq(run.result.out.data, "before\nafter\n");
	ck_assert_int_ge(run.result.duration_ms, 0);
	ck_assert_int_lt(run.result.duration_ms, GUARD_MS);
	free(text);
	text = text_of(effect);
	ck_assert_str_eq(text, "done\n");
	run_release(&run);
}

TEST(one_that_ended_with_nobody_there_is_found)
{
	const char *dir = fresh_dir(), *on = fresh_fifo(), *go = fresh_fifo();
	cleanup_free char *command =
	    xasprintf("echo >'%s'; read x <'%s'; echo alone", on, go);
	cleanup_free char *pid_path = file_of(dir, ".pid");
	cleanup_free char *pid_text = NULL;
	struct errand_spec spec = spec_for(dir, command);
	ended_by(run_release) struct run run;

	free(start_and_die(&spec, on));
	pid_text = text_of(pid_path);
	fifo_say(go);
	ck_assert(gone_within((pid_t)strtol(pid_text, NULL, 10), 10000));
	ck_assert(has_file(dir, ".status"));
	run_adopt(&run, &spec);
	run_wait(&run);
	ck_assert_int_eq(run.result.status, 0);
	ck_assert_str_eq(run.result.out.data, "alone\n");
}

TEST(freeing_it_leaves_it_running)
{
	const char *dir = fresh_dir(), *on = fresh_fifo(), *go = fresh_fifo();
	cleanup_free char *command =
	    xasprintf("echo >'%s'; read x <'%s'; echo on", on, go);
	struct errand_spec spec = spec_for(dir, command);
	struct run run;

	run_start(&run, &spec);
	free(fifo_hear(on));
	run_release(&run);
	ck_assert_int_eq(run.calls, 0);
	run_adopt(&run, &spec);
	run_release(&run); /* also for an adopted one */
	run_adopt(&run, &spec);
	fifo_say(go);
	run_wait(&run);
	ck_assert_str_eq(run.result.out.data, "on\n");
	run_release(&run);
}

/* A shell, a child in the foreground and one in the background, which write to
 * the fifo when they are there; all have its path in their environment. */
static char *
hang_command(const char *on)
{
	return xasprintf("echo hangs; export ON='%s'; sleep 1000 & "
			 "sleep 1000 & echo >\"$ON\"; wait",
	    on);
}

static void
expect_gone(const char *on)
{
	ck_assert(strays_become(on, 0, 5000));
}

TEST(the_deadline_ends_its_whole_group)
{
	const char *dir = fresh_dir(), *on = fresh_fifo();
	cleanup_free char *command = hang_command(on);
	struct errand_spec spec = spec_for(dir, command);
	ended_by(run_release) struct run run;

	spec.deadline_ms = 500;
	run_start(&run, &spec);
	free(fifo_hear(on));
	run_wait(&run);
	ck_assert(run.result.timed_out);
	ck_assert(!run.result.cancelled);
	ck_assert(!run.result.lost);
	ck_assert_int_eq(run.result.status, 143);
	ck_assert_str_eq(run.result.out.data, "hangs\n");
	ck_assert_int_ge(run.result.duration_ms, 500);
	expect_gone(on);
}

TEST(the_deadline_of_an_adopted_one_counts_from_its_start)
{
	const char *dir = fresh_dir(), *on = fresh_fifo();
	cleanup_free char *command = hang_command(on);
	struct errand_spec spec = spec_for(dir, command);
	int64_t began = clock_mono_ms();
	ended_by(run_release) struct run run;

	free(start_and_die(&spec, on));
	spec.deadline_ms = 1000;
	run_adopt(&run, &spec);
	run_wait(&run);
	ck_assert_int_ge(clock_mono_ms() - began, 1000);
	ck_assert(run.result.timed_out);
	ck_assert_int_eq(run.result.status, 143);
	ck_assert_str_eq(run.result.out.data, "hangs\n");
	expect_gone(on);
}

TEST(one_past_its_deadline_is_ended_when_adopted)
{
	const char *dir = fresh_dir(), *on = fresh_fifo();
	cleanup_free char *command = hang_command(on);
	struct errand_spec spec = spec_for(dir, command);
	int64_t began;
	struct run run;

	run_start(&run, &spec);
	free(fifo_hear(on));
	run_release(&run);
	spec.deadline_ms = 1;
	began = clock_mono_ms();
	run_adopt(&run, &spec);
	run_wait(&run);
	ck_assert(run.result.timed_out);
	ck_assert_int_lt(clock_mono_ms() - began, 4000);
	expect_gone(on);
	run_release(&run);
}

/* Half a minute later than a daemon would have; time is short here. */
TEST(past_its_deadline_it_ends_without_a_daemon)
{
	static const char *const hurry[] = { "LLMC_TIME_SCALE=100", NULL };
	const char *dir = fresh_dir(), *on = fresh_fifo();
	cleanup_free char *command = hang_command(on);
	struct errand_spec spec = spec_for(dir, command);
	ended_by(run_release) struct run run;

	spec.env = hurry;
	spec.deadline_ms = 1000;
	free(start_and_die(&spec, on));
	expect_gone(on);
	ck_assert(!has_file(dir, ".status"));
	run_adopt(&run, &spec);
	run_wait(&run);
	ck_assert(run.result.lost);
	ck_assert(!run.result.timed_out);
}

/* Change one member of the .json. */
static void
edit_json(const char *dir, const char *key, struct json_object *value)
{
	cleanup_free char *path = file_of(dir, ".json");
	cleanup_json struct json_object *record = NULL;

	ck_assert_int_eq(json_load(path, 1 << 20, &record, NULL), 0);
	json_set(record, key, value);
	ck_assert_int_eq(json_save(path, record, 0600, NULL), 0);
}

TEST(a_start_in_the_future_does_not_lengthen_the_deadline)
{
	const char *dir = fresh_dir(), *on = fresh_fifo();
	cleanup_free char *command = hang_command(on);
	struct errand_spec spec = spec_for(dir, command);
	struct run run;

	run_start(&run, &spec);
	free(fifo_hear(on));
	run_release(&run);
	edit_json(dir, "started_unix_ms",
	    json_object_new_int64(clock_wall_ms() + 3600000));
	spec.deadline_ms = 300;
	run_adopt(&run, &spec);
	run_wait(&run);
	ck_assert(run.result.timed_out);
	ck_assert_int_eq(run.result.duration_ms, 0);
	expect_gone(on);
	run_release(&run);
}

TEST(one_that_ignores_sigterm_is_killed_and_lost)
{
	const char *dir = fresh_dir(), *on = fresh_fifo();
	cleanup_free char *command = xasprintf(
	    "trap '' TERM; echo last words; export ON='%s'; sleep 1000 & "
	    "echo >\"$ON\"; while :; do wait; done",
	    on);
	struct errand_spec spec = spec_for(dir, command);
	struct run run;

	run_start(&run, &spec);
	free(fifo_hear(on));
	run_release(&run);
	run_adopt(&run, &spec);
	errand_cancel(run.errand);
	errand_cancel(run.errand); /* the second call changes nothing */
	run_wait(&run);
	ck_assert(run.result.cancelled);
	ck_assert(!run.result.timed_out);
	ck_assert(run.result.lost);
	ck_assert_int_eq(run.result.status, -1);
	ck_assert_str_eq(run.result.out.data, "last words\n");
	expect_gone(on);
	run_release(&run);
}

TEST(cancel_ends_a_started_and_an_adopted_one)
{
	for (int adopted = 0; adopted < 2; adopted++) {
		const char *dir = fresh_dir(), *on = fresh_fifo();
		cleanup_free char *command = hang_command(on);
		struct errand_spec spec = spec_for(dir, command);
		struct run run;

		run_start(&run, &spec);
		free(fifo_hear(on));
		if (adopted == 1) {
			run_release(&run);
			run_adopt(&run, &spec);
		}
		errand_cancel(run.errand);
		run_wait(&run);
		ck_assert(run.result.cancelled);
		ck_assert(!run.result.timed_out);
		ck_assert_int_eq(run.result.status, 143);
		ck_assert_str_eq(run.result.out.data, "hangs\n");
		expect_gone(on);
		errand_cancel(run.errand); /* too late has no effect */
		run_release(&run);
	}
}

TEST(cancelled_before_it_began_it_never_begins)
{
	const char *dir = fresh_dir(), *effect = unit_path("never");
	cleanup_free char *command =
	    xasprintf("sleep 1000; echo >'%s'", effect);
	struct errand_spec spec = spec_for(dir, command);
	struct run run;

	run_start(&run, &spec);
	errand_cancel(run.errand);
	run_wait(&run);
	ck_assert(run.result.cancelled);
	run_release(&run);
	ck_assert(has_file(dir, ".pid"));
	run_adopt(&run, &spec);
	run_wait(&run);
	run_release(&run);
	ck_assert(!file_exists(effect));
}

TEST(what_it_leaves_behind_cannot_hold_the_result_back)
{
	const char *dir = fresh_dir();
	struct errand_spec spec =
	    spec_for(dir, "export ON=it_leaves_behind; sleep 1000 & exit 6");
	ended_by(run_release) struct run run;

	run_start(&run, &spec);
	run_wait(&run);
	ck_assert_int_eq(run.result.status, 6);
	ck_assert(!run.result.lost);
	ck_assert(!run.result.timed_out);
	ck_assert_int_lt(run.result.duration_ms, 10000);
	/* It is gone already. */
	ck_assert_int_eq(strays_count("ON=it_leaves_behind", NULL), 0);
}

TEST(a_daemon_that_it_leaves_is_gone_with_the_result)
{
	const char *dir = fresh_dir(), *on = fresh_fifo();
	cleanup_free char *command = xasprintf(
	    "export ON='%s'; setsid sh -c 'echo >\"$ON\"; exec sleep 1000' "
	    ">/dev/null 2>&1 & read y <'%s'; echo left; exit 0",
	    on, on);
	cleanup_free char *lock = file_of(dir, ".lock");
	struct errand_spec spec = spec_for(dir, command);
	struct run run;

	run_start(&run, &spec);
	run_wait(&run);
	ck_assert_int_eq(run.result.status, 0);
	ck_assert_str_eq(run.result.out.data, "left\n");
	ck_assert_int_eq(strays_count(on, NULL), 0);
	run_release(&run);
	ck_assert_int_eq(lock_is_held(lock), 0);
}

TEST(its_runner_killed_it_ends_with_everything)
{
	const char *dir = fresh_dir(), *on = fresh_fifo();
	cleanup_free char *command = xasprintf(
	    "export ON='%s'; setsid sh -c 'echo >\"$ON\"; exec sleep 1000' "
	    ">/dev/null 2>&1 & sleep 1000",
	    on);
	cleanup_free char *pid_path = file_of(dir, ".pid"), *pid_text = NULL;
	cleanup_free char *lock = file_of(dir, ".lock");
	struct errand_spec spec = spec_for(dir, command);
	ended_by(run_release) struct run run;

	free(start_and_die(&spec, on));
	pid_text = text_of(pid_path);
	run_adopt(&run, &spec);
	ck_assert_int_eq(errand_forget(dir, "e", NULL), -EBUSY);
	ck_assert_int_gt(strays_count(on, NULL), 2);
	ck_assert_int_eq(kill((pid_t)strtol(pid_text, NULL, 10), SIGKILL), 0);
	run_wait(&run);
	ck_assert(run.result.lost);
	/* The lock is free when everything is gone. */
	ck_assert_int_eq(lock_is_held(lock), 0);
	ck_assert(strays_become(on, 0, 5000));
}

TEST(killed_with_its_shell_it_is_lost)
{
	const char *dir = fresh_dir(), *on = fresh_fifo();
	cleanup_free char *command =
	    xasprintf("echo some; echo >'%s'; kill -KILL 0", on);
	struct errand_spec spec = spec_for(dir, command);
	struct run run;

	free(start_and_die(&spec, on));
	for (int i = 0; i < 2; i++) {
		run_adopt(&run, &spec);
		run_wait(&run);
		ck_assert(run.result.lost);
		ck_assert(!run.result.timed_out);
		ck_assert(!run.result.cancelled);
		ck_assert_int_eq(run.result.status, -1);
		run_release(&run);
	}
}

TEST(lost_under_our_eyes_too)
{
	const char *dir = fresh_dir();
	struct errand_spec spec = spec_for(dir, "kill -KILL 0");
	ended_by(run_release) struct run run;

	run_start(&run, &spec);
	run_wait(&run);
	ck_assert(run.result.lost);
	ck_assert_int_eq(run.result.status, -1);
}

TEST(a_status_that_is_none_is_lost)
{
	static const char *const bad[] = { "", "\n", "x\n", "256\n", "-1\n",
		"1 2\n", "0\n0\n",
		"00000000000000000000000000000000000000000000000000\n" };
	const char *dir = fresh_dir();
	cleanup_free char *path = file_of(dir, ".status");
	struct errand_spec spec = spec_for(dir, "true");
	struct run run;

	run_start(&run, &spec);
	run_wait(&run);
	run_release(&run);
	for (size_t i = 0; i < nitems(bad); i++) {
		ck_assert_int_eq(
		    file_replace(path, bad[i], strlen(bad[i]), 0600, NULL), 0);
		run_adopt(&run, &spec);
		run_wait(&run);
		ck_assert_msg(run.result.lost, "%s", bad[i]);
		run_release(&run);
	}
}

/* Run it, then remove everything but the intent: as if the starter had died
 * right after writing it. */
static void
leave_intent(const struct errand_spec *spec)
{
	struct run run;

	run_start(&run, spec);
	run_wait(&run);
	run_release(&run);
	remove_file(spec->dir, ".pid");
	remove_file(spec->dir, ".status");
	remove_file(spec->dir, ".out");
	remove_file(spec->dir, ".err");
}

TEST(one_that_was_never_started_is_started)
{
	const char *dir = fresh_dir(), *effect = unit_path("intent");
	const char *const env[] = { "A=\"q\"", NULL };
	cleanup_free char *command =
	    xasprintf("pwd; echo \"$A\"; echo x >>'%s'", effect);
	cleanup_free char *text = NULL;
	struct errand_spec spec = spec_for(dir, command);
	struct run run;

	unlink(effect);
	spec.cwd = "/usr";
	spec.env = env;
	leave_intent(&spec);
	edit_json(dir, "started_unix_ms", json_object_new_int64(1));
	spec.command = spec.cwd = NULL;
	spec.env = NULL;
	run_adopt(&run, &spec);
	run_wait(&run);
	ck_assert_int_eq(run.result.status, 0);
	ck_assert_str_eq(run.result.out.data, "/usr\n\"q\"\n");
	run_release(&run);
	run_adopt(&run, &spec); /* but only once */
	run_wait(&run);
	ck_assert_int_lt(run.result.duration_ms, GUARD_MS);
	run_release(&run);
	text = text_of(effect);
	ck_assert_str_eq(text, "x\nx\n");
}

TEST(an_intent_of_another_boot_is_lost)
{
	const char *dir = fresh_dir(), *effect = unit_path("boot");
	cleanup_free char *command = xasprintf("echo x >>'%s'", effect);
	cleanup_free char *text = NULL;
	struct errand_spec spec = spec_for(dir, command);
	struct run run;

	unlink(effect);
	leave_intent(&spec);
	edit_json(dir, "boot_id", json_object_new_string("another"));
	run_adopt(&run, &spec);
	run_wait(&run);
	ck_assert(run.result.lost);
	run_release(&run);
	text = text_of(effect);
	ck_assert_str_eq(text, "x\n");
}

TEST(a_pid_that_became_anothers_is_not_signalled)
{
	const char *dir = fresh_dir();
	cleanup_free char *lock_path = file_of(dir, ".lock");
	cleanup_free char *pid_path = file_of(dir, ".pid"), *pid_text = NULL;
	struct errand_spec spec = spec_for(dir, "true");
	struct run run;
	pid_t stranger;
	int lock, status = 0;

	run_start(&run, &spec);
	run_wait(&run);
	run_release(&run);
	remove_file(dir, ".status");
	stranger = fork();
	ck_assert_int_ge(stranger, 0);
	if (stranger == 0) {
		setsid();
		for (;;)
			pause();
	}
	pid_text = xasprintf("%d\n", (int)stranger);
	ck_assert_int_eq(
	    file_replace(pid_path, pid_text, strlen(pid_text), 0600, NULL), 0);
	lock = lock_try(lock_path, NULL);
	ck_assert_int_ge(lock, 0);
	run_adopt(&run, &spec);
	errand_cancel(run.errand);
	close(lock);
	run_wait(&run);
	ck_assert(run.result.lost);
	run_release(&run);
	ck_assert_int_eq(waitpid(stranger, NULL, WNOHANG), 0);
	ck_assert_int_eq(kill(stranger, SIGKILL), 0);
	ck_assert_int_eq(waitpid(stranger, &status, 0), stranger);
	ck_assert_int_eq(WTERMSIG(status), SIGKILL);
}
