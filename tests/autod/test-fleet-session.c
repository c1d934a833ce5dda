/* SPDX-License-Identifier: ISC */

/* Sessions that begin, do not begin, and end by themselves, in virtual time; a
 * tmux that fails; checks of worktrees. */
#include "fleet-world.h"
#include "claude.h"
#include "fleet-private.h"
#include "git.h"
#include "config.h"
#include "orphans.h"
#include "worker-op.h"
#include "worker.h"

static void
hurry(void)
{
	clock_virtual_begin(clock_mono_ms(), clock_wall_ms());
}

/* A turn that is cut off goes on in the next session. */
TEST(a_crash_is_resumed)
{
	fleet_world_begin_working(NULL);
	fleet_world_write_transcript(fleet_world.adam);
	hurry();
	fleet_world_kill(fleet_world.adam);
	fleet_world_wait_launched(fleet_world.adam);
	fleet_world_expect(fleet_world.adam, WORKER_OFFLINE);
	ck_assert_int_eq(fleet_world.told[EVENT_AGENT_EXITED], 1);
	ck_assert_int_eq(fleet_world.adam->worker->crashes, 1);
	ck_assert(fleet_world.adam->resuming);
	fleet_world_wait_up(fleet_world.adam);
	fleet_world_wait_pasted(fleet_world.adam);
	fleet_world_submit(fleet_world.adam);
	fleet_world_moved("adam:offline adam:starting adam:working ");
}

/* Its process ends, or lives without its session. */
static void
crash(struct agent *agent, bool gone)
{
	if (gone)
		agent_session_gone(agent);
	else
		fleet_world_kill(agent);
}

/* Each crash waits longer than the one before; then a person is needed. */
TEST_ROWS(crashes_end_in_error, 2)
{
	int64_t pause, last = -1;

	fleet_world_begin_idle(NULL);
	hurry();
	for (int i = 1; i < CRASH_MAX; i++) {
		crash(fleet_world.adam, _i == 1);
		floor_world_wait_status(fleet_world.adam, WORKER_OFFLINE);
		ck_assert_int_eq(fleet_world.adam->worker->crashes, i);
		pause = fleet_world.adam->retry_ms - clock_mono_ms();
		ck_assert_int_gt(pause, i == 1 ? -1000 : last);
		last = pause;
		fleet_world_wait_up(fleet_world.adam);
		fleet_world_expect(fleet_world.adam, WORKER_IDLE);
	}
	crash(fleet_world.adam, _i == 1);
	floor_world_wait_status(fleet_world.adam, WORKER_ERROR);
	ck_assert_int_eq(fleet_world.told[EVENT_AGENT_CRASHES], 1);
	ck_assert_int_eq(
	    fleet_world.told[_i == 1 ? EVENT_SESSION_GONE : EVENT_AGENT_EXITED],
	    CRASH_MAX);
	fleet_world_run(600000);
	ck_assert_int_eq(
	    session_phase(fleet_world.adam->session), SESSION_NONE);
}

/* The list of sessions may be older than one of them. */
TEST(a_session_is_given_up_when_it_is_missing_twice)
{
	fleet_world_begin_idle(NULL);
	fake_tmux_forget_sessions();
	life_patrol(floor_world.core);
	floor_world_until(fleet_world.adam->missing == 1);
	ck_assert_int_eq(fleet_world.told[EVENT_SESSION_GONE], 0);
	life_patrol(floor_world.core);
	floor_world_until(fleet_world.told[EVENT_SESSION_GONE] == 1);
	fleet_world_expect(fleet_world.adam, WORKER_OFFLINE);
}

static bool
drives(void *arg, const struct agent *agent)
{
	(void)agent;
	return *(bool *)arg;
}

/* Escape in its session, which only the transcript shows; a person is told
 * where nobody sits beside it. */
TEST_ROWS(an_interruption_in_the_session, 2)
{
	static const struct fleet_policy policy = { .drives = drives };
	bool driven = _i == 1;

	fleet_world_begin_working(NULL);
	fleet_set_policy(floor_world.fleet, &policy, &driven);
	agent_session_events.interrupted(fleet_world.adam);
	fleet_world_expect(fleet_world.adam, WORKER_PAUSED);
	ck_assert_int_eq(fleet_world.told[EVENT_WORKER_PARKED], driven);
}

/* A session that does not report: parked for a person; where nobody sits beside
 * it, it is tried again first. */
