/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "auto.h"
#include "buf.h"
#include "forge-private.h"
#include "git.h"
#include "id.h"
#include "landing-record.h"
#include "landing.h"
#include "outcome.h"
#include "persist.h"
#include "prompt.h"
#include "pull.h"
#include "settings.h"
#include "task.h"

/* Before it is tried again: others have its branch; its task is busy. */
#define REJECTED_MS ((int64_t)30 * 1000)
#define BUSY_MS     ((int64_t)5 * 1000)

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

/* --- duties: what the forge is asked for -------------------------- */

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

/* --- duties: a look ----------------------------------------------- */

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

static void
ask(struct forge_floor *floor, struct pull_held *held, enum pull_duty duty)
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

/* --- duties: origin ----------------------------------------------- */

/* Somebody else's commits are at its branch: what we have is salvaged. */
static void
branch_taken(struct forge_floor *floor, struct pull_held *held)
{
	struct pull_row *row = held->row;
	struct task *t = pull_task(floor, row);
	cleanup_free char *asks_words = NULL;

	if (row->pushed != NULL || t == NULL) {
		row->others = true;
		row->poll_ms = 0;
		/* The forge may say that nobody has: not at once again. */
		held->rest_ms = clock_mono_ms() + REJECTED_MS;
		pull_done(floor, held);
		return;
	}
	asks_words = xasprintf(
	    "its branch %s is at origin already, with commits that are not of "
	    "this task; rename or delete it there; yes: try again, no: drop it",
	    row->branch);
	outcome_pull_back(floor->mode, t, asks_words, asks_words);
	xstrset(&t->pull, NULL);
	t->pull_asks = false;
	pull_forget(floor, held);
	forge_done(floor);
}

static void
on_pushed(enum push_answer result, const char *words, void *arg)
{
	struct forge_floor *floor = arg;
	struct pull_held *held = floor->pull;
	struct pull_row *row = held->row;

	if (result != PUSH_AWAY)
		floor->git_tries = 0;
	switch (result) {
	case PUSH_OK:
		xstrset(&held->trouble, NULL);
		xstrset(&row->pushed, floor->pushing);
		row->pushed_ms = clock_wall_ms();
		row->poll_ms = 0;
		break;
	case PUSH_REJECTED:
		branch_taken(floor, held);
		return;
	case PUSH_REFUSED:
		pull_trouble(held, "origin does not take its branch", words);
		break;
	case PUSH_AWAY:
	case PUSH_UNKNOWN:
	case PUSH_ANSWER_COUNT:
		forge_rest(floor, words);
		break;
	}
	pull_done(floor, held);
}

/* What somebody else has by now is theirs. */
static void
on_deleted(enum push_answer result, const char *words, void *arg)
{
	struct forge_floor *floor = arg;

	if (result == PUSH_AWAY)
		forge_rest(floor, words);
	else
		xstrset(&floor->pull->row->pushed, NULL);
	pull_done(floor, floor->pull);
}

static void
push(struct forge_floor *floor, const struct pull_row *row, bool delete)
{
	cleanup_free char *ref = xasprintf("refs/heads/%s", row->branch);

	xstrset(&floor->pushing, delete ? NULL : row->head);
	git_upstream_push(floor->git,
	    &(struct git_push_spec){ .remote = "origin",
		.commit = floor->pushing,
		.ref = ref,
		.expected = row->pushed != NULL ? row->pushed : "" },
	    delete ? on_deleted : on_pushed, floor);
}

/* --- duties: how its task ends ------------------------------------ */

static void
land(struct forge_floor *floor, struct pull_held *held)
{
	struct pull_row *row = held->row;
	struct task *t = pull_task(floor, row);

	row->ended = true; /* the task may end here and now */
	if (t != NULL &&
	    auto_pull_merged(floor->mode, t,
		row->commit != NULL ? row->commit : row->head,
		!row->others) < 0) {
		row->ended = false;
		held->rest_ms = clock_mono_ms() + BUSY_MS;
	}
	pull_done(floor, held);
}

/* Has the branch what was merged? Those who need it begin there. */
static void
on_ancestor(const struct git_answer *answer, void *arg)
{
	struct forge_floor *floor = arg;
	struct pull_held *held = floor->pull;

	if (answer->status == 0) {
		land(floor, held);
		return;
	}
	held->rest_ms = clock_mono_ms() + FORGE_POLL_MS;
	landings_follow(floor->mode->landings);
	pull_done(floor, held);
}

