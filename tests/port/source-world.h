/* SPDX-License-Identifier: ISC */

/*
 * Shared by the tests of the task sources: a loop with one source, its last
 * answer, and files.
 */
#ifndef SOURCE_WORLD_H
#define SOURCE_WORLD_H

#include "unit.h"
#include "source.h"

struct json_object;
struct loop;

struct source_world {
	struct loop *loop;
	struct source *source;
	struct source_options options;
	/* The last answer; strings are owned, NULL = not set. */
	int answers;
	enum source_answer answer;
	char *key, *title, *text, *label, *landed_before;
	enum priority priority;
	char *class, *words;
	int status;
	int watched; /* calls of the watch */
};

/* The caller keeps where and owner. */
struct source_world *
source_world_new(enum source_type type, const char *where, const char *owner);
void source_world_free(struct source_world *world);
void source_world_cleanup(struct source_world **world);
#define cleanup_source_world ended_by(source_world_cleanup)

/* Open the source again, as after a crash. */
void source_world_reopen(struct source_world *world);

/* Ask, and run the loop until the answer is there. */
enum source_answer source_world_ask(struct source_world *world,
    const char *const *labels, const char *const *keys);
/* Ask only. */
void source_world_begin(struct source_world *world);
/* Run the loop until the answer is there, or the watch was called; a guard of
 * ten seconds fails the test. */
void source_world_wait_answer(struct source_world *world);
void source_world_wait_watch(struct source_world *world, int count);
void source_world_watch(struct source_world *world);

/* Ask without labels and keys: it offers that key, or nothing. */
void source_world_expect(struct source_world *world, const char *key);

/* Take it for auto-1, or settle it; this must succeed. */
void source_world_take(struct source_world *world, const char *key);
void source_world_settle(struct source_world *world, const char *key,
    enum task_outcome outcome, const char *note);

/* Three daemons take all tasks: this many, with the keys prefix0, prefix1, ...;
 * each task must go to exactly one of them. */
#define SOURCE_WORLD_SHARED 60
void source_world_expect_shared(struct source_world *world, const char *prefix);
/* A process that takes and gives back this task over and over is killed after
 * that time. */
void source_world_kill_rival(
    struct source_world *world, const char *key, int64_t after_us);

/* The row of a list, as JSON. */
void source_world_expect_row(
    struct json_object *list, size_t at, const char *wanted);

/* A file that was written age_ms ago; the folder exists. */
#define SOURCE_WORLD_OLD_MS 60000
void source_world_put(const char *path, const char *text, int64_t age_ms);
void source_world_put_bytes(
    const char *path, const void *bytes, size_t len, int64_t age_ms);

/* The whole text, owned by the caller. */
char *source_world_read(const char *path);

/* "a b c": the visible names in a folder, sorted; owned by the caller. */
char *source_world_names(const char *folder);

/* Does a quarantined entry begin with this? How many are there? */
bool source_world_quarantined(struct source_world *world, const char *head);
size_t source_world_quarantine_count(struct source_world *world);

#endif
