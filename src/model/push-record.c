/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>

#include "backoff.h"
#include "mem.h"
#include "push-record.h"
#include "schema.h"

static void
forget_failures(struct push_record *push)
{
	push->tries = 0;
	push->next_ms = 0;
	xstrset(&push->reason, NULL);
}

void
push_record_landed(struct push_record *push, const char *commit)
{
	xstrset(&push->unpushed, commit);
}

void
push_record_done(
    struct push_record *push, const char *commit, const char *pushed)
{
	xstrset(&push->pushed, pushed);
	if (push->unpushed != NULL && strcmp(push->unpushed, commit) == 0)
		xstrset(&push->unpushed, NULL);
	forget_failures(push);
}

void
push_record_failed(struct push_record *push, const char *reason, int64_t now_ms)
{
	int64_t ms = backoff_outage.max_ms;

	backoff_next(&backoff_outage, push->tries, &ms);
	push->tries++;
	push->next_ms = now_ms + ms;
	xstrset(&push->reason, reason);
}

/* The clock may go back: never wait longer than the longest back-off. */
int64_t
push_record_wait_ms(const struct push_record *push, int64_t now_ms)
{
	int64_t ms = push->next_ms - now_ms;

	if (push->unpushed == NULL)
		return -1;
	if (ms > backoff_outage.max_ms)
		return backoff_outage.max_ms;
	return ms > 0 ? ms : 0;
}

bool
push_record_has_failed(const struct push_record *push)
{
	return push->unpushed != NULL && push->tries > 0;
}

/* What is shown of it. */
struct row {
	const char *state, *commit, *reason;
	int tries;
	int64_t next_ms;
};

#define FIELD(key, member, ...) \
	SCHEMA_FIELD(struct row, key, member, ##__VA_ARGS__)

static const struct schema_field fields[] = {
	FIELD("state", state, .flags = SCHEMA_REQUIRED,
	    .choices =
		(const char *const[]){ "waiting", "failed", "done", NULL }),
	FIELD("commit_sha", commit, .flags = SCHEMA_REQUIRED,
	    .help = "that is to be pushed; when done, the last that was"),
	FIELD("tries", tries, .help = "that failed"),
	FIELD("reason", reason, .help = "why the last one failed"),
	FIELD("next_unix", next_ms, .flags = SCHEMA_UNIX,
	    .help = "when the next one is"),
};

const struct schema push_record_schema = SCHEMA_OF(struct row, fields);

struct json_object *
push_record_json(const struct push_record *push)
{
	struct row row = { .state = "done", .commit = push->pushed };

	if (push->unpushed == NULL && push->pushed == NULL)
		return NULL;
	if (push->unpushed != NULL)
		row = (struct row){ .state = "waiting",
			.commit = push->unpushed };
	if (push_record_has_failed(push)) {
		row.state = "failed";
		row.tries = push->tries;
		row.reason = push->reason;
		row.next_ms = push->next_ms;
	}
	return schema_json(&push_record_schema, &row);
}
