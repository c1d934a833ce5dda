/* SPDX-License-Identifier: ISC */

/*
 * Notices to a person while llmc runs unattended. The user chooses the classes
 * with people.notify_on; rows of model/records/event.c name the class of their
 * event. Pure: port/people carries a notice to the user's command.
 */
#ifndef NOTICE_H
#define NOTICE_H

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

/* The words that people.notify_on may hold, NULL terminated: the name of class
 * n is notice_names[n - 1]. */
extern const char *const notice_names[NOTICE_CLASS_COUNT];
const char *notice_name(enum notice_class class);

/* Strings are borrowed, NULL = not given. */
struct notice {
	enum notice_class class;
	const char *id; /* of one that is sent once */
	bool told; /* nothing is wanted, whatever the class is */
	const char *what; /* a few words; NULL = those of the class */
	const char *why; /* the details, and what to type */
	const char *worker, *task;
	const char *goal, *node; /* for channels only, as the signature is */
	const char *signature; /* of the failure */
	int exit_status; /* of the program that ends; 0 = none */
	const char *failure, *evidence; /* what the overseer gave up on */
};

/* What it says in a few words; never NULL. */
const char *notice_title(const struct notice *notice);

/* The message for the user's command, as llmc.conf(5) describes it. The caller
 * owns it. */
struct json_object *notice_json(const struct notice *notice, const char *root,
    const char *program, const char *timestamp);

/* Several notices of a class become one message: the newest, with the number of
 * them and the sentences of those before (a bounded number). Takes ownership of
 * both, returns the merged one. */
struct json_object *
notice_merge(struct json_object *older, struct json_object *newer);

#endif
