/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/queue.h>

#include "account.h"
#include "agent.h"
#include "auto.h"
#include "core.h"
#include "eyes-floor.h"
#include "eyes-history.h"
#include "eyes-spans.h"
#include "eyes-stream.h"
#include "fleet.h"
#include "landing.h"
#include "life.h"
#include "loop.h"
#include "oversight-floor.h"
#include "persist.h"
#include "plan-floor.h"
#include "plan-set.h"
#include "queue-view.h"
#include "rpc.h"
#include "serve.h"
#include "server.h"
#include "source.h"
#include "task-run.h"
#include "task.h"
#include "team-floor.h"
#include "team-request.h"
#include "view-doc.h"
#include "view-goal.h"
#include "view-needs.h"
#include "view-row.h"
#include "view-state.h"
#include "watch.h"
#include "worker.h"
#include "workspace.h"

#define EYES_NODES_MAX 1500 /* of all of them */

#define EXPECTED_STEP 10 /* seconds: an estimate is not to change by itself */

/* --- the landing queue ----------------------------------------------- */

static void
fill_landing(struct eyes_floor *eyes, struct json_object *view)
{
	cleanup_json struct json_object *list = queue_view(eyes->landings);
	struct json_object *items = json_object_object_get(list, "items");
	struct json_object *rows = view_of(view, "landing");
	struct json_object *head = view_of(view, "head");
	static const char *const members[] = { "red", "hold", "check", "push",
		"running" };

	for (size_t i = 0; i < json_object_array_length(items); i++) {
		struct json_object *row = json_object_array_get_idx(items, i);
		int64_t now_ms = clock_wall_ms();
		struct json_object *left = NULL;
		int64_t at = now_ms / 1000;

		/* When it is expected to land, as a moment. */
		json_object_object_get_ex(row, "expected_ms", &left);
		if (left == NULL) {
			json_set(row, "expected_unix", NULL);
		} else {
			at += json_object_get_int64(left) / 1000;
			json_set_int(row, "expected_unix",
			    (at + EXPECTED_STEP - 1) / EXPECTED_STEP *
				EXPECTED_STEP);
		}
		json_object_object_del(row, "expected_ms");
		json_set(
		    rows, json_string_or(row, "id", "?"), json_object_get(row));
	}
	for (size_t i = 0; i < nitems(members); i++)
		json_set(head, members[i],
		    json_object_get(json_object_object_get(list, members[i])));
}

/* --- goals ----------------------------------------------------------- */

static void
fill_goals(struct eyes_floor *eyes, struct json_object *view)
{
	struct json_object *rows = view_of(view, "goals");
	struct json_object *head = view_of(view, "head");
	const struct plan_set *set;
	size_t room = EYES_NODES_MAX, count = 0;
	int more = 0;

	json_set_string(head, "goals_off",
	    eyes->plan->state == PLAN_SAFE ? eyes->plan->why : NULL);
	if (eyes->plan->state != PLAN_OPEN)
		return;
	set = plan_floor_set(eyes->plan);
	for (size_t i = 0; i < set->plan_count; i++) {
		const struct plan *plan = set->plans[i];
		struct json_object *row;
		struct eyes_goals *kept;
		size_t place;
		uint64_t mark;

		if (!goal_status_open(plan->goal->status))
			continue;
		if (count == EYES_GOALS_MAX) {
			more++;
			continue;
		}
		/* The row of that place, if the goal has not changed. */
		kept = &eyes->goals;
		place = count++;
		mark = view_goal_mark(plan, room);
		if (kept->marks[place] != mark) {
			json_object_put(kept->rows[place]);
			kept->rows[place] = view_goal_row(plan, room);
			kept->marks[place] = mark;
		}
		row = json_object_get(kept->rows[place]);
		room -= json_object_array_length(
		    json_object_object_get(row, "nodes"));
		json_set(rows, plan->goal->id, row);
	}
	json_set_int(head, "goals_more", more);
}

/* --- delegation ------------------------------------------------------ */

static void
fill_team(struct eyes_floor *eyes, struct json_object *view)
{
	const struct team_floor *floor = eyes->team;
	struct json_object *team = view_of(view, "team");

	json_set_int(team, "mail_open", (int64_t)team_post_count(floor, NULL));
	json_set_int(
	    team, "mail_person", (int64_t)team_post_count(floor, ACTOR_PERSON));
	json_set_int(
	    team, "questions", (int64_t)team_requests_count(floor->requests));
	json_set_int(team, "reservations", (int64_t)team_reserve_count(floor));
}

void
eyes_goals_release(struct eyes_goals *goals)
{
	for (size_t i = 0; i < EYES_GOALS_MAX; i++)
		json_object_put(goals->rows[i]);
	*goals = (struct eyes_goals){ 0 };
}

