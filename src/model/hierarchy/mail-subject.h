/* SPDX-License-Identifier: ISC */

/* The subjects of mail that llmc itself writes and understands. Pure. */
#ifndef MAIL_SUBJECT_H
#define MAIL_SUBJECT_H

enum mail_subject {
	SUBJECT_OTHER, /* free text */
	SUBJECT_SPAWN_REQUEST, /* spawn.request:<goal>:<node> */
	SUBJECT_SPAWN_ACCEPTED, /* spawn.accepted:<goal>:<request> */
	SUBJECT_SPAWN_DENIED, /* spawn.denied:<goal>:<request> */
	SUBJECT_AGENT_COMPLETED, /* agent.completed:<session> */
	SUBJECT_RESULT_READY, /* result.ready:<task> */
	SUBJECT_PLAN_CREATED, /* plan.created:<goal> */
	SUBJECT_PLAN_UPDATED, /* plan.updated:<goal> */
	SUBJECT_PLAN_REVIEW_NEEDED, /* plan.review_needed:<goal> */
	SUBJECT_COUNT
};

/* The subject of this kind; second is for those that have one. The caller frees
 * it. Not for SUBJECT_OTHER. */
char *mail_subject_make(
    enum mail_subject kind, const char *first, const char *second);

/* Which kind it is, SUBJECT_OTHER if it has not exactly the form of another
 * one. The parts (each may be NULL) are the caller's to free; *ret_second is
 * NULL for those without one. */
enum mail_subject
mail_subject_parse(const char *subject, char **ret_first, char **ret_second);

#endif
