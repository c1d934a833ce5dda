/* SPDX-License-Identifier: ISC */

/* Work that this host has done, and that a lander lands: pushed, submitted, and
 * how that ended. */

#include "base.h"
#include "git-upstream.h"
#include "hosts-private.h"
#include "landing-record.h"
#include "landing.h"
#include "persist.h"
#include "schema.h"
#include "task.h"

#define FOLLOW_MS 200 /* between two looks whether the branch has followed */

static struct landing_record *
record_of(const struct hosts_land *land)
{
	return &land->core->state.landings;
}

/* --- the runner: submit -------------------------------------------------- */

static struct share *
share_of_item(const struct hosts_land *land, const struct landing_item *item)
{
	return item->kind == ITEM_WORK && item->step == ITEM_SUBMITTED ?
	    share_of_task(land->floor, item->task) :
	    NULL;
}

/* The row says what became of it, whoever has sent it and when. */
static void
on_submitted(const struct shared_answer *answer, void *arg)
{
	struct hosts_land *land = arg;
	struct landing_item *item;
	struct share *share;

	if (!land_answered(land, answer))
		return;
	item = land_told_item(land);
	share = item != NULL ? share_of_item(land, item) : NULL;
	if (share != NULL && share->step == SHARE_HELD &&
	    answer->of[1].count > 0) {
		const char *state = shared_text(&answer->of[1], 0, "state");

		if (shared_int(&answer->of[1], 0, "fence") == share->fence &&
		    (strcmp(state, "ready") == 0 ||
			strcmp(state, "landed") == 0)) {
			share->step = SHARE_READY;
			xstrset(&share->head, item->head);
			share_save(land->floor, share);
			persist_changed(land->core);
			land->ready = true;
		}
	}
	if (share != NULL && share->step != SHARE_READY) {
		/* It is not ours any more: the floor learns that by itself. */
		land->floor->poll = true;
		land_failed(land, "what was submitted is not ours");
		hosts_look(land->floor);
		return;
	}
	land_done(land);
}

static void
submit(struct hosts_land *land, const struct landing_item *item,
    const struct share *share)
{
	cleanup_json struct json_object *json =
	    schema_json(&landing_item_schema, item);
	cleanup_buf struct buf text = BUF_INIT;
	const struct task *t = state_task(&land->core->state, share->task);
	/* Once it has landed, nobody asks how it went. */
	cleanup_free char *result = t != NULL ? share_result(t) : NULL;

	json_print(json, false, &text);
	land_ask(land,
	    (const struct shared_call[]){
		SHARED_CALL(SHARED_SUBMIT, BOOK_T(share->id),
		    BOOK_I(share->fence), BOOK_T(land->floor->boot),
		    BOOK_T(item->head), BOOK_T(land->head_ref),
		    BOOK_T(text.data), BOOK_T(result)),
		SHARED_CALL(SHARED_TASK_READ, BOOK_T(share->id)) },
	    2, on_submitted);
}

static void push(struct hosts_land *land, const char *head, const char *old);

/* Earlier work of this attempt, which came back, is at the ref. */
static void
on_old(const struct git_fetched *fetched, const char *words, void *arg)
{
	struct hosts_land *land = arg;
	struct landing_item *item =
	    landing_record_find(record_of(land), land->item_id);

	if (item == NULL)
		land_done(land);
	else if (fetched->result != PUSH_OK)
		land_failed(land, words);
	else
		push(land, item->head, fetched->remote);
}

static void
on_pushed(enum push_answer result, const char *words, void *arg)
{
	struct hosts_land *land = arg;
	struct landing_item *item =
	    landing_record_find(record_of(land), land->item_id);
	struct share *share = item != NULL ? share_of_item(land, item) : NULL;

	land->busy = false;
	if (share == NULL || share->step != SHARE_HELD)
		land_done(land);
	else if (result == PUSH_OK && hosts_sure(land->floor))
		submit(land, item, share);
	else if (result == PUSH_REJECTED && !land->again) {
		land->busy = land->again = true;
		git_upstream_fetch(land->git,
		    &(struct git_fetch_spec){ .remote = LAND_REMOTE,
			.ref = land->head_ref,
			.deadline_ms = LAND_PUSH_MS },
		    on_old, land);
	} else {
		land_failed(land, words);
	}
}

static void
push(struct hosts_land *land, const char *head, const char *old)
{
	land->busy = true;
	git_upstream_push(land->git,
	    &(struct git_push_spec){ .remote = LAND_REMOTE,
		.commit = head,
		.ref = land->head_ref,
		.expected = old,
		.deadline_ms = LAND_PUSH_MS },
	    on_pushed, land);
}

