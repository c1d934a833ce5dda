/* SPDX-License-Identifier: ISC */

/*
 * The end of a turn on a task: auto mode's part of struct fleet_policy. The
 * fleet asks git and applies the rule (model/task/turn.h); this adds the facts
 * about the task and acts on the result. `mode` is a struct auto_mode.
 */
#ifndef TURN_POLICY_H
#define TURN_POLICY_H

#include "turn.h"

struct agent;
struct auto_mode;
struct buf;
struct child_result;
struct git_snapshot;
struct json_object;
struct server_call;
struct task;

bool turn_policy_facts(void *mode, struct agent *agent, const char *last_words,
    struct turn_facts *facts);
const char *turn_policy_before(void *mode, struct agent *agent);
void turn_policy_seen(void *mode, struct agent *agent,
    const struct git_snapshot *snapshot, const char *last_words);
const char *turn_policy_test(void *mode, struct agent *agent);
void turn_policy_tested(
    void *mode, struct agent *agent, const struct child_result *result);
bool turn_policy_words(void *mode, struct agent *agent, struct buf *out);
void turn_policy_preface(void *mode, struct agent *agent, struct buf *out);
void turn_policy_judged(void *mode, struct agent *agent,
    enum turn_action action, const char *head, const char *reason);
void turn_policy_asks(
    void *mode, struct agent *agent, enum ask_kind ask, const char *reason);
bool turn_policy_tool_ended(void *mode, struct agent *agent,
    struct server_call *call, const char *event);

/* The agent on this task reports how its work ended; takes the report. */
void turn_policy_reported(struct auto_mode *mode, struct task *task,
    struct json_object *report, bool by_tool);

bool turn_policy_error(void *mode, struct agent *agent, const char *text);

#endif
