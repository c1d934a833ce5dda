/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <strings.h>

#include "api.h"
#include "auto.h"
#include "buf.h"
#include "emit.h"
#include "forge-private.h"
#include "id.h"
#include "loop.h"
#include "schema.h"
#include "serve.h"
#include "settings.h"
#include "task.h"

#define TRUST_MS ((int64_t)10 * 60 * 1000)

/* --- who may write ------------------------------------------------ */

int
trust_of(const struct forge_floor *floor, const char *login)
{
	const char *const *trusted;

	settings_list(floor->core->settings, "forge.trusted", &trusted);
	for (; *trusted != NULL; trusted++)
		if (strcasecmp(*trusted, login) == 0)
			return 1;
	for (size_t i = 0; i < floor->trust_count; i++)
		if (strcasecmp(floor->trusts[i].login, login) == 0 &&
		    clock_mono_ms() - floor->trusts[i].at_ms < TRUST_MS)
			return floor->trusts[i].writes;
	return -1;
}

void
trust_note(struct forge_floor *floor, const char *login, bool writes)
{
	struct trust *trust = NULL;

	for (size_t i = 0; i < floor->trust_count; i++)
		if (strcasecmp(floor->trusts[i].login, login) == 0)
			trust = &floor->trusts[i];
	if (trust == NULL) {
		floor->trusts = xreallocarray(floor->trusts,
		    floor->trust_count + 1, sizeof *floor->trusts);
		trust = &floor->trusts[floor->trust_count++];
		trust->login = xstrdup(login);
	}
	trust->writes = writes;
	trust->at_ms = clock_mono_ms();
}

/* --- the end ------------------------------------------------------ */

void
candidate_release(struct forge_floor *floor)
{
	struct candidate *c = &floor->candidate;

	if (c->call != NULL)
		serve_fail(
		    floor->core, c->call, API_FAILED, "the daemon stops");
	forge_issue_release(&c->issue);
	free(c->labeller);
	*c = (struct candidate){ .step = CANDIDATE_NONE };
}

/* Who may write does not change every minute, and a forge counts questions: an
 * issue that was left is looked at again when it changes, or later. */
static struct left *
left_of(const struct forge_floor *floor, int64_t number)
{
	for (size_t i = 0; i < floor->left_count; i++)
		if (floor->lefts[i].number == number)
			return &floor->lefts[i];
	return NULL;
}

static void
note_left(struct forge_floor *floor, const struct forge_issue *issue)
{
	struct left *left = left_of(floor, issue->number);

	if (left == NULL) {
		floor->lefts = xreallocarray(
		    floor->lefts, floor->left_count + 1, sizeof *floor->lefts);
		left = &floor->lefts[floor->left_count++];
	}
	*left =
	    (struct left){ .number = issue->number, .at_ms = clock_mono_ms() };
	strlcpy(left->updated, issue->updated, sizeof left->updated);
}

static bool
is_left(const struct forge_floor *floor, const struct forge_issue *issue)
{
	const struct left *left = left_of(floor, issue->number);

	return left != NULL && strcmp(left->updated, issue->updated) == 0 &&
	    clock_mono_ms() - left->at_ms < TRUST_MS;
}

/* It is not taken; told once, for as long as that is so. */
static void
leave(struct forge_floor *floor, const char *why)
{
	struct candidate *c = &floor->candidate;
	struct server_call *call = take_ptr(&c->call);
	cleanup_free char *key = xasprintf("%" PRId64, c->issue.number);
	cleanup_free char *said = xasprintf("%s %s", key, why);

	if (call != NULL)
		serve_fail(floor->core, call, API_FAILED, why);
	else if (why[0] != '\0' && !strv_has(strv_const(floor->left), said)) {
		strv_add(&floor->left, said);
		EMIT(floor->core, EVENT_ISSUE_LEFT, .key = key, .reason = why);
	}
	if (c->claim[0] != '\0')
		c->step = CANDIDATE_DROP;
	else
		candidate_release(floor);
}

