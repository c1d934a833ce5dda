/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/queue.h>

#include "account.h"
#include "agent.h"
#include "attempt.h"
#include "ask.h"
#include "auto.h"
#include "book-care.h"
#include "book-history.h"
#include "channel.h"
#include "core.h"
#include "emit.h"
#include "show.h"
#include "fleet.h"
#include "hosts-floor.h"
#include "json-short.h"
#include "landing.h"
#include "life.h"
#include "loop.h"
#include "message.h"
#include "oversight-floor.h"
#include "people.h"
#include "persist.h"
#include "plan-floor.h"
#include "plan.h"
#include "rpc.h"
#include "serve.h"
#include "server.h"
#include "settings.h"
#include "shared.h"
#include "source.h"
#include "task.h"
#include "team-floor.h"
#include "team-private.h"
#include "version.h"
#include "view-state.h"
#include "view.h"
#include "watch.h"
#include "worker.h"
#include "workspace.h"

#define HISTORY_DAYS 365
#define DAY_MS       (24 * 3600 * (int64_t)1000)
#define AGAIN_MS     1000 /* until a little more is removed */
#define TASKS_MAX    100000 /* that have ended, and 20 times as many events */

struct show_follower {
	TAILQ_ENTRY(show_follower) entry;
	struct show_stream *stream;
	show_follow_fn *fn;
	void *arg;
	bool failed; /* it gets nothing any more */
};

TAILQ_HEAD(show_followers, show_follower);

#define GOALS_MAX   20
#define WATCHES_MAX 8
#define ANSWER_ROOM 1024 /* of a line, for what is around an answer */
#define POST_MS     5000 /* at least, between two parts of ours */
#define DEADLINE_MS 10000

/* What is kept for the next view is forgotten without a follower. */
struct show_stream {
	struct show_floor *show;
	struct show_followers followers;
	struct json_object *view; /* as it was sent last; NULL = no follower */
	int64_t seq;
	int64_t made_ms; /* when a view was made last, monotonic */
	struct loop_timer *pause; /* until the next change is sent */
	struct watch *watches[WATCHES_MAX]; /* of view_files_names, while there
					     * is a follower */
	struct watch *todo_watch; /* of free tasks, likewise */

	struct view_files *files;
	struct view_kept kept;
	struct source_todo *todo;
	struct json_object *events; /* rows, oldest first; NULL = not read */
	int64_t event_count; /* ever */
	struct json_object *ended; /* rows of tasks by id, the newest last;
				    * NULL = not read */
	int64_t filed; /* of the newest of them */
	uint64_t goal_marks[GOALS_MAX]; /* of rows of goals, which are kept
					 * until their goal changes */
	struct json_object *goal_rows[GOALS_MAX]; /* owned */
	struct loop_timer *more; /* to remove from the book; NULL = nothing */

	/* This host's part of the view, in the shared book. */
	struct hosts_floor *hosts; /* NULL = no fleet */
	char *posted; /* as it is there */
	char *sent; /* as it will be; NULL = nothing is on its way */
	int64_t posted_ms; /* monotonic */
	struct loop_timer *post;
};

static void changed(void *arg);
static void watch_files(struct show_stream *s);

/* --- events, and tasks that have ended ------------------------------- */

static void
on_event(const struct event *event, void *arg)
{
	struct show_stream *s = arg;
	cleanup_json struct json_object *record = NULL;
	struct json_object *row;
	char stamp[CLOCK_STAMP_SIZE];

	if (s->events == NULL)
		return;
	clock_format_stamp(event->at_ms, stamp);
	record = event_record(event, stamp);
	row =
	    record != NULL ? view_row_event(record, s->event_count + 1) : NULL;
	if (row != NULL) {
		s->event_count++;
		json_object_array_add(s->events, row);
		if (json_object_array_length(s->events) > VIEW_EVENTS_MAX)
			json_object_array_del_idx(s->events, 0, 1);
	}
	changed(s);
}

