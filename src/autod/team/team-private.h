/* SPDX-License-Identifier: ISC */

/*
 * What the units of this floor share; team-floor.h has the list of them. A
 * function whose first argument is `void *floor` is a part of struct auto_team
 * or a callback: it gets the struct team_floor.
 */
#ifndef TEAM_PRIVATE_H
#define TEAM_PRIVATE_H

#include <sys/queue.h>

#include "loop.h"
#include "mail.h"
#include "spawn-rules.h"
#include "task.h"
#include "team-floor.h"

struct agent;
struct api_method;
struct buf;
struct err;
struct event;
struct guard_policy;
struct json_object;
struct plan;
struct plan_node;
struct request;
struct server_call;
struct settings;
struct task_launch;

/* There is new mail, or a result: sessions and workers that wait are looked at
 * at the end of this pass of the loop. */
static inline void
team_floor_changed(const struct team_floor *floor)
{
	loop_call_request(floor->look);
}

/* Something that the policies of workers depend on has changed: they are
 * written anew at the end of this pass. */
static inline void
team_guard_changed(const struct team_floor *floor)
{
	loop_call_request(floor->guard);
}

/* --- team-post.c: mail as records ---------------------------------------- */

/*
 * All mail is in the book. The open mail of agents is also in memory, because
 * every session is looked at again and again; it is always as the book has it.
 */

/* The goal of records that belong to none. */
#define TEAM_NO_GOAL "none"

struct team_post *team_post_new(void);
void team_post_free(struct team_post *post);
/* The book can be used: read what is open. It cannot be used any more. */
void team_post_opened(struct team_floor *floor);
void team_post_closed(struct team_post *post);
/* Mail for people of the last day is sent again, for the last daemon may have
 * died before it was: each piece reaches people once. */
void team_post_tell_again(struct team_floor *floor);

/* Everything is copied. */
struct mail_draft {
	/* Mail of the same sender with the same key is sent once, however often
	 * it is posted: "completed/t17-2". */
	const char *key;
	const char *from; /* actor id; NULL = the overseer */
	const char *from_worker; /* NULL = none */
	const char *to; /* actor id */
	const char *to_worker; /* NULL: looked up */
	const char *to_host; /* of the fleet; NULL: looked up */
	const char *subject;
	const char *body; /* a text; or */
	struct json_object *data; /* an object, borrowed */
	enum mail_kind kind;
	bool ack_required;
	const char *reply_to; /* id of mail; NULL = none */
	const char *goal; /* id; NULL = none */
	struct json_object *meta; /* about a plan (plan-goal.h); NULL = none */
	bool alerted; /* a person learns of it in another way */
};

/* Store it with the other changes of this pass, and deliver it then. 0, also if
 * it was posted before. -EINVAL, -E2BIG; -ENOTCONN, -EAGAIN: there is no book.
 * ret_id (may be NULL) is owned by the caller. */
int team_mail_post(struct team_floor *floor, const struct mail_draft *draft,
    char **ret_id, struct err *err);
/* The same with mail that is whole, which it takes. */
int team_post_put(struct team_floor *floor, struct mail *mail, struct err *err);
/* Open mail with this id, if there is any, needs nothing more: it was acted on,
 * or its recipient knows what it says. */
void team_mail_settle(struct team_floor *floor, const char *id);

/* The open mail of an agent, the oldest first. */
struct team_box {
	TAILQ_ENTRY(team_box) entry;
	char *actor;
	struct mail **mails;
	size_t count; /* never 0 */
};
/* One after the other, NULL = the first. */
const struct team_box *
team_post_next(const struct team_floor *floor, const struct team_box *box);
/* NULL = it has none. Valid until mail is saved or posted. */
const struct team_box *
team_post_box(const struct team_floor *floor, const char *actor);
/* Mail that is open or not; the caller frees it. NULL = there is none. */
struct mail *team_post_read(const struct team_floor *floor, const char *id);
/* Write it as it is now. Takes it. */
void team_post_save(struct team_floor *floor, struct mail *mail);
/* May it be sent with mail_send or llmc mail send? 0, or a code of api.h with
 * words. What other parts of this floor post is never refused for want of
 * room. */
int team_post_limit(struct team_floor *floor, const char *from, const char *to,
    struct err *err);
