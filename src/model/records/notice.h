/* SPDX-License-Identifier: ISC */

/*
 * Messages to people while llmc runs unattended, how urgent they are, and what
 * is wanted of a person: rows of event-table.c name the class of their event.
 * Pure: port/people takes them to the channels.
 */
#ifndef NOTICE_H
#define NOTICE_H

struct buf;
struct json_object;

enum notice_class {
	NOTICE_NONE, /* of an event without a notice */
	NOTICE_FAILURE, /* the daemon or the overseer ended for a failure */
	NOTICE_REPAIR, /* the overseer begins a repair */
	NOTICE_LOGIN, /* sessions need a login, or trust in the folder */
	NOTICE_WORKER, /* a worker waits for a person */
	NOTICE_TASK, /* a task has failed for good */
	NOTICE_REVIEW, /* work waits for a person to accept it */
	NOTICE_BUDGET, /* also a task that is parked at its own */
	NOTICE_LIMIT, /* of usage; it is waited for */
	NOTICE_OUTAGE, /* of the service; it is waited for */
	NOTICE_BRANCH, /* the landing branch fails its check, is missing, or has
			* lost what had landed */
	NOTICE_CHECK, /* check_command contradicts itself */
	NOTICE_CHECKOUT, /* uncommitted changes hold up the landings */
	NOTICE_PUSH,
	NOTICE_SETTINGS, /* a change of config.toml is not valid */
	NOTICE_STATE, /* the book was damaged, or cannot be written */
	NOTICE_GOAL, /* a goal needs a person, or is reached */
	NOTICE_END, /* the run ended without a failure */
	NOTICE_CLASS_COUNT
};

/* NULL for NOTICE_NONE. */
const char *notice_name(enum notice_class class);

/* Strings are borrowed, NULL = not given. */
struct notice {
	enum notice_class class;
	const char *id; /* of one that is sent once */
	bool informs; /* nothing is wanted, whatever the class is */
	const char *what; /* a few words; NULL = those of the class */
	const char *why; /* the details, and what to type */
	const char *worker, *task;
	const char *goal, *node;
	const char *signature; /* of the failure */
};

/* What it says in a few words; never NULL. */
const char *notice_title(const struct notice *notice);

/* --- what is wanted of a person (ask.h) ------------------------------- */

/* And so what an answer to it does. */
enum ask_kind {
	ASK_NONE, /* nothing */
	ASK_QUESTION, /* an agent asks; the answer is for it */
	ASK_APPROVAL, /* something is to be allowed */
	ASK_BLOCKED, /* work cannot go on without something that is missing */
	ASK_FAILURE, /* it was tried and did not work */
	ASK_BUDGET, /* what may be spent is spent */
	ASK_REVIEW, /* work waits to be accepted */
	ASK_TOLD, /* nothing is wanted: a person should know */
	ASK_KIND_COUNT
};

/* "none", "question", ...; NULL terminated. */
extern const char *const ask_kind_words[ASK_KIND_COUNT + 1];

/* --- how urgent it is ------------------------------------------------ */

/*
 * A message to people through channels, and how urgent it is. An intervention
 * in the work of a session has a level of its own; so has every class of
 * notices. Pure.
 */

enum escalation_level {
	ESCALATION_INFO, /* nothing is to be done */
	ESCALATION_WARNING, /* a person should have a look */
	ESCALATION_CRITICAL, /* a person must decide */
	ESCALATION_EMERGENCY, /* work has ended, or nothing goes on */
	ESCALATION_LEVEL_COUNT
};

/* "info", ...; NULL terminated. */
extern const char *const escalation_level_words[ESCALATION_LEVEL_COUNT + 1];

/* Strings are borrowed, NULL = not given. */
struct escalation {
	enum escalation_level level;
	const char *event; /* sent once; NULL = each time it is given */
	bool asked; /* there is an ask of its own for it */
	bool unsaved; /* no file can be written: by commands alone */
	const char *class; /* of the notice; NULL = none */
	const char *title; /* a few words */
	const char *text; /* why, and what to type */
	const char *signature; /* of the failure: equal ones are one issue */
	const char *worker, *task, *goal, *node;
	const char *task_title; /* what the task is about */
	int64_t iteration; /* 0 = none */
	const char *intervention; /* "pause"; NULL = none was made */
	const char *const *options; /* that the person can choose from */
	const char *link; /* where it can be answered; NULL = no page */
	struct json_object *detection; /* type, severity, message, evidence,
					* recommendations */
};

/* The level of an intervention (progress_step_words): what interrupts a session
 * is critical if what was found is, a pause always. False: no such
 * intervention. */
bool escalation_of_intervention(const char *intervention, const char *severity,
    enum escalation_level *ret_level);

/* LOG and WARN are for the session; people get them if they ask for them. */
bool escalation_is_quiet(const char *intervention);

/* A notice as an escalation; borrows from it. The signature is made of what it
 * is about if it has none; it is written into out, which must outlive ret. */
void escalation_of_notice(const struct notice *notice, struct buf *out,
    struct escalation *ret_escalation);

#endif