TEST_ROWS(an_unreported_start, 2)
{
	static const struct fleet_policy policy = { .drives = drives };
	bool driven = _i == 1;
	struct agent *adam;

	fleet_world_begin(NULL);
	fleet_set_policy(floor_world.fleet, &policy, &driven);
	adam = fleet_world_add("adam");
	hurry();
	floor_world_wait_status(adam, WORKER_PAUSED);
	ck_assert_int_eq(
	    fleet_world.told[EVENT_START_UNREPORTED], driven ? 2 : 0);
	ck_assert_int_eq(fleet_world.told[EVENT_LAUNCHING], driven ? 3 : 1);
	ck_assert_int_eq(fleet_world.told[EVENT_WORKER_PARKED], 1);
}

/* It takes no task of llmc start, so nothing advises that. */
TEST(an_auto_worker_gets_its_tasks_with_task_add)
{
	static const char *const calls[][2] = {
		{ "worker.message", "{\"worker\":\"auto-1\",\"text\":\"x\"}" },
		{ "worker.start", "{\"worker\":\"auto-1\",\"prompt\":\"x\"}" },
		{ "worker.start", "{\"prompt\":\"x\"}" },
	};

	fleet_world_begin(NULL);
	floor_world_add("auto-1", WORKER_IDLE);
	for (size_t i = 0; i < nitems(calls); i++) {
		const char *words = floor_world_answer(
		    floor_world_ask(calls[i][0], calls[i][1]));

		ck_assert_ptr_nonnull(words);
		ck_assert_msg(strstr(words, "llmc task add") != NULL &&
			strstr(words, "llmc start") == NULL,
		    "%s", words);
	}
}

/* What is not taken is given to the next session. */
TEST(an_undelivered_prompt)
{
	fleet_world_begin_idle(NULL);
	floor_world_done(
	    floor_world_call("worker.start", "adam", ",\"prompt\":\"do it\""));
	fleet_world_wait_pasted(fleet_world.adam);
	hurry();
	fleet_world_wait_launched(fleet_world.adam);
	ck_assert_int_eq(fleet_world.told[EVENT_PROMPT_NOT_TAKEN], 1);
	ck_assert_int_eq(fleet_world.adam->worker->session.pending_refused, 1);
	fleet_world_start(fleet_world.adam, "startup");
	fleet_world_submit(fleet_world.adam);
	fleet_world_expect(fleet_world.adam, WORKER_WORKING);
	ck_assert_int_eq(fleet_world.adam->worker->session.pending_refused, 0);
}

/* But not to one after the other for ever. */
TEST_ROWS(a_prompt_that_no_session_takes, 2)
{
	static const struct fleet_policy policy = { .drives = drives };
	bool driven = _i == 1;
	const struct worker *w;

	fleet_world_begin_idle(NULL);
	w = fleet_world.adam->worker;
	floor_world_done(
	    floor_world_call("worker.start", "adam", ",\"prompt\":\"do it\""));
	fleet_set_policy(floor_world.fleet, &policy, &driven);
	fleet_world_wait_pasted(fleet_world.adam);
	hurry();
	for (int i = 1; i < DELIVERY_SESSIONS; i++) {
		fleet_world_wait_launched(fleet_world.adam);
		ck_assert_int_eq(fleet_world.told[EVENT_PROMPT_NOT_TAKEN], i);
		fleet_world_start(fleet_world.adam, "startup");
		fleet_world_wait_pasted(fleet_world.adam);
	}
	floor_world_wait_status(
	    fleet_world.adam, driven ? WORKER_ERROR : WORKER_PAUSED);
	ck_assert_ptr_nonnull(strstr(w->reason, "did not accept its prompt"));
	ck_assert_ptr_nonnull(
	    strstr(w->reason, driven ? "llmc reset adam" : "llmc resume adam"));
	ck_assert_int_eq(fleet_world.told[EVENT_WORKER_PARKED], 1);
	fleet_world_run(600000);
	ck_assert_int_eq(
	    session_phase(fleet_world.adam->session), SESSION_NONE);
	ck_assert_int_eq(
	    fleet_world.told[EVENT_PROMPT_NOT_TAKEN], DELIVERY_SESSIONS);
}

/* Trust is given in a file behind a symbolic link: no watch sees that, but a
 * patrol does; a worker that a person has paused meanwhile stays so. */
