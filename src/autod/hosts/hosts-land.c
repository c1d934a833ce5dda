/* SPDX-License-Identifier: ISC */

/*
 * Landing for all hosts. A runner pushes its frozen work to origin
 * (refs/llmc/queue/TASK/FENCE) and submits it; the host that has the lander's
 * lease of the branch takes what was submitted into its own landing queue, and
 * says how it ended. One thing at a time; each may be done again: a push of the
 * same commit, a row that says so already, and work that the branch has is
 * found by its trailers (queue.c).
 */

#include "base.h"
#include "git-freeze.h"
#include "git-upstream.h"
#include "hosts-private.h"
#include "landing-record.h"
#include "landing.h"
#include "loop.h"
#include "prompt.h"
#include "schema.h"
#include "workspace.h"

#define SWEEP_MS ((int64_t)3600 * 1000) /* between two looks for old refs */

static struct landing_record *
record_of(const struct hosts_land *land)
{
	return &land->core->state.landings;
}

/* --- the lander: what was submitted ------------------------------- */

/* Of any task, or attempt, if that is NULL. */
static struct landing_item *
shared_item(
    const struct hosts_land *land, const char *task, const char *attempt)
{
	const struct landing_record *record = record_of(land);

	for (size_t i = 0; i < record->count; i++) {
		struct landing_item *item = record->items[i];

		if (item->kind == ITEM_SHARED &&
		    (task == NULL || strcmp(item->task, task) == 0) &&
		    (attempt == NULL || strcmp(item->attempt, attempt) == 0))
			return item;
	}
	return NULL;
}

/* Is it what that row may submit, with its trailers? */
static bool
is_sound(
    const struct landing_item *item, const struct shared_rows *rows, size_t n)
{
	const char *task = shared_text(rows, n, "task");
	const char *host = shared_text(rows, n, "host");
	cleanup_free char *attempt = xasprintf("%" PRId64 "/%s/",
	    shared_int(rows, n, "fence"), host != NULL ? host : "");
	cleanup_free char *by =
	    xasprintf("\n" PROMPT_TASK_TRAILER ": %s\n", task);
	cleanup_free char *as = NULL;
	const char *at, *head = shared_text(rows, n, "head");

	if (item->attempt == NULL || item->message == NULL || head == NULL ||
	    strncmp(item->attempt, attempt, strlen(attempt)) != 0 ||
	    strcmp(item->head, head) != 0)
		return false;
	as = xasprintf("\n" PROMPT_ATTEMPT_TRAILER ": %s", item->attempt);
	at = strstr(item->message, as);
	return strstr(item->message, by) != NULL && at != NULL &&
	    at[strlen(as)] == '\0';
}

static struct landing_item *
item_of_row(struct hosts_land *land, const struct shared_rows *rows, size_t n)
{
	const char *text = shared_text(rows, n, "item");
	int64_t prio = shared_int(rows, n, "prio");
	cleanup_json struct json_object *json = NULL;
	struct landing_item *fresh, *item;

	if (text == NULL ||
	    json_parse(text, strlen(text), SHARED_CELL_MAX, &json, NULL) < 0)
		return NULL;
	item = schema_new(&landing_item_schema);
	if (schema_read(&landing_item_schema, json, "", item, NULL) < 0 ||
	    !is_sound(item, rows, n)) {
		schema_free(&landing_item_schema, item);
		return NULL;
	}
	fresh = landing_record_new_item(record_of(land));
	xstrset(&item->id, fresh->id);
	item->seq = fresh->seq;
	schema_free(&landing_item_schema, fresh);
	item->kind = ITEM_SHARED;
	item->priority = prio >= 0 && prio < PRIORITY_COUNT ?
	    (enum priority)prio :
	    PRIORITY_LOW; /* task_rank() */
	xstrset(&item->task, shared_text(rows, n, "task"));
	xstrset(&item->worker, NULL);
	xstrset(&item->commit, NULL);
	xstrset(&item->words, NULL);
	item->freeing = item->conflict = item->incorporated = false;
	return item;
}

