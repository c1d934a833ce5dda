/* SPDX-License-Identifier: ISC */

/* Goals, plans and nodes for people. Each appends to cli->text; the JSON is
 * what the daemon has answered. */
#ifndef GOAL_VIEW_H
#define GOAL_VIEW_H

struct cli;
struct json_object;
struct plan;
struct plan_set;

/* The answers of overseer.goal.list and .show. -EINVAL, reported: the answer
 * cannot be read, because the daemon is of another version. */
void goal_view_list(struct cli *cli, struct json_object *answer);
/* The plan of the answer of overseer.goal.show, with its assignments; the set
 * (empty) owns it. CLI_OK, or the failure is reported. */
int goal_view_read(struct cli *cli, struct json_object *answer,
    struct plan_set *set, struct plan **ret_plan);
int goal_view_show(struct cli *cli, struct json_object *answer);

/* The answers of overseer.work.list and .show. */
void goal_view_nodes(struct cli *cli, struct json_object *answer);
void goal_view_node(struct cli *cli, struct json_object *answer);

/* The SGR parameters of a status, by its word; NULL = none. */
const char *goal_view_colour(const char *status);

#endif
