/* SPDX-License-Identifier: ISC */

/*
 * autod --store-task: one job on the book (book-care.h), in a process of its
 * own, because it may take long. The daemon starts it; a person may too, if no
 * daemon runs.
 */
#ifndef STORE_TASK_H
#define STORE_TASK_H

struct workspace;

struct store_task {
	const char *name; /* check, export, import, sql */
	const char *file; /* NULL = none */
	const char *sql; /* a query */
	const char *owner; /* pid of the daemon that started it, NULL = none */
};

/* The report as a line of JSON on standard output, or what is wrong on standard
 * error. Returns the exit status. */
int store_task_run(
    const struct workspace *workspace, const struct store_task *task);

/* For llmc doctor --rebuild: replace the state in the book by the document on
 * standard input; history and plans stay. A damaged book is put aside:
 * {"damaged": path or null}. Takes the lock. */
int store_rebuild(const struct workspace *workspace);

#endif