static void
on_ejected_row(const struct shared_answer *answer, void *arg)
{
	struct hosts_land *land = arg;

	if (!land_answered(land, answer))
		return;
	land->ready = true; /* the next one */
	land_done(land);
}

static void
eject_row(
    struct hosts_land *land, const char *task, int64_t fence, const char *words)
{
	land_ask(land,
	    (const struct shared_call[]){
		SHARED_CALL(SHARED_EJECT, BOOK_T(task), BOOK_I(fence),
		    BOOK_T(core_branch(land->core)), BOOK_I(land->fence),
		    BOOK_T(land->floor->boot), BOOK_T(words)) },
	    1, on_ejected_row);
}

static void
on_fetched(const struct git_fetched *fetched, const char *words, void *arg)
{
	struct hosts_land *land = arg;
	struct landing_item *item = take_ptr(&land->item);

	if (fetched->result != PUSH_OK) {
		schema_free(&landing_item_schema, item);
		land_failed(land, words);
	} else if (land->fence == 0) {
		schema_free(&landing_item_schema, item);
		land_done(land);
	} else if (strcmp(fetched->remote, item->head) != 0) {
		/* It must not be in the way of the others. */
		eject_row(land, item->task, strtoll(item->attempt, NULL, 10),
		    "what was submitted is not at origin: submit it again");
		schema_free(&landing_item_schema, item);
	} else {
		landings_share(land->landings, item);
		land->ready = true; /* the next one */
		land_done(land);
	}
}

/* Take what is new into the queue, one at a time, and take out what is not
 * wanted any more. */
static void
take_rows(struct hosts_land *land, const struct shared_rows *rows)
{
	const struct landing_record *record = record_of(land);

	for (size_t i = record->count; i-- > 0;) {
		struct landing_item *item = record->items[i];
		size_t n = 0;

		if (item->kind != ITEM_SHARED || item->step != ITEM_QUEUED ||
		    item->commit != NULL)
			continue;
		while (n < rows->count &&
		    strcmp(shared_text(rows, n, "task"), item->task) != 0)
			n++;
		if (n == rows->count || shared_text(rows, n, "head") == NULL ||
		    strcmp(shared_text(rows, n, "head"), item->head) != 0)
			landings_unshare(land->landings, item);
	}
	for (size_t n = 0; n < rows->count; n++) {
		const char *task = shared_text(rows, n, "task");
		const char *ref = shared_text(rows, n, "head_ref");
		cleanup_free char *keep = NULL;

		if (shared_item(land, task, NULL) != NULL)
			continue;
		land->item = ref != NULL &&
			strncmp(ref, LAND_REFS, strlen(LAND_REFS)) == 0 ?
		    item_of_row(land, rows, n) :
		    NULL;
		if (land->item == NULL) {
			eject_row(land, task, shared_int(rows, n, "fence"),
			    "what was submitted cannot be read: submit it "
			    "again");
			return;
		}
		keep = queue_item_ref(land->item->id);
		land->busy = true;
		git_upstream_fetch(land->git,
		    &(struct git_fetch_spec){ .remote = LAND_REMOTE,
			.ref = ref,
			.keep = keep,
			.deadline_ms = LAND_PUSH_MS },
		    on_fetched, land);
		return;
	}
}

static void
on_rows(const struct shared_answer *answer, void *arg)
{
	struct hosts_land *land = arg;
	const struct shared_rows *lease, *rows;

	if (!land_answered(land, answer))
		return;
	lease = &answer->of[0];
	rows = &answer->of[answer->calls - 1];
	land->busy = land->ready = false;
	land->tries = 0;
	if (answer->calls == 1) {
		land->wants = rows->count > 0 && !land->floor->drains;
	} else if (lease->count == 0 || land->floor->doubt ||
	    !land->floor->up) { /* another host's, or doubted since */
		land_lose_lease(land);
		land->wants = false;
		land->other_ms = land->sent_ms;
	} else {
		land->wants = false;
		if (land->fence == 0) {
			land->fence = shared_int(lease, 0, "fence");
			land->sweep_ms = 0;
			landings_kick(land->landings);
		}
		land->asked_ms = land->sent_ms;
		take_rows(land, rows);
	}
	if (!land->busy)
		hosts_land_look(land->floor);
}