/* Close mail of recipients that have ended, and tell the senders of
 * instructions that were to be confirmed; tell people of mail that is not
 * confirmed. */
void team_post_close(struct team_floor *floor, const struct mail_pace *pace);
/* It did not reach its recipient: its sender gets mail that says so. */
void team_post_undelivered(
    struct team_floor *floor, const struct mail *mail, const char *why);

/* --- team-actor.c: who an actor is --------------------------------------- */

/* Who an agent is, for mail and for all records: its task's actor, or
 * "actor:worker:<name>" without a task; the caller frees it. */
char *team_actor_of(const struct agent *agent);
/* The agent that is this actor now, and the task that it works on; NULL =
 * none. */
struct agent *team_actor_agent(struct team_floor *floor, const char *actor);
struct task *team_actor_task(struct team_floor *floor, const char *actor);
/* Since when this agent is who it is: older mail was a namesake's. */
int64_t
team_actor_since(const struct team_floor *floor, const struct agent *agent);

enum team_actor {
	TEAM_ACTOR_UNKNOWN,
	/* An agent, a task that waits for one, or a spawned agent whose task is
	 * still to be made. */
	TEAM_ACTOR_OPEN,
	TEAM_ACTOR_ENDED,
	TEAM_ACTOR_PERSON,
};
enum team_actor team_actor_find(struct team_floor *floor, const char *actor);
/* Was this actor, which has no task, spawned by this task? */
bool team_actor_spawned(
    const struct team_floor *floor, const char *actor, const char *parent);

/* The host of this actor: that has its task, or gave us the task of one of its
 * children, or that "HOST:NAME" names; NULL = this one, or it is not known. The
 * caller frees it. */
char *team_actor_host(struct team_floor *floor, const char *actor);
/* Is it an agent of this host? */
bool team_actor_is_here(struct team_floor *floor, const char *actor);
/* Is it "HOST:NAME", or the person of another host, which nothing here
 * changes? */
bool team_actor_is_addressed(const char *actor);

/* Whose tool call it is, by the socket it came to; NULL: the call was refused,
 * because there is no such worker any more. ret_task (may be NULL): its task,
 * NULL = none. */
struct agent *
team_floor_speaker(struct team_floor *floor, struct server_call *call,
    struct json_object *params, struct task **ret_task);
/* Does this event (NULL = none) end the run of a task, or what a worker does?
 * task and worker may be NULL. */
bool team_floor_ends(
    const struct event *event, const char *task, const char *worker);

/* --- team-deliver.c: mail for agents of other hosts --------------- */

/*
 * It is open here, with the host as to_host, until that host has it. Whoever
 * has it may send it on: the owner of a task knows which host works on it.
 */

/* Send what is for other hosts, and take back what is for another one by
 * now. */
void team_hosts_look(struct team_floor *floor);
/* As in struct auto_team. */
void team_hosts_sent(void *floor, const char *id, bool done,
    struct json_object *answer, const char *why);
/* A person waits for a while to hear what came of the mail. */
void team_hosts_await(
    struct team_floor *floor, struct server_call *call, const char *id);
/* Nobody does any more. */
void team_hosts_stop(struct team_floor *floor);

/* --- team-mail.c: the methods for mail, and mail about plans ------ */

void team_mail_register(struct team_floor *floor);
/* plan.updated: mail to every agent of the goal that has not ended, except the
 * one that made the change (also the one in floor->asking). What it was not
 * given yet of an earlier version is left out. */
void team_mail_plan_event(struct team_floor *floor, const struct event *event);

/* --- team-deliver.c: mail into sessions --------------------------- */

/*
 * One that works gets it as added context after its next tool, or as the answer
 * to the end of its turn; one that is at rest gets it as a prompt; and it goes
 * in front of every other prompt.
 *
 * Mail counts as delivered when the prompt's receipt is back, or when the next
 * hook of the session comes after an answer. That is saved in the same pass. So
 * mail in a prompt is delivered once whenever the daemon dies; mail in an
 * answer is given again if it is not known whether the answer arrived.
 */

struct team_deliver *team_deliver_new(struct team_floor *floor);
void team_deliver_free(struct team_deliver *deliver);
/* How often mail that is not confirmed is given again; for tests. */
void team_deliver_set_pace(
    struct team_deliver *deliver, const struct mail_pace *pace);