TEST_ROWS(trust_that_only_a_patrol_sees, 2)
{
	bool held = _i == 1;
	cleanup_free char *link = NULL;
	const char *home = unit_path("home"), *file = unit_path("elsewhere");
	struct agent *adam;

	link = file_join(home, ".claude.json");
	ck_assert_int_eq(file_mkdirs(home, 0700, NULL), 0);
	ck_assert_int_eq(symlink(file, link), 0);
	unsetenv("CLAUDE_CONFIG_DIR");
	unsetenv("ANTHROPIC_API_KEY");
	ck_assert_int_eq(
	    claude_home_trust(file, "/other", NULL, true, NULL), 0);
	fleet_world_begin("[defaults]\nagent_command = \"claude\"\n"
			  "allow_root = true\n");
	ck_assert_int_eq(setenv("HOME", home, 1), 0);
	adam = fleet_world_add("adam");
	floor_world_wait_status(adam, WORKER_PAUSED);
	ck_assert_int_eq(claude_home_trust(file, floor_world.workspace.root,
			     NULL, true, NULL),
	    0);
	adam->worker->on_hold = held;
	life_patrol(floor_world.core);
	fleet_world_expect(adam, held ? WORKER_PAUSED : WORKER_OFFLINE);
	ck_assert_int_eq(fleet_world.told[EVENT_LAUNCH_UNBLOCKED], !held);
	if (!held)
		fleet_world_wait_up(adam);
}

TEST(four_launches_at_once)
{
	static const char *const names[] = { "a", "b", "c", "d", "e", "f" };
	struct agent *agents[6];
	int launching = 0;

	fleet_world_begin(NULL);
	for (size_t i = 0; i < 6; i++)
		agents[i] = fleet_world_add(names[i]);
	for (size_t i = 0; i < 4; i++)
		fleet_world_wait_launched(agents[i]);
	hurry();
	fleet_world_run(1000);
	for (size_t i = 0; i < 6; i++)
		launching +=
		    session_phase(agents[i]->session) == SESSION_LAUNCHING;
	ck_assert_int_eq(launching, 4);
	for (size_t i = 0; i < 6; i++)
		fleet_world_wait_up(agents[i]);
}

/* The daemon cannot know its sessions: it says why, and leaves no registration
 * behind. The next one starts. */
TEST(tmux_fails_at_the_start)
{
	cleanup_json struct json_object *json = NULL;
	cleanup_free char *failure = NULL, *registration = NULL;

	fleet_world_begin_idle(NULL);
	failure = workspace_path(&floor_world.workspace, "failure.json");
	registration = workspace_path(&floor_world.workspace, "daemon.json");
	floor_world_close();
	floor_world_open();
	floor_world.fleet_floor = floor_world.fleet->floor;
	err_set(&((struct fake_tmux *)floor_world.core->tmux)->err, -EIO,
	    "tmux: no server");
	floor_world_live();
	ck_assert(file_exists(registration));
	ck_assert_int_eq(loop_run(floor_world.loop), 1);
	ck_assert(!file_exists(registration));
	ck_assert_int_eq(json_load(failure, 1 << 16, &json, NULL), 0);
	ck_assert_str_eq(json_string_or(json, "class", ""), "tmux");
	ck_assert_str_eq(json_string_or(json, "words", ""), "tmux: no server");
	ck_assert(!floor_world.core->state.daemon_running);
	fleet_world_reopen();
	ck_assert(!file_exists(failure));
	ck_assert_int_eq(session_phase(fleet_world.adam->session), SESSION_UP);
}

/* git is freed while it looks at a worktree: nothing is left (the sanitizers
 * look for it), and the next daemon looks again. */
TEST(a_check_of_a_worktree_is_cut_off)
{
	fleet_world_begin_idle(NULL);
	floor_world_wt("adam", "echo one >b.txt");
	life_patrol(floor_world.core);
	ck_assert(git_busy(floor_world.core->git));
	fleet_world_reopen();
	fleet_world_wait_launched(fleet_world.adam);
	ck_assert_int_eq(fleet_world.told[EVENT_WORK_FOUND], 1);
}

/* --- what a lost session left ------------------------------------------- */

/* Something of its last session that is given time to end by itself, and does
 * not: as the keeper's record names its inner process. */