/* Is there anything to land? The lease is asked for when there is. */
static void
ask_rows(struct hosts_land *land)
{
	const char *branch = core_branch(land->core), *boot = land->floor->boot;
	const struct shared_call calls[] = {
		land->fence == 0 ?
		    SHARED_CALL(
			SHARED_LANDER_TAKE, BOOK_T(branch), BOOK_T(boot)) :
		    SHARED_CALL(SHARED_LANDER_RENEW, BOOK_T(branch),
			BOOK_I(land->fence), BOOK_T(boot), BOOK_T(NULL)),
		SHARED_CALL(SHARED_READY, BOOK_T(branch)),
	};
	bool reads = land->fence == 0 && !land->wants;

	land->sent_ms = land->poll_ms = clock_boot_ms();
	land_ask(land, calls + reads, 2 - (size_t)reads, on_rows);
}

/* --- the lander: how it ended ------------------------------------- */

/* A row that is not as it was has been told already, or is another lander's:
 * that one reads the branch, too. */
static void
on_told(const struct shared_answer *answer, void *arg)
{
	struct hosts_land *land = arg;
	struct landing_item *item;

	if (!land_answered(land, answer))
		return;
	item = land_told_item(land);
	if (item != NULL) {
		land->sweeps |= item->step == ITEM_LANDED;
		landings_unshare(land->landings, item);
	}
	land_done(land);
}

static bool
is_last(const struct hosts_land *land, const struct landing_item *item)
{
	const struct landing_record *record = record_of(land);
	size_t left = 0;

	for (size_t i = 0; i < record->count; i++)
		left += record->items[i]->kind == ITEM_SHARED &&
		    record->items[i] != item;
	return left == 0 && record->to == NULL;
}

static bool
tell_ended(struct hosts_land *land)
{
	const struct landing_record *record = record_of(land);
	const char *branch = core_branch(land->core), *boot = land->floor->boot;
	const struct landing_item *item = NULL;
	cleanup_free char *words = NULL;

	for (size_t i = 0; i < record->count && item == NULL; i++)
		if (record->items[i]->kind == ITEM_SHARED &&
		    record->items[i]->step != ITEM_QUEUED)
			item = record->items[i];
	if (item == NULL)
		return false;
	xstrset(&land->item_id, item->id);
	if (item->step == ITEM_LANDED) {
		/* With the last one, all that the branch has is known. */
		const char *tip = is_last(land, item) ? item->commit : NULL;

		land_ask(land,
		    (const struct shared_call[]){
			SHARED_CALL(SHARED_LAND, BOOK_T(item->task),
			    BOOK_T(item->commit), BOOK_T(branch),
			    BOOK_I(land->fence), BOOK_T(boot),
			    BOOK_I(strtoll(item->attempt, NULL, 10))),
			SHARED_CALL0(SHARED_ATTEMPTS_CLOSE),
			SHARED_CALL(SHARED_LANDER_RENEW, BOOK_T(branch),
			    BOOK_I(land->fence), BOOK_T(boot), BOOK_T(tip)) },
		    tip != NULL ? 3 : 2, on_told);
		return true;
	}
	if (item->conflict)
		words = xasprintf(LAND_CONFLICT
		    " on %s since%s%s\nRebase it: git rebase %s; resolve the "
		    "conflicts so that both changes hold, and check the "
		    "result.\n",
		    branch, item->words != NULL ? ": " : ".",
		    item->words != NULL ? item->words : "", branch);
	land_ask(land,
	    (const struct shared_call[]){ SHARED_CALL(SHARED_EJECT,
		BOOK_T(item->task), BOOK_I(strtoll(item->attempt, NULL, 10)),
		BOOK_T(branch), BOOK_I(land->fence), BOOK_T(boot),
		BOOK_T(words != NULL ? words : item->words)) },
	    1, on_told);
	return true;
}

