/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "auto.h"
#include "buf.h"
#include "forge-private.h"
#include "id.h"
#include "landing.h"
#include "prompt.h"
#include "pull.h"
#include "settings.h"
#include "task.h"

/* Did it do as it was asked? If it does not want to, that is tried later. */
static bool
is_good(struct forge_floor *floor, struct pull_held *held, const char *what,
    const struct forge_answer *answer)
{
	if (forge_refused(answer)) {
		pull_trouble(held, what, answer->words);
		return false;
	}
	if (!forge_answered(floor, answer))
		return false;
	xstrset(&held->trouble, NULL);
	return true;
}

/* --- what it is asked for
 * ------------------------------------------------------
 */

static void
on_found(const struct forge_answer *answer, void *arg)
{
	struct forge_floor *floor = arg;
	struct pull_held *held = floor->pull;
	struct pull pull = { 0 };
	struct err err = { 0 };
	int r;

	/* A Gitea has nothing at this address if there is none. */
	if (answer->verdict == FORGE_GONE) {
		held->row->absent = true;
	} else if (is_good(floor, held, "it cannot be looked for", answer)) {
		r = pull_find(
		    answer->json, held->row, floor->login, &pull, &err);
		if (r == 0)
			pull_row_made(held->row, &pull);
		else if (r == -ENOENT)
			held->row->absent = true;
		else
			pull_trouble(
			    held, "its pull request cannot be opened", err.msg);
		pull_release(&pull);
	}
	pull_done(floor, held);
}

static void
on_made(const struct forge_answer *answer, void *arg)
{
	struct forge_floor *floor = arg;
	struct pull_held *held = floor->pull;
	struct pull pull = { 0 };
	struct err err = { 0 };

	held->row->absent = false; /* it may have been made all the same */
	if (is_good(floor, held, "its pull request cannot be opened", answer)) {
		if (pull_read(answer->json, &pull, &err) == 0)
			pull_row_made(held->row, &pull);
		else
			forge_rest(floor, err.msg);
		pull_release(&pull);
	}
	pull_done(floor, held);
}

static void
next_label(struct pull_held *held, const char *const *labels)
{
	held->label++;
	held->label_at = (struct forge_label){ 0 };
	if (labels[held->label] != NULL)
		return;
	held->label = 0;
	held->row->labelled = true;
}

static void
on_labelled(const struct forge_answer *answer, void *arg)
{
	struct forge_floor *floor = arg;
	struct pull_held *held = floor->pull;
	const char *const *labels;

	settings_list(floor->core->settings, "forge.labels", &labels);
	/* A label that cannot be set holds up nothing. */
	if (forge_settled(floor, answer))
		next_label(held, labels);
	pull_done(floor, held);
}

static void
on_labels(const struct forge_answer *answer, void *arg)
{
	struct forge_floor *floor = arg;
	struct pull_held *held = floor->pull;
	const char *const *labels;

	settings_list(floor->core->settings, "forge.labels", &labels);
	if (forge_refused(answer))
		next_label(held, labels);
	else if (forge_answered(floor, answer))
		forge_label_listed(
		    &held->label_at, labels[held->label], answer->json);
	pull_done(floor, held);
}

static void
on_label_made(const struct forge_answer *answer, void *arg)
{
	struct forge_floor *floor = arg;
	struct pull_held *held = floor->pull;
	const char *const *labels;

	settings_list(floor->core->settings, "forge.labels", &labels);
	/* It may have been made all the same. */
	held->label_at = (struct forge_label){ 0 };
	if (forge_refused(answer))
		next_label(held, labels);
	else if (forge_answered(floor, answer))
		held->label_at.id = forge_made_id(answer->json);
	pull_done(floor, held);
}

static void
on_described(const struct forge_answer *answer, void *arg)
{
	struct forge_floor *floor = arg;
	struct pull_held *held = floor->pull;

	/* Words that cannot be changed hold up nothing. */
	if (forge_settled(floor, answer))
		xstrset(&held->row->described, held->row->head);
	pull_done(floor, held);
}

static void
on_replied(const struct forge_answer *answer, void *arg)
{
	struct forge_floor *floor = arg;
	struct pull_held *held = floor->pull;

	held->no_reply = false;
	held->page = 1;
	if (forge_settled(floor, answer))
		held->row->replied = held->row->replies;
	pull_done(floor, held);
}

