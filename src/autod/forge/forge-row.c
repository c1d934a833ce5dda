/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "asks.h"
#include "auto.h"
#include "book-history.h"
#include "book.h"
#include "buf.h"
#include "emit.h"
#include "forge-private.h"
#include "landing-record.h"
#include "landing.h"
#include "outcome.h"
#include "schema.h"
#include "task.h"

static void
save(struct forge_floor *floor, const struct forge_row *row)
{
	book_put(floor->core->book, book_issue_table(), row);
}

struct forge_row *
rows_find(const struct forge_floor *floor, int64_t number)
{
	for (size_t i = 0; i < floor->row_count; i++)
		if (floor->rows[i]->number == number)
			return floor->rows[i];
	return NULL;
}

static void
keep(struct forge_floor *floor, struct forge_row *row)
{
	floor->rows = xreallocarray(
	    floor->rows, floor->row_count + 1, sizeof(struct forge_row *));
	floor->rows[floor->row_count++] = row;
}

void
rows_add(struct forge_floor *floor, struct forge_row *row)
{
	keep(floor, row);
	save(floor, row);
}

void
rows_remove(struct forge_floor *floor, struct forge_row *row)
{
	size_t i = 0;

	while (floor->rows[i] != row)
		i++;
	floor->rows[i] = floor->rows[--floor->row_count];
	book_delete(floor->core->book, book_issue_table(),
	    (const struct book_value[]){ BOOK_I(row->number) });
	schema_free(&forge_row_schema, row);
}

static bool
on_loaded(struct book_row *from, void *arg)
{
	struct forge_floor *floor = arg;
	struct forge_row *row = schema_new(&forge_row_schema);

	if (book_read(floor->core->book, book_issue_table(), from, row, NULL) <
	    0)
		schema_free(&forge_row_schema, row);
	else
		keep(floor, row);
	return true;
}

void
rows_load(struct forge_floor *floor)
{
	book_query(floor->core->book,
	    "SELECT issue.* FROM issue ORDER BY issue.number", NULL, 0,
	    on_loaded, floor, NULL);
	for (size_t i = 0; i < floor->row_count; i++) {
		const struct forge_row *row = floor->rows[i];

		if (row->step == FORGE_WORKING &&
		    state_task(&floor->core->state, row->task) == NULL)
			rows_ended(floor, row->task, NULL, false,
			    "its task is not known any more");
	}
}

void
rows_free(struct forge_floor *floor)
{
	for (size_t i = 0; i < floor->row_count; i++)
		schema_free(&forge_row_schema, floor->rows[i]);
	free(floor->rows);
	floor->rows = NULL;
	floor->row_count = 0;
}

/* In the pass in which the task ends, so that both are saved or none. */
void
rows_ended(struct forge_floor *floor, const char *task, const char *commit,
    bool good, const char *words)
{
	for (size_t i = 0; i < floor->row_count; i++) {
		struct forge_row *row = floor->rows[i];

		if (row->step != FORGE_WORKING || strcmp(row->task, task) != 0)
			continue;
		row->step = FORGE_ENDED;
		row->good = good;
		xstrset(&row->commit, commit);
		xstrset(&row->words, words);
		save(floor, row);
	}
}

const struct forge_row *
rows_unowned(const struct forge_floor *floor, const char *task)
{
	for (size_t i = 0; i < floor->row_count; i++) {
		const struct forge_row *row = floor->rows[i];

		if (row->step == FORGE_WORKING && strcmp(row->task, task) == 0)
			return row->lost ||
				clock_wall_ms() - row->renewed_ms >=
				    FORGE_CLAIM_MS - FORGE_RENEW_MS / 2 ?
			    row :
			    NULL;
	}
	return NULL;
}

/* --- an issue that is not what it was ------------------------------------- */

static const struct forge_issue *
listed(const struct forge_floor *floor, int64_t number)
{
	for (size_t i = 0; i < floor->list.count; i++)
		if (floor->list.list[i].number == number)
			return &floor->list.list[i];
	return NULL;
}

/* What it says now is what the person consents to: the next change is another
 * question. issue: NULL = it is not known, or nobody is asked. */
static void
tell_changed(struct forge_floor *floor, struct forge_row *row,
    const struct forge_issue *issue, const char *words)
{
	cleanup_buf struct buf text = BUF_INIT;
	char key[24];

	snprintf(key, sizeof key, "%" PRId64, row->number);
	row->changed = true;
	row->held = false;
	if (issue != NULL) {
		forge_issue_text(issue, &text);
		xstrset(&row->text, text.data);
	}
	xstrset(&row->words, words);
	save(floor, row);
	EMIT(floor->core, EVENT_ISSUE_CHANGED, .key = key, .task = row->task,
	    .reason = words);
}

