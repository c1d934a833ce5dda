/* SPDX-License-Identifier: ISC */

/* Turns and sessions of a repair that fail: waited for, started again, or given
 * up. */
#include "repair-world.h"

TEST(a_login_that_is_missing_fails_it)
{
	world_begin(false);
	world_work();
	free(world_answer(world_hook("StopFailure",
	    "{\"error\":\"authentication_failed\","
	    "\"last_assistant_message\":\"Please run /login\"}")));
	world_until_told(
	    REPAIR_FAILED, "the agent's turn failed: Please run /login");
}

TEST(an_outage_is_waited_for_a_few_times)
{
	world_begin(false);
	world_work();
	for (int i = 0; i < 4; i++) {
		free(world_answer(world_hook("StopFailure",
		    "{\"error\":\"overloaded\","
		    "\"last_assistant_message\":\"529\"}")));
		if (i == 3)
			break;
		ck_assert(loop_timer_pending(w.o.repair->agent.wait));
		loop_timer_restart(w.o.repair->agent.wait, 1);
		world_until_typed("The interruption is over.");
	}
	world_until_told(REPAIR_FAILED, "the agent's turn failed: 529");
}

/* More often than a turn may fail, and longer than the repair may take. */
TEST(a_usage_limit_is_waited_for_until_it_is_over)
{
	const char *limit = "{\"error\":\"rate_limit\","
			    "\"last_assistant_message\":\"You've hit your "
			    "limit\"}";
	int64_t before, wait;

	world_begin(false);
	world_work();
	for (int i = 0; i < 6; i++) {
		before = loop_timer_remaining(
		    w.o.repair->op.deadline, clock_mono_ms());
		free(world_answer(world_hook("StopFailure", limit)));
		wait = loop_timer_remaining(
		    w.o.repair->agent.wait, clock_mono_ms());
		ck_assert_int_gt(wait, (int64_t)4 * 60 * 1000);
		ck_assert_int_gt(loop_timer_remaining(
				     w.o.repair->op.deadline, clock_mono_ms()),
		    before + wait - 5000);
		loop_timer_restart(w.o.repair->agent.wait, 1);
		world_until_typed("The interruption is over.");
	}
	world_finds();
	free(world_stops());
	world_until_told(REPAIR_COMPLETED, WORLD_FOUND);
}

TEST(a_session_that_dies_is_started_again_twice)
{
	uint64_t generation = 0;

	world_begin(false);
	world_work();
	for (int i = 0; i < 2; i++) {
		ck_assert_uint_gt(
		    w.o.repair->agent.record.generation, generation);
		generation = w.o.repair->agent.record.generation;
		world_agent_exits();
		world_until_tmux("kill");
		world_agent();
		world_agent_ready(); /* with the whole prompt again */
	}
	world_agent_exits();
	world_until_told(REPAIR_DIED, "the repair session ended on its own");
}

TEST(a_session_that_cannot_be_started_is_tried_again)
{
	world_begin(false);
	repair_begin(&w.o, world_repaired);
	world_until_step("work");
	for (int i = 0; i < 3; i++) {
		/* The end of the previous one, and the start. */
		world_until_tmux(i == 0 ? "kill" : "kill kill");
		w.tmux->err = (struct err){ -EIO, "no tmux today" };
	}
	world_until_told(REPAIR_DIED, "no tmux today");
}

/* A process of the worker adam: waits for a byte, reports a Stop for the repair
 * session, and passes the answer on. */
static pid_t
forger(int go, int out)
{
	pid_t pid = fork();
	char part[4096];
	struct pollfd p = { .events = POLLIN };
	ssize_t n;

	ck_assert_int_ge(pid, 0);
	if (pid > 0)
		return pid;
	if (read(go, part, 1) != 1)
		_exit(1);
	p.fd = world_hook("Stop", "{}");
	poll(&p, 1, 10000);
	n = read(p.fd, part, sizeof part);
	_exit(n > 0 && write(out, part, (size_t)n) == n ? 0 : 1);
}

/* Its repair would be over with the end of its turn. */
TEST(a_worker_cannot_end_it)
{
	cleanup_free char *file = NULL, *text = NULL, *answer = NULL;
	cleanup_json struct json_object *pane = NULL;
	struct procref ref = PROCREF_INIT;
	int go[2], out[2];
	pid_t pid;

	world_begin(false);
	world_work();
	ck_assert_int_eq(pipe2(go, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(out, O_CLOEXEC | O_NONBLOCK), 0);
	pid = forger(go[0], out[1]);
	ck_assert_int_eq(procref_set(&ref, pid), 0);
	pane = procref_to_json(&ref);
	procref_release(&ref);
	text = xasprintf(
	    "{\"panes\":{\"adam\":%s}}", json_object_to_json_string(pane));
	file = workspace_path(&w.o.workspace, "panes.json");
	ck_assert_int_eq(file_replace(file, text, strlen(text), 0600, NULL), 0);
	ck_assert_int_eq(write(go[1], "x", 1), 1);
	answer = world_answer(out[0]);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_ptr_nonnull(strstr(
	    answer, "hook.event is refused: this is the session of adam"));
	ck_assert(w.o.repair->agent.record.busy);
	ck_assert_int_eq(w.told, 0);
	/* The session itself ends it. */
	world_finds();
	free(world_stops());
	world_until_told(REPAIR_COMPLETED, WORLD_FOUND);
	close(go[0]);
	close(go[1]);
	close(out[1]);
}
