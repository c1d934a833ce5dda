/* SPDX-License-Identifier: ISC */

/* replay.get: how the work on a task went. Conversations are long files, so
 * `llmc replay` reads them, and its answer is passed on. screen.get: what is on
 * a worker's screen now; nothing is read while nobody asks. */

#include "base.h"

#include <sys/queue.h>

#include "agent.h"
#include "book-history.h"
#include "child.h"
#include "core.h"
#include "rpc.h"
#include "serve.h"
#include "show.h"
#include "state.h"
#include "task.h"
#include "tmux.h"
#include "workspace.h"

#define AT_ONCE_MAX 4
#define SCREENS_MAX 16
#define DEADLINE_MS 30000

struct replay_call {
	struct show_replay *replay;
	struct server_call *call;
	struct child *child;
};

/* A call that waits for tmux. */
struct screen_call {
	LIST_ENTRY(screen_call) entry;
	struct show_replay *replay;
	struct server_call *call;
	char *worker;
};

struct show_replay {
	struct core *core;
	struct fleet *fleet;
	LIST_HEAD(screen_calls, screen_call) screens;
	int screen_count;
	struct replay_call calls[AT_ONCE_MAX]; /* call NULL = free */
};

static void
on_read(const struct child_result *result, void *arg)
{
	struct replay_call *c = arg;
	cleanup_buf struct buf text = BUF_INIT, how = BUF_INIT;
	struct json_object *answer = NULL;
	struct err err = { 0 };

	c->child = NULL;
	child_output_text(&result->out, &text);
	if (child_succeeded(result) &&
	    json_parse(text.data, text.len, RPC_LINE_MAX, &answer, &err) == 0) {
		serve_show(c->call, answer);
	} else {
		child_result_describe(result, &how);
		serve_refuse(c->call, API_FAILED,
		    "llmc replay %s; try it in a terminal", how.data);
	}
	c->call = NULL;
}

static void
on_get(void *arg, struct server_call *call, struct json_object *params)
{
	struct show_replay *replay = arg;
	struct core *core = replay->core;
	const char *name = json_string_or(params, "task", "");
	const struct worker *w = state_find(&core->state, name);
	bool known = w != NULL || state_task(&core->state, name) != NULL;
	cleanup_free char *from =
	    xasprintf("%" PRId64, json_int_or(params, "from", 0));
	const char *const argv[] = { core->llmc, "--root",
		core->workspace->root, "--json", "replay", name, "--from", from,
		NULL };
	const struct child_spec spec = { .argv = argv,
		.cwd = core->workspace->root,
		.deadline_ms = DEADLINE_MS,
		.output_max = RPC_LINE_MAX };
	struct replay_call *c = replay->calls;
	struct err err = { 0 };

	if (!known) {
		struct task *filed = book_find_task(core->book, name);

		known = filed != NULL;
		task_free(filed);
	}
	while (c < replay->calls + AT_ONCE_MAX && c->call != NULL)
		c++;
	if (!known)
		serve_refuse(call, API_UNKNOWN,
		    "there is no task %s; see: llmc task list", name);
	else if (c == replay->calls + AT_ONCE_MAX)
		serve_refuse(call, API_BUSY,
		    "%d others are being read; try again in a moment",
		    AT_ONCE_MAX);
	else if (child_spawn(core->loop, &spec, on_read, c, &c->child, &err) <
	    0)
		serve_refuse(call, API_FAILED, "%s", err.msg);
	else {
		c->replay = replay;
		c->call = call;
	}
}

/* --- the screen --------------------------------------------------------- */

static void
screen_free(struct screen_call *c)
{
	LIST_REMOVE(c, entry);
	c->replay->screen_count--;
	free(c->worker);
	free(c);
}

static void
on_screen(const char *text, const struct err *err, void *arg)
{
	struct screen_call *c = arg;
	const struct worker *w = state_find(&c->replay->core->state, c->worker);
	cleanup_buf struct buf shown = BUF_INIT;
	struct json_object *answer;

	if (err != NULL || w == NULL) {
		serve_refuse(c->call, API_STATUS, "%s has no screen now%s%s",
		    c->worker, err != NULL ? ": " : "",
		    err != NULL ? err->msg : "");
	} else {
		text_add_visible(&shown, text, strlen(text), true);
		answer = json_object_new_object();
		json_set_string(answer, "worker", w->name);
		json_set_string(
		    answer, "status", worker_status_name(w->status));
		json_set_string(answer, "task", w->task);
		json_set_string(answer, "text", shown.data);
		serve_show(c->call, answer);
	}
	screen_free(c);
}

static void
on_screen_get(void *arg, struct server_call *call, struct json_object *params)
{
	struct show_replay *replay = arg;
	const char *name = json_string_or(params, "worker", "");
	struct agent *agent = fleet_find(replay->fleet, name);
	struct screen_call *c;

	if (agent == NULL) {
		fleet_refuse_unknown(replay->fleet, call, name);
		return;
	}
	if (agent->session == NULL) {
		serve_refuse(call, API_STATUS, "%s is %s, and has no screen",
		    name, worker_status_name(agent->worker->status));
		return;
	}
	if (replay->screen_count >= SCREENS_MAX) {
		serve_refuse(call, API_BUSY,
		    "%d others look at screens just now; try again in a moment",
		    SCREENS_MAX);
		return;
	}
	c = xcalloc(1, sizeof *c);
	c->replay = replay;
	c->call = call;
	c->worker = xstrdup(name);
	LIST_INSERT_HEAD(&replay->screens, c, entry);
	replay->screen_count++;
	tmux_capture(
	    replay->core->tmux, session_name(agent->session), 0, on_screen, c);
}

struct show_replay *
show_replay_new(struct show_floor *show)
{
	struct show_replay *replay = xcalloc(1, sizeof *replay);

	replay->core = show->core;
	replay->fleet = show->fleet;
	LIST_INIT(&replay->screens);
	serve_handle(show->core, "screen.get", on_screen_get, replay);
	serve_handle(show->core, "replay.get", on_get, replay);
	return replay;
}

void
show_replay_free(struct show_replay *replay)
{
	struct screen_call *screen;

	if (replay == NULL)
		return;
	while ((screen = LIST_FIRST(&replay->screens)) != NULL) {
		tmux_forget(replay->core->tmux, screen);
		serve_refuse(screen->call, API_BUSY, "the daemon is stopping");
		screen_free(screen);
	}
	for (size_t i = 0; i < AT_ONCE_MAX; i++) {
		struct replay_call *c = &replay->calls[i];

		if (c->child != NULL)
			child_abandon(c->child);
		if (c->call != NULL)
			serve_refuse(
			    c->call, API_BUSY, "the daemon is stopping");
	}
	free(replay);
}