/* The work was faster: a person should know. */
static void
tell_late(struct forge_floor *floor, const struct forge_row *row)
{
	cleanup_free char *key = xasprintf("issue/%" PRId64, row->number);
	cleanup_free char *title =
	    xasprintf("issue #%" PRId64 " has changed", row->number);
	cleanup_free char *text = xasprintf(
	    "Issue #%" PRId64 " (%s) was taken as %s, and since then %s. The "
	    "work on the text that was taken is landing already.",
	    row->number, row->title, row->task, row->words);
	cleanup_free char *command = xasprintf("llmc task show %s", row->task);

	asks_open(floor->core,
	    &(struct ask_draft){ .kind = ASK_TOLD,
		.level = ESCALATION_CRITICAL,
		.key = key,
		.title = title,
		.words = text,
		.command = command,
		.task = row->task,
		.stays = true });
}

/* Nothing of it lands before a person has said so. */
static void
hold(struct forge_floor *floor, struct forge_row *row, struct task *task)
{
	cleanup_free char *reason = xasprintf(
	    "issue #%" PRId64 " was taken, and since then %s; yes: go on with "
	    "the text that was taken, no: drop it",
	    row->number, row->words);
	int r = outcome_hold(floor->mode, task, reason);

	if (r == -EBUSY)
		return; /* tried again when something has happened */
	row->held = true;
	save(floor, row);
	if (r < 0)
		tell_late(floor, row);
}

void
rows_stop(struct forge_floor *floor)
{
	for (size_t i = 0; i < floor->row_count; i++) {
		struct forge_row *row = floor->rows[i];
		struct task *task = state_task(&floor->core->state, row->task);

		if (row->step != FORGE_WORKING || task == NULL)
			continue;
		if (row->lost)
			outcome_drop(floor->mode, task,
			    "somebody else has taken its issue over", NULL);
		else if (row->changed && !row->held)
			hold(floor, row, task);
	}
}

/* words: how it differs from what was taken, or from what a person was asked
 * about; NULL = it does not. A person who is asked is asked one thing. */
static void
compare(struct forge_floor *floor, struct forge_row *row,
    const struct forge_issue *issue, const char *words)
{
	const struct task *task = state_task(&floor->core->state, row->task);
	/* Its task cannot be held, so nobody consents: what it is compared with
	 * stays what was taken, and it is told once. */
	bool late = pulls_has(floor, row->task);

	if (row->step != FORGE_WORKING || (row->changed && !row->held) ||
	    (row->held && task != NULL && task->step == TASK_PARKED))
		return;
	if (words != NULL &&
	    (!row->changed || strcmp(row->words, words) != 0 ||
		(issue != NULL && !late && forge_row_is_edited(row, issue)))) {
		tell_changed(floor, row, late ? NULL : issue, words);
	} else if (words == NULL && row->changed) {
		row->changed = row->held = false;
		xstrset(&row->words, NULL);
		save(floor, row);
	}
}

void
rows_compare(struct forge_floor *floor)
{
	bool whole = floor->whole;

	for (size_t i = floor->row_count; i-- > 0;) {
		struct forge_row *row = floor->rows[i];
		const struct forge_issue *issue = listed(floor, row->number);

		if (row->step == FORGE_KEPT &&
		    (issue == NULL ? whole :
				     forge_row_differs(row, issue) != NULL))
			rows_remove(floor, row);
		else if (row->hand)
			continue; /* on_watched() */
		else if (issue != NULL)
			compare(
			    floor, row, issue, forge_row_differs(row, issue));
		else if (whole)
			compare(floor, row, NULL,
			    "it was closed, or its label was removed");
	}
}

/* An issue that a person has named need not be in the list. */
static void
on_watched(const struct forge_answer *answer, void *arg)
{
	struct forge_floor *floor = arg;
	struct forge_row *row = floor->row;
	struct forge_issue issue;

	row->looked_ms = clock_wall_ms();
	if (answer->verdict == FORGE_GONE) {
		compare(floor, row, NULL, "it is not there any more");
	} else if (forge_answered(floor, answer) &&
	    forge_issue_read(answer->json, &issue, NULL) == 0) {
		issue.labelled = true;
		compare(floor, row, &issue, forge_row_differs(row, &issue));
		forge_issue_release(&issue);
	}
	forge_done(floor);
}

/* --- what is to be done ------------------------------------------- */

