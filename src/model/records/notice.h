/* SPDX-License-Identifier: ISC */

/*
 * Notices to a person while llmc runs unattended; rows of event-table.c name
 * the class of their event. Pure: port/people takes a notice to the channels.
 */
#ifndef NOTICE_H
#define NOTICE_H

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
	NOTICE_BRANCH, /* the landing branch fails its check, or is missing */
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

#endif