static pid_t
leave_inner(const char *worker)
{
	const struct workspace *workspace = &floor_world.workspace;
	cleanup_free char *record = orphans_record(workspace, worker);
	cleanup_free char *mark = orphans_mark(workspace, worker);
	cleanup_free char *entry = xasprintf("LLMC_KEEPER=%s", mark);
	char *const argv[] = { (char[]){ "sleep" }, (char[]){ "1000" }, NULL };
	char *const env[] = { entry, NULL };
	cleanup_json struct json_object *json = json_object_new_object();
	struct procref ref = PROCREF_INIT;
	int ready[2];
	char byte;
	pid_t pid;

	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		execve("/bin/sleep", argv, env);
		_exit(1);
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &byte, 1), 0);
	close(ready[0]);
	ck_assert_int_eq(procref_set(&ref, pid), 0);
	json_set_string(json, "mode", "reaper");
	json_set_int(json, "init", pid);
	json_set_int(json, "init_start_time", (int64_t)ref.start_time);
	json_set_string(json, "boot_id", ref.boot_id);
	ck_assert_int_eq(json_save(record, json, 0600, NULL), 0);
	procref_release(&ref);
	return pid;
}

TEST(one_that_left_something_does_not_delay_the_others)
{
	struct agent *eve;
	siginfo_t info;
	pid_t inner;

	unit_hurry(4);
	fleet_world_begin_idle(NULL);
	eve = fleet_world_add("eve");
	fleet_world_wait_up(eve);
	fleet_world_spool(fleet_world.adam, "PreToolUse", "{}");
	fleet_world_kill(fleet_world.adam);
	fleet_world_kill(eve);
	inner = leave_inner("adam");
	fleet_world_reopen();
	eve = fleet_find(floor_world.fleet, "eve");
	fleet_world_wait_up(eve);
	ck_assert_int_eq(
	    session_phase(fleet_world.adam->session), SESSION_ENDING);
	ck_assert_int_eq(kill(inner, 0), 0);
	ck_assert_int_eq(fleet_world.told[EVENT_CLEARED], 0);
	ck_assert_int_eq(fleet_world_spooled(), 1);
	floor_world_until(fleet_world.told[EVENT_CLEARED] > 0);
	ck_assert_int_eq(
	    waitid(P_PID, (id_t)inner, &info, WEXITED | WNOHANG), 0);
	ck_assert_int_eq(info.si_pid, inner);
	fleet_world_wait_up(fleet_world.adam);
	ck_assert_int_eq(fleet_world_spooled(), 0);
}

static void
on_drained(void *arg)
{
	*(bool *)arg = true;
}

/* A hook that arrived before its session was known to be lost. */
TEST(a_spool_that_is_closed_half_drained_does_not_delay_the_others)
{
	struct hooks *hooks;
	bool drained = false, again = false;

	fleet_world_begin_idle(NULL);
	hooks = floor_world.fleet->hooks;
	for (int i = 0; i < 300; i++)
		fleet_world_spool(fleet_world.adam, "PreToolUse", "{}");
	hooks_drain(hooks);
	fleet_world.adam->clearing = true;
	hooks_drain_then(hooks, on_drained, &drained);
	floor_world_until(drained);
	ck_assert_int_gt(fleet_world_spooled(), 0);
	fleet_world.adam->clearing = false;
	hooks_drain_then(hooks, on_drained, &again);
	floor_world_until(again);
}

/* A person's, say, while hooks of other workers are taken from a spool. */
TEST(an_operation_that_begins_before_it_goes_on_is_left_alone)
{
	unit_hurry(4);
	fleet_world_begin_idle(NULL);
	fleet_world_kill(fleet_world.adam);
	leave_inner("adam");
	fleet_world_reopen();
	fleet_world.adam->worker->status = WORKER_STARTING;
	xstrset(&fleet_world.adam->worker->prompt, "Do it.");
	op_reset(fleet_world.adam, NULL);
	fleet_world_wait_up(fleet_world.adam);
	ck_assert_int_eq(fleet_world.told[EVENT_CLEARED], 1);
	ck_assert_ptr_null(fleet_world.adam->worker->prompt);
}

/* Somebody removes the folder of its socket: all that was in it comes back. */
TEST(its_folder_comes_back_with_its_policy)
{
	cleanup_free char *file = NULL;

	fleet_world_begin_working(NULL);
	file = policy_file_path(&floor_world.workspace, "adam");
	ck_assert(file_exists(file));
	floor_world_sh("rm -r .llmc/run/adam");
	floor_world_until(file_exists(file));
	ck_assert_int_eq(fleet_world.told[EVENT_SOCKET_GONE], 1);
}
