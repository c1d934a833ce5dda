/* SPDX-License-Identifier: ISC */

/*
 * The methods overseer.store.*: a job on the book in a child (autod
 * --store-task), one at a time, beside the open book. After an import the plans
 * are loaded again; meanwhile nothing is planned, and workers go on.
 */
#ifndef STORE_JOBS_H
#define STORE_JOBS_H

struct plan_floor;
struct store_jobs;

/* Registers the methods. */
struct store_jobs *store_jobs_new(struct plan_floor *floor);
/* A job that runs is killed; it leaves the book as it was. */
void store_jobs_free(struct store_jobs *jobs);

#endif
