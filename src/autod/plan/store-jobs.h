/* SPDX-License-Identifier: ISC */

/*
 * The methods overseer.store.*: a job of the store in a child (autod
 * --store-task), one at a time. What only reads or shortens it runs beside the
 * open book. Import and recover put another file in its place: the book is
 * closed for that, and opened again, also out of safe mode; meanwhile nothing
 * is planned, and workers go on.
 */
#ifndef STORE_JOBS_H
#define STORE_JOBS_H

struct plan_floor;
struct store_jobs;

/* Registers the methods. */
struct store_jobs *store_jobs_new(struct plan_floor *floor);
/* A job that runs is killed; it leaves the store as it was. */
void store_jobs_free(struct store_jobs *jobs);

/* The book is open again, or of no use. */
void store_jobs_opened(struct store_jobs *jobs);

#endif
