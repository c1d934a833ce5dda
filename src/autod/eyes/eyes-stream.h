/* SPDX-License-Identifier: ISC */

/*
 * The view for those who follow it: a snapshot, then what changes: the first
 * change soon, with what comes together with it, and then at most every
 * EYES_PAUSE_MS. Nothing is computed while nobody follows. Methods
 * view.get and view.follow; the page follows in the same way.
 */
#ifndef EYES_STREAM_H
#define EYES_STREAM_H

struct eyes_floor;
struct eyes_follower;
struct eyes_stream;
struct json_object;

#define EYES_GOALS_MAX 20

/* Rows of goals that are kept until their goal changes; zeroes are the
 * beginning. */
struct eyes_goals {
	uint64_t marks[EYES_GOALS_MAX];
	struct json_object *rows[EYES_GOALS_MAX]; /* owned */
};

void eyes_goals_release(struct eyes_goals *goals);

/* The caller owns it. */
struct json_object *eyes_snapshot(struct eyes_floor *eyes);

#define EYES_PAUSE_MS 50

struct eyes_stream *eyes_stream_new(struct eyes_floor *eyes);

/* Those who follow are told that it is over. */
void eyes_stream_free(struct eyes_stream *stream);

/* While nobody follows, what was kept for the next view only takes memory. */
void eyes_stream_patrol(struct eyes_stream *stream);

/* Something that the view shows may have changed. */
void eyes_stream_changed(struct eyes_stream *stream);

/* what: "snapshot" or "change"; body: {"seq": n, "view": ...} or {"seq": n,
 * "change": ...}, borrowed. Negative errno: it gets nothing any more, and
 * leaves later. NULL body ("end"): the stream is freed, and the follower must
 * leave in here. */
typedef int
eyes_follow_fn(const char *what, struct json_object *body, void *arg);

/* Follow; fn gets the snapshot before this returns. */
struct eyes_follower *
eyes_stream_follow(struct eyes_stream *stream, eyes_follow_fn *fn, void *arg);
void eyes_stream_leave(struct eyes_follower *follower);

#endif