static void
take_on_dropped(struct forge_floor *floor, enum push_answer result,
    const char *claim, const char *words)
{
	(void)claim;
	if (result == PUSH_AWAY)
		forge_rest(floor, words);
	else
		candidate_release(floor);
	forge_done(floor);
}

/* The record, and the task: one transaction. */
static void
take(struct forge_floor *floor)
{
	struct core *core = floor->core;
	struct candidate *c = &floor->candidate;
	cleanup_free char *id = state_task_id(&core->state);
	cleanup_free char *key = xasprintf("%" PRId64, c->issue.number);
	cleanup_buf struct buf prompt = BUF_INIT, text = BUF_INIT;
	struct forge_row *row = schema_new(&forge_row_schema);
	int64_t now = clock_wall_ms();
	char nonce[ID_UUID_SIZE];
	struct task *task;

	id_uuid(nonce);
	forge_prompt(&floor->place, &c->issue, nonce, &prompt);
	forge_issue_text(&c->issue, &text);
	task =
	    task_new(id, FORGE_SOURCE, key, c->issue.title, prompt.data, now);
	task->priority = c->issue.priority;
	task_take(task, now);
	*row = (struct forge_row){ .number = c->issue.number,
		.url = xstrdup(c->issue.url),
		.title = xstrdup(c->issue.title),
		.text = xstrdup(text.data),
		.task = xstrdup(id),
		.claim = xstrdup(c->claim),
		.epoch = 1,
		.renewed_ms = now,
		.hand = c->hand };
	rows_add(floor, row);
	EMIT(core, EVENT_ISSUE_TAKEN, .key = key, .task = id,
	    .title = c->issue.title);
	auto_add_task(floor->mode, task);
	if (c->call != NULL) {
		struct json_object *result = json_object_new_object();

		json_set_string(result, "task", id);
		serve_reply(core, take_ptr(&c->call), result);
	}
	candidate_release(floor);
}

/* --- the steps ---------------------------------------------------- */

static void
on_events(const struct forge_answer *answer, void *arg)
{
	struct forge_floor *floor = arg;
	struct candidate *c = &floor->candidate;
	bool more = false, set = false;
	char *who;

	if (answer->verdict == FORGE_GONE)
		leave(floor, "");
	else if (forge_answered(floor, answer)) {
		who = forge_labeller(
		    answer->json, floor->place.dialect, &more, &set);
		if (set) {
			free(c->labeller);
			c->labeller = who;
		}
		if (more && c->page < FORGE_PAGES_MAX)
			c->page++;
		else if (c->labeller == NULL) {
			note_left(floor, &c->issue);
			leave(
			    floor, "no person has set its label " FORGE_LABEL);
		} else
			c->step = CANDIDATE_LABELLER;
	}
	forge_done(floor);
}

static void
on_needed(const struct forge_answer *answer, void *arg)
{
	struct forge_floor *floor = arg;
	struct candidate *c = &floor->candidate;
	bool gone = answer->verdict == FORGE_GONE;
	cleanup_free char *why = NULL;

	if (gone || forge_answered(floor, answer)) {
		why = xasprintf("it needs #%" PRId64 ", which is %s",
		    c->issue.needs[c->need], gone ? "not there" : "open");
		if (!gone &&
		    strcmp(json_string_or(answer->json, "state", ""),
			"closed") == 0)
			c->need++;
		else
			leave(floor, why);
	}
	forge_done(floor);
}

static const char *
asked_about(const struct candidate *c)
{
	return c->step == CANDIDATE_LABELLER ? c->labeller : c->issue.author;
}

/* Who may not ask, as of a Gitea without admin rights, trusts those whom the
 * settings name. */
static void
on_permission(const struct forge_answer *answer, void *arg)
{
	struct forge_floor *floor = arg;

	if (forge_refused(answer))
		trust_note(floor, asked_about(&floor->candidate), false);
	else if (forge_answered(floor, answer))
		trust_note(floor, asked_about(&floor->candidate),
		    forge_may_write(answer->json));
	forge_done(floor);
}

