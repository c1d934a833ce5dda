/* SPDX-License-Identifier: ISC */

/*
 * A task: what to do, its step, its attempts, its outcome. Pure. All strings
 * are owned, NULL = not set; times are wall clock milliseconds, 0 = never.
 */
#ifndef TASK_H
#define TASK_H

#include "account.h"
#include "box-plan.h"
#include "notice.h"
#include "work-record.h"

struct buf;
struct err;
struct json_object;
struct schema;
struct session_record;

/* Source of a task of another host of the fleet; of one that an agent has asked
 * for whose task this host has taken over. */
#define HOSTS_SOURCE       "host"
#define HOSTS_CHILD_SOURCE "host_child"

/* The steps of a task, with their names, and the table of which may follow
 * which. */

enum task_step {
	TASK_OFFERED, /* recorded, not yet taken from its source */
	TASK_WAITING, /* taken; no worker has it */
	TASK_ASSIGNED, /* a worker has it */
	TASK_QUEUED, /* its work waits in the landing queue; no worker has it */
	TASK_LANDED, /* on the default branch; post_accept_command is due */
	TASK_PARKED, /* over its budget: waits for a person; no worker has it */
	TASK_ELSEWHERE, /* another host of the fleet has it */
	TASK_SETTLING, /* has its outcome; its source must be updated */
	TASK_STEP_COUNT
};

const char *task_step_name(enum task_step step); /* "waiting" */

/* For reading records (json.h), NULL terminated. */
extern const char *const task_step_words[TASK_STEP_COUNT + 1];

/* May a task go from one step to the other? False for invalid steps. The table
 * behind task_move(), public for the test that prints it. */
bool task_step_may(enum task_step from, enum task_step to);

enum task_outcome {
	OUTCOME_NONE,
	OUTCOME_LANDED,
	OUTCOME_NO_CHANGES, /* done, and nothing had to be changed */
	OUTCOME_FAILED, /* of an attempt; of a task that is not tried again */
	OUTCOME_ABORTED, /* dropped by a person, or stopped by oversight */
	OUTCOME_DEAD_LETTER, /* every attempt failed */
	OUTCOME_COUNT
};

const char *task_outcome_name(enum task_outcome outcome); /* "dead-letter" */
bool task_outcome_parse(const char *name, enum task_outcome *ret_outcome);

/* For reading records (json.h), NULL terminated. */
extern const char *const task_outcome_words[OUTCOME_COUNT + 1];

#define TASK_HISTORY_MAX 40 /* entries; the first and last are kept */
#define TASK_TITLE_MAX   100 /* bytes, cut between characters */

enum verification_state {
	VERIFICATION_NONE, /* there is no contract */
	VERIFICATION_PENDING, /* it has not ended yet */
	VERIFICATION_RUNNING, /* written before the checks begin */
	VERIFICATION_PASSED,
	VERIFICATION_FAILED,
	VERIFICATION_STATE_COUNT
};

extern const char *const verification_state_words[VERIFICATION_STATE_COUNT + 1];

/* How the review of its work by another agent stands: review.h. */
enum review_state {
	REVIEW_NONE,
	REVIEW_OPEN, /* written before the reviewer begins */
	REVIEW_APPROVED,
	REVIEW_FINDINGS,
	REVIEW_FAILED, /* it ended without a verdict */
	REVIEW_STATE_COUNT
};

extern const char *const review_state_words[REVIEW_STATE_COUNT + 1];

/* What the attempt at a task that goes on, or was the last, has done. */
struct task_attempt {
	char *base; /* the commit where it began; NULL = not known */
	enum verification_state verification;
	struct json_object *verified; /* the result */
	char *retry_of; /* the attempt that failed: retry_once was used */

	char *session; /* its agent's, since its first turn; NULL = none */

	char *first_words; /* at the end of its first turn */

