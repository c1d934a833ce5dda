/* SPDX-License-Identifier: ISC */

/* Two agents at work in two goals, and their mail: plan-world.h with the floor
 * of delegation. */
#ifndef MAIL_WORLD_H
#define MAIL_WORLD_H

#include "plan-world.h"

struct agent;
struct floor_call;
struct json_object;
struct task;
struct team_floor;

extern struct mail_world {
	struct team_floor *team;
} mail_world;

/* The floor of delegation above that of plans; as plan_world_begin(). */
void mail_world_open(const char *plan, const char *more);
void mail_world_begin(void);
void mail_world_end(void);
void mail_world_die(void);
void mail_world_settle(void);
void mail_world_begin_two(void);
void mail_world_begin_family(void); /* and t2 was spawned by t1 */
struct task *mail_world_task(const char *id);
struct agent *mail_world_agent(const char *id);
void mail_world_child(void);
struct floor_call *
mail_world_ask(const char *worker, const char *tool, const char *params);
struct json_object *
mail_world_must(const char *task_id, const char *tool, const char *params);
void mail_world_refuses(const char *task_id, const char *tool,
    const char *params, int code, const char *words);
char *mail_world_send(const char *task_id, const char *params);
const char *mail_world_text(struct json_object *json, const char *key);
struct json_object *mail_world_show(const char *id);
const char *mail_world_tool_ends(const struct agent *agent);
struct agent *mail_world_eve(void);

#define MAIL(to, call, more)                                             \
	"{\"to\":\"" to "\",\"call\":\"" call "\",\"subject\":\"news\"," \
	"\"body\":\"the text\"" more "}"
#define ACK ",\"kind\":\"instruction\",\"ack_required\":true"

#endif
