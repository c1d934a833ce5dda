/* SPDX-License-Identifier: ISC */

/*
 * What the workers use, from their transcripts, booked on tasks and days. A
 * conversation belongs to the task that its worker had at its first prompt;
 * what comes later for it (the rest of a turn, Claude Code's own cost) is
 * booked on that task too, even if that has been filed.
 */
#ifndef LEDGER_H
#define LEDGER_H

struct agent;
struct auto_mode;
struct event;
struct ledger;
struct transcript;
struct transcript_parser;

struct ledger *ledger_new(struct auto_mode *mode);
void ledger_free(struct ledger *ledger);

/* Read what was written while no daemon ran, and what repairs have cost. */
void ledger_begin(struct ledger *ledger);

/* Let go of conversations that have said all. */
void ledger_patrol(struct ledger *ledger);

/* Its session has taken a prompt. */
void ledger_prompted(struct ledger *ledger, const struct agent *agent);

/* A task was assigned: an attempt. */
void ledger_assigned(struct ledger *ledger, const struct event *event);

/* A planner used this much, in millionths of a dollar, for the floor above. */
void ledger_planned(struct ledger *ledger, int64_t cost);

/* Parts of struct fleet_policy; mode is a struct auto_mode. */
void ledger_used(
    void *mode, struct agent *agent, const struct transcript_parser *parser);
void
ledger_left(void *mode, struct agent *agent, struct transcript *transcript);

#endif
