/* SPDX-License-Identifier: ISC */

/*
 * How the work on a task went, for people: what was asked, said, done and what
 * failed, by the conversation of its agent, and what llmc did with it, by its
 * history and its events. Pure.
 */
#ifndef REPLAY_H
#define REPLAY_H

struct json_object;
struct schema;

/* "asked", "said", "did", "failed", "event"; NULL terminated. */
extern const char *const replay_kinds[];
extern const struct schema replay_entry_schema; /* {at, kind, text} */

#define REPLAY_ENTRIES_MAX 20000 /* further ones are left out */
#define REPLAY_PAGE        500 /* entries of one answer */

/* Add what a line of a conversation says, in the form of Claude Code
 * (transcript_translate()); any JSON. */
void replay_add_line(struct json_object *list, struct json_object *line);
/* A record of overseer.events, and an entry of a task's history. */
void replay_add_event(struct json_object *list, struct json_object *record);
void replay_add_note(struct json_object *list, struct json_object *note);

/* By time; what has none stays behind what was before it. */
void replay_sort(struct json_object *list);

#endif