/* Look at all sessions and, if recipients may have ended, at all mail. */
void team_deliver_look(struct team_floor *floor);
void team_deliver_patrol(struct team_floor *floor);

void team_deliver_preface(void *floor, struct agent *agent, struct buf *out);
bool team_deliver_stop_words(void *floor, struct agent *agent, struct buf *out);
bool team_deliver_tool_ended(void *floor, struct agent *agent,
    struct server_call *call, const char *event);
void team_deliver_progressed(void *floor, struct agent *agent);

/* --- team-family.c: agents and those that they spawned ------------ */

/*
 * A task that was spawned has its outcome: its parent gets mail, before the
 * state forgets the task. A task ends badly: those that it spawned are
 * cancelled, with their work salvaged; one that ends well, in spite of them,
 * hands them to its own parent. Without a parent they go on as ordinary tasks.
 * An attempt that fails changes nothing: the next one has the same children.
 * All of it is part of settling the outcome, and is repeated until it is done.
 *
 * An agent that was spawned and has not begun is a node of a plan without a
 * task. Its parent waits for those that will begin, also if something has to
 * happen first (they are held); a person is notified of what only a person can
 * change. Those that will not begin are not waited for, and the parent learns
 * why: in untold of its attempt.
 */

/* One that was spawned, as the plans in memory and the state have it. */
struct team_member {
	struct plan *plan;
	struct plan_node *node;
	struct task_launch *launch; /* its task's; of the node without one */
	struct task *task; /* NULL: none is in the state */
	struct task *filed; /* by team_members_add_filed(); NULL = unknown */
};

/* In the order in which they were spawned, goal by goal. */
struct team_members {
	struct team_member *list;
	size_t count, room;
};

/* For an open book of plans only. */
void team_members_load(struct team_floor *floor, struct team_members *ret);
/* Give those whose task was filed the record that it was filed with. */
void
team_members_add_filed(struct team_floor *floor, struct team_members *members);
void team_members_release(struct team_members *members);
/* Has it not ended yet? */
bool team_member_is_open(const struct team_member *member);
/* Did this actor spawn it, or the one that did, and so on? */
bool team_member_is_below(const struct team_members *members,
    const struct team_member *member, const char *actor);
/* NULL = unknown actor. */
const struct team_member *
team_members_find(const struct team_members *members, const char *actor);

/* How many agents that this task has spawned have not ended, or have ended and
 * it does not know yet? Their names, with commas, are appended to names (may be
 * NULL). */
size_t team_family_open(
    const struct team_floor *floor, const char *task, struct buf *names);
/* Appended to the prompt of a new attempt: the agents of earlier ones. */
void team_family_task_text(
    const struct team_floor *floor, const struct task *task, struct buf *out);
/* Look for children that will not begin, or not before a person has helped. */
void team_family_look(struct team_floor *floor, struct task *task);
/* The task, which was spawned, does not go on by itself: its parent gets mail,
 * once in an attempt. */
void team_family_rests(
    struct team_floor *floor, const struct task *task, const char *why);

size_t
team_family_unbegun(void *floor, const struct task *task, size_t *ret_held);
int team_family_settle(void *floor, const struct task *task, struct err *err);
void team_family_tend(void *floor); /* of floor->tend */

/* --- team-spawn.c: agents spawn others ---------------------------- */

void team_spawn_register(struct team_floor *floor);

/* Can agents spawn others at all? */
bool team_fleet_is_on(const struct settings *settings);
/* Where an agent that was launched so (NULL = in no way) stands. */
struct hierarchy_place team_fleet_place(const struct task_launch *launch);
/* May an agent that was launched so (NULL = in no way) use this tool? */
bool team_fleet_has_tool(const struct settings *settings,
    const struct task_launch *launch, const char *tool);
/* Append to the prompt of a task how its agent spawns others, how deep it is,
 * and the table of agents (agent-card.h), if it may. */
void team_fleet_task_text(
    const struct team_floor *floor, const struct task *task, struct buf *out);

/* The answer to a request as mail, spawn.accepted or spawn.denied, stored with
 * the other changes of the same pass; for tests. */