#define EYES_SOON_MS 10

/* --- workers --------------------------------------------------------- */

/* The model that its newest conversation has used most. */
static const char *
model_of(const struct state *state, const struct worker *w)
{
	const char *best = NULL;
	int64_t most = -1;

	for (size_t i = state->account_count; i-- > 0;) {
		const struct account *account = state->accounts[i];
		const struct usage *usage = &account->spent.usage;

		if (account->worker == NULL ||
		    strcmp(account->worker, w->name) != 0)
			continue;
		for (size_t m = 0; m < usage->count; m++)
			if (usage->models[m].tokens[USAGE_OUTPUT] > most) {
				best = usage->models[m].name;
				most = usage->models[m].tokens[USAGE_OUTPUT];
			}
		break;
	}
	return best;
}

/* NULL = nothing was found, or nobody watches. */
static struct json_object *
oversight_of(const struct eyes_floor *eyes, const struct worker *w)
{
	cleanup_free char *task =
	    w->task != NULL ? xstrdup(w->task) : hand_task_name(w->name);
	const struct watched *watched = eyes->oversight != NULL ?
	    oversight_floor_known(eyes->oversight, task) :
	    NULL;
	struct json_object *row;
	struct detection d;

	if (watched == NULL || !watched_worst(watched, &d))
		return NULL;
	row = view_row_oversight(&d,
	    progress_step_words[watched->progress.tracks[d.type].level],
	    watched->count);
	detection_release(&d);
	return row;
}

/* --- the daemon ------------------------------------------------------ */

/* A number of which a small change is nothing to show. */
static int64_t
rounded(int64_t ms)
{
	int64_t step = 1;

	while (step * 10 <= ms)
		step *= 10;
	return ms >= step * 5 ? step * 5 : ms >= step * 2 ? step * 2 : step;
}

static void
fill_head(struct eyes_floor *eyes, struct json_object *head)
{
	const struct core *core = eyes->core;
	const char *name = strrchr(core->workspace->root, '/');
	int64_t lag = loop_lag_ms(core->loop);

	json_set_string(
	    head, "project", name != NULL ? name + 1 : core->workspace->root);
	json_set_string(head, "root", core->workspace->root);
	json_set_string(head, "branch", core_branch(core));
	json_set_string(head, "version", LLMC_VERSION);
	json_set_string(head, "instance", core->instance);
	json_set_int(head, "pid", getpid());
	view_row_moment(head, "started_unix", eyes->started_ms);
	json_set_bool(head, "stopping", core->stopping);
	json_set_bool(head, "until_empty", eyes->mode->until_empty);
	json_set_int(head, "concurrency", eyes->mode->workers);
	json_set_bool(head, "overseen", life_is_overseen(core));
	json_set_int(head, "lag_ms", lag > 0 ? rounded(lag) : 0);
}

struct json_object *
eyes_snapshot(struct eyes_floor *eyes)
{
	struct json_object *view = view_new();

	view_state_fill(
	    &eyes->core->state, eyes->core->settings, eyes->kept, view);
	for (size_t i = 0; i < eyes->fleet->count; i++) {
		const struct agent *agent = eyes->fleet->agents[i];
		struct json_object *row =
		    view_row(view, "workers", agent->worker->name);
		const struct worker *w;
		bool open;

		if (row == NULL)
			continue;
		w = agent->worker;
		open = w->session.busy && w->session.open_tools > 0;
		json_set_string(row, "tool", open ? agent->tool : NULL);
		view_row_moment(row, "tool_since_unix",
		    open && agent->tool != NULL ? agent->tool_ms : 0);
		json_set_string(row, "model", model_of(&agent->core->state, w));
		json_set(row, "oversight", oversight_of(eyes, w));
		eyes_spans_fill(eyes->spans, agent->worker->name, row);
	}
	fill_head(eyes, view_of(view, "head"));
	view_files_fill(eyes->files, view);
	eyes_history_fill(eyes->history, view);
	source_todo_fill(
	    eyes->todo, eyes->core->settings, eyes->core->workspace, view);
	fill_landing(eyes, view);
	fill_goals(eyes, view);
	fill_team(eyes, view);
	json_set(view, VIEW_EVENTS, eyes_events_list(eyes->events));
	view_needs(view);
	return view;
}

struct eyes_follower {
	TAILQ_ENTRY(eyes_follower) entry;
	struct eyes_stream *stream;
	eyes_follow_fn *fn;
	void *arg;
	bool failed; /* it gets nothing any more */
};

TAILQ_HEAD(eyes_followers, eyes_follower);

#define WATCHES_MAX 8
#define ANSWER_ROOM 1024 /* of a line, for what is around an answer */

