/* SPDX-License-Identifier: ISC */

/*
 * A message to people through channels, and how urgent it is. An intervention
 * in the work of a session has a level of its own; so has every class of
 * notices. Pure.
 */
#ifndef ESCALATION_H
#define ESCALATION_H

struct buf;
struct json_object;
struct notice;

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

/* The level of an intervention (progress_step_words); severity matters for a
 * redirection. False: no such intervention. */
bool escalation_of_intervention(const char *intervention, const char *severity,
    enum escalation_level *ret_level);

/* LOG and WARN are for the session; people get them if they ask for them. */
bool escalation_is_quiet(const char *intervention);

/* A notice as an escalation; borrows from it. The signature is made of what it
 * is about if it has none; it is written into out, which must outlive ret. */
void escalation_of_notice(const struct notice *notice, struct buf *out,
    struct escalation *ret_escalation);

#endif
