/* SPDX-License-Identifier: ISC */

/* What is to be pushed after a landing. */
#ifndef PUSH_RECORD_H
#define PUSH_RECORD_H

#include <stdbool.h>
#include <stdint.h>

struct json_object;
struct schema;

/* All zero: nothing has landed since pushes are wanted. */
struct push_record {
	char *
	    unpushed; /* landed commit that the remote does not have, or NULL */
	char *pushed; /* the last one that it got, or NULL */
	int tries; /* that failed since then */
	char *reason; /* of the last one */
	int64_t next_ms; /* when to try again, wall clock; 0 = at once */
};

/* A landing has moved the branch to this commit. */
void push_record_landed(struct push_record *push, const char *commit);
/* The branch was pushed for this commit, as it was then; a later one may have
 * landed meanwhile. */
void push_record_done(
    struct push_record *push, const char *commit, const char *pushed);
/* A try failed: sets when the next one is. */
void push_record_failed(
    struct push_record *push, const char *reason, int64_t now_ms);
/* How long to wait for the next try; -1 = there is nothing to push. */
int64_t push_record_wait_ms(const struct push_record *push, int64_t now_ms);

bool push_record_has_failed(const struct push_record *push);
extern const struct schema push_record_schema;
/* For people; NULL = nothing has landed yet. */
struct json_object *push_record_json(const struct push_record *push);

#endif
