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

struct mail_world {
	struct plan_world plans;
	struct team_floor *team;
};

struct floor_world *mail_world_floor(struct mail_world *w);
void mail_world_begin(struct mail_world *w);
void mail_world_end(struct mail_world *w);
void mail_world_die(struct mail_world *w);
void mail_world_settle(struct mail_world *w);
void mail_world_begin_two(struct mail_world *w);
struct task *mail_world_task(struct mail_world *w, const char *id);
struct agent *mail_world_agent(struct mail_world *w, const char *id);
void mail_world_child(struct mail_world *w);
struct floor_call *mail_world_ask(struct mail_world *w, const char *worker,
    const char *tool, const char *params);
struct json_object *
mail_world_answer(struct mail_world *w, struct floor_call *call);
struct json_object *mail_world_must(struct mail_world *w, const char *task_id,
    const char *tool, const char *params);
struct json_object *
mail_world_person(struct mail_world *w, const char *method, const char *params);
void mail_world_refused(
    struct mail_world *w, struct floor_call *call, int code, const char *words);
void mail_world_refuses(struct mail_world *w, const char *task_id,
    const char *tool, const char *params, int code, const char *words);
char *
mail_world_send(struct mail_world *w, const char *task_id, const char *params);
const char *mail_world_text(struct json_object *json, const char *key);
struct json_object *mail_world_show(struct mail_world *w, const char *id);
const char *
mail_world_tool_ends(struct mail_world *w, const struct agent *agent);
struct agent *mail_world_eve(struct mail_world *w);

#define MAIL(to, call, more)                                             \
	"{\"to\":\"" to "\",\"call\":\"" call "\",\"subject\":\"news\"," \
	"\"body\":\"the text\"" more "}"
#define ACK ",\"kind\":\"instruction\",\"ack_required\":true"

#endif
