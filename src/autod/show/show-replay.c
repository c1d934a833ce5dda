/* SPDX-License-Identifier: ISC */

/* replay.get, how the work on a task went: conversations are long files, so
 * `llmc replay` reads them, and its answer is passed on. charts.get, the data
 * of the pictures (charts.h): `autod --look` reads the book for it. screen.get:
 * what is on a worker's screen now; nothing is read while nobody asks. */

#include "base.h"

#include <sys/queue.h>

#include "agent.h"
#include "auto.h"
#include "book-history.h"
#include "child.h"
#include "core.h"
#include "rpc.h"
#include "serve.h"
#include "show.h"
#include "sibling.h"
#include "state.h"
#include "task.h"
#include "tmux.h"
#include "view.h"
#include "workspace.h"

#define AT_ONCE_MAX 4
#define SCREENS_MAX 16
#define DEADLINE_MS 30000

/* What a child makes for a caller: the JSON that it prints. */
enum made {
	MADE_REPLAY,
	MADE_CHARTS,
	MADE_COUNT
};

static const struct {
	size_t most; /* bytes */
	const char *before, *after; /* why it failed stands in between */
	bool says; /* on its standard error, why */
	const char *busy, *ended;
	enum api_error ended_code;
} makes[MADE_COUNT] = {
	[MADE_REPLAY] = { RPC_LINE_MAX, "llmc replay ",
	    "; try it in a terminal", false,
	    "4 others are being read; try again in a moment",
	    "the daemon is stopping", API_BUSY },
	[MADE_CHARTS] = { (size_t)8 * 1024 * 1024, "the charts were not made: ",
	    "", true, "charts are being made; try again in a moment",
	    "the daemon ended before the charts were made", API_FAILED },
};

struct made_call {
	LIST_ENTRY(made_call) entry;
	struct show_replay *replay;
	enum made what;
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
	struct show_floor *show;
	struct core *core;
	LIST_HEAD(screen_calls, screen_call) screens;
	int screen_count;
	LIST_HEAD(made_calls, made_call) calls;
	int counts[MADE_COUNT];
};

static void
made_free(struct made_call *c)
{
	LIST_REMOVE(c, entry);
	c->replay->counts[c->what]--;
	free(c);
}

static void
on_made(const struct child_result *result, void *arg)
{
	struct made_call *c = arg;
	cleanup_buf struct buf text = BUF_INIT, why = BUF_INIT;
	struct json_object *answer = NULL;
	size_t most = makes[c->what].most;
	struct err err = { 0 };

	child_output_text(&result->out, &text);
	if (!child_succeeded(result) || result->out.total > most) {
		child_result_describe(result, &why);
		if (makes[c->what].says) {
			buf_adds(&why, ": ");
			child_output_text(&result->err, &why);
		}
	} else if (json_parse(text.data, text.len, most, &answer, &err) < 0) {
		buf_adds(&why, err.msg);
	}
	if (answer != NULL)
		serve_show(c->call, answer);
	else
		serve_refuse(c->call, API_FAILED, "%s%s%s",
		    makes[c->what].before, why.data, makes[c->what].after);
	made_free(c);
}

/* The call is answered when the program has ended. */
static void
make(struct show_replay *replay, enum made what, struct server_call *call,
    const char *const *argv, const struct buf *input)
{
	struct core *core = replay->core;
	struct child_spec spec = { .argv = argv,
		.cwd = core->workspace->root,
		.deadline_ms = DEADLINE_MS,
		.output_max = makes[what].most };
	struct made_call *c;
	struct err err = { 0 };

	if (input != NULL) {
		spec.input = input->data;
		spec.input_len = input->len;
	}
	if (replay->counts[what] == AT_ONCE_MAX) {
		serve_refuse(call, API_BUSY, "%s", makes[what].busy);
		return;
	}
	c = xcalloc(1, sizeof *c);
	c->replay = replay;
	c->what = what;
	c->call = call;
	LIST_INSERT_HEAD(&replay->calls, c, entry);
	replay->counts[what]++;
	if (child_spawn(core->loop, &spec, on_made, c, &c->child, &err) < 0) {
		serve_refuse(call, API_FAILED, "%s", err.msg);
		made_free(c);
	}
}

