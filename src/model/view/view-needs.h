/* SPDX-License-Identifier: ISC */

/*
 * What needs a person, in order: the open asks (ask-record.h), and what only
 * somebody without a daemon can see. For status, report, top, page, doctor and
 * the exit status of a run. "Nothing needs you" is said only where it finds
 * nothing. Pure.
 */
#ifndef VIEW_NEEDS_H
#define VIEW_NEEDS_H

struct json_object;
struct schema;

/* Fill the section "needs": rows {what, who, words, command, unfinished,
 * level}, the most urgent first by their keys. unfinished: work was not done,
 * or waits. */
void view_needs(struct json_object *view);
/* The rows as a list, the most urgent first; the caller owns it. */
struct json_object *view_needs_list(struct json_object *view);
/* Is one of the rows unfinished? */
bool view_needs_work(struct json_object *view);

extern const struct schema view_need_schema;

#endif
