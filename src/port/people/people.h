/* SPDX-License-Identifier: ISC */

/*
 * Tells people what happened: through the channels of the settings (courier.h),
 * and through people.notify_command. For the command, each class has a minute
 * of its own: the first notice is sent at once, those that follow within
 * PEOPLE_PAUSE_MS become one message at its end. So a flood of events starts at
 * most one process per class and minute.
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

#define PEOPLE_PAUSE_MS    (60 * 1000)
#define PEOPLE_DEADLINE_MS (30 * 1000) /* of the command */
#define PEOPLE_END_MS      (5 * 1000) /* of a command when we end */

/* program: who tells. Both strings are copied. store: where messages are kept
 * until they are sent; NULL = in the spool (message-spool.h). */
struct people *people_new(struct loop *loop, const char *root,
    const char *program, const struct courier_store *store);
/* At the end of a program: tells what waits, and runs the loop until the
 * commands have ended, PEOPLE_END_MS at most. What the channels have not got by
 * then is kept. True: there was something to wait for. */
bool people_free(struct people *people);

/* Is there a way to tell a person who is away: a channel, the command, or a
 * desktop? */
bool people_reaches(const struct settings *settings);

/* The settings at the start, and whenever they change. */
void people_settings(struct people *people, const struct settings *settings);

/* Send what an earlier process could not, once; takes the message. */
void people_take(struct people *people, const struct settings *settings,
    struct message *message);

/* To the channels that take its level; the command is run if the class is in
 * people.notify_on. A notice with an id is sent once, across processes and
 * crashes. Never blocks; the result is only logged. */
void people_tell(struct people *people, const struct settings *settings,
    const struct notice *notice);
/* By the command alone, which needs no file: for who cannot write one. id: of
 * its record, "" = it has none. */
void people_tell_command(struct people *people, const struct settings *settings,
    const struct notice *notice, const char *id);

/* The same with all that is known of it: an event with an id is sent once.
 * class is that of the command; NOTICE_NONE: the channels only. */
void people_escalate(struct people *people, const struct settings *settings,
    const struct escalation *what, enum notice_class class);

#endif
