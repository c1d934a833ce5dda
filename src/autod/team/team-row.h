/* SPDX-License-Identifier: ISC */

/* One agent as the methods team.tree and team.agent_status show it. Each object
 * belongs to the caller. */
#ifndef TEAM_ROW_H
#define TEAM_ROW_H

struct agent;
struct json_object;
struct task;
struct team_floor;
struct team_kin;

/* An agent that another one asked for. words: with the question that it waits
 * for the answer of, which only those above it may read. */
struct json_object *
team_row_kin(struct team_floor *floor, const struct team_kin *kin, bool words);
/* One that nobody asked for; task or agent may be NULL. */
struct json_object *team_row_root(
    struct team_floor *floor, struct agent *agent, const struct task *task);

#endif
