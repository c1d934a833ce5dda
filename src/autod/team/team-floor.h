/* SPDX-License-Identifier: ISC */

/*
 * The top floor: delegation. Agents report, write mail, ask each other and ask
 * for other agents; the daemon answers as actor:system:overseer.
 *
 *   team-actor.c     who an actor is: a task, a worker, a person; on which host
 *   team-post.c      mail becomes a record; how much is sent
 *   team-mail.c      mail_send, mail_inbox, mail_ack, and mail.* for people
 *   team-deliver.c   mail into sessions, and to agents of other hosts
 *   team-family.c    agents, those that they spawned, and how both end
 *   team-spawn.c     agent_spawn: who may, and what becomes of a request;
 *                    workers that wait for others; runs with a time limit
 *   team-question.c  how a question is made, and who is told
 *   team-request.c   request_orchestrator, respond_orchestrator_request
 *   team-report.c    report_progress, report_completion; records of runs;
 *                    agent_status, team.tree
 *   team-verify.c    finished work: its scope, then its contract;
 *                    plan_review_needed; what the guards have stopped
 *   team-guard.c     mail_reserve, mail_release, mail_list_reservations; what
 *                    agents may do with their tools
 *
 * What they share is in team-private.h.
 */
#ifndef TEAM_FLOOR_H
#define TEAM_FLOOR_H

#include "core.h"

struct auto_mode;
struct fleet;
struct loop_call;
struct loop_timer;
struct plan_floor;
struct team_awaits;
struct team_deliver;
struct team_post;
struct team_requests;
struct team_reserve;
struct team_review;

struct team_floor {
	struct core *core;
	struct fleet *fleet;
	struct auto_mode *mode;
	struct plan_floor *plan;
	bool open; /* goals are on, and the open records are in memory */
	bool begun; /* the floors below have begun */
	struct core_floor floor;
	struct team_post *post;
	struct team_awaits *awaits; /* team-deliver.c; NULL = none */
	struct team_deliver *deliver;
	struct team_reserve *reserve;
	struct team_requests *requests;
	struct team_review *review;
	const char *asking; /* the actor whose request changes a plan now */
	struct loop_call *look; /* at those that mail or a result may concern */
	struct loop_timer *late; /* for the next run whose time is over */
	struct loop_call *tend; /* children of tasks that have ended */
	struct loop_call *guard; /* what agents may do has changed */
};

/* Registers itself as a floor, its policy and its methods. */
struct team_floor *team_floor_new(struct plan_floor *plan);
/* Call before the floors below are freed. */
void team_floor_free(struct team_floor *floor);

/* How much mail is open; actor: of this recipient, NULL = of all. */
size_t team_post_count(const struct team_floor *floor, const char *actor);
/* How much mail to a person is unread, and is no ask. */
size_t team_post_unread(const struct team_floor *floor);
/* How many reservations are open. */
size_t team_reserve_count(const struct team_floor *floor);

#endif
