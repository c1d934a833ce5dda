/* SPDX-License-Identifier: ISC */

/*
 * Sessions without an agent: replaces the functions of session.h, so that the
 * linker does not use the real ones. A session is ready as soon as its record
 * is saved, accepts every prompt, and is then in a turn until the test ends it.
 */
#ifndef FAKE_SESSION_H
#define FAKE_SESSION_H

#include "unit.h"
#include "session.h"

/* The turn ends with this message (may be NULL); nobody waits for an answer. */
void fake_session_turn_ends(struct session *session, const char *last_words);
void fake_session_turn_fails(struct session *session, const char *text);
/* Its agent ends by itself; nothing happens if it has none. */
/* Its agent reports a tool: a turn runs, whatever was thought. */
void fake_session_works(struct session *session);
void fake_session_exits(struct session *session);
/* A person types a prompt into it. */
void fake_session_typed(struct session *session, const char *text);
/* One of its tools has ended. */
void fake_session_progresses(struct session *session);
/* Its transcript has this many tokens now. */
void fake_session_uses(struct session *session, int64_t tokens);
/* Its conversation is in this file, which is read as it is now; and it gets
 * another one: the file belongs to nobody. */
void fake_session_reads(struct session *session, const char *path);
void fake_session_leaves(struct session *session);
/* The age of its last sign of life, from now on. */
void fake_session_is_quiet(struct session *session, int64_t ms);

/* What lost sessions left takes so long to end, from now on; 0 = nothing is
 * left. */
void fake_session_leave_remains(int64_t ms);

/* The last prompt that was submitted, "" = none. */
const char *fake_session_prompt(const struct session *session);
/* Did a new conversation begin with it? */
bool fake_session_cleared(const struct session *session);
/* How often: prompts submitted, interrupted, launched. */
int fake_session_prompts(const struct session *session);
int fake_session_interrupts(const struct session *session);
int fake_session_launches(const struct session *session);

#endif
