/* SPDX-License-Identifier: ISC */

/* Turns and sessions of a repair that fail: waited for, started again, or given
 * up. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "file.h"
#include "json.h"
#include "loop.h"
#include "mem.h"
#include "procref.h"
#include "repair-world.h"
#include "unit.h"

static void
work(struct world *w)
{
	world_agent(w);
	repair_begin(&w->o);
	world_until_step(w, "work");
	world_agent_ready(w);
}

TEST(a_login_that_is_missing_fails_it)
{
	struct world w;

	world_begin(&w, false);
	work(&w);
	free(world_answer(&w,
	    world_hook(&w, "StopFailure",
		"{\"error\":\"authentication_failed\","
		"\"last_assistant_message\":\"Please run /login\"}")));
	world_until_told(
	    &w, REPAIR_FAILED, "the agent's turn failed: Please run /login");
	world_end(&w);
}

TEST(an_outage_is_waited_for_a_few_times)
{
	struct world w;

	world_begin(&w, false);
	work(&w);
	for (int i = 0; i < 4; i++) {
		free(world_answer(&w,
		    world_hook(&w, "StopFailure",
			"{\"error\":\"overloaded\","
			"\"last_assistant_message\":\"529\"}")));
		if (i == 3)
			break;
		ck_assert(loop_timer_pending(w.o.repair->agent.wait));
		loop_timer_restart(w.o.repair->agent.wait, 1);
		world_until_typed(&w, "The interruption is over.");
	}
	world_until_told(&w, REPAIR_FAILED, "the agent's turn failed: 529");
	world_end(&w);
}

/* More often than a turn may fail, and longer than the repair may take. */
TEST(a_usage_limit_is_waited_for_until_it_is_over)
{
	const char *limit = "{\"error\":\"rate_limit\","
			    "\"last_assistant_message\":\"You've hit your "
			    "limit\"}";
	int64_t before, wait;
	struct world w;

	world_begin(&w, false);
	work(&w);
	for (int i = 0; i < 6; i++) {
		before = loop_timer_remaining(
		    w.o.repair->op.deadline, clock_mono_ms());
		free(world_answer(&w, world_hook(&w, "StopFailure", limit)));
		wait = loop_timer_remaining(
		    w.o.repair->agent.wait, clock_mono_ms());
		ck_assert_int_gt(wait, (int64_t)4 * 60 * 1000);
		ck_assert_int_gt(loop_timer_remaining(
				     w.o.repair->op.deadline, clock_mono_ms()),
		    before + wait - 5000);
		loop_timer_restart(w.o.repair->agent.wait, 1);
		world_until_typed(&w, "The interruption is over.");
	}
	world_finds(&w);
	free(world_stops(&w));
	world_until_told(&w, REPAIR_COMPLETED, WORLD_FOUND);
	world_end(&w);
}

TEST(a_session_that_dies_is_started_again_twice)
{
	uint64_t generation = 0;
	struct world w;

	world_begin(&w, false);
	work(&w);
	for (int i = 0; i < 2; i++) {
		ck_assert_uint_gt(
		    w.o.repair->agent.record.generation, generation);
		generation = w.o.repair->agent.record.generation;
		world_agent_exits(&w);
		world_until_tmux(&w, "kill");
		world_agent(&w);
		world_agent_ready(&w); /* with the whole prompt again */
	}
	world_agent_exits(&w);
	world_until_told(
	    &w, REPAIR_DIED, "the repair session ended on its own");
	world_end(&w);
}

TEST(a_session_that_cannot_be_started_is_tried_again)
{
	struct world w;

	world_begin(&w, false);
	repair_begin(&w.o);
	world_until_step(&w, "work");
	for (int i = 0; i < 3; i++) {
		/* The end of the previous one, and the start. */
		world_until_tmux(&w, i == 0 ? "kill" : "kill kill");
		w.tmux->err = (struct err){ -EIO, "no tmux today" };
	}
	world_until_told(&w, REPAIR_DIED, "no tmux today");
	world_end(&w);
}

/* A process of the worker adam: waits for a byte, reports a Stop for the repair
 * session, and passes the answer on. */
static pid_t
forger(struct world *w, int go, int out)
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
	p.fd = world_hook(w, "Stop", "{}");
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
	struct world w;
	int go[2], out[2];
	pid_t pid;

	world_begin(&w, false);
	work(&w);
	ck_assert_int_eq(pipe2(go, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(out, O_CLOEXEC | O_NONBLOCK), 0);
	pid = forger(&w, go[0], out[1]);
	ck_assert_int_eq(procref_set(&ref, pid), 0);
	pane = procref_to_json(&ref);
	procref_release(&ref);
	text = xasprintf(
	    "{\"panes\":{\"adam\":%s}}", json_object_to_json_string(pane));
	file = workspace_path(&w.o.workspace, "panes.json");
	ck_assert_int_eq(file_replace(file, text, strlen(text), 0600, NULL), 0);
	ck_assert_int_eq(write(go[1], "x", 1), 1);
	answer = world_answer(&w, out[0]);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_ptr_nonnull(strstr(
	    answer, "hook.event is refused: this is the session of adam"));
	ck_assert(w.o.repair->agent.record.busy);
	ck_assert_int_eq(w.told, 0);
	/* The session itself ends it. */
	world_finds(&w);
	free(world_stops(&w));
	world_until_told(&w, REPAIR_COMPLETED, WORLD_FOUND);
	close(go[0]);
	close(go[1]);
	close(out[1]);
	world_end(&w);
}