static void
fill_events(struct show_stream *s, struct json_object *view)
{
	struct json_object *list = view_of(view, VIEW_EVENTS);

	if (s->events == NULL) {
		s->events = view_files_events(s->show->core->workspace);
		s->event_count = (int64_t)json_object_array_length(s->events);
	}
	JSON_EACH (item, s->events)
		json_object_array_add(list, json_object_get(item));
}

/* One whose record was corrected is the newest again. */
static bool
on_task(const struct task *task, int64_t filed, void *arg)
{
	struct show_stream *s = arg;
	struct json_object_iterator first;

	s->filed = filed;
	json_object_object_del(s->ended, task->id);
	json_set(s->ended, task->id, view_row_task(task));
	if (json_object_object_length(s->ended) > SHOW_ENDED_MAX) {
		first = json_object_iter_begin(s->ended);
		json_object_object_del(
		    s->ended, json_object_iter_peek_name(&first));
	}
	return true;
}

static void
fill_ended(struct show_stream *s, struct json_object *view)
{
	if (s->ended == NULL)
		s->ended = json_object_new_object();
	book_each_task(s->show->core->book,
	    &(struct book_tasks){ .after = s->filed,
		.limit = SHOW_ENDED_MAX,
		.oldest_first = true },
	    on_task, s, NULL);
	view_add_rows(view_of(view, "ended"), s->ended);
}

static void
forget(struct show_stream *s)
{
	json_object_put(take_ptr(&s->events));
	json_object_put(take_ptr(&s->ended));
	s->filed = 0;
	for (size_t i = 0; i < GOALS_MAX; i++) {
		json_object_put(take_ptr(&s->goal_rows[i]));
		s->goal_marks[i] = 0;
	}
	view_kept_clear(&s->kept);
}

static void
on_more(void *arg)
{
	struct show_stream *s = arg;

	loop_timer_free(take_ptr(&s->more));
	show_stream_patrol(s);
}

void
show_stream_patrol(struct show_stream *s)
{
	const struct core *core = s->show->core;
	int64_t now = clock_wall_ms();
	const struct book_limits limits = {
		.now_ms = now,
		.keep_ms = now - HISTORY_DAYS * DAY_MS,
		.tasks = TASKS_MAX,
		.bytes = BOOK_BYTES_MAX,
	};

	if (TAILQ_EMPTY(&s->followers))
		forget(s);
	if (s->more == NULL &&
	    (book_history_prune(core->book, &limits) ||
		book_shrink(core->book)))
		s->more = loop_after(core->loop, AGAIN_MS, on_more, s);
}

#define SHOW_NODES_MAX 1500 /* of all of them */

#define EXPECTED_STEP 10 /* seconds: an estimate is not to change by itself */