struct eyes_stream {
	struct eyes_floor *eyes;
	struct eyes_followers followers;
	struct json_object *view; /* as it was sent last; NULL = nobody
				   * follows */
	int64_t seq;
	int64_t made_ms; /* when a view was made last, monotonic */
	struct loop_timer *pause; /* until the next change is sent */
	struct watch *watches[WATCHES_MAX]; /* of view_files_names, while
					     * somebody follows */
	struct watch *todo; /* of what nobody has taken, likewise */
};

static void watch_files(struct eyes_stream *s);

/* --- sending --------------------------------------------------------- */

static void
give(struct eyes_follower *f, const char *what, struct json_object *body)
{
	if (!f->failed)
		f->failed = f->fn(what, body, f->arg) < 0;
}

void
eyes_stream_patrol(struct eyes_stream *s)
{
	struct eyes_floor *eyes = s->eyes;

	if (!TAILQ_EMPTY(&s->followers))
		return;
	eyes_history_forget(eyes->history);
	eyes_events_forget(eyes->events);
	eyes_goals_release(&eyes->goals);
	view_kept_clear(eyes->kept);
}

static struct json_object *
message(const struct eyes_stream *s, const char *key, struct json_object *value)
{
	struct json_object *body = json_object_new_object();

	json_set_int(body, "seq", s->seq);
	json_set(body, key, value);
	return body;
}

static void
on_due(void *arg)
{
	struct eyes_stream *s = arg;
	cleanup_json struct json_object *body = NULL;
	struct json_object *now, *change;
	struct eyes_follower *f, *next;

	loop_timer_free(s->pause);
	s->pause = NULL;
	if (TAILQ_EMPTY(&s->followers))
		return;
	s->made_ms = clock_mono_ms();
	now = eyes_snapshot(s->eyes);
	change = view_diff(s->view, now);
	json_object_put(s->view);
	s->view = now;
	if (change == NULL)
		return;
	s->seq++;
	body = message(s, "change", change);
	for (f = TAILQ_FIRST(&s->followers); f != NULL; f = next) {
		next = TAILQ_NEXT(f, entry);
		give(f, "change", body);
	}
}

void
eyes_stream_changed(struct eyes_stream *s)
{
	int64_t wait;

	if (s == NULL || s->pause != NULL || TAILQ_EMPTY(&s->followers))
		return;
	wait = s->made_ms + EYES_PAUSE_MS - clock_mono_ms();
	if (wait < EYES_SOON_MS)
		wait = EYES_SOON_MS;
	s->pause = loop_after(s->eyes->core->loop, wait, on_due, s);
}

static void
on_changed(void *arg)
{
	eyes_stream_changed(arg);
}

/* --- what only files tell ---------------------------------------------- */

static void
on_file(void *arg)
{
	struct eyes_stream *s = arg;

	watch_files(s);
	eyes_stream_changed(s);
}

static void
on_todo(void *arg)
{
	struct eyes_stream *s = arg;

	source_todo_again(s->eyes->todo);
	on_file(s);
}

/* One whose folder is missing is tried again when another one changes. */
static void
watch_files(struct eyes_stream *s)
{
	const struct core *core = s->eyes->core;
	cleanup_free char *todo =
	    source_todo_folder(core->settings, core->workspace);

	if (todo != NULL && s->todo == NULL)
		watch_new(core->loop, todo, on_todo, s, &s->todo, NULL);
	for (size_t i = 0; i < WATCHES_MAX && view_files_names[i] != NULL;
	     i++) {
		cleanup_free char *path =
		    workspace_path(core->workspace, view_files_names[i]);

		if (s->watches[i] == NULL)
			watch_new(
			    core->loop, path, on_file, s, &s->watches[i], NULL);
	}
}

/* --- those who follow ------------------------------------------------ */

struct eyes_follower *
eyes_stream_follow(struct eyes_stream *s, eyes_follow_fn *fn, void *arg)
{
	struct eyes_follower *f = xcalloc(1, sizeof *f);
	cleanup_json struct json_object *body = NULL;

	f->stream = s;
	f->fn = fn;
	f->arg = arg;
	/* With others, what they have: the next change fits to it. */
	if (TAILQ_EMPTY(&s->followers)) {
		watch_files(s);
		json_object_put(s->view);
		s->view = eyes_snapshot(s->eyes);
		s->seq++;
	}
	TAILQ_INSERT_TAIL(&s->followers, f, entry);
	body = message(s, "view", json_object_get(s->view));
	give(f, "snapshot", body);
	/* It is long: let it be read before something follows it. */
	s->made_ms = clock_mono_ms();
	eyes_stream_changed(s);
	return f;
}