static void
on_replay_get(void *arg, struct server_call *call, struct json_object *params)
{
	struct show_replay *replay = arg;
	struct core *core = replay->core;
	const char *name = json_string_or(params, "task", "");
	bool known = state_find(&core->state, name) != NULL ||
	    state_task(&core->state, name) != NULL;
	cleanup_free char *from =
	    xasprintf("%" PRId64, json_int_or(params, "from", 0));
	const char *const argv[] = { core->llmc, "--root",
		core->workspace->root, "--json", "replay", name, "--from", from,
		NULL };

	if (!known) {
		struct task *filed = book_find_task(core->book, name);

		known = filed != NULL;
		task_free(filed);
	}
	if (known)
		make(replay, MADE_REPLAY, call, argv, NULL);
	else
		serve_refuse(call, API_UNKNOWN,
		    "there is no task %s; see: llmc task list", name);
}

/* autod --look has what only this daemon knows on its standard input. */
static void
on_charts_get(void *arg, struct server_call *call, struct json_object *params)
{
	static const char *const sections[] = { "head", "workers", "tasks",
		"budget" };
	struct show_replay *replay = arg;
	cleanup_free char *autod = sibling_find("autod");
	const char *const argv[] = { autod, "--root",
		replay->core->workspace->root, "--look", "charts", NULL };
	cleanup_json struct json_object *asked = json_object_new_object();
	cleanup_json struct json_object *list = json_object_new_array();
	cleanup_buf struct buf text = BUF_INIT;

	if (autod == NULL) {
		serve_refuse(call, API_FAILED,
		    "cannot find autod; install it with: make install");
		return;
	}
	for (size_t i = 0; i < nitems(sections); i++)
		json_object_array_add(
		    list, json_object_new_string(sections[i]));
	view_pick(
	    asked, params, (const char *const[]){ "to_ms", "worker", NULL });
	if (json_object_object_get_ex(params, "from_ms", NULL))
		json_set_int(
		    asked, "since_ms", json_int_or(params, "from_ms", 0));
	json_set_bool(asked, "active", replay->show->mode->active);
	json_set_int(asked, "now_ms", clock_wall_ms());
	json_set(asked, "view", show_snapshot(replay->show, list));
	json_print(asked, false, &text);
	make(replay, MADE_CHARTS, call, argv, &text);
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
	struct agent *agent = fleet_find(replay->show->fleet, name);
	struct screen_call *c;

	if (agent == NULL) {
		fleet_refuse_unknown(replay->show->fleet, call, name);
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

	replay->show = show;
	replay->core = show->core;
	LIST_INIT(&replay->screens);
	LIST_INIT(&replay->calls);
	serve_handle(show->core, "screen.get", on_screen_get, replay);
	serve_handle(show->core, "replay.get", on_replay_get, replay);
	serve_handle(show->core, "charts.get", on_charts_get, replay);
	return replay;
}

void
show_replay_free(struct show_replay *replay)
{
	struct screen_call *screen;
	struct made_call *c;

	if (replay == NULL)
		return;
	while ((screen = LIST_FIRST(&replay->screens)) != NULL) {
		tmux_forget(replay->core->tmux, screen);
		serve_refuse(screen->call, API_BUSY, "the daemon is stopping");
		screen_free(screen);
	}
	while ((c = LIST_FIRST(&replay->calls)) != NULL) {
		child_abandon(c->child);
		serve_refuse(c->call, makes[c->what].ended_code, "%s",
		    makes[c->what].ended);
		made_free(c);
	}
	free(replay);
}