static void
fill_landing(struct show_floor *show, struct json_object *view)
{
	cleanup_json struct json_object *list = queue_view(show->landings);
	struct json_object *items = json_object_object_get(list, "items");
	struct json_object *rows = view_of(view, "landing");

	JSON_EACH (row, items) {
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
	view_pick(view_of(view, "head"), list,
	    (const char *const[]){ "red", "hold", "check", "running", NULL });
}

static void
fill_goals(struct show_stream *s, struct json_object *view)
{
	const struct show_floor *show = s->show;
	struct json_object *rows = view_of(view, "goals");
	struct json_object *head = view_of(view, "head");
	const struct plan_set *set;
	size_t room = SHOW_NODES_MAX, count = 0;
	int more = 0;

	json_set_string(head, "goals_off",
	    show->plan->state == PLAN_SAFE ? show->plan->why : NULL);
	if (show->plan->state != PLAN_OPEN)
		return;
	set = plan_floor_set(show->plan);
	for (size_t i = 0; i < set->plan_count; i++) {
		const struct plan *plan = set->plans[i];
		size_t place;
		uint64_t mark;

		if (!goal_status_open(plan->goal->status))
			continue;
		if (count == GOALS_MAX) {
			more++;
			continue;
		}
		/* The row of that place, if the goal has not changed. */
		place = count++;
		mark = view_goal_mark(plan, room);
		if (s->goal_marks[place] != mark) {
			json_object_put(s->goal_rows[place]);
			s->goal_rows[place] = view_goal_row(plan, room);
			s->goal_marks[place] = mark;
		}
		room -= json_object_array_length(
		    json_object_object_get(s->goal_rows[place], "nodes"));
		json_set(
		    rows, plan->goal->id, json_object_get(s->goal_rows[place]));
	}
	json_set_int(head, "goals_more", more);
}

static void
fill_team(struct show_floor *show, struct json_object *view)
{
	const struct team_floor *floor = show->team;
	struct json_object *team = view_of(view, "team");

	json_set_int(team, "mail_open", (int64_t)team_post_count(floor, NULL));
	json_set_int(team, "mail_person", (int64_t)team_post_unread(floor));
	json_set_int(
	    team, "questions", (int64_t)team_requests_count(floor->requests));
	json_set_int(team, "reservations", (int64_t)team_reserve_count(floor));
}

#define SHOW_SOON_MS 10

/* The model that its newest conversation has used most. */
static const char *
model_of(const struct state *state, const struct worker *w)
{
	for (size_t i = state->account_count; i-- > 0;) {
		const struct account *account = state->accounts[i];

		if (account->worker != NULL &&
		    strcmp(account->worker, w->name) == 0)
			return perf_record_model(&account->spent.usage);
	}
	return NULL;
}

/* NULL = nothing was found, or it is not watched. */
static struct json_object *
oversight_of(const struct show_floor *show, const struct worker *w)
{
	cleanup_free char *task =
	    w->task != NULL ? xstrdup(w->task) : hand_task_name(w->name);
	const struct watched *watched = show->oversight != NULL ?
	    oversight_turn_known(show->oversight, task) :
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
fill_head(struct show_floor *show, struct json_object *head)
{
	const struct core *core = show->core;
	const char *name = strrchr(core->workspace->root, '/');
	int64_t lag = loop_lag_ms(core->loop);

	json_set_string(
	    head, "project", name != NULL ? name + 1 : core->workspace->root);
	json_set_string(head, "root", core->workspace->root);
	json_set_string(head, "branch", core_branch(core));
	json_set_string(head, "version", LLMC_VERSION);
	json_set_string(head, "instance", core->instance);
	json_set_int(head, "pid", getpid());
	view_row_moment(head, "started_unix", show->started_ms);
	json_set_bool(head, "stopping", core->stopping);
	json_set_bool(head, "until_empty", show->mode->until_empty);
	json_set_int(head, "concurrency", show->mode->workers);
	json_set_bool(head, "overseen", life_is_overseen(core));
	json_set_int(head, "lag_ms", lag > 0 ? rounded(lag) : 0);
}

/* --- what nobody was told -------------------------------------------- */

struct untold_look {
	struct message_untold found;
	const struct state *state;
	struct channel_list channels;
	int64_t now_ms;
};

static bool
on_message(const struct message *message, void *arg)
{
	struct untold_look *look = arg;

	return message_untold_add(&look->found, message, look->state->asks,
	    look->state->ask_count, &look->channels, look->now_ms);
}

void
show_untold_fill(struct book *book, const struct state *state,
    const struct settings *settings, int64_t now_ms, struct json_object *view)
{
	struct untold_look look = { .state = state, .now_ms = now_ms };
	struct json_object *json = NULL;
	int64_t since = INT64_MAX;

	for (size_t i = 0; i < state->ask_count; i++)
		if (state->asks[i]->created_ms < since)
			since = state->asks[i]->created_ms;
	people_channels(settings, &look.channels);
	if (book != NULL && since < INT64_MAX && look.channels.count > 0)
		book_look_messages(
		    book, since - MESSAGE_EARLY_MS, on_message, &look, NULL);
	if (look.found.since_ms > 0) {
		json = json_object_new_object();
		view_row_moment(json, "since_unix", look.found.since_ms);
		json_set_string(json, "channel", look.found.channel);
		view_row_line(json, "why", look.found.why, VIEW_REASON_MAX);
	}
	json_set(view_of(view, "head"), "untold", json);
	message_untold_release(&look.found);
	channel_list_release(&look.channels);
}

/* The head and what needs are made of are always filled. */
static struct json_object *
snapshot(struct show_floor *show, struct json_object *sections, bool fleet)
{
	struct show_stream *s = show->stream;
	struct json_object *view = view_new();

	view_state_fill(
	    &show->core->state, show->core->settings, &s->kept, sections, view);
	for (size_t i = 0; i < show->fleet->count; i++) {
		const struct agent *agent = show->fleet->agents[i];
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
		if (agent_setup_progress(agent) != NULL) {
			cleanup_free char *words = xasprintf(
			    "its worktree is being set up%s%s",
			    *agent_setup_progress(agent) != '\0' ? ": " : "",
			    agent_setup_progress(agent));

			view_row_line(row, "remark", words, VIEW_REMARK_MAX);
		}
		json_set_string(row, "model", model_of(&agent->core->state, w));
		json_set(row, "oversight", oversight_of(show, w));
		show_spans_fill(show->spans, agent->worker->name, row);
	}
	fill_head(show, view_of(view, "head"));
	show_untold_fill(show->core->book, &show->core->state,
	    show->core->settings, clock_wall_ms(), view);
	view_files_fill(s->files, view);
	if (view_wants(sections, "ended"))
		fill_ended(s, view);
	if (view_wants(sections, "todo"))
		source_todo_fill(
		    s->todo, show->core->settings, show->core->workspace, view);
	if (view_wants(sections, "landing"))
		fill_landing(show, view);
	if (view_wants(sections, "goals"))
		fill_goals(s, view);
	fill_team(show, view);
	if (view_wants(sections, VIEW_EVENTS))
		fill_events(s, view);
	if (fleet)
		show_hosts_fill(show->hosts, !TAILQ_EMPTY(&s->followers), view);
	view_needs(view);
	view_keep(view, sections);
	return view;
}

struct json_object *
show_snapshot(struct show_floor *show, struct json_object *sections)
{
	return snapshot(show, sections, true);
}

/* --- to the other hosts of a fleet ------------------------------------ */

static void post_later(struct show_stream *s);

static void
on_posted(const struct shared_answer *a, void *arg)
{
	struct show_stream *s = arg;

	s->posted_ms = clock_mono_ms();
	if (a->verdict == SHARED_DONE && a->of[0].count > 0) {
		free(s->posted);
		s->posted = take_ptr(&s->sent);
	}
	free(take_ptr(&s->sent));
	post_later(s); /* since then, or once more */
}

static void
on_post(void *arg)
{
	struct show_stream *s = arg;
	cleanup_json struct json_object *view = NULL, *part = NULL;
	cleanup_buf struct buf text = BUF_INIT;
	const char *boot = hosts_floor_boot(s->hosts);

	loop_timer_free(take_ptr(&s->post));
	if (s->sent != NULL)
		return;
	s->posted_ms = clock_mono_ms();
	if (boot == NULL || boot[0] == '\0') { /* it is not known there yet */
		post_later(s);
		return;
	}
	view = snapshot(s->show, NULL, false);
	part = view_host_part(view, SHOW_PART_MAX);
	json_print(part, false, &text);
	if (s->posted != NULL && strcmp(s->posted, text.data) == 0)
		return;
	s->sent = buf_take(&text);
	shared_ask(hosts_floor_shared(s->hosts),
	    &SHARED_CALL(SHARED_HOST_VIEW, BOOK_T(boot), BOOK_T(s->sent)), 1,
	    DEADLINE_MS, on_posted, s);
}

static void
post_later(struct show_stream *s)
{
	int64_t wait;

	if (hosts_floor_shared(s->hosts) == NULL || s->post != NULL)
		return;
	wait = s->posted_ms + POST_MS - clock_mono_ms();
	s->post = loop_after(s->show->core->loop,
	    s->posted_ms == 0 || wait < 0 ? POST_MS / 10 : wait, on_post, s);
}

/* --- sending --------------------------------------------------------- */

static void
give(struct show_follower *f, const char *what, struct json_object *body)
{
	if (!f->failed)
		f->failed = f->fn(what, body, f->arg) < 0;
}

static struct json_object *
message(const struct show_stream *s, const char *key, struct json_object *value)
{
	struct json_object *body = json_object_new_object();

	json_set_int(body, "seq", s->seq);
	json_set(body, key, value);
	return body;
}

static void
on_due(void *arg)
{
	struct show_stream *s = arg;
	cleanup_json struct json_object *body = NULL;
	struct json_object *now, *change;
	struct show_follower *f, *next;

	loop_timer_free(s->pause);
	s->pause = NULL;
	if (TAILQ_EMPTY(&s->followers))
		return;
	s->made_ms = clock_mono_ms();
	now = show_snapshot(s->show, NULL);
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

/* Something that the view shows may have changed. */
static void
changed(void *arg)
{
	struct show_stream *s = arg;
	int64_t wait;

	post_later(s);
	if (s->pause != NULL || TAILQ_EMPTY(&s->followers))
		return;
	wait = s->made_ms + SHOW_PAUSE_MS - clock_mono_ms();
	if (wait < SHOW_SOON_MS)
		wait = SHOW_SOON_MS;
	s->pause = loop_after(s->show->core->loop, wait, on_due, s);
}

bool
show_stream_on_hosts(bool read, void *arg)
{
	struct show_stream *s = arg;

	if (read)
		changed(s);
	return !TAILQ_EMPTY(&s->followers);
}

/* --- what only files tell ---------------------------------------------- */

static void
on_file(void *arg)
{
	struct show_stream *s = arg;

	watch_files(s);
	changed(s);
}

static void
on_todo(void *arg)
{
	struct show_stream *s = arg;

	source_todo_refresh(s->todo);
	on_file(s);
}

/* One whose folder is missing is tried again when another one changes. */
static void
watch_files(struct show_stream *s)
{
	const struct core *core = s->show->core;
	cleanup_free char *todo =
	    source_todo_folder(core->settings, core->workspace);

	if (todo != NULL && s->todo_watch == NULL)
		watch_new(core->loop, todo, on_todo, s, &s->todo_watch, NULL);
	for (size_t i = 0; i < WATCHES_MAX && view_files_names[i] != NULL;
	     i++) {
		cleanup_free char *path =
		    workspace_path(core->workspace, view_files_names[i]);

		if (s->watches[i] == NULL)
			watch_new(
			    core->loop, path, on_file, s, &s->watches[i], NULL);
	}
}

struct show_follower *
show_stream_follow(struct show_stream *s, show_follow_fn *fn, void *arg)
{
	struct show_follower *f = xcalloc(1, sizeof *f);
	cleanup_json struct json_object *body = NULL;

	f->stream = s;
	f->fn = fn;
	f->arg = arg;
	/* With others, what they have: the next change fits to it. */
	if (TAILQ_EMPTY(&s->followers)) {
		watch_files(s);
		json_object_put(s->view);
		s->view = show_snapshot(s->show, NULL);
		s->seq++;
	}
	TAILQ_INSERT_TAIL(&s->followers, f, entry);
	body = message(s, "view", json_object_get(s->view));
	give(f, "snapshot", body);
	/* It is long: let it be read before something follows it. */
	s->made_ms = clock_mono_ms();
	changed(s);
	return f;
}

void
show_stream_leave(struct show_follower *f)
{
	struct show_stream *s;

	if (f == NULL)
		return;
	s = f->stream;
	TAILQ_REMOVE(&s->followers, f, entry);
	free(f);
	if (!TAILQ_EMPTY(&s->followers))
		return;
	for (size_t i = 0; i < WATCHES_MAX; i++)
		watch_free(take_ptr(&s->watches[i]));
	watch_free(take_ptr(&s->todo_watch));
	json_object_put(take_ptr(&s->view));
	forget(s);
}

/* --- over the socket ------------------------------------------------- */

/* A call of view.follow. */
struct watcher {
	struct core *core;
	struct server_call *call;
	struct show_follower *follower;
	struct loop_timer *end; /* NULL = it goes on */
};

static void
watcher_end(struct watcher *w)
{
	show_stream_leave(w->follower);
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

	JSON_MEMBERS (it, change)
		json_set(brief, it.key,
		    strcmp(it.key, "set") == 0 ? view_brief(it.val) :
						 json_object_get(it.val));
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
 * that misses a change must not take what it has for the latest: its call ends,
 * and it may follow again. */
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
	struct show_floor *show = arg;
	struct watcher *w = xcalloc(1, sizeof *w);

	(void)params;
	w->core = show->core;
	w->call = call;
	server_on_gone(call, on_gone, w);
	w->follower = show_stream_follow(show->stream, on_follow_body, w);
}

/* A call of view.get. */
struct getting {
	struct show_floor *show;
	struct server_call *call;
	struct json_object *sections; /* NULL = all */
};

static void
on_known(void *arg)
{
	struct getting *g = arg;
	struct json_object *view, *brief;
	cleanup_buf struct buf text = BUF_INIT;

	view = show_snapshot(g->show, g->sections);
	json_print(view, false, &text);
	if (text.len > RPC_LINE_MAX - ANSWER_ROOM) {
		brief = view_brief(view);
		json_object_put(view);
		view = brief;
	}
	server_reply(g->call, view);
	json_object_put(g->sections);
	free(g);
}

static void
on_get(void *arg, struct server_call *call, struct json_object *params)
{
	struct show_floor *show = arg;
	struct getting *g = xcalloc(1, sizeof *g);

	json_get_array(params, "", "sections", &g->sections, NULL);
	json_object_get(g->sections);
	g->show = show;
	g->call = call;
	if (!view_wants(g->sections, VIEW_HOSTS) ||
	    !show_hosts_wait(show->hosts, on_known, g))
		on_known(g);
}

struct show_stream *
show_stream_new(struct show_floor *show, struct hosts_floor *hosts)
{
	struct show_stream *s = xcalloc(1, sizeof *s);

	s->show = show;
	s->hosts = hosts;
	TAILQ_INIT(&s->followers);
	s->files = view_files_new(show->core->workspace);
	s->todo = source_todo_new();
	emit_subscribe(show->core, on_event, s);
	serve_handle(show->core, "view.get", on_get, show);
	serve_handle(show->core, "view.follow", on_follow, show);
	persist_on_changed(show->core, changed, s);
	return s;
}

void
show_stream_free(struct show_stream *s)
{
	struct show_follower *f;

	if (s == NULL)
		return;
	persist_on_changed(s->show->core, NULL, NULL);
	while ((f = TAILQ_FIRST(&s->followers)) != NULL)
		f->fn("end", NULL, f->arg); /* leaves */
	emit_unsubscribe(s->show->core, on_event, s);
	if (hosts_floor_shared(s->hosts) != NULL)
		shared_forget(hosts_floor_shared(s->hosts), s);
	loop_timer_free(s->pause);
	loop_timer_free(s->more);
	loop_timer_free(s->post);
	free(s->posted);
	free(s->sent);
	json_object_put(s->view);
	forget(s);
	source_todo_free(s->todo);
	view_files_free(s->files);
	free(s);
}