void
eyes_stream_leave(struct eyes_follower *f)
{
	struct eyes_stream *s;

	if (f == NULL)
		return;
	s = f->stream;
	TAILQ_REMOVE(&s->followers, f, entry);
	free(f);
	if (!TAILQ_EMPTY(&s->followers))
		return;
	for (size_t i = 0; i < WATCHES_MAX; i++)
		watch_free(take_ptr(&s->watches[i]));
	watch_free(take_ptr(&s->todo));
	json_object_put(take_ptr(&s->view));
	eyes_stream_patrol(s);
}

/* --- over the socket ------------------------------------------------- */

/* A call of view.follow. */
struct watcher {
	struct core *core;
	struct server_call *call;
	struct eyes_follower *follower;
	struct loop_timer *end; /* NULL = it goes on */
};

static void
watcher_end(struct watcher *w)
{
	eyes_stream_leave(w->follower);
	loop_timer_free(w->end);
	server_reply(w->call, NULL);
	free(w);
}

static void
on_gone(void *arg)
{
	watcher_end(arg);
}

static struct json_object *
brief_change(struct json_object *change)
{
	struct json_object *brief = json_object_new_object();

	json_object_object_foreach(change, name, part)
	{
		json_set(brief, name,
		    strcmp(name, "set") == 0 ? view_brief(part) :
					       json_object_get(part));
	}
	return brief;
}

/* A body without the details that make it too long for a line. */
static struct json_object *
brief_body(struct json_object *body)
{
	struct json_object *brief = json_object_new_object();
	struct json_object *view = NULL, *change = NULL;

	json_set_int(brief, "seq", json_int_or(body, "seq", 0));
	if (json_object_object_get_ex(body, "view", &view))
		json_set(brief, "view", view_brief(view));
	if (json_object_object_get_ex(body, "change", &change))
		json_set(brief, "change", brief_change(change));
	return brief;
}

/* One that does not read is dropped by the server, and on_gone() follows. One
 * that cannot be told a change must not take what it has for the latest: its
 * call ends, and it may follow again. */
static int
on_follow_body(const char *what, struct json_object *body, void *arg)
{
	struct watcher *w = arg;
	int r;

	if (body == NULL) {
		watcher_end(w);
		return -EPIPE;
	}
	r = server_notify(w->call, what, json_object_get(body));
	if (r == -EMSGSIZE)
		r = server_notify(w->call, what, brief_body(body));
	if (r == -EMSGSIZE)
		w->end = loop_after(w->core->loop, 0, on_gone, w);
	return r;
}

static void
on_follow(void *arg, struct server_call *call, struct json_object *params)
{
	struct eyes_floor *eyes = arg;
	struct watcher *w = xcalloc(1, sizeof *w);

	(void)params;
	w->core = eyes->core;
	w->call = call;
	server_on_gone(call, on_gone, w);
	w->follower = eyes_stream_follow(eyes->stream, on_follow_body, w);
}

/* Made of what needs are made of, and not of the whole view. */
static struct json_object *
needs_alone(struct eyes_floor *eyes)
{
	const struct core *core = eyes->core;
	cleanup_json struct json_object *view = view_new();
	struct json_object *alone = json_object_new_object();

	view_state_asks(&core->state, core->settings, view);
	view_files_fill(eyes->files, view);
	fill_team(eyes, view);
	view_needs(view);
	json_set(alone, "needs", json_object_get(view_of(view, "needs")));
	return alone;
}

static void
on_get(void *arg, struct server_call *call, struct json_object *params)
{
	struct eyes_floor *eyes = arg;
	struct json_object *view, *brief;
	cleanup_buf struct buf text = BUF_INIT;

	if (json_bool_or(params, "needs", false)) {
		server_reply(call, needs_alone(eyes));
		return;
	}
	view = eyes_snapshot(eyes);
	json_print(view, false, &text);
	if (text.len > RPC_LINE_MAX - ANSWER_ROOM) {
		brief = view_brief(view);
		json_object_put(view);
		view = brief;
	}
	server_reply(call, view);
}

struct eyes_stream *
eyes_stream_new(struct eyes_floor *eyes)
{
	struct eyes_stream *s = xcalloc(1, sizeof *s);

	s->eyes = eyes;
	TAILQ_INIT(&s->followers);
	serve_handle(eyes->core, "view.get", on_get, eyes);
	serve_handle(eyes->core, "view.follow", on_follow, eyes);
	persist_on_changed(eyes->core, on_changed, s);
	return s;
}

void
eyes_stream_free(struct eyes_stream *s)
{
	struct eyes_follower *f;

	if (s == NULL)
		return;
	persist_on_changed(s->eyes->core, NULL, NULL);
	while ((f = TAILQ_FIRST(&s->followers)) != NULL)
		f->fn("end", NULL, f->arg); /* leaves */
	loop_timer_free(s->pause);
	json_object_put(s->view);
	free(s);
}