struct spawn_letter {
	struct team_floor *floor;
	const char *request; /* its id */
	const char *actor, *worker; /* who asks */
	const char *goal; /* of the subject */
	bool stored; /* there is such a goal: the mail belongs to it */
	bool answered; /* the agent learns the answer without its mail */
};
/* The id of the session of one that has none yet. */
#define TEAM_NO_SESSION "none yet"

/* Those of the agents of a spawn.accepted that have one by now. */
void team_spawn_sessions(struct team_floor *floor, struct json_object *body);

/* Its words are cut if they are too long. */
void spawn_mail_answer(
    const struct spawn_letter *letter, struct json_object *body, bool accepted);

/* --- team-question.c: how a question begins, and who is told ------ */

/*
 * Agents learn whom they can ask; a question is made of a call of the tool; and
 * it is delivered: to an agent by mail, to a person also through channels.
 */

/* Append to the prompt of a task for whom it is, and how to ask that one; if
 * another agent asked for it, and its agent has the tool for it. */
void team_question_task_text(
    const struct team_floor *floor, const struct task *task, struct buf *out);

/* Who answers the questions of the agent of this task (NULL = of none), in
 * words; NULL: it cannot ask. */
const char *
team_question_answers(struct team_floor *floor, const struct task *task);

/* Who is asked by the agent with this task (NULL = none): the actor that it
 * works for, or a person. The caller frees it. */
char *team_question_asked(struct team_floor *floor, const struct task *task);

/* The id of the question of a call, the same for the same call; and the
 * question with this id. The caller frees both. */
char *team_question_id(const struct agent *agent, struct json_object *params);
struct request *
team_question_make(struct team_floor *floor, const struct agent *agent,
    const struct task *task, const char *id, struct json_object *params);

/* If it is for a person, open its ask, unless it is. */
void team_question_ask(struct team_floor *floor, const struct request *request);

/* Deliver it to the one who is asked; it is notified then. Less than 0 as
 * team_mail_post() says: it was not delivered. */
int team_question_tell(
    struct team_floor *floor, struct request *request, struct err *err);

/* Its agent is on another host: the answer of this actor goes there as mail. As
 * team_mail_post(). */
int team_question_forward(struct team_floor *floor, const struct mail *asked,
    const char *actor, const char *response, struct err *err);
/* Is it the answer to a question, from the one who was asked? And could the
 * question not be delivered to that one, who is on another host? */
bool
team_question_is_answer(const struct mail *mail, const struct request *request);
bool
team_question_is_lost(struct team_floor *floor, const struct request *request);

/* If it has ended, its mail needs nothing more. */
void
team_question_settle(struct team_floor *floor, const struct request *request);

/* What its agent waits for, in a line; words: with what it asks. The caller
 * frees it. */
char *team_question_reason(const struct request *request, bool words);

/* It was answered, and no call waits for that: the one who asked gets mail. As
 * team_mail_post(). And: the answer came by a call after all. */
int team_question_answer_mail(
    struct team_floor *floor, const struct request *request);
void team_question_answer_read(
    struct team_floor *floor, const struct request *request);

/* --- team-request.c: questions of agents to those that they work for --- */

/*
 * request_orchestrator, which is answered when the question is,
 * respond_orchestrator_request, and request.answer for people. Questions of
 * agents that were not spawned go to a person. All of them are in the book: a
 * call that is made again after the daemon was away finds its question, and an
 * answer that was given meanwhile.
 */

/* Registers its methods. */
struct team_requests *team_requests_new(struct team_floor *floor);
void team_requests_free(struct team_requests *requests);

/* The book can be used: read what is open. It cannot be used any more. */
void team_requests_opened(struct team_requests *requests);
void team_requests_closed(struct team_requests *requests);

/* Runs may have ended: so have their questions, and those to them. */
void team_requests_sweep(struct team_requests *requests);
void
team_requests_event(struct team_requests *requests, const struct event *event);

/* Answers of those who are on another host. */
void team_requests_look(struct team_requests *requests);

/* Does one of its tools wait for an answer? */
bool
team_requests_asks(struct team_requests *requests, const struct agent *agent);

/* How many have no answer. */
size_t team_requests_count(const struct team_requests *requests);

/* The actor that has asked this agent the question; the caller frees it. NULL =
 * no question of this host is put to it by that id. */
