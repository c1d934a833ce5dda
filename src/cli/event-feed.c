/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client-stream.h"
#include "clock.h"
#include "event-feed.h"
#include "json.h"
#include "jsonl-cursor.h"
#include "log-view.h"
#include "loop.h"
#include "mem.h"
#include "watch.h"

#define ANSWER_MS 2000 /* for a daemon to say where its stream begins */
#define LOOK_MS   2000 /* between attempts to find a daemon */
#define GROWN_MS  500 /* the same, when the file has grown */
#define READ_MOST 1000 /* records in one pass of the loop */

const struct log_view event_feed_view = { .object = "event",
	.level = LOG_LEVEL_DEBUG };

struct event_feed {
	struct loop *loop;
	char *socket, *file;
	const struct log_view *view;
	size_t lines;
	event_feed_fn *fn;
	void *arg;
	/* Everything before it has been passed to fn. While the daemon sends,
	 * it stays where the stream began. */
	struct jsonl_cursor at;
	struct watch *watch; /* of the file; NULL while the daemon sends */
	struct loop_call *read;
	struct loop_timer *timer; /* the next attempt, or the end of waiting */
	struct client_stream *stream; /* NULL = reading the file */
	int64_t asked_ms; /* when a daemon was last looked for */
	uint64_t heard; /* events of the stream */
	struct json_object *last; /* of them */
	bool live; /* the stream has begun */
	bool begun; /* the last ones before it have been passed to fn */
	bool done; /* fn wants no more */
};

static bool
is_event(struct json_object *record)
{
	return log_view_wants(&event_feed_view, record);
}

static void
feed_give(struct event_feed *feed, struct json_object *record)
{
	if (!feed->done && log_view_wants(feed->view, record))
		feed->done = !feed->fn(record, feed->arg);
}

/* The next event of the file, owned by the caller. */
static struct json_object *
next_event(struct jsonl_cursor *cursor)
{
	struct json_object *record;

	while ((record = jsonl_cursor_next(cursor)) != NULL) {
		if (is_event(record))
			break;
		json_object_put(record);
	}
	return record;
}

/* The last ones before the cursor. False if the file was rotated meanwhile, so
 * that they cannot be known. */
static bool
feed_begin(struct event_feed *feed, const struct jsonl_cursor *cursor)
{
	cleanup_json struct json_object *last =
	    log_view_last(feed->view, feed->file, cursor->offset, feed->lines);

	if (cursor->fd != -1 && !jsonl_cursor_is_current(cursor))
		return false;
	for (size_t i = 0; i < json_object_array_length(last); i++)
		feed_give(feed, json_object_array_get_idx(last, i));
	feed->begun = true;
	return true;
}

static void
feed_begin_at_end(struct event_feed *feed)
{
	do
		jsonl_cursor_seek_end(&feed->at);
	while (!feed_begin(feed, &feed->at));
}

static void
feed_changed(void *arg)
{
	struct event_feed *feed = arg;

	loop_call_request(feed->read);
}

/* When the daemon sends no more: skip what it has sent already. The last one
 * marks the place in the file. If it is missing (a full disk), skip as many as
 * were sent. */
static void
feed_pass_heard(struct event_feed *feed)
{
	struct jsonl_cursor behind;
	struct json_object *record;
	bool found = false;

	jsonl_cursor_init(&behind, feed->file);
	for (; feed->heard > 0 && (record = next_event(&feed->at)) != NULL;
	     feed->heard--) {
		if (json_object_equal(record, feed->last)) {
			jsonl_cursor_copy(&behind, &feed->at);
			found = true;
		}
		json_object_put(record);
	}
	if (found)
		jsonl_cursor_copy(&feed->at, &behind);
	jsonl_cursor_release(&behind);
	json_object_put(take_ptr(&feed->last));
	feed->heard = 0;
}

static void feed_timer(void *arg);

static void
feed_set_timer(struct event_feed *feed, int64_t ms)
{
	loop_timer_free(feed->timer);
	feed->timer = loop_after(feed->loop, ms, feed_timer, feed);
}

/* Read the file from here on. If it cannot be watched, it is read whenever a
 * daemon is looked for. */
static void
feed_use_file(struct event_feed *feed)
{
	client_stream_free(take_ptr(&feed->stream));
	feed->asked_ms = clock_mono_ms();
	if (feed->live)
		feed_pass_heard(feed);
	feed->live = false;
	if (!feed->begun)
		feed_begin_at_end(feed);
	if (feed->watch == NULL)
		watch_new(feed->loop, feed->file, feed_changed, feed,
		    &feed->watch, NULL);
	feed_set_timer(feed, LOOK_MS);
	loop_call_request(feed->read);
}

