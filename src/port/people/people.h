/* SPDX-License-Identifier: ISC */

/*
 * Tells people what happened, through the channels of the settings (courier.h).
 */
#ifndef PEOPLE_H
#define PEOPLE_H

#include "notice.h"

struct courier_store;
struct escalation;
struct loop;
struct message;
struct people;
struct settings;

#define PEOPLE_END_MS (5 * 1000) /* for what is being sent when we end */

/* program: who tells. Both strings are copied. store: where messages are kept
 * until they are sent; NULL = in the spool (message-spool.h). */
struct people *people_new(struct loop *loop, const char *root,
    const char *program, const struct courier_store *store);
/* At the end of a program: tells what waits, and runs the loop until the
 * channels have it, PEOPLE_END_MS at most. What they have not got by then is
 * kept. True: there was something to wait for. */
bool people_free(struct people *people);

/* Is there a way to tell a person who is away: a channel, or a
 * desktop? */
bool people_reaches(const struct settings *settings);

/* The settings at the start, and whenever they change. */
void people_settings(struct people *people, const struct settings *settings);

/* Send what an earlier process could not, once; takes the message. */
void people_take(struct people *people, struct message *message);

enum people_saved {
	PEOPLE_SAVED, /* a file, or the book, has it before it is sent */
	PEOPLE_UNSAVED, /* no file can be written: by commands alone */
};

/* To the channels that take its level. A notice with an id is sent once, across
 * processes and crashes. Never blocks; the result is only logged. */
void people_tell(struct people *people, const struct settings *settings,
    const struct notice *notice, enum people_saved saved);

/* The same with all that is known of it. */
void people_escalate(struct people *people, const struct settings *settings,
    const struct escalation *what);

#endif