char *team_requests_child(const struct team_requests *requests,
    const struct agent *agent, const char *id);

/* For llmc goal tree: how many questions of this actor have no answer, and why
 * it does not go on (the caller frees it; NULL = it does). words: with what it
 * asks, which is not for everybody. */
size_t team_requests_pending(struct team_requests *requests, const char *actor);
char *team_requests_reason(
    struct team_requests *requests, const char *actor, bool words);

/* --- team-report.c: who spawned whom, and how they are doing ------ */

void team_tree_register(struct team_floor *floor);

/* --- team-spawn.c: workers that wait for others ------------------- */

/*
 * A worker waits when its turn has ended and some of the agents that it has
 * spawned have not, or work of theirs has landed that its own is not based on.
 * As soon as work has landed, its own is rebased; a conflict is its own to
 * resolve. Then it gets the news as a prompt, and goes on; without news, when
 * all have ended, the prompt says so. Runs whose time is limited are ended
 * here, too.
 */

/* What `stop_words` of struct auto_team has for those that wait becomes their
 * prompt. */
void team_wait_look(struct team_floor *floor);
bool team_wait_waits(void *floor, struct agent *agent);

/* --- team-report.c: reports of agents, and records of their runs --- */

/* Reports are kept in the record of the run; all of progress are events. */
void team_report_register(struct team_floor *floor);
void team_report_tool_used(void *floor, struct agent *agent, const char *tool);
/* What its prompt says about reports. */
void team_report_task_text(const struct task *task, struct buf *out);

/* Records of runs that have ended (attempt.h) go from the task, or from all
 * tasks, to the book. */
void team_report_files(void *floor, struct task *task);
void team_report_file_all(struct team_floor *floor);

/* --- team-verify.c: plans that do not fit ------------------------- */

/* A person gets mail and one notice for each node: an agent says so itself
 * (plan_review_needed), or it has tried again and again to change what is not
 * its own. */
struct team_review *team_review_new(struct team_floor *floor);
void team_review_free(struct team_review *review);
/* A guard has stopped the agent: what hook_guard() says. Reported once a second
 * at most, with how often it was stopped since then. */
void team_review_denied(
    void *floor, struct agent *agent, struct json_object *denied);

/* --- team-verify.c: finished work is checked ---------------------- */

/*
 * First its scope, the task_guard once more, from git: a shell can write
 * anywhere in its worktree, whatever the hooks of other tools deny. Work that
 * changes files outside of the scope_paths of its task is sent back with their
 * names, and counted as a violation. The commit that is within them is noted in
 * the task, and it is what lands: another one is looked at again.
 *
 * Then the contract of its task (contract.h), as `llmc verify`, within the
 * time of the contract; the state is saved before the checks begin, and a
 * daemon that finds them unfinished has them run again, because the end of that
 * turn is judged again.
 */
bool team_verify(void *floor, struct agent *agent, const char *head);

/* --- team-guard.c: what agents may do, and what they have reserved -------- */

/* A reservation ends when its time is over, when it is released, or with the
 * run that made it. */
struct team_reserve *team_reserve_new(struct team_floor *floor);
void team_reserve_free(struct team_reserve *reserve);
/* The book can be used: read what is open. It cannot be used any more. */
void team_reserve_opened(struct team_floor *floor);
void team_reserve_closed(struct team_reserve *reserve);
/* End what has ended; event: that ends some, NULL = none. */
void team_reserve_sweep(struct team_floor *floor, const struct event *event);

/* The policies of the workers follow their tasks, and what is reserved. */
void
team_guard_fill(void *floor, struct agent *agent, struct guard_policy *policy);
/* As serve_gate_fn. A session has those of llmc's tools that its task leaves
 * it, whatever its own processes offer. Who was spawned, or has a scope or
 * limited tools, starts, changes and tells nothing beside them. */
int team_guard_admits(void *floor, const char *worker,
    const struct api_method *method, struct err *err);
/* As in struct auto_team. */
void team_guard_leaves(void *floor, struct task *copy);
/* A worker gets a task: where the task may write, as its plan says now. */
void team_guard_assigned(struct team_floor *floor, const struct event *event);
/* Write all policies; try again where that failed. */
void team_guard_refresh(void *floor);

#endif
