/* SPDX-License-Identifier: ISC */

/* The whole daemon with oversight: auto-world.h with one task, and what is
 * recorded of its turns. */
#ifndef OVERSIGHT_WORLD_H
#define OVERSIGHT_WORLD_H

#include "auto-world.h"
#include "tune.h"

struct oversight_floor;

#define OVERSIGHT_ON "max_turns = 50\n[oversight]\nmode = \"act\"\n"
/* Each equal failure is a step of the ladder: the fourth is one too many. */
#define OVERSIGHT_QUICK \
	OVERSIGHT_ON "thresholds = [\"stuck.sameErrorCount=1\"]\n"
#define REDIRECT "OVERSIGHT: CHANGE THE APPROACH"
#define WARNING  "OVERSIGHT WARNING"

extern struct oversight_world {
	struct oversight_floor *floor;
	struct buf transcript; /* of auto-1 */
} oversight_world;

/* settings: lines for [auto], and other tables after them. */
void oversight_world_begin(const char *settings);
/* And auto-1 is in the first turn, with a file that is not committed. */
struct agent *oversight_world_begin_turn(const char *settings);
void oversight_world_end(void);
/* The daemon dies, and the next one takes over; or it is only there. */
void oversight_world_die(void);
void oversight_world_reopen(void);

/* In the worktree of auto-1. */
void oversight_world_sh(const char *text);
/* The agent says something: a line of its transcript. Or a tool fails. */
void oversight_world_talk(struct agent *agent, const char *line);
void oversight_world_tool_fails(struct agent *agent, int line);
/* Turn n ends with a file that is not committed: it is sent back. Returns the
 * prompt. */
const char *oversight_world_sent_back(int n);
/* Run the loop until auto-1 is paused; until its task is parked, and auto-1 is
 * free. */
void oversight_world_paused(void);
void oversight_world_parked(void);
/* From the first turn on, until t1 is parked, with OVERSIGHT_QUICK. */
void oversight_world_get_parked(void);

/* Call a method; the answer: the error's message, or NULL. */
const char *oversight_world_ask(const char *method, const char *params);
/* The message of auto.resume. name: of a worker or a task, NULL = all. */
const char *oversight_world_resume(const char *name, const char *more);

/* The last record of t1 with this member, in short, and how many there are (may
 * be NULL); valid until the next call. */
const char *oversight_world_recorded(const char *member, int *ret_count);

/* Are these words not in the text? */
void oversight_world_lacks(const char *text, const char *words);

#endif
