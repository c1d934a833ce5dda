/* SPDX-License-Identifier: ISC */

#include <sys/prctl.h>

#include "fleet-world.h"
#include "operation.h"
#include "prompt.h"
#include "spool.h"
#include "worker-op.h"

struct fleet_world fleet_world;

/* --- agents ----------------------------------------------------------- */

static pid_t pids[64];
static size_t pid_count;

static pid_t
spawn(void)
{
	sigset_t all, old;
	pid_t pid;

	ck_assert_uint_lt(pid_count, nitems(pids));
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &old);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close_range(3, ~0u, 0); /* locks and sockets of the daemon */
		signal(SIGTERM, SIG_DFL);
		signal(SIGHUP, SIG_DFL);
		sigprocmask(SIG_SETMASK, &old, NULL);
		for (;;)
			pause();
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	return pids[pid_count++] = pid;
}

static void
end_agents(void)
{
	for (size_t i = 0; i < pid_count; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	pid_count = 0;
	fake_tmux_forget_sessions();
}

void
fleet_world_kill(struct agent *agent)
{
	pid_t pid = fake_tmux_pane(session_name(agent->session));
	siginfo_t info;

	ck_assert_int_gt(pid, 0);
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
}

/* --- the world -------------------------------------------------------- */

static void
on_event(const struct event *event, void *arg)
{
	(void)arg;
	fleet_world.told[event->kind]++;
	if (event->reason != NULL)
		xstrset(&fleet_world.reason, event->reason);
	if (event->kind == EVENT_WORKER_MOVED)
		buf_addf(
		    &fleet_world.moves, "%s:%s ", event->worker, event->to);
}

static void
open_floor(void)
{
	struct fleet *fleet = floor_world.fleet;

	floor_world.fleet_floor = fleet->floor;
	for (size_t i = 0; i < fleet->count; i++)
		fleet->agents[i]->retry_ms = 0;
	fleet_world.tmux = (struct fake_tmux *)floor_world.core->tmux;
	fleet_world.tmux->spawn = spawn;
	emit_subscribe(floor_world.core, on_event, &fleet_world);
	if (fleet_world.unbegun != NULL)
		fleet_world.unbegun();
	floor_world_live();
	/* Served when the floors have begun. */
	ck_assert_ptr_null(
	    floor_world_answer(floor_world_ask("daemon.info", "{}")));
}

void
fleet_world_begin(const char *settings)
{
	cleanup_free char *text =
	    xasprintf("%s\n[daemon]\npatrol_interval = \"1h\"\n"
		      "[overseer]\nstall_timeout = \"7d\"\n%s",
		settings != NULL ? settings : "",
		settings != NULL && strstr(settings, "[defaults]") != NULL ?
		    "" :
		    "[defaults]\nagent_command = \"agent\"\n");

	/* Where agents keep their transcripts. */
	ck_assert_int_eq(setenv("HOME", unit_scratch(), 1), 0);
	ck_assert_int_eq(unsetenv("CLAUDE_CONFIG_DIR"), 0);
	memset(&fleet_world, 0, sizeof fleet_world);
	buf_init(&fleet_world.moves);
	floor_world_begin(text);
	open_floor();
	unit_at_end(fleet_world_end);
}

void
fleet_world_reopen(void)
{
	emit_unsubscribe(floor_world.core, on_event, &fleet_world);
	floor_world_close();
	floor_world_open();
	open_floor();
	if (fleet_world.adam != NULL)
		fleet_world.adam = fleet_find(floor_world.fleet, "adam");
}

void
fleet_world_end(void)
{
	if (floor_world.repo == NULL)
		return;
	floor_world_end();
	end_agents();
	buf_release(&fleet_world.moves);
	free(fleet_world.reason);
	clock_virtual_end();
}

struct agent *
fleet_world_add(const char *name)
{
	struct agent *agent = floor_world_add(name, WORKER_OFFLINE);

	agent->retry_ms = 0;
	agent_tick_later(agent, 1);
	return agent;
}

void
fleet_world_begin_idle(const char *settings)
{
	fleet_world_begin(settings);
	fleet_world.adam = fleet_world_add("adam");
	fleet_world_wait_up(fleet_world.adam);
	ck_assert_int_eq(fleet_world.adam->worker->status, WORKER_IDLE);
	fleet_world_moved("adam:idle ");
}

void
fleet_world_begin_working(const char *settings)
{
	struct floor_call *call;

	fleet_world_begin_idle(settings);
	call =
	    floor_world_call("worker.start", "adam", ",\"prompt\":\"do it\"");
	ck_assert_ptr_null(floor_world_answer(call));
	fleet_world_submit(fleet_world.adam);
	fleet_world_moved("adam:starting adam:working ");
	buf_clear(&fleet_world.tmux->trace);
}

/* --- hooks ------------------------------------------------------------ */

static struct json_object *
hook_params(struct agent *agent, const char *event, const char *data)
{
	struct json_object *params = json_object_new_object(), *parsed = NULL;
	cleanup_free char *id = xasprintf("hook-%d", fleet_world.hooks++);

	ck_assert_int_eq(
	    json_parse(data, strlen(data), 1 << 20, &parsed, NULL), 0);
	json_set_string(params, "event", event);
	json_set_string(params, "worker", agent->worker->name);
	json_set_int(
	    params, "generation", (int64_t)agent->worker->session.generation);
	json_set_string(params, "id", id);
	json_set(params, "data", parsed);
	return params;
}

struct floor_call *
fleet_world_hook(struct agent *agent, const char *event, const char *data)
{
	cleanup_json struct json_object *params =
	    hook_params(agent, event, data);
	cleanup_free char *socket =
	    run_dir_socket(&floor_world.workspace, agent->worker->name);

	return floor_world_ask_at(socket, "hook.event",
	    json_object_to_json_string_ext(params, JSON_C_TO_STRING_PLAIN));
}

void
fleet_world_spool(struct agent *agent, const char *event, const char *data)
{
	cleanup_json struct json_object *params =
	    hook_params(agent, event, data);
	cleanup_free char *dir =
	    run_dir_spool(&floor_world.workspace, agent->worker->name);

	ck_assert_int_eq(spool_write(dir, clock_wall_ms(), params, NULL), 0);
}

static void
hook(struct agent *agent, const char *event, const char *data)
{
	ck_assert_ptr_null(
	    floor_world_answer(fleet_world_hook(agent, event, data)));
}

const char *
fleet_world_stop(struct agent *agent)
{
	struct floor_call *call = fleet_world_hook(agent, "Stop", "{}");
	struct json_object *result;

	ck_assert_ptr_null(floor_world_answer(call));
	result = floor_call_result(call);
	return result != NULL ? json_string_or(result, "reason", "") : "";
}

/* --- sessions --------------------------------------------------------- */

static bool
is_launched(void *arg)
{
	const struct agent *agent = arg;

	return session_phase(agent->session) == SESSION_LAUNCHING &&
	    session_is_watched(agent->session);
}

void
fleet_world_wait_launched(struct agent *agent)
{
	floor_world_wait(is_launched, agent);
}

void
fleet_world_start(struct agent *agent, const char *source)
{
	cleanup_free char *file = xasprintf("%s/p/%s.jsonl",
	    agent->worker->session.projects, agent->worker->session.id);
	cleanup_json struct json_object *data = json_object_new_object();

	hook(agent, "ToolsListed", "{}");
	json_set_string(data, "source", source);
	json_set_string(data, "session_id", agent->worker->session.id);
	json_set_string(data, "transcript_path", file);
	hook(agent, "SessionStart",
	    json_object_to_json_string_ext(data, JSON_C_TO_STRING_PLAIN));
	ck_assert_int_eq(session_phase(agent->session), SESSION_UP);
}

void
fleet_world_write_transcript(struct agent *agent)
{
	const char *path = agent->worker->session.transcript;
	cleanup_free char *dir = xstrndup(path, strrchr(path, '/') - path);

	ck_assert_int_eq(file_mkdirs(dir, 0700, NULL), 0);
	ck_assert_int_eq(file_replace(path, "", 0, 0600, NULL), 0);
}

void
fleet_world_wait_up(struct agent *agent)
{
	fleet_world_wait_launched(agent);
	fleet_world_start(agent, agent->resuming ? "resume" : "startup");
}

static bool
is_typed(void *arg)
{
	const struct agent *agent = arg;
	enum prompt_step step = agent->worker->session.step;

	return (step == PROMPT_CLEARING || step == PROMPT_PASTED) &&
	    persist_is_idle(agent->core) &&
	    fake_tmux_waiting((struct fake_tmux *)agent->core->tmux) == 0;
}

void
fleet_world_wait_pasted(struct agent *agent)
{
	floor_world_wait(is_typed, agent);
	if (agent->worker->session.step == PROMPT_CLEARING) {
		fleet_world_start(agent, "clear");
		floor_world_wait(is_typed, agent);
	}
	ck_assert_int_eq(agent->worker->session.step, PROMPT_PASTED);
}

void
fleet_world_submit(struct agent *agent)
{
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_json struct json_object *data = json_object_new_object();

	fleet_world_wait_pasted(agent);
	prompt_with_receipt(agent->worker->session.receipt,
	    agent->worker->session.pending, &text);
	json_set_string(data, "prompt", text.data);
	hook(agent, "UserPromptSubmit",
	    json_object_to_json_string_ext(data, JSON_C_TO_STRING_PLAIN));
	ck_assert_int_eq(agent->worker->session.step, PROMPT_NONE);
}

/* --- what came of it -------------------------------------------------- */

static void
on_time(void *arg)
{
	loop_stop(arg, 0);
}

void
fleet_world_run(int64_t ms)
{
	struct loop *loop = floor_world.loop;
	struct loop_timer *timer = loop_after(loop, ms, on_time, loop);

	loop_run(loop);
	loop_timer_free(timer);
}

void
fleet_world_moved(const char *moves)
{
	ck_assert_str_eq(fleet_world.moves.data, moves);
	buf_clear(&fleet_world.moves);
}

bool
fleet_world_is_at(const struct agent *agent, const char *step)
{
	return agent->op != NULL &&
	    strcmp(operation_step_name(&agent->op->op), step) == 0;
}

int
fleet_world_spooled(void)
{
	const char *count =
	    floor_world_sh("ls .llmc/run/adam/spool | grep -c json || true");

	return (int)strtol(count, NULL, 10);
}

void
fleet_world_expect(const struct agent *agent, enum worker_status status)
{
	ck_assert_str_eq(worker_status_name(agent->worker->status),
	    worker_status_name(status));
}
