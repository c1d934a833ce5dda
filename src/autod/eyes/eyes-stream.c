/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "buf.h"
#include "clock.h"
#include "core.h"
#include "eyes-floor.h"
#include "eyes-snapshot.h"
#include "eyes-stream.h"
#include "json.h"
#include "loop.h"
#include "mem.h"
#include "persist.h"
#include "rpc.h"
#include "serve.h"
#include "server.h"
#include "source-todo.h"
#include "view-doc.h"
#include "view-files.h"
#include "watch.h"
#include "workspace.h"

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

static void
unwatch_files(struct eyes_stream *s)
{
	for (size_t i = 0; i < WATCHES_MAX; i++)
		watch_free(take_ptr(&s->watches[i]));
	watch_free(take_ptr(&s->todo));
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
	unwatch_files(s);
	json_object_put(s->view);
	s->view = NULL;
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

static void
on_get(void *arg, struct server_call *call, struct json_object *params)
{
	struct eyes_floor *eyes = arg;
	struct json_object *view = eyes_snapshot(eyes), *brief;
	cleanup_buf struct buf text = BUF_INIT;

	(void)params;
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
