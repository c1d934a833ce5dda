/* SPDX-License-Identifier: ISC */

#include "auto-world.h"
#include "book-history.h"
#include "landing.h"
#include "operation.h"
#include "repo.h"
#include "task.h"

struct auto_world auto_world;

/* --- events ---------------------------------------------------------- */

/* Names for events that are not in auto.log. */
static const char *const unnamed[EVENT_KIND_COUNT] = {
	[EVENT_TASK_ORPHANED] = "orphaned",
	[EVENT_TASK_TAKEN_ELSEWHERE] = "taken_elsewhere",
	[EVENT_TASK_NOT_TOLD] = "not_told",
	[EVENT_TASKS_GIVEN_BACK] = "given_back",
	[EVENT_TASKS_EXHAUSTED] = "exhausted",
	[EVENT_LANDING_WAITS] = "landing_waits",
	[EVENT_POST_ACCEPT_FAILED] = "post_accept_failed",
	[EVENT_STATE_UNWRITTEN] = "unwritten",
	[EVENT_STALL_GIVEN_UP] = "given_up",
	[EVENT_FLEET_PAUSED] = "fleet_paused",
	[EVENT_FLEET_RESUMED] = "fleet_resumed",
};

static void
on_event(const struct event *event, void *arg)
{
	const char *name = event_row(event->kind)->name;
	const char *words[] = { name != NULL ? name : unnamed[event->kind],
		event->task, event->class, event->result, event->outcome,
		event->scope, event->action };

	(void)arg;
	if (words[0] == NULL || event->kind == EVENT_WORKER_MOVED ||
	    event->kind == EVENT_AUTO_BEGINS || event->kind == EVENT_AUTO_ENDS)
		return;
	for (size_t i = 0; i < nitems(words); i++)
		if (words[i] != NULL)
			buf_addf(&auto_world.told, "%s%s", i > 0 ? " " : "",
			    words[i]);
	buf_adds(&auto_world.told, "; ");
}

void
auto_world_told(const char *want)
{
	ck_assert_str_eq(auto_world.told.data, want);
	buf_clear(&auto_world.told);
}

/* --- the world ------------------------------------------------------- */

/* Unlike in the tests of the lower floors, sessions are launched and adopted.
 * The fleet must not patrol: it would not find them in tmux. */
static void
open_floors(void)
{
	struct fleet *fleet = floor_world.fleet;
	struct err err = { 0 };

	auto_world.core = floor_world.core;
	floor_world.fleet_floor.begin = fleet->floor.begin;
	for (size_t i = 0; i < fleet->count; i++)
		fleet->agents[i]->retry_ms = 0;
	auto_world.landings = landings_new(fleet);
	auto_world.mode = auto_new(fleet, auto_world.landings, &err);
	ck_assert_msg(auto_world.mode != NULL, "%s", err.msg);
	emit_subscribe(auto_world.core, on_event, &auto_world);
}

static void
close_floors(void)
{
	emit_unsubscribe(auto_world.core, on_event, &auto_world);
	auto_free(take_ptr(&auto_world.mode));
	landings_free(take_ptr(&auto_world.landings));
}

/* A tmux without sessions, and the real llmc, which runs errands. */
static void
replace_programs(void)
{
	static const char script[] = "#!/bin/sh\nexit 0\n";
	cleanup_free char *tmux =
	    xasprintf("%s/bin/tmux", floor_world.repo->base);

	ck_assert_int_eq(
	    file_replace(tmux, script, strlen(script), 0755, NULL), 0);
	floor_world_errands();
}

void
auto_world_begin(const char *settings)
{
	auto_world_begin_repo("", settings);
}

void
auto_world_begin_repo(const char *repo, const char *settings)
{
	const char *own = settings != NULL ? settings : "";
	cleanup_free char *text = xasprintf(
	    "%s[defaults]\nagent_command = \"agent\"\n"
	    "[daemon]\npatrol_interval = \"1h\"\n[auto]\n%s%s",
	    repo,
	    strstr(own, "check_command") != NULL ? "" :
						   "check_command = \"none\"\n",
	    own);

	memset(&auto_world, 0, sizeof auto_world);
	buf_init(&auto_world.told);
	floor_world_begin(text);
	replace_programs();
	floor_world.options.auto_mode = true;
	open_floors();
	unit_at_end(auto_world_end);
}

void
auto_world_live(void)
{
	floor_world_live();
}

void
auto_world_end(void)
{
	if (floor_world.repo == NULL)
		return;
	close_floors();
	floor_world_end();
	buf_release(&auto_world.told);
}

struct task *
auto_world_of(const char *id)
{
	return state_task(&auto_world.core->state, id);
}

void
auto_world_reopen(void)
{
	close_floors();
	floor_world_close();
	floor_world_open();
	open_floors();
}

void
auto_world_stop(void)
{
	life_stop(auto_world.core, "the test says so", false);
	floor_world_wait_stopped();
}

void
auto_world_restart(void)
{
	auto_world_stop();
	auto_world_reopen();
}

/* --- files ----------------------------------------------------------- */

void
auto_world_task(const char *name, const char *text)
{
	cleanup_free char *where = xasprintf("tasks/todo/%s", name);
	cleanup_free char *file = workspace_path(&floor_world.workspace, where);

	ck_assert_int_eq(file_replace(file, text, strlen(text), 0644, NULL), 0);
}