static void
merged(struct forge_floor *floor, struct pull_held *held)
{
	cleanup_free char *branch =
	    xasprintf("refs/heads/%s", core_branch(floor->core));
	const char *const args[] = { "merge-base", "--is-ancestor",
		held->row->commit, branch, NULL };

	if (held->row->commit == NULL ||
	    upstream_mode_of(floor->core->settings) == UPSTREAM_OFF)
		land(floor, held);
	else
		git_run(git_queue(floor->git, git_root(floor->git)),
		    &(struct git_command){ .args = args }, on_ancestor, floor);
}

static void
declined(struct forge_floor *floor, struct pull_held *held)
{
	struct pull_row *row = held->row;
	struct task *t = pull_task(floor, row);
	cleanup_free char *reason =
	    xasprintf("its pull request #%" PRId64 " was closed by a person",
		row->number);
	int r = 0;

	row->ended = true;
	if (t != NULL)
		r = outcome_drop(floor->mode, t, reason, NULL);
	if (r == -EBUSY || r == -EINPROGRESS) {
		row->ended = false;
		held->rest_ms = clock_mono_ms() + BUSY_MS;
	}
	pull_done(floor, held);
}

/* Its worker had its turns: a person says whether it gets more. */
static void
ask_person(struct forge_floor *floor, struct pull_held *held)
{
	struct pull_row *row = held->row;
	struct pull_rules rules = pull_rules_of(floor, row);
	struct task *t = pull_task(floor, row);
	cleanup_buf struct buf words = BUF_INIT;

	row->asked = pull_row_why(row, &rules);
	if (row->asked == PULL_WHY_ROUNDS && t != NULL) {
		pull_row_question(row, row->asked, &words);
		buf_adds(&words, " Yes: let it try again, no: give it up.");
		outcome_pull_back(floor->mode, t, row->turn_text, words.data);
	}
	pull_done(floor, held);
}

static void
unask(struct forge_floor *floor, struct pull_held *held)
{
	struct task *t = pull_task(floor, held->row);

	if (held->row->asked == PULL_WHY_ROUNDS && t != NULL &&
	    t->step == TASK_PARKED)
		task_move(t, TASK_QUEUED, clock_wall_ms(), NULL);
	held->row->asked = PULL_WHY_NONE;
	persist_changed(floor->core);
	pull_done(floor, held);
}

static void
send_turn(struct forge_floor *floor, struct pull_held *held)
{
	struct task *t = pull_task(floor, held->row);

	pull_row_sent(held->row);
	if (t != NULL)
		outcome_pull_back(floor->mode, t, held->row->turn_text, NULL);
	pull_done(floor, held);
}

/* --- what is next ------------------------------------------------- */

static void
act(struct forge_floor *floor, struct pull_held *held, enum pull_duty duty)
{
	floor->pull = held;
	floor->busy = true;
	switch (duty) {
	case PULL_PUSH:
	case PULL_DELETE_BRANCH:
		push(floor, held->row, duty == PULL_DELETE_BRANCH);
		return;
	case PULL_SEND_TURN:
		send_turn(floor, held);
		return;
	case PULL_ASK_PERSON:
		ask_person(floor, held);
		return;
	case PULL_UNASK:
		unask(floor, held);
		return;
	case PULL_LANDED:
		merged(floor, held);
		return;
	case PULL_DECLINED:
		declined(floor, held);
		return;
	case PULL_FORGET:
		pull_forget(floor, held);
		forge_done(floor);
		return;
	default:
		ask(floor, held, duty);
		return;
	}
}

/* Its task goes on in the queue or with a worker: nothing is sent to it, and
 * nothing is asked, before that has ended. */
static bool
waits_for_task(const struct forge_floor *floor, const struct pull_held *held,
    enum pull_duty duty)
{
	const struct task *t = pull_task(floor, held->row);

	return (duty == PULL_SEND_TURN || duty == PULL_ASK_PERSON) &&
	    t != NULL &&
	    (t->step != TASK_QUEUED ||
		landing_record_of_task(&floor->core->state.landings, t->id) !=
		    NULL);
}

bool
pulls_act(struct forge_floor *floor)
{
	int64_t mono = clock_mono_ms();

	for (size_t i = 0; i < floor->pull_count; i++) {
		struct pull_held *held = floor->pulls[i];
		struct pull_rules rules = pull_rules_of(floor, held->row);
		enum pull_duty duty =
		    pull_row_duty(held->row, &rules, clock_wall_ms());

		if (duty == PULL_WAIT || held->rest_ms > mono ||
		    waits_for_task(floor, held, duty))
			continue;
		act(floor, held, duty);
		return true;
	}
	return false;
}
