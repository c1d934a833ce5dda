/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>

#include "backoff.h"
#include "json.h"
#include "mem.h"
#include "push-record.h"

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

struct json_object *
push_record_json(const struct push_record *push)
{
	bool failed = push_record_has_failed(push);
	struct json_object *json;

	if (push->unpushed == NULL && push->pushed == NULL)
		return NULL;
	json = json_object_new_object();
	json_set_string(json, "state",
	    failed                     ? "failed" :
		push->unpushed != NULL ? "waiting" :
					 "done");
	json_set_string(json, "commit_sha",
	    push->unpushed != NULL ? push->unpushed : push->pushed);
	json_set_int(json, "tries", failed ? push->tries : 0);
	json_set_string(json, "reason", failed ? push->reason : NULL);
	json_set(json, "next_unix",
	    failed ? json_object_new_int64(push->next_ms / 1000) : NULL);
	return json;
}