	/* What it has reported. */
	char *last_tool; /* that its own conversation used; those of llmc
			  * without their prefix */
	struct json_object *report; /* of its end: agent-report.h */
	bool report_by_tool; /* and not from its last message */
	struct json_object *progress; /* the latest: agent-report.h */
	int progress_count;
	int64_t progress_ms;
	char *progress_call; /* the id of that call */

	/* Its record is in attempt.h. */
	int64_t started_ms; /* 0 = none goes on */
	bool timed_out; /* it was ended because it took too long */
	bool by_mail; /* the turn that goes on began with mail for it */
	int mail_turns; /* ended ones that did */
	int64_t waiting_ms; /* since when it waits for those that it has asked
			     * for; 0 = it does not */
	int64_t waited_ms; /* did so before, since it was assigned */
	struct json_object *spent_before; /* by attempts that are recorded */
	struct json_object *ended; /* records of attempts, by id, that are not
				    * yet in their table */

	enum review_state review;
	char *review_of; /* the commit that is, or was last, reviewed */
	struct json_object *review_said; /* {"findings": comments} */
	int review_rounds; /* times that findings were sent back */
	int review_tries; /* reviewers of that commit without a verdict */
	char *review_why; /* the last one has none */

	char *scope_checked; /* the commit that is within scope_paths */
	int violations; /* of its scope, and of what others had reserved */
	bool announced; /* who waits for it knows how it ended */
	bool has_spawned; /* agents, or was handed some */
	char **elsewhere; /* sentences for its prompt: agents that an attempt on
			   * another host has asked for */
	char **lost; /* those of them that will not begin: keys of nodes */
	char **untold; /* what its next prompt says of them: sentences */
	bool rebase_due; /* work of its children landed since its own was
			  * last rebased */
	bool children_landed; /* in any attempt */
};

extern const struct schema task_attempt_schema;

struct task {
	char *id; /* "t17" */
	char *source; /* "command", "files", "folder", "fix", "plan",
		       * "review" (review.h) */
	char *key; /* the source's name for it */
	char *title; /* first line, for people */
	char *text; /* the prompt for the worker */
	char *maker; /* the worker whose agent added it; NULL = a person */
	char *sandbox; /* of that worker then: it runs in one at least as
			* strict; NULL = in any */
	char *label; /* tasks with the same label do not run at the same time if
		      * possible */
	enum priority priority;
	enum task_step step;
	enum task_outcome outcome;
	enum ask_kind ask; /* what it is parked for */
	char *worker; /* has it, or had it last */
	char *host; /* of the fleet, that has it or had it last; NULL = this
		     * one */
	int attempts; /* started */
	int attempts_allowed; /* of those, the ones before a person let it go
			       * on: they do not count any more */
	char *avoid; /* the worker that tried it before it was given to another
		      * one; NULL = it was not */
	int turns; /* finished in this attempt */
	int turns_before; /* finished in earlier attempts */
	int nudges; /* how often it was sent on, in this attempt */
	int64_t excused_ms; /* the reset of the usage window near whose end it
			     * was sent on without that being counted */
	int fixes; /* for "fix": how many fixes led to this one */
	int64_t created_ms, assigned_ms, finished_ms;
	int64_t family_tokens, family_cost; /* of those that shared its budget
					     * and have ended */
	int64_t tokens, tokens_allowed; /* used in all attempts; granted by llmc
					 * resume beyond the budget */
	struct spent spent; /* the same by model and kind, and its cost */
	int64_t cost_allowed; /* millionths of a dollar */
	int64_t time_allowed_ms;
	int turns_allowed;
	char *from; /* work on it that did not land: the commit where its next
		     * worker starts; NULL = the landing branch */
	char *base; /* the commit of the landing branch that the work on it is
		     * built on, as its worker's */
	bool kept; /* refs/llmc/task/<id> holds such a commit */
	bool lines_known; /* of the work that it queued last: */
	int64_t lines_added, lines_removed;
	char *weakens; /* what it does to tests: acceptance.h; NULL = nothing */
	char *commit; /* the commit it landed as */
	char *pull; /* how it stands with its pull request, for people; NULL =
		     * it has none */
	char *pull_url; /* NULL = it has none yet */
	bool pull_asks; /* a person is to merge it */
	char *move; /* the commit that the branch moved to with it */
	char *held_by; /* instead of both: the commit of the branch that had its
			* work already */
	int place; /* among the tasks of that move, in the order of commits */
	bool overtaken; /* it landed on a result that was (overtaken.h) */
	char *landed_before; /* the commit of an earlier task with this text,
			      * when a landed task is done again */
	struct task_launch launch;
	struct task_attempt attempt;
	char *abort_why; /* a person wants it ended as soon as its worker is
			  * free: why, "" = not said; NULL = no */
	char *abort_user; /* who; NULL = not known */
	bool dropped; /* it was cancelled, or the planner replaces it: a person
		       * need not look */
	char *run_id; /* the run of auto mode that last worked on it */
	char *conversation; /* in which its worker asked a person: that worker
			     * goes on in it; NULL = none */
	char *transcript; /* the file of that conversation */
	int64_t history_ms; /* what it has copied, see struct session_record */
	bool answered; /* a person lets it go on as soon as it is parked */
	char *advice; /* what a person said when it was let go on */
	char *reason; /* why the last attempt, or all of it, failed */
	char *last_words; /* the agent's last message */
	struct json_object *history; /* array of {at_unix, what, detail} */
};

