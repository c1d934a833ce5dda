/* SPDX-License-Identifier: ISC */

/* Goals, plans and nodes for people. Each appends to cli->text; the JSON is
 * what the daemon has answered. */
#ifndef GOAL_VIEW_H
#define GOAL_VIEW_H

struct cli;
struct json_object;

/* The answers of overseer.goal.list and .show. -EINVAL, reported: the answer
 * cannot be read, because the daemon is of another version. */
void goal_view_list(struct cli *cli, struct json_object *answer);
int goal_view_show(struct cli *cli, struct json_object *answer);

/* The answers of overseer.work.list and .show. */
void goal_view_nodes(struct cli *cli, struct json_object *answer);
void goal_view_node(struct cli *cli, struct json_object *answer);

/* The SGR parameters of a status, by its word; NULL = none. */
const char *goal_view_colour(const char *status);

#endif
