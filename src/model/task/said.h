/* SPDX-License-Identifier: ISC */

/*
 * What an agent says at the end of its turn. It is read before the turn is
 * judged, by this reader alone, from these sources in this order:
 *
 *   the block "overseerUpdate" of its last message (update.h)
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
#ifndef SAID_H
#define SAID_H

struct json_object;
struct task;
struct update;

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

#endif