static void
on_watched(struct forge_floor *floor, enum push_answer result,
    const char *claim, const char *words)
{
	(void)claim;
	if (result == PUSH_AWAY)
		forge_rest(floor, words);
	else
		words = "somebody else has claimed it";
	if (floor->candidate.call != NULL)
		leave(floor, words);
	else if (result != PUSH_AWAY)
		leave(floor, "");
	forge_done(floor);
}

static void
on_claimed(struct forge_floor *floor, enum push_answer result,
    const char *claim, const char *words)
{
	struct candidate *c = &floor->candidate;

	if (result == PUSH_OK) {
		strlcpy(c->claim, claim, sizeof c->claim);
		c->step = CANDIDATE_READ;
	} else if (result == PUSH_REJECTED) {
		claim_watch(floor, c->issue.number, on_watched);
		return;
	} else if (result == PUSH_REFUSED) {
		leave(floor, words);
	} else {
		forge_rest(floor, words);
		if (c->call != NULL) /* a person does not wait for origin */
			leave(floor, words);
	}
	forge_done(floor);
}

/* Whoever had the claim before us has changed the issue before giving it up:
 * what it says now counts. */
static void
on_read(const struct forge_answer *answer, void *arg)
{
	struct forge_floor *floor = arg;
	struct candidate *c = &floor->candidate;
	bool named = c->step == CANDIDATE_NAMED;
	struct forge_issue issue;
	struct err err = { 0 };
	const char *unfit;

	if (answer->verdict == FORGE_GONE) {
		leave(floor, "there is no such issue");
	} else if (!forge_answered(floor, answer)) {
		if (c->call != NULL)
			leave(floor, answer->words);
	} else if (forge_issue_read(answer->json, &issue, &err) < 0) {
		leave(floor, err.msg);
	} else {
		cleanup_buf struct buf before = BUF_INIT, now = BUF_INIT;

		if (c->hand) /* by the word of a person */
			issue.labelled = true;
		unfit = forge_issue_unfit(&issue);
		if (c->hand && unfit != NULL && unfit[0] == '\0')
			unfit = issue.open ? NULL : "it is closed";
		if (!named) {
			forge_issue_text(&c->issue, &before);
			forge_issue_text(&issue, &now);
		}
		forge_issue_release(&c->issue);
		c->issue = issue;
		if (unfit != NULL)
			leave(floor, unfit);
		else if (named)
			c->step = CANDIDATE_CLAIM;
		else if (strcmp(before.data, now.data) != 0)
			leave(floor, ""); /* looked at again with the list */
		else
			take(floor);
	}
	forge_done(floor);
}

static void
check_trust(struct forge_floor *floor)
{
	struct candidate *c = &floor->candidate;
	const char *who = asked_about(c);
	int trusted = trust_of(floor, who);
	cleanup_free char *why = NULL;

	if (trusted < 0) {
		forge_send(floor,
		    &(struct forge_request){
			.what = FORGE_ASK_PERMISSION, .login = who },
		    NULL, on_permission);
		return;
	}
	if (trusted) {
		c->step++;
	} else {
		why = xasprintf("%s %s, who may not write to %s",
		    c->step == CANDIDATE_LABELLER ? "its label was set by" :
						    "it was written by",
		    who, floor->place.repo);
		note_left(floor, &c->issue);
		leave(floor, why);
	}
	forge_done(floor);
}