/* --- the lander: refs of tasks and checks that have ended --------- */

static void
on_dropped(enum push_answer result, const char *words, void *arg)
{
	struct hosts_land *land = arg;

	if (result == PUSH_AWAY) {
		land_failed(land, words);
		return;
	}
	free(land->old[0]);
	memmove(land->old, land->old + 1,
	    (strv_count(land->old + 1) + 1) * sizeof(char *));
	land_done(land);
}

static void
drop_ref(struct hosts_land *land)
{
	const char *space = strchr(land->old[0], ' ');
	cleanup_free char *ref =
	    xstrndup(land->old[0], (size_t)(space - land->old[0]));

	land->busy = true;
	git_upstream_push(land->git,
	    &(struct git_push_spec){ .remote = LAND_REMOTE,
		.ref = ref,
		.expected = space + 1,
		.deadline_ms = LAND_PUSH_MS },
	    on_dropped, land);
}

static bool
is_below(const char *ref, const char *folder)
{
	return strncmp(ref, folder, strlen(folder)) == 0;
}

static void
on_open(const struct shared_answer *answer, void *arg)
{
	struct hosts_land *land = arg;
	cleanup_strv char **listed = take_ptr(&land->listed);
	const struct shared_rows *rows = &answer->of[0];

	if (!land_answered(land, answer))
		return;
	land->sweeps = false;
	for (size_t i = 0; i < strv_count(listed); i++) {
		const char *id = listed[i] + strlen(LAND_REFS);
		size_t len = strcspn(id, "/ "), n = 0;

		while (n < rows->count) {
			const char *known = shared_text(rows, n, "task");

			if (strlen(known) == len &&
			    strncmp(known, id, len) == 0)
				break;
			n++;
		}
		/* Of so many, there may be more. */
		if (n == rows->count && n < SHARED_ROWS_MAX)
			strv_add(&land->old, listed[i]);
	}
	land_done(land);
}

/* A ref is pushed before its row says so, and tasks are new all the time: only
 * what was listed before they were read can be known to have ended. */
static void
on_refs(const char *const *list, size_t count, const struct err *err, void *arg)
{
	struct hosts_land *land = arg;

	strv_clear(&land->listed);
	for (size_t i = 0; err == NULL && i < count; i++)
		if (is_below(list[i], LAND_REFS))
			strv_add(&land->listed, list[i]);
	if (land->listed != NULL && land->listed[0] != NULL)
		land_ask(land, &SHARED_CALL0(SHARED_TASKS), 1, on_open);
	else
		land_done(land);
}

/* Once nothing is left to land, or now and then. */
static bool
is_sweep_due(const struct hosts_land *land, int64_t now)
{
	bool idle = land->sweeps && shared_item(land, NULL, NULL) == NULL;

	return land->fence != 0 &&
	    (land->sweep_ms == 0 ||
		now - land->sweep_ms >= (idle ? HOSTS_POLL_MS : SWEEP_MS));
}

/* --- what is next ------------------------------------------------- */

static void
on_left(const struct shared_answer *answer, void *arg)
{
	struct hosts_land *land = arg;

	if (!land_answered(land, answer))
		return;
	land_lose_lease(land);
	land_done(land);
}