/* Pass on what the file has before the place where the stream begins. */
static void
feed_catch_up(struct event_feed *feed, const struct jsonl_cursor *start)
{
	struct json_object *record;

	while (!jsonl_cursor_reached(&feed->at, start) &&
	    (record = next_event(&feed->at)) != NULL) {
		feed_give(feed, record);
		json_object_put(record);
	}
}

/* The stream begins at this byte of the file. */
static void
feed_join(struct event_feed *feed, int64_t offset)
{
	struct jsonl_cursor start;
	bool begun = feed->begun;

	jsonl_cursor_init(&start, feed->file);
	/* If the file was rotated meanwhile, a later attempt will succeed. */
	if (offset < 0 || jsonl_cursor_seek(&start, (uint64_t)offset) < 0 ||
	    (!begun && !feed_begin(feed, &start))) {
		jsonl_cursor_release(&start);
		feed_use_file(feed);
		return;
	}
	if (begun)
		feed_catch_up(feed, &start);
	jsonl_cursor_release(&feed->at);
	feed->at = start;
	feed->live = true;
	loop_timer_free(take_ptr(&feed->timer));
	watch_free(take_ptr(&feed->watch));
}

static void
on_notification(const char *method, struct json_object *params, void *arg)
{
	struct event_feed *feed = arg;

	if (!feed->live && strcmp(method, "following") == 0) {
		feed_join(feed, json_int_or(params, "offset", -1));
	} else if (feed->live && strcmp(method, "event") == 0 &&
	    is_event(params)) {
		/* The first event may have created the file. */
		jsonl_cursor_hold(&feed->at);
		feed_give(feed, params);
		feed->heard++;
		json_object_put(feed->last);
		feed->last = json_object_get(params);
	}
}

static void
on_end(int status, struct json_object *result, const struct err *err, void *arg)
{
	(void)status;
	(void)result;
	(void)err;
	feed_use_file(arg);
}

/* Is there a daemon that answers? */
static bool
feed_ask(struct event_feed *feed)
{
	static const struct client_stream_fns fns = { on_notification, on_end };
	cleanup_json struct json_object *params = json_object_new_object();
	bool asked =
	    client_stream_new(feed->loop, feed->socket, "events.follow", params,
		&fns, feed, &feed->stream, NULL) == 0;

	feed->asked_ms = clock_mono_ms();
	feed_set_timer(feed, asked ? ANSWER_MS : LOOK_MS);
	return asked;
}

/* Pass on what the file has. At its end, look for a daemon. */
static void
feed_read(void *arg)
{
	struct event_feed *feed = arg;
	struct json_object *record;
	int left = READ_MOST;

	if (feed->stream != NULL)
		return;
	if (!feed->begun) {
		if (!feed_ask(feed))
			feed_use_file(feed);
		return;
	}
	while (left-- > 0 && (record = next_event(&feed->at)) != NULL) {
		feed_give(feed, record);
		json_object_put(record);
	}
	if (left < 0)
		loop_call_request(feed->read);
	else if (clock_mono_ms() - feed->asked_ms >= GROWN_MS)
		feed_ask(feed);
}

static void
feed_timer(void *arg)
{
	struct event_feed *feed = arg;

	if (feed->stream != NULL)
		feed_use_file(feed); /* it did not answer */
	else
		feed_read(feed);
}

int
event_feed_new(struct loop *loop, const char *socket, const char *file,
    const struct log_view *view, size_t lines, event_feed_fn *fn, void *arg,
    struct event_feed **ret_feed, struct err *err)
{
	struct event_feed *feed = xcalloc(1, sizeof *feed);
	int r;

	feed->loop = loop;
	feed->socket = xstrdup(socket);
	feed->file = xstrdup(file);
	feed->view = view;
	feed->lines = lines;
	feed->fn = fn;
	feed->arg = arg;
	jsonl_cursor_init(&feed->at, file);
	feed->read = loop_call_new(loop, feed_read, feed);
	r = watch_new(loop, file, feed_changed, feed, &feed->watch, err);
	if (r < 0) {
		event_feed_free(feed);
		return r;
	}
	loop_call_request(feed->read);
	*ret_feed = feed;
	return 0;
}

void
event_feed_free(struct event_feed *feed)
{
	if (feed == NULL)
		return;
	client_stream_free(feed->stream);
	watch_free(feed->watch);
	loop_timer_free(feed->timer);
	loop_call_free(feed->read);
	jsonl_cursor_release(&feed->at);
	json_object_put(feed->last);
	free(feed->socket);
	free(feed->file);
	free(feed);
}
