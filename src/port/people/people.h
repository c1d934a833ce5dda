/* SPDX-License-Identifier: ISC */

/*
 * Tells a person what happened, through people.notify_command. Each class has
 * a minute of its own: the first notice is told at once, those that follow
 * within PEOPLE_PAUSE_MS become one message at its end. So a flood of events
 * starts as many processes in a minute as there are classes, at most.
 */
#ifndef PEOPLE_H
#define PEOPLE_H

#include "notice.h"

struct loop;
struct people;
struct settings;

#define PEOPLE_PAUSE_MS    (60 * 1000)
#define PEOPLE_DEADLINE_MS (30 * 1000) /* of the command */
#define PEOPLE_END_MS      (5 * 1000) /* of a command when we end */

/* program: who tells. Both strings are copied. */
struct people *
people_new(struct loop *loop, const char *root, const char *program);
/* At the end of a program: tells what waits, and runs the loop until the
 * commands have ended, PEOPLE_END_MS at most. */
void people_free(struct people *people);

/* Notices with an id are told once, also by the next program that uses this
 * folder (outbox.h); tells those that wait there. */
void people_use_outbox(
    struct people *people, const struct settings *settings, const char *dir);

/* Nothing if the class is not in people.notify_on or there is no command. Never
 * blocks; what becomes of the command is only logged. */
void people_tell(struct people *people, const struct settings *settings,
    const struct notice *notice);

#endif