/* Push and submit what waits for that. False: nothing does. */
bool
land_submit(struct hosts_land *land)
{
	const struct landing_record *record = record_of(land);

	if (!hosts_sure(land->floor))
		return false;
	for (size_t i = 0; i < record->count; i++) {
		const struct landing_item *item = record->items[i];
		const struct share *share = share_of_item(land, item);

		if (share == NULL || share->step != SHARE_HELD)
			continue;
		xstrset(&land->item_id, item->id);
		free(land->head_ref);
		land->head_ref =
		    xasprintf(LAND_REFS "%s/%" PRId64, share->id, share->fence);
		land->again = false;
		push(land, item->head, "");
		return true;
	}
	return false;
}

/* --- the runner: how it ended -------------------------------------------- */

bool
hosts_land_news(struct hosts_floor *floor, struct share *share,
    const struct shared_rows *rows, size_t n)
{
	struct hosts_land *land = floor->land;
	const char *state = shared_text(rows, n, "state");
	bool landed = strcmp(state, "landed") == 0;
	const struct landing_item *item =
	    landing_record_of_task(record_of(land), share->task);

	/* It may have landed before the server lost that it was submitted. */
	if ((share->step != SHARE_READY &&
		!(landed && share->step == SHARE_HELD)) ||
	    item == NULL || item->step != ITEM_SUBMITTED ||
	    shared_int(rows, n, "fence") != share->fence ||
	    (!landed && strcmp(state, "claimed") != 0))
		return false;
	if (share->state != NULL)
		return true; /* known */
	share->step = SHARE_READY;
	xstrset(&share->state, landed ? "landed" : "ejected");
	xstrset(
	    &share->commit, landed ? shared_text(rows, n, "commit_id") : NULL);
	xstrset(&share->words, landed ? NULL : shared_text(rows, n, "words"));
	share_save(floor, share);
	persist_changed(floor->core);
	/* Its worker goes on from what the branch is now. */
	landings_follow(land->landings);
	hosts_land_look(floor);
	return true;
}

/* Tell the landing floor how submitted work has ended, once the branch has
 * followed. */
void
land_settle(struct hosts_land *land)
{
	const struct landing_record *record = record_of(land);

	for (size_t i = record->count; i-- > 0;) {
		struct landing_item *item = record->items[i];
		struct share *share = share_of_item(land, item);

		if (share == NULL || share->step != SHARE_READY ||
		    share->state == NULL)
			continue;
		if (!landings_fresh(land->landings)) {
			land_arm(land, FOLLOW_MS);
			return;
		}
		if (strcmp(share->state, "landed") == 0) {
			landings_landed_elsewhere(land->landings, item,
			    share->commit != NULL ? share->commit : "");
		} else {
			const char *words =
			    share->words != NULL ? share->words : "";

			landings_returned(land->landings, item,
			    strncmp(words, LAND_CONFLICT,
				strlen(LAND_CONFLICT)) == 0,
			    words);
			share->step = SHARE_HELD;
		}
		xstrset(&share->state, NULL);
		share_save(land->floor, share);
		persist_changed(land->core);
	}
}

/* --- the runner: work that it goes on from ------------------------ */

static void
on_from(const struct git_fetched *fetched, const char *words, void *arg)
{
	struct hosts_land *land = arg;
	cleanup_free char *id = take_ptr(&land->item_id);
	struct share *share = share_of_id(land->floor, id);
	struct task *t =
	    share != NULL ? state_task(&land->core->state, share->task) : NULL;

	if (fetched->result != PUSH_OK) {
		land_failed(land, words);
		return;
	}
	if (t != NULL && fetched->remote[0] != '\0') {
		xstrset(&t->from, fetched->remote);
		t->kept = true; /* by the ref that it was fetched to */
	}
	if (share != NULL) { /* without that ref it begins anew */
		xstrset(&share->from_ref, NULL);
		share_save(land->floor, share);
	}
	persist_changed(land->core);
	auto_plan_changed(land->floor->mode);
	land_done(land);
}

/* A host was lost after it had submitted it, and it did not land. */
bool
land_fetch(struct hosts_land *land)
{
	const struct hosts_floor *floor = land->floor;
	const struct share *share = NULL;
	cleanup_free char *keep = NULL;

	for (size_t i = 0; i < floor->share_count && share == NULL; i++)
		if (floor->shares[i]->step == SHARE_HELD &&
		    floor->shares[i]->from_ref != NULL)
			share = floor->shares[i];
	if (share == NULL)
		return false;
	keep = xasprintf("refs/llmc/task/%s", share->task);
	xstrset(&land->item_id, share->id);
	land->busy = true;
	git_upstream_fetch(land->git,
	    &(struct git_fetch_spec){ .remote = LAND_REMOTE,
		.ref = share->from_ref,
		.keep = keep,
		.deadline_ms = LAND_PUSH_MS },
	    on_from, land);
	return true;
}

void
hosts_land_lost(struct hosts_floor *floor, const char *task)
{
	struct hosts_land *land = floor->land;
	struct landing_item *item =
	    landing_record_of_task(record_of(land), task);

	if (item != NULL && item->step == ITEM_SUBMITTED)
		landings_unshare(land->landings, item);
}