static void
tell_refused(struct forge_floor *floor, const char *words)
{
	char key[24];

	snprintf(key, sizeof key, "%" PRId64, floor->row->number);
	EMIT(floor->core, EVENT_ISSUE_NOT_TOLD, .key = key,
	    .task = floor->row->task, .reason = words);
}

/* What the answer of an issue cannot be had for does not keep the rest from
 * being told. False: ask again. */
static bool
is_told(struct forge_floor *floor, const struct forge_answer *answer)
{
	if (!forge_refused(answer))
		return forge_answered(floor, answer);
	tell_refused(floor, answer->words);
	return true;
}

static void
on_comments(const struct forge_answer *answer, void *arg)
{
	struct forge_floor *floor = arg;
	struct forge_row *row = floor->row;
	cleanup_buf struct buf marker = BUF_INIT;
	bool more = false;

	forge_row_marker(row, &marker);
	if (is_told(floor, answer)) {
		row->comment = forge_comment_find(
		    answer->json, floor->login, marker.data, &more, NULL);
		row->stale = row->comment != 0;
		if (row->comment != 0)
			save(floor, row);
		else if (more && row->page < FORGE_PAGES_MAX)
			row->page++;
		else
			row->comment_unknown = true;
	}
	forge_done(floor);
}

static void
on_comment(const struct forge_answer *answer, void *arg)
{
	struct forge_floor *floor = arg;
	struct forge_row *row = floor->row;

	if (is_told(floor, answer)) {
		row->comment = forge_made_id(answer->json);
		if (row->comment == 0)
			row->comment = -1; /* there is none to be had */
		/* One that was made late says the end already. */
		if (floor->row_step == FORGE_ENDED)
			row->step = FORGE_TOLD;
		save(floor, row);
	} else {
		/* It may have been made all the same. */
		row->comment_unknown = false;
		row->page = 1;
	}
	forge_done(floor);
}

static void
on_told(const struct forge_answer *answer, void *arg)
{
	struct forge_floor *floor = arg;
	struct forge_row *row = floor->row;

	if (is_told(floor, answer)) {
		row->stale = false;
		/* The task may have ended meanwhile. */
		if (floor->row_step == FORGE_ENDED)
			row->step = FORGE_TOLD;
		save(floor, row);
	}
	forge_done(floor);
}

/* words: NULL = it was done. */
static void
end_marking(struct forge_floor *floor, const char *words)
{
	floor->row->step = FORGE_MARKED;
	floor->row->unmarked = words != NULL;
	if (words != NULL)
		tell_refused(floor, words);
	save(floor, floor->row);
}

static void
on_marked(const struct forge_answer *answer, void *arg)
{
	struct forge_floor *floor = arg;
	bool more = false;

	if (forge_refused(answer))
		end_marking(floor, answer->words);
	else if (!forge_answered(floor, answer))
		;
	else if (!floor->row->good &&
	    forge_label_find(answer->json, FORGE_FAILED, &more) == 0 && !more)
		end_marking(
		    floor, "the forge did not set the label " FORGE_FAILED);
	else
		end_marking(floor, NULL);
	forge_done(floor);
}

static void
on_labels(const struct forge_answer *answer, void *arg)
{
	struct forge_floor *floor = arg;

	if (forge_refused(answer))
		end_marking(floor, answer->words);
	else if (forge_answered(floor, answer))
		forge_label_listed(&floor->label, FORGE_FAILED, answer->json);
	forge_done(floor);
}

static void
on_label_made(const struct forge_answer *answer, void *arg)
{
	struct forge_floor *floor = arg;

	/* It may have been made all the same. */
	floor->label = (struct forge_label){ 0 };
	if (forge_refused(answer))
		end_marking(floor, answer->words);
	else if (forge_answered(floor, answer))
		floor->label.id = forge_made_id(answer->json);
	forge_done(floor);
}

static void
mark(struct forge_floor *floor, struct forge_request *request)
{
	if (!floor->row->good) {
		forge_label_send(floor, request, &floor->label, FORGE_FAILED,
		    on_marked, on_labels, on_label_made);
		return;
	}
	request->what = FORGE_CLOSE;
	forge_send(floor, request, NULL, on_marked);
}

static void
on_renewed(struct forge_floor *floor, enum push_answer result,
    const char *claim, const char *words)
{
	struct forge_row *row = floor->row;
	char key[24];

	if (result == PUSH_OK) {
		xstrset(&row->claim, claim);
		row->epoch++;
		row->renewed_ms = clock_wall_ms();
		save(floor, row);
	} else if (result == PUSH_REJECTED) {
		snprintf(key, sizeof key, "%" PRId64, row->number);
		row->lost = true;
		save(floor, row);
		EMIT(floor->core, EVENT_ISSUE_LOST, .key = key,
		    .task = row->task);
	} else {
		forge_rest(floor, words);
	}
	landings_kick(floor->mode->landings);
	forge_done(floor);
}

