/* SPDX-License-Identifier: ISC */

/*
 * The end of a turn: is the work finished, or is the worker sent back, and with
 * which message? One rule for workers driven by hand and by auto mode. In auto
 * mode the result is not reviewed, so what the agent says counts: one
 * that is blocked, asks, refuses or has changed nothing has not finished.
 */
#ifndef TURN_H
#define TURN_H

#include "notice.h"

struct buf;
struct json_object;
struct task;
struct update;

/* --- what an agent says -------------------------------------------------- */

/*
 * What an agent says at the end of its turn. It is read before the turn is
 * judged, by this reader alone, from these sources in this order:
 *
 *   the block "overseerUpdate" of its last message (hook-event.h)
 *   report_completion, or a report of that form in the message
 *   the plain words of the message
 *   report_progress, which says how far the work is
 *
 * The first that says something decides. Plain words are the last resort, for
 * an agent that reports nothing. They are guessed at by a dozen phrases, of
 * which each is there for one of these:
 *
 *   a question that nobody will answer, or one of the work itself ("would you
 *   like me to proceed"): it is told to decide; an offer of more is none
 *   a refusal of the work itself ("I cannot complete ..."): it is told to look
 *   for another way
 *   "No change is needed because", which is what an agent without a commit is
 *   asked to say, and "already" or "as it is" where nothing fails
 *
 * Everything else says nothing, and the facts of git decide. Words never end a
 * task: the worst that a wrong guess costs is a turn, or a person's look. Pure.
 */

enum said_what {
	SAID_NOTHING, /* that decides anything */
	SAID_WORKING,
	SAID_DONE,
	SAID_NO_CHANGE, /* done, and nothing had to be changed */
	SAID_BLOCKED, /* it reports what is missing */
	SAID_FAILED, /* it cannot or will not do it */
	SAID_QUESTION,
	SAID_COUNT
};

enum said_by {
	SAID_BY_WORDS,
	SAID_BY_UPDATE,
	SAID_BY_REPORT
};

/* "nothing", "working", "done", "done_without_change", ...; NULL
 * terminated. */
extern const char *const said_names[SAID_COUNT + 1];

/* Each may be NULL. */
struct said_sources {
	const char *text; /* its last message */
	struct json_object *report; /* that it made with report_completion */
	struct json_object *progress; /* its latest (agent-report.h) */
	const char *goal_id, *node_id; /* what it works on: an update with
					* other ids is not its own */
};

struct said {
	enum said_what what;
	enum said_by by;
	char *words; /* what is missing, asked, or was done, for a person;
		      * NULL = nothing */
	char **blockers;
	double percent; /* NAN = not said */
	struct update *update; /* with its evidence; NULL = none */
	struct err fault; /* what is wrong with an update; code 0: nothing */
	struct json_object *report; /* the report in the message; NULL */
};

void said_read(const struct said_sources *sources, struct said *ret_said);
/* From the last message of a task, and what its agent has reported. */
void said_of_task(const struct task *task, struct said *ret_said);
void said_release(struct said *said);
#define cleanup_said __attribute__((cleanup(said_release)))

#define TURN_BLOCKED       "it is blocked" /* and what is missing follows */
#define TURN_NUDGES_MAX    3 /* times sent on without asking a person */
#define TURN_SENT_BACK_MAX 2 /* times in one turn, driven by hand */

struct turn_facts {
	int uncommitted; /* files changed or untracked */
	bool rebasing; /* a rebase is in progress */
	int conflicts; /* unmerged files */
	int ahead; /* commits ahead of the default branch */
	bool resolving; /* the turn was to resolve a conflict: it needs no
			 * commit of its own */
	bool reviewing; /* it reviewed its own work: the same */
	bool driven; /* by auto mode: the result is not reviewed */

	/* Only used if driven. */
	bool commit_wanted; /* a task without a commit is not done */
	bool result_wanted; /* without a commit it is not believed to be
			     * done */
	bool check_wanted; /* a check_command is set */
	struct said
	    *said; /* never NULL; owned by the caller that gets the facts */
	int turns, turns_max; /* turns so far, with this one; turns_max 0 = no
			       * limit */
	int nudges;
	bool wraps_up; /* the agent may have been told that a usage limit is
			* near (windows_wrap_up()) */
	bool idle; /* it ends one turn after the other with words only: its work
		    * is checked as it is */
	bool waits; /* for agents that it has asked for */
	bool has_parent; /* another agent spawned it, and hears of its failure
			  * instead of a person */
	const char *answers; /* who answers its tool request_orchestrator, in
			      * words; NULL = it cannot ask */
	bool asks_person; /* a question goes to a person; else the agent has to
			   * decide */

	/* Only used if not driven. */
	int sent_back; /* times in this turn */
};

enum turn_action {
	TURN_FINISHED, /* the work is committed */
	TURN_NO_CHANGES, /* done, nothing to land */
	TURN_CHECK, /* run check_command first */
	TURN_BACK, /* send the worker back with `words` */
	TURN_NUDGE, /* the same, and it counts as a nudge */
	TURN_EXCUSE, /* the same, and it counts as nothing */
	TURN_COMMIT, /* commit what it left over, then it is finished, or
		      * checked */
	TURN_PAUSE, /* a person must look, for the reason in `words` */
	TURN_ASK, /* the same of a task: it waits for a person, without its
		   * worker */
	TURN_WAIT, /* it goes on when those that it waits for have ended */
	TURN_FAIL, /* the attempt failed, for the reason in `words` */
	TURN_ACTION_COUNT
};

/*
 * Checked in this order: if driven, agents that it waits for and whether it is
 * blocked; an unfinished rebase, uncommitted changes and, if driven, a question
 * or a refusal, a missing commit, the check.
 *
 * Driven: TURN_ASK at once if it is blocked, or asks and a person answers; else
 * after it was sent on as often as helps (TURN_NUDGES_MAX at most). Where it
 * would be sent back for its worktree, it is TURN_FAIL if turns_max is reached.
 * A turn without a result while a usage limit is near is sent on: TURN_EXCUSE.
 * By hand: a worker that was sent back often enough is paused if a rebase is
 * unfinished, and its changes are committed for it.
 *
 * words is appended to for BACK, NUDGE, EXCUSE, PAUSE, ASK and FAIL; *ret_ask:
 * what is asked for with TURN_ASK.
 */
enum turn_action turn_judge(
    const struct turn_facts *facts, struct buf *words, enum ask_kind *ret_ask);

/* The message to the worker after check_command failed: how, and the end of its
 * output (at most 8 KiB, complete lines). */
void turn_check_words(
    const char *command, const char *how, const char *output, struct buf *out);

/* Append what the check printed, out of that message; a text that is none as it
 * is. */
void turn_check_output(const char *words, struct buf *out);

#endif
