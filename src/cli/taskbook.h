/* SPDX-License-Identifier: ISC */

/*
 * All known tasks: those in progress (the book), those that have ended
 * (tasks.jsonl) and those that the source has. Only reads.
 */
#ifndef TASKBOOK_H
#define TASKBOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source.h"

struct cli;
struct json_object;

struct taskbook {
	enum source_type type; /* of the source */
	char *where; /* the command, or the folder */
	char *problem; /* why the source cannot be read, or NULL */
	struct json_object *entries; /* in progress, then waiting, then ended,
				      * the newest first */
};

/* Of the ended ones the last `limit`, 0 = all. CLI_OK and a book that the
 * caller releases, or the failure is reported. */
int taskbook_load(struct cli *cli, size_t limit, struct taskbook *ret_book);
/* Of the ended ones those with this id or name, and all of each. */
int
taskbook_load_for(struct cli *cli, const char *name, struct taskbook *ret_book);
void taskbook_release(struct taskbook *book);

/* The entry with that id, or that name in its source; NULL if there is none. */
struct json_object *
taskbook_find(const struct taskbook *book, const char *word);

/* The id or name that is most similar to the word, or NULL. */
const char *taskbook_nearest(const struct taskbook *book, const char *word);

/* Add the contents of the source's own file, for a task that only the source
 * has. */
void taskbook_read_text(const struct taskbook *book, struct json_object *entry);

/* The name of an entry: its id, else its name in the source. */
const char *taskbook_name(struct json_object *entry);

/* A cost in millionths of a dollar as a number of dollars. */
struct json_object *taskbook_dollars(int64_t cost);

/* An entry, for programs. */
extern const struct schema taskbook_entry_schema;

#endif
