/* SPDX-License-Identifier: ISC */

/*
 * The classes of failures: what is affected, who can help, and what a person
 * can do. A failure that ends the daemon is raised with a class
 * (core/life.h); an event that is logged as WARN or ERROR names one, because
 * the overseer acts on such lines too. docs/failures.md lists this table.
 */
#ifndef FAILURE_CLASS_H
#define FAILURE_CLASS_H

/* What cannot go on because of it. */
enum failure_scope {
	FAILURE_SCOPE_DAEMON,
	FAILURE_SCOPE_FLEET,
	FAILURE_SCOPE_WORKER,
	FAILURE_SCOPE_TASK,
	FAILURE_SCOPE_LANDING,
	FAILURE_SCOPE_COUNT
};

enum failure_help {
	FAILURE_HELP_REPAIR, /* of the project, or of llmc */
	FAILURE_HELP_PERSON,
	FAILURE_HELP_NOBODY, /* it has to pass */
	FAILURE_HELP_COUNT
};

struct failure_class {
	const char *name; /* one word */
	enum failure_scope scope;
	enum failure_help help;
	const char *what; /* happened */
	const char *fix; /* what a person does about it */
};

extern const struct failure_class failure_classes[];
extern const size_t failure_class_count;

/* The daemon's exit status for the class root_gone: there is no folder for a
 * record. */
#define FAILURE_EXIT_ROOT_GONE 73

const char *failure_scope_name(enum failure_scope scope);
const char *failure_help_name(enum failure_help help);

/* The row of a class. A name that is not in the table, from another version or
 * NULL, gets a row for unknown failures, which a repair looks at. */
const struct failure_class *failure_class_find(const char *name);

#endif
