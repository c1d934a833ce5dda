/* SPDX-License-Identifier: ISC */

/*
 * Mail into sessions. One that works gets it as added context after its next
 * tool, or as the answer to the end of its turn; one that is at rest gets it as
 * a prompt; and it goes in front of whatever else a session is told.
 *
 * Mail counts as delivered when the prompt's receipt is back, or when the next
 * hook of the session comes after an answer. That is saved in the same pass. So
 * mail in a prompt is delivered once whenever the daemon dies; mail in an
 * answer is given again if it is not known whether the answer arrived.
 */
#ifndef TEAM_DELIVER_H
#define TEAM_DELIVER_H

#include <stdbool.h>

#include "mail.h"

struct agent;
struct buf;
struct server_call;
struct team_deliver;
struct team_floor;

struct team_deliver *team_deliver_new(struct team_floor *floor);
void team_deliver_free(struct team_deliver *deliver);
/* How often mail that is not confirmed is given again; for tests. */
void team_deliver_set_pace(
    struct team_deliver *deliver, const struct mail_pace *pace);

/* There is new mail for somebody; it is stored at the end of this pass. */
void team_deliver_posted(struct team_deliver *deliver);
/* Look at all sessions and all mail at the end of this pass. */
void team_deliver_patrol(struct team_deliver *deliver);

/* Parts of struct auto_team. */
void team_deliver_preface(
    struct team_deliver *deliver, struct agent *agent, struct buf *out);
bool team_deliver_stop_words(
    struct team_deliver *deliver, struct agent *agent, struct buf *out);
bool team_deliver_tool_ended(struct team_deliver *deliver, struct agent *agent,
    struct server_call *call, const char *event);
void team_deliver_progressed(struct team_deliver *deliver, struct agent *agent);

#endif