static void
on_comments(const struct forge_answer *answer, void *arg)
{
	struct forge_floor *floor = arg;
	struct pull_held *held = floor->pull;
	cleanup_buf struct buf marker = BUF_INIT;
	bool more = false;

	pull_reply_marker(held->row, &marker);
	if (forge_refused(answer)) {
		held->no_reply = true;
	} else if (forge_answered(floor, answer)) {
		if (forge_comment_find(answer->json, floor->login, marker.data,
			&more, NULL) != 0)
			held->row->replied = held->row->replies;
		else if (more && held->page < FORGE_PAGES_MAX)
			held->page++;
		else
			held->no_reply = true;
	}
	pull_done(floor, held);
}

static void
on_ready(const struct forge_answer *answer, void *arg)
{
	struct forge_floor *floor = arg;
	struct pull_held *held = floor->pull;
	bool good = answer->verdict == FORGE_GOOD &&
	    (floor->dialect != FORGE_GITHUB ||
		pull_graphql(answer->json, NULL) == 0);

	if (good || forge_settled(floor, answer))
		pull_row_readied(held->row, good);
	pull_done(floor, held);
}

static void
on_queued(const struct forge_answer *answer, void *arg)
{
	struct forge_floor *floor = arg;
	struct pull_held *held = floor->pull;

	pull_row_merging(held->row, true, answer->status, answer->json,
	    floor->dialect, answer->words, clock_wall_ms());
	pull_done(floor, held);
}

static void
on_merged(const struct forge_answer *answer, void *arg)
{
	struct forge_floor *floor = arg;
	struct pull_held *held = floor->pull;
	struct pull_row *row = held->row;

	if (pull_row_merging(row, false, answer->status, answer->json,
		floor->dialect, answer->words, clock_wall_ms())) {
		forge_send(floor,
		    &(struct forge_request){ .what = FORGE_QUEUE_PULL,
			.number = row->number,
			.node = row->node,
			.sha = row->pushed },
		    NULL, on_queued);
		return;
	}
	if (answer->verdict == FORGE_AGAIN && answer->status != 405 &&
	    answer->status != 409)
		forge_answered(floor, answer);
	pull_done(floor, held);
}

static void
merge(struct forge_floor *floor, const struct pull_row *row,
    struct forge_request *request)
{
	cleanup_buf struct buf title = BUF_INIT, trailers = BUF_INIT;
	const struct task *t = state_task(&floor->core->state, row->task);
	const char *slash = t != NULL && t->key != NULL &&
		strcmp(t->source, AUTO_PLAN_SOURCE) == 0 ?
	    strchr(t->key, '/') :
	    NULL;
	cleanup_free char *goal =
	    slash != NULL ? xstrndup(t->key, (size_t)(slash - t->key)) : NULL;

	pull_row_commit_title(row, &title);
	prompt_commit_trailers(row->task, goal, &trailers);
	request->what = FORGE_MERGE_PULL;
	request->sha = row->pushed;
	request->title = title.data;
	request->text = trailers.data;
	forge_send(floor, request, NULL, on_merged);
}

static void
on_closed(const struct forge_answer *answer, void *arg)
{
	struct forge_floor *floor = arg;
	struct pull_held *held = floor->pull;

	if (forge_settled(floor, answer))
		held->row->state = PULL_CLOSED;
	pull_done(floor, held);
}

/* --- a look -----------------------------------------------------------------
 */

static void look_on(struct forge_floor *floor, struct pull_held *held);

static void
on_permission(const struct forge_answer *answer, void *arg)
{
	struct forge_floor *floor = arg;
	struct pull_held *held = floor->pull;
	struct forge_request request = { 0 };
	bool gone = forge_refused(answer);

	if (!pull_look_request(&held->look, held->row, &request) ||
	    (!gone && !forge_answered(floor, answer))) {
		pull_done(floor, held);
		return;
	}
	trust_note(
	    floor, request.login, !gone && forge_may_write(answer->json));
	look_on(floor, held);
}

