/* SPDX-License-Identifier: ISC */

/* What takes longer than the daemon may wait for: checks, exports, repairs. The
 * daemon runs them in a child of its own program. */
#ifndef STORE_JOB_H
#define STORE_JOB_H

#include <stdint.h>

struct err;
struct json_object;

struct store_job {
	const char *task; /* check, export, import, recover, compact */
	const char *path; /* store.db */
	/* export: written, replaced when complete, NULL = standard output;
	 * import: read; recover: the damaged store. */
	const char *file;
	int64_t before_ms; /* compact: events older than this */
};

/* Do it. *ret_report is what the command prints, owned by the caller; NULL if
 * standard output has the result already. Import and recover need a store that
 * nobody has open. */
int store_job_run(const struct store_job *job, struct json_object **ret_report,
    struct err *err);

#endif