/* Others may have waited for it: they are looked at before a run ends. */
static void
look_for_needy(struct forge_floor *floor, int64_t number)
{
	for (size_t i = 0; i < floor->list.count; i++)
		for (size_t k = 0; k < floor->list.list[i].need_count; k++)
			if (floor->list.list[i].needs[k] == number) {
				floor->listed = false;
				floor->poll_ms = 0;
			}
}

static void
on_released(struct forge_floor *floor, enum push_answer result,
    const char *claim, const char *words)
{
	struct forge_row *row = floor->row;
	char key[24];

	(void)claim;
	/* A claim that cannot be removed ends by itself. */
	if (result == PUSH_AWAY) {
		forge_rest(floor, words);
	} else {
		snprintf(key, sizeof key, "%" PRId64, row->number);
		EMIT(floor->core, EVENT_ISSUE_TOLD, .key = key,
		    .task = row->task, .result = row->good ? "done" : "failed");
		look_for_needy(floor, row->number);
		row->step = FORGE_KEPT;
		if (row->unmarked)
			save(floor, row);
		else
			rows_remove(floor, row);
	}
	forge_done(floor);
}

static void
act(struct forge_floor *floor, struct forge_row *row, enum forge_duty duty)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct forge_request request = { .number = row->number,
		.id = row->comment };

	floor->row = row;
	floor->row_step = row->step;
	floor->busy = true;
	forge_row_comment(row, &text);
	request.text = text.data;
	switch (duty) {
	case FORGE_FIND_COMMENT:
		request.what = FORGE_ASK_COMMENTS;
		request.page = row->page;
		forge_send(floor, &request, NULL, on_comments);
		return;
	case FORGE_MAKE_COMMENT:
		request.what = FORGE_ADD_COMMENT;
		forge_send(floor, &request, NULL, on_comment);
		return;
	case FORGE_TELL_COMMENT:
		request.what = FORGE_EDIT_COMMENT;
		forge_send(floor, &request, NULL, on_told);
		return;
	case FORGE_MARK:
		mark(floor, &request);
		return;
	case FORGE_WATCH:
		request.what = FORGE_ASK_ISSUE;
		forge_send(floor, &request, NULL, on_watched);
		return;
	case FORGE_RENEW:
		claim_take(
		    floor, row->number, row->epoch + 1, row->claim, on_renewed);
		return;
	case FORGE_RELEASE:
		claim_drop(floor, row->number, row->claim, on_released);
		return;
	case FORGE_FORGET:
	case FORGE_REST:
		rows_remove(floor, row);
		forge_done(floor);
		return;
	}
}

/* Its issue is closed when others can have it. */
static bool
waits(const struct forge_floor *floor, const struct forge_row *row)
{
	return row->step == FORGE_ENDED && row->commit != NULL &&
	    upstream_mode_of(floor->core->settings) == UPSTREAM_PUSH &&
	    floor->core->state.landings.push.unpushed != NULL;
}

bool
rows_act(struct forge_floor *floor, bool resting)
{
	int64_t now = clock_wall_ms();

	for (size_t i = 0; i < floor->row_count; i++) {
		struct forge_row *row = floor->rows[i];
		enum forge_duty duty;

		row->waits = waits(floor, row);
		duty = forge_row_duty(row, now);
		if (duty == FORGE_REST || (resting && duty != FORGE_RENEW))
			continue;
		act(floor, row, duty);
		return true;
	}
	return false;
}

bool
rows_expect(const struct forge_floor *floor)
{
	for (size_t i = 0; i < floor->row_count; i++) {
		const struct forge_row *row = floor->rows[i];

		if (row->step != FORGE_WORKING && row->step != FORGE_KEPT &&
		    !waits(floor, row))
			return true;
	}
	return false;
}

int64_t
rows_wait_ms(const struct forge_floor *floor, bool resting)
{
	int64_t least = INT64_MAX, now = clock_wall_ms();

	for (size_t i = 0; i < floor->row_count; i++) {
		int64_t ms = forge_row_wait_ms(floor->rows[i], now);

		least = ms < least ? ms : least;
		ms = forge_row_watch_ms(floor->rows[i], now);
		least = ms < least && !resting ? ms : least;
	}
	return least;
}
