/* SPDX-License-Identifier: ISC */

/*
 * What the kinds of task sources share, for source*.c only: the question that
 * is under way, and a table of what each kind does.
 */
#ifndef SOURCE_KIND_H
#define SOURCE_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source.h"

#define SOURCE_SETTLED_MS 200 /* a file that rests so long is complete */
#define SOURCE_PRIORITY   3 /* of a task that has none */

struct source {
	const struct source_kind *kind;
	struct loop *loop;
	char *where, *owner;
	source_fn *fn; /* NULL = nobody asks */
	void *arg;
	bool cancelled;
	char **labels, **keys; /* of the question, NULL terminated */
	struct loop_call *call; /* look now */
	struct loop_timer *timer; /* look later; NULL = not planned */
	int64_t pause_ms; /* before the next look */
	char **quarantined; /* NULL terminated */
	size_t quarantined_count;
};

/* Each function as the one of that name in source.h; NULL = nothing to do. */
struct source_kind {
	const char *name;
	size_t size; /* of its struct, whose first member is a struct source */
	int (*open)(struct source *source, const struct source_options *options,
	    struct err *err);
	void (*close)(struct source *source);
	/* Find an answer, called from the loop: source_answer() once, or
	 * source_look_later(), which leads to another call. */
	void (*ask)(struct source *source);
	/* True: the answer will come; false: nothing runs. */
	bool (*cancel)(struct source *source);
	int (*take)(struct source *source, const char *key, const char *worker,
	    struct err *err);
	int (*settle)(struct source *source, const char *key,
	    enum task_outcome outcome, const char *note, struct err *err);
	int (*recover)(
	    struct source *source, const char *const *keys, struct err *err);
	int (*watch)(struct source *source, void (*fn)(void *arg), void *arg,
	    struct err *err);
	struct json_object *(*list)(
	    const char *where, size_t limit, struct err *err);
};

extern const struct source_kind source_command, source_files, source_folder;

/* Answer the question. The owner may free the source meanwhile: nothing of it
 * may be used afterwards. */
void source_answer(struct source *source, enum source_answer answer,
    const struct source_offer *offer, const struct source_failure *failure);

/* SOURCE_FAILED, "task_source". */
void source_answer_broken(struct source *source, const struct err *err);

/* Ask the kind again, after SOURCE_SETTLED_MS, and later each time. */
void source_look_later(struct source *source);

void source_quarantine(struct source *source, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Is it in the list? NULL is a list of none. */
bool source_has(const char *const *list, const char *key);
bool source_is_key(const struct source *source, const char *key);

/* Landed, or nothing had to be done. */
bool source_is_done(enum task_outcome outcome);

/* That we have no more descriptors says nothing about a file. */
bool source_is_poverty(int error);

/* A line for people out of a task's text; the caller frees. */
char *source_title(const char *text);

#endif