/* A new task, offered. Without a title, the title is the first line of the text
 * that has any text, without Markdown marks, or else the id. source, key, title
 * and text may be NULL. */
struct task *task_new(const char *id, const char *source, const char *key,
    const char *title, const char *text, int64_t now_ms);
void task_free(struct task *task);
/* A finished task that is done again under a new id: offered, with what it
 * landed as. */
struct task *
task_new_retry(const char *id, const struct task *old, int64_t now_ms);

/* Say who added it, as the head of its text or an earlier task has it. */
void task_set_maker(struct task *task, const char *maker, const char *sandbox);
/* Has the agent of this worker, which is one of this host, added it? */
bool task_is_made_by(const struct task *task, const char *worker);
/* May a worker with this sandbox have it? */
bool task_fits(const struct task *task, enum box_mode mode);

/* How well does a word name this task? 0 = not at all. Its id is best, then its
 * name at its source, then its place in a goal: the goal's id, or, which is
 * less, the beginning of it, "/", and the node or its number ("g2/3.1" is
 * T3.1); last, the node alone. */
int task_named(
    const char *id, const char *source, const char *key, const char *word);

/* The commit that the next worker of the task should know; NULL = none. */
const char *task_earlier_commit(const struct task *old);

/* The next worker, if it is the same, goes on in this conversation. */
void
task_keep_conversation(struct task *task, const struct session_record *session);

/* Add to the history; detail may be NULL and is cut at 1 KiB. */
void task_note(
    struct task *task, const char *what, const char *detail, int64_t now_ms);

/*
 * Changing the step. Each of these is one move of the table; if the table
 * forbids it, nothing changes and -EINVAL (or false) is returned.
 */

/* Only the move, with its timestamps. */
int task_move(
    struct task *task, enum task_step to, int64_t now_ms, struct err *err);

/* It was taken from its source and waits now. */
int task_take(struct task *task, int64_t now_ms);

/* Assign it to a worker: one attempt more, counters reset; or, with `from`, the
 * same attempt goes on. */
int task_assign(struct task *task, const char *worker, int64_t now_ms);

/* The attempt failed. Returns true if it will be tried again (then it waits);
 * otherwise it is settling: dead-letter, or failed if max_attempts is 1. */
bool task_attempt_failed(
    struct task *task, const char *reason, int max_attempts, int64_t now_ms);

