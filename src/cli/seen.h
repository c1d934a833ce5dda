/* SPDX-License-Identifier: ISC */

/* Which commit of a worker does a command apply to? The daemon acts only if it
 * is still the worker's HEAD, so that nothing lands unseen. */
#ifndef SEEN_H
#define SEEN_H

#include <stdbool.h>

struct cli;
struct json_object;
struct worker;

#define SEEN_FLAG                                                 \
	{                                                         \
		"commit", "COMMIT",                               \
		    "fail if the worker's commit is not this one" \
	}

/* Find the commit: the one that was typed (NULL = none), else the one that was
 * reviewed if `reviewed` is set, else the worker's HEAD. CLI_OK, or the failure
 * is reported. The caller frees it. */
int seen_commit(struct cli *cli, const struct worker *worker, const char *typed,
    bool reviewed, char **ret_commit);

/* {"worker": name, "commit": commit} */
struct json_object *
seen_params(const struct worker *worker, const char *commit);

#endif