static void
act(struct forge_floor *floor)
{
	struct candidate *c = &floor->candidate;
	struct forge_request request = { .number = c->issue.number,
		.page = c->page };
	const char *expected;

	floor->busy = true;
	switch (c->step) {
	case CANDIDATE_NEEDS:
		request.what = FORGE_ASK_ISSUE;
		request.number = c->issue.needs[c->need];
		forge_send(floor, &request, NULL, on_needed);
		return;
	case CANDIDATE_EVENTS:
		request.what = FORGE_ASK_EVENTS;
		forge_send(floor, &request, NULL, on_events);
		return;
	case CANDIDATE_LABELLER:
	case CANDIDATE_AUTHOR:
		check_trust(floor);
		return;
	case CANDIDATE_CLAIM:
		expected = claim_expects(floor, c->issue.number);
		if (expected == NULL)
			claim_watch(floor, c->issue.number, on_watched);
		else
			claim_take(
			    floor, c->issue.number, 1, expected, on_claimed);
		return;
	case CANDIDATE_NAMED:
	case CANDIDATE_READ:
		request.what = FORGE_ASK_ISSUE;
		forge_send(floor, &request, NULL, on_read);
		return;
	case CANDIDATE_DROP:
	case CANDIDATE_NONE:
		claim_drop(floor, c->issue.number, c->claim, take_on_dropped);
		return;
	}
}

/* One of them that waits for a worker is enough: others may have the rest. */
static bool
has_room(const struct forge_floor *floor)
{
	const struct state *state = &floor->core->state;

	if (!floor->mode->begun || state->paused != NULL)
		return false;
	for (size_t i = 0; i < state->task_count; i++)
		if (strcmp(state->tasks[i]->source, FORGE_SOURCE) == 0 &&
		    state->tasks[i]->step == TASK_WAITING)
			return false;
	return true;
}

bool
candidate_act(struct forge_floor *floor)
{
	struct candidate *c = &floor->candidate;

	while (c->step == CANDIDATE_NONE && floor->next < floor->list.count &&
	    has_room(floor)) {
		struct forge_issue *issue = &floor->list.list[floor->next++];
		const char *unfit = forge_issue_unfit(issue);

		if (rows_find(floor, issue->number) != NULL ||
		    is_left(floor, issue))
			continue;
		c->step = CANDIDATE_NEEDS;
		c->page = 1;
		/* The list still has it, to be compared with. */
		c->issue = *issue;
		c->issue.title = xstrdup(issue->title);
		c->issue.text = xstrdup(issue->text);
		c->issue.author = xstrdup(issue->author);
		c->issue.url = xstrdup(issue->url);
		c->issue.updated = xstrdup(issue->updated);
		if (unfit != NULL)
			leave(floor, unfit);
	}
	if (c->step == CANDIDATE_NONE)
		return false;
	if (c->step == CANDIDATE_NEEDS && c->need == c->issue.need_count)
		c->step = CANDIDATE_EVENTS;
	act(floor);
	return true;
}

/* --- by hand ------------------------------------------------------ */

static void
on_call(void *arg, struct server_call *call, struct json_object *params)
{
	struct forge_floor *floor = arg;
	const char *typed = json_string_or(params, "issue", "");
	struct err err = { 0 };
	int64_t number = 0;

	if (!floor->takes) {
		serve_refuse(call, API_FAILED,
		    "issues can be taken once auto.source is set to github or "
		    "gitea, and the daemon was started again");
	} else if (floor->place.api == NULL || floor->login == NULL ||
	    floor->candidate.step != CANDIDATE_NONE) {
		serve_refuse(call, API_BUSY,
		    "the forge has not answered yet; try again in a moment");
	} else if (forge_place_issue(&floor->place, typed, &number, &err) < 0) {
		serve_refuse(call, API_FAILED, "%s", err.msg);
	} else if (rows_find(floor, number) != NULL &&
	    rows_find(floor, number)->step != FORGE_KEPT) {
		serve_refuse(call, API_FAILED, "it was taken already, as %s",
		    rows_find(floor, number)->task);
	} else {
		if (rows_find(floor, number) != NULL)
			rows_remove(floor, rows_find(floor, number));
		floor->candidate = (struct candidate){ .step = CANDIDATE_NAMED,
			.hand = true,
			.call = call,
			.issue.number = number };
		loop_call_request(floor->look);
	}
}

void
candidate_register(struct forge_floor *floor)
{
	serve_handle(floor->core, "task.from", on_call, floor);
}