/* It lost its worker, or its place in the queue, through no fault of its own
 * (the worker was reset or removed): it waits again and the attempt does not
 * count. */
int task_give_back(struct task *task, const char *why, int64_t now_ms);

/* What the others see of a question to a person. */
#define TASK_ASKS "it waits for an answer; see: llmc asks"

/* It waits for a person, and why says what for: a parked task is an open ask of
 * this kind. from: its work, where its next worker starts and the attempt goes
 * on; NULL = none but what it started from, and without that the attempt does
 * not count. */
int task_park(struct task *task, enum ask_kind kind, const char *from,
    const char *why, int64_t now_ms);
/* Does it wait for a person, or is it being parked for that? */
bool task_asks(const struct task *task);
/* A person lets it continue, and grants the same budget again; one that was
 * parked because it failed has all its attempts again. advice: for its next
 * worker; NULL = nothing new. */
int task_unpark(struct task *task, const char *advice, int64_t now_ms);
/* The same before it is parked (task->answered). */
void task_answer(struct task *task, const char *advice);

/* Another host of the fleet has it, or has had it and it waits again. */
int task_elsewhere(struct task *task, const char *host, int64_t now_ms);
int task_returned(struct task *task, const char *why, int64_t now_ms);

/* Its work is in the landing queue, and its worker gets another task. */
int task_queue(struct task *task, int64_t now_ms);

/* Its work left the queue without landing: it waits for a worker, who starts
 * from that commit and learns why. The attempt goes on. */
int task_send_back(
    struct task *task, const char *from, const char *why, int64_t now_ms);

/* Its work is on the default branch as this commit, or was already there
 * (NULL). */
int task_landed(struct task *task, const char *commit, int64_t now_ms);

/* Set its outcome; it is settling now. */
int task_settle(struct task *task, enum task_outcome outcome,
    const char *reason, int64_t now_ms);

/* Append the prompt for the worker: the text, which commit it landed as before,
 * and, if it was tried before, how that ended. */
void task_text(const struct task *task, struct buf *out);

/* How soon a task is done, in every queue: 0 is first. What an agent has added
 * never comes before the tasks of people, whatever its priority. */
#define TASK_RANKS (2 * PRIORITY_COUNT)
int task_rank_of(enum priority priority, bool made_by_agent);
int task_rank(const struct task *task);
/* The same where there are only priorities: the landing queue. */
enum priority task_landing_priority(const struct task *task);

/* The next waiting task, or NULL: tasks whose label is not in use come first,
 * then by rank, then by age. */
struct task *task_next_waiting(struct task *const *tasks, size_t count);

/* A task to fix a landing branch that fails its own check; words: what the
 * command was and printed. */
struct task *task_for_red(
    const char *id, const char *tree, const char *words, int64_t now_ms);

/* A task to fix what a failed post_accept_command reported, after these tasks
 * (at least one, the last one last) had landed; output is cut. */
struct task *task_for_fix(const char *id, struct task *const *broken,
    size_t count, const char *command, const char *output, int64_t now_ms);

/*
 * The task that a person gave to a worker by hand has no id; where one is
 * needed, it is named after its worker. No id of a task looks so. Pure.
 */

/* The caller frees it. */
char *hand_task_name(const char *worker);
/* Whose it is, within task; NULL: it is another task. */
const char *hand_task_worker(const char *task);

/* --- as JSON --------------------------------------------------------- */

/* The record of a task. */

/* The record of a task; it shares `history`. Like worker_from_json(): the id is
 * required, other members may be missing, a wrong type or word is -EINVAL. A
 * task that is assigned without a worker, or settling without an outcome,
 * waits.
 */
extern const struct schema task_schema;
struct json_object *task_to_json(const struct task *task);
int task_from_json(struct json_object *json, const char *at,
    struct task **ret_task, struct err *err);

extern const struct schema task_table; /* the columns of its row */

#endif
