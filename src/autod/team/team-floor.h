/* SPDX-License-Identifier: ISC */

/*
 * The top floor: delegation. Agents report, write mail, ask each other and ask
 * for other agents; the daemon answers as actor:system:overseer.
 *
 *   team-report.c   report_progress, report_completion
 *   team-spawn.c    agent_spawn, agent_status
 *   team-post.c     mail becomes a record; how much; mail that reaches nobody
 *   plan-mail.c     mail about plans that were changed
 *   team-deliver.c  mail into sessions
 *   team-reach.c    who may write to whom
 *   team-mail.c     mail_send, mail_inbox, mail_ack, and mail.* for people
 *   team-reserve.c  mail_reserve, mail_release, mail_list_reservations
 *   team-request.c  request_orchestrator, respond_orchestrator_request
 *   team-question.c how a question is made, and who is told
 *   team-review.c   plan_review_needed; what the guards have stopped
 *   team-guard.c    what agents may do with their tools
 *   team-tree.c     team.tree
 *   team-fleet.c    the agents that can be asked for, in prompts
 *   team-verify.c   finished work is checked against its contract
 *   team-family.c   agents, those that they asked for, and how both end
 *   team-result.c   how an agent ended is told to whoever asked for it
 *   team-unbegun.c  agents that were asked for and have not begun
 *   team-wait.c     workers that wait for others; runs with a time limit
 */
#ifndef TEAM_FLOOR_H
#define TEAM_FLOOR_H

#include "core.h"

struct agent;
struct auto_mode;
struct fleet;
struct json_object;
struct plan_floor;
struct server_call;
struct task;
struct team_perf;
struct team_report;
struct team_reserve;
struct team_deliver;
struct team_family;
struct team_post;
struct team_wait;
struct team_requests;
struct team_review;
struct event;
struct loop_call;

struct team_floor {
	struct core *core;
	struct fleet *fleet;
	struct auto_mode *mode;
	struct plan_floor *plan;
	bool open; /* goals are on, and the open records are in memory */
	struct team_post *post;
	struct team_deliver *deliver;
	struct team_reserve *reserve;
	struct core_floor floor;
	struct team_report *report;
	bool begun; /* the floors below have begun */
	struct team_family *family;
	struct team_wait *wait;
	struct team_perf *perf;
	struct team_requests *requests;
	struct team_review *review;
	const char *asking; /* the actor whose request changes a plan now */
	struct loop_call *guard; /* what agents may do has changed */
};

/* Registers itself as a floor, its policy and its methods. */
struct team_floor *team_floor_new(struct plan_floor *plan);
/* Call before the floors below are freed. */
void team_floor_free(struct team_floor *floor);

/* Does this event (NULL = none) end the run of a task, or what a worker does?
 * task and worker may be NULL. */
bool team_floor_ends(
    const struct event *event, const char *task, const char *worker);

/* Whose tool call it is, by the socket it came to; NULL: the call was refused,
 * because there is no such worker any more. ret_task (may be NULL): its task,
 * NULL = none. */
struct agent *
team_floor_speaker(struct team_floor *floor, struct server_call *call,
    struct json_object *params, struct task **ret_task);

#endif