static void
look(void *arg)
{
	struct hosts_land *land = arg;
	const struct hosts_floor *floor = land->floor;
	int64_t now = clock_boot_ms(), wait = land->rest_ms - now;
	/* Hints tell of new work: one that does not land looks seldom. */
	int64_t every = land->fence != 0 ? HOSTS_POLL_MS : 2 * HOSTS_POLL_MS;

	if (!floor->begun || land->core->stopping)
		return;
	land_settle(land);
	if (land->busy)
		return;
	if (land->fence != 0 && !hosts_lease_sure(land->asked_ms, now))
		land_lose_lease(land);
	if (wait > 0 || !floor->up || shared_state(floor->shared) != SHARED_UP)
		return; /* a timer runs, or the floor calls again */
	if (floor->doubt) {
		trust_land(land);
		return;
	}
	if (land_fetch(land) || land_submit(land) ||
	    (land->fence != 0 && tell_ended(land)))
		return;
	if (land->fence != 0 && floor->drains && record_of(land)->to == NULL) {
		land_ask(land,
		    (const struct shared_call[]){ SHARED_CALL(
			SHARED_LANDER_LEAVE, BOOK_T(core_branch(land->core)),
			BOOK_I(land->fence), BOOK_T(floor->boot)) },
		    1, on_left);
		return;
	}
	if (land->ready || land->wants || now - land->poll_ms >= every) {
		ask_rows(land);
		return;
	}
	if (land->old != NULL && land->old[0] != NULL) {
		drop_ref(land);
		return;
	}
	if (is_sweep_due(land, now)) {
		land->sweep_ms = now;
		land->busy = true;
		git_upstream_list(land->git, "refs/llmc/*", on_refs, land);
		return;
	}
	if (land->timer == NULL || !loop_timer_pending(land->timer))
		land_arm(land, land->poll_ms + every - now);
}

void
hosts_land_hint(struct hosts_floor *floor, bool left)
{
	struct hosts_land *land = floor->land;

	if (left)
		land->other_ms = 0;
	/* Another one lands, and looks. */
	if (land->fence != 0 || land->other_ms == 0 ||
	    clock_boot_ms() - land->other_ms >= HOSTS_POLL_MS)
		land->ready = true;
	hosts_land_look(floor);
}

/* --- for the landing floor ---------------------------------------- */

/* A pull request is made by the host that did the work. */
static char *
attempt(void *arg, const char *task, char **ret_id)
{
	const struct hosts_land *land = arg;
	const struct share *share = share_of_task(land->floor, task);

	if (share == NULL || share->step != SHARE_HELD ||
	    lands_by_pull(land->core->settings))
		return NULL;
	*ret_id = xstrdup(share->id);
	/* Before the first hello, the boot that it will tell. */
	return xasprintf("%" PRId64 "/%s/%s", share->fence, land->floor->host,
	    *land->floor->boot == '\0' && land->floor->self.next != NULL ?
		land->floor->self.next :
		land->floor->boot);
}

static bool
lands(void *arg)
{
	return hosts_land_has_lease(((struct hosts_land *)arg)->floor);
}

static void
changed(void *arg)
{
	hosts_land_look(((struct hosts_land *)arg)->floor);
}

static const struct landing_hosts policy = {
	.attempt = attempt,
	.lands = lands,
	.changed = changed,
};

struct hosts_land *
hosts_land_new(struct hosts_floor *floor)
{
	struct hosts_land *land = xcalloc(1, sizeof *land);
	struct core *core = floor->core;

	land->floor = floor;
	land->core = core;
	land->landings = floor->mode->landings;
	land->look = loop_call_new(core->loop, look, land);
	land->git = git_new(
	    core->loop, &(struct git_options){ .root = core->workspace->root });
	landings_set_hosts(land->landings, &policy, land);
	return land;
}

/* Before the connection is closed. What is under way is done again. */
void
hosts_land_free(struct hosts_land *land)
{
	if (land == NULL)
		return;
	landings_set_hosts(land->landings, NULL, NULL);
	if (land->floor->shared != NULL)
		shared_forget(land->floor->shared, land);
	git_free(land->git);
	loop_timer_free(land->timer);
	loop_call_free(land->look);
	schema_free(&landing_item_schema, land->item);
	strv_free(land->old);
	strv_free(land->listed);
	strv_free(land->found);
	free(land->item_id);
	free(land->head_ref);
	free(land->tip);
	free(land->since);
	free(land);
}