static void
on_looked(const struct forge_answer *answer, void *arg)
{
	struct forge_floor *floor = arg;
	struct pull_held *held = floor->pull;
	struct err err = { 0 };

	if (!forge_settled(floor, answer)) {
		pull_done(floor, held);
		return;
	}
	if (pull_look_answer(&held->look, held->row, floor->login,
		answer->verdict, answer->json, answer->text, answer->text_len,
		answer->tag, &err) < 0) {
		held->looks = false;
		pull_trouble(held, "it cannot be looked at", err.msg);
		held->rest_ms = clock_mono_ms() + FORGE_POLL_MS;
		pull_done(floor, held);
		return;
	}
	xstrset(&held->trouble, NULL);
	look_on(floor, held);
}

/* The next request of the look, or what follows from it. */
static void
look_on(struct forge_floor *floor, struct pull_held *held)
{
	struct forge_request request = { 0 };
	char nonce[ID_UUID_SIZE];

	held->look.dialect = floor->dialect;
	if (!held->looks)
		pull_look_begin(&held->look, held->row);
	held->looks = true;
	while (pull_look_request(&held->look, held->row, &request)) {
		int writes = request.what == FORGE_ASK_PERMISSION ?
		    trust_of(floor, request.login) :
		    -1;

		if (writes < 0) {
			forge_send(floor, &request,
			    request.what == FORGE_ASK_PERMISSION ?
				NULL :
				pull_look_tag(&held->look),
			    request.what == FORGE_ASK_PERMISSION ?
				on_permission :
				on_looked);
			return;
		}
		pull_look_trust(&held->look, request.login, writes);
		request = (struct forge_request){ 0 };
	}
	held->looks = false;
	id_uuid(nonce);
	pull_row_looked(
	    held->row, &held->look, floor->place.repo, nonce, clock_wall_ms());
	pull_done(floor, held);
	landings_kick(floor->mode->landings);
}

void
pull_ask(struct forge_floor *floor, struct pull_held *held, enum pull_duty duty)
{
	struct pull_row *row = held->row;
	struct forge_request request = { .number = row->number,
		.head = row->branch,
		.base = row->base,
		.node = row->node,
		.page = held->page };
	cleanup_buf struct buf title = BUF_INIT, text = BUF_INIT;
	bool draft = settings_bool(floor->core->settings, "forge.draft");
	char host[HOST_NAME_MAX + 1] = "";
	const char *hidden[4], *const *labels;

	pull_row_text(row, &text);
	request.title = title.data;
	request.text = text.data;
	switch (duty) {
	case PULL_FIND:
		request.what = FORGE_ASK_PULLS;
		forge_send(floor, &request, NULL, on_found);
		return;
	case PULL_MAKE:
		pull_row_title(row, floor->dialect, draft, &title);
		request.what = FORGE_MAKE_PULL;
		request.title = title.data;
		request.draft = draft;
		forge_send(floor, &request, NULL, on_made);
		return;
	case PULL_LABEL:
		settings_list(floor->core->settings, "forge.labels", &labels);
		forge_label_send(floor, &request, &held->label_at,
		    labels[held->label], on_labelled, on_labels, on_label_made);
		return;
	case PULL_DESCRIBE:
		request.what = FORGE_EDIT_PULL;
		request.title = NULL; /* a person may have changed it */
		forge_send(floor, &request, NULL, on_described);
		return;
	case PULL_REPLY:
		buf_clear(&text);
		pull_hidden(floor, host, hidden);
		pull_reply(row, hidden, &text);
		request.text = text.data;
		request.what =
		    held->no_reply ? FORGE_ADD_COMMENT : FORGE_ASK_COMMENTS;
		forge_send(floor, &request, NULL,
		    held->no_reply ? on_replied : on_comments);
		return;
	case PULL_LOOK:
		look_on(floor, held);
		return;
	case PULL_READY:
		pull_row_title(row, floor->dialect, false, &title);
		request.what = FORGE_READY_PULL;
		request.title = title.data;
		forge_send(floor, &request, NULL, on_ready);
		return;
	case PULL_MERGE:
		merge(floor, row, &request);
		return;
	case PULL_CLOSE:
		request.what = FORGE_CLOSE;
		forge_send(floor, &request, NULL, on_closed);
		return;
	default: /* it is not for the forge */
		forge_done(floor);
		return;
	}
}