void
auto_world_folder(const char *want)
{
	ck_assert_str_eq(
	    floor_world_sh("cd .llmc/tasks; for d in todo doing done failed; "
			   "do for f in $(ls $d); do printf '%s: %s; ' $d "
			   "$f; done; done"),
	    want);
}

static bool
on_filed(const struct task *task, int64_t filed, void *arg)
{
	(void)filed;
	buf_addf(arg, "%s %s; ", task->id, task_outcome_name(task->outcome));
	return true;
}

void
auto_world_filed(const char *want)
{
	cleanup_buf struct buf text = BUF_INIT;

	ck_assert_int_eq(book_each_task(auto_world.core->book,
			     &(struct book_tasks){ .oldest_first = true },
			     on_filed, &text, NULL),
	    0);
	ck_assert_str_eq(text.data, want);
}

const char *
auto_world_record(const char *id)
{
	static struct buf text;
	struct task *task = book_find_task(auto_world.core->book, id);
	cleanup_json struct json_object *json =
	    task != NULL ? task_to_json(task) : NULL;

	buf_release(&text);
	buf_init(&text);
	if (json != NULL)
		json_print(json, false, &text);
	task_free(task);
	return text.data;
}

void
auto_world_fails(const char *class)
{
	cleanup_free char *file =
	    workspace_path(&floor_world.workspace, "failure.json");
	cleanup_json struct json_object *json = NULL;

	floor_world_wait_stopped();
	ck_assert_int_eq(json_load(file, 65536, &json, NULL), 0);
	ck_assert_str_eq(json_string_or(json, "class", ""), class);
	ck_assert_int_eq(auto_world.core->exit_status, 1);
	ck_assert(auto_world.core->failing);
}

/* --- auto-1 ---------------------------------------------------------- */

struct agent *
auto_world_agent(void)
{
	return fleet_find(floor_world.fleet, "auto-1");
}

struct turn_look {
	int prompts;
};

static bool
is_in_turn(void *arg)
{
	const struct turn_look *look = arg;
	const struct agent *agent = auto_world_agent();

	return agent != NULL && agent->op == NULL &&
	    agent->worker->session.busy &&
	    fake_session_prompts(agent->session) == look->prompts;
}

struct agent *
auto_world_turn(int prompts)
{
	struct turn_look look = { prompts };

	floor_world_wait(is_in_turn, &look);
	return auto_world_agent();
}

struct agent *
auto_world_begin_turn(const char *settings, const char *text)
{
	auto_world_begin(settings);
	auto_world_task("a.md", text);
	auto_world_live();
	return auto_world_turn(1);
}

struct task_look {
	const char *task;
	struct agent *agent;
};

static bool
is_on_task(void *arg)
{
	struct task_look *look = arg;
	const struct fleet *fleet = floor_world.fleet;

	for (size_t i = 0; i < fleet->count; i++) {
		struct agent *agent = fleet->agents[i];

		if (agent->worker->task == NULL || agent->op != NULL ||
		    fake_session_prompts(agent->session) == 0 ||
		    !agent->worker->session.busy ||
		    strcmp(agent->worker->task, look->task) != 0)
			continue;
		look->agent = agent;
		return true;
	}
	return false;
}

struct agent *
auto_world_turn_on(const char *task)
{
	struct task_look look = { .task = task };

	floor_world_wait(is_on_task, &look);
	return look.agent;
}

struct step_look {
	const char *task;
	int step;
};

static bool
is_at_step(void *arg)
{
	const struct step_look *look = arg;
	const struct task *t = state_task(&auto_world.core->state, look->task);

	return t != NULL ? (int)t->step == look->step : look->step < 0;
}

void
auto_world_wait_step(const char *task, int step)
{
	struct step_look look = { task, step };

	floor_world_wait(is_at_step, &look);
}

void
auto_world_work(const char *file)
{
	cleanup_free char *text =
	    xasprintf("echo work >%s; git add %s; git commit -qm 'add %s'",
		file, file, file);

	floor_world_wt("auto-1", text);
}

void
auto_world_finish(struct agent *agent, const char *file)
{
	auto_world_work(file);
	fake_session_turn_ends(agent->session, "Done.");
}

/* --- waiting --------------------------------------------------------- */

static bool
is_done(void *arg)
{
	(void)arg;
	return auto_world.core->state.task_count == 0 &&
	    auto_world.mode->post == NULL;
}

void
auto_world_wait_done(void)
{
	floor_world_wait(is_done, &auto_world);
	floor_world_settle();
}

struct told_look {
	const char *words;
};

static bool
is_told(void *arg)
{
	const struct told_look *look = arg;

	return strstr(auto_world.told.data, look->words) != NULL;
}

void
auto_world_wait(const char *told)
{
	struct told_look look = { told };

	floor_world_wait(is_told, &look);
}

void
auto_world_all_filed(const char *want)
{
	auto_world_wait_done();
	auto_world_filed(want);
}

static bool
is_posting(void *arg)
{
	const struct told_look *look = arg;
	const struct post_accept *post = auto_world.mode->post;

	return post == NULL ?
	    *look->words == '\0' :
	    strcmp(operation_step_name((const struct operation *)post),
		look->words) == 0;
}

void
auto_world_wait_post(const char *step)
{
	struct told_look look = { step };

	floor_world_wait_closely(is_posting, &look);
}

void
auto_world_patrol(void)
{
	life_patrol(auto_world.core);
	floor_world_settle();
}
