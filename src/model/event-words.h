/* SPDX-License-Identifier: ISC */

/* Events of logs/auto.log as text for people. */
#ifndef EVENT_WORDS_H
#define EVENT_WORDS_H

#include <stdbool.h>

struct buf;
struct json_object;

/* "2026-01-31 09:15:30  auto-1 gets t17: Fix the parser", with a newline; local
 * time; appended. One line of at most `width` columns; 0 = everything, where
 * the lines of a log are lines here too, indented. An event of an unknown type
 * is shown as its type and its members. False (nothing is appended) for a
 * record that is not an event. */
bool event_words_add(
    struct json_object *record, bool colour, int width, struct buf *out);

/* The same of the member "event" of a record, without the time: appended. */
void event_words_of(struct json_object *event, struct buf *out);

#endif
