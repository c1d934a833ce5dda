/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "asks.h"
#include "auto.h"
#include "emit.h"
#include "forge-floor.h"
#include "forge-private.h"
#include "landing-record.h"
#include "landing.h"
#include "life.h"
#include "loop.h"
#include "persist.h"
#include "settings.h"
#include "task.h"
#include "workspace.h"

#define PATIENCE_MS ((int64_t)10 * 60 * 1000)

/* Is there anything to do at a forge? */
static bool
is_wanted(const struct forge_floor *floor)
{
	return floor->takes || floor->pull_count > 0 ||
	    (!floor->core->options->oneshot &&
		lands_by_pull(floor->core->settings));
}

/* Does a run that ends when nothing is left wait for us? Not for tasks, which
 * it knows, and not for long if the forge is away: what is left to do there is
 * done by the next daemon. */
static bool
expects(void *arg)
{
	const struct forge_floor *floor = arg;

	if (!is_wanted(floor) ||
	    (floor->away &&
		(floor->refused ||
		    clock_mono_ms() - floor->away_ms > PATIENCE_MS)))
		return false;
	return rows_expect(floor) || pulls_expect(floor) ||
	    (floor->takes && !floor->listed) ||
	    floor->candidate.step != CANDIDATE_NONE ||
	    floor->next < floor->list.count;
}

/* Why the work of this task must not land. Somebody who was asleep for long, or
 * without an origin, may have lost its issue: the claim is renewed first, for
 * which nothing else is to be done. */
static const char *
lost(void *arg, const char *task)
{
	struct forge_floor *floor = arg;
	const struct forge_row *row = rows_unowned(floor, task);

	if (row == NULL || !is_wanted(floor)) /* nobody renews it */
		return NULL;
	free(floor->late);
	floor->late = row->lost ?
	    xasprintf("its issue #%" PRId64 " was taken over by somebody else",
		row->number) :
	    xasprintf("its issue #%" PRId64 " may have been taken over by "
		      "somebody else: it waits until origin says%s%s",
		row->number, floor->unusable != NULL ? "; " : "",
		floor->unusable != NULL ? floor->unusable : "");
	return floor->late;
}

/* If that has changed, it is told. */
static void
tell_mode(struct forge_floor *floor)
{
	bool awaited = expects(floor);

	if (floor->awaited && !awaited)
		auto_plan_changed(floor->mode);
	floor->awaited = awaited;
}

/* --- where it is, and who we are there ---------------------------- */

/* The token goes to the server for which it was used first: whoever can write
 * to .git/config, as agents can, must not choose another one. What a person has
 * set counts. */
static int
check_place(struct forge_floor *floor, struct err *err)
{
	struct core *core = floor->core;
	const char *url = settings_string(core->settings, "forge.url");
	const char *repo = settings_string(core->settings, "forge.repo");
	cleanup_free char *now =
	    xasprintf("%s %s", floor->place.api, floor->place.repo);

	if (core->state.forge != NULL && strcmp(core->state.forge, now) != 0 &&
	    (url[0] == '\0' || repo[0] == '\0')) {
		err_set(err, -EPERM,
		    "the remote origin leads to %s, and the token was used "
		    "for %s: nothing is asked there before you have set "
		    "forge.url and forge.repo",
		    now, core->state.forge);
		asks_open(core,
		    &(struct ask_draft){ .kind = ASK_TOLD,
			.level = ESCALATION_CRITICAL,
			.key = FORGE_ASK,
			.title = "origin leads to another forge",
			.words = err->msg,
			.command = "llmc config set forge.url URL",
			.stays = true });
		return err->code;
	}
	xstrset(&core->state.forge, now);
	persist_changed(core);
	return 0;
}

static void
on_origin(const struct git_answer *answer, void *arg)
{
	struct forge_floor *floor = arg;
	const struct settings *settings = floor->core->settings;
	const char *token = settings_string(settings, "forge.token_file");
	cleanup_free char *origin = xstrndup(
	    answer->out, answer->status == 0 ? strcspn(answer->out, "\n") : 0);
	cleanup_free char *file =
	    workspace_path(floor->core->workspace, "forge.body");
	cleanup_free char *token_file = token[0] == '\0' ?
	    NULL :
	    workspace_resolve(floor->core->workspace, token);
	struct err err = { 0 };

	floor->dialect =
	    forge_dialect_of(settings_string(settings, "auto.source"),
		settings_string(settings, "forge.kind"), origin);
	if (answer->status != 0)
		err_set(&err, -ENOENT,
		    "issues are claimed, and pull requests made, at the remote "
		    "origin, which this repository does not have");
	else if (floor->dialect == FORGE_NONE)
		err_set(&err, -EINVAL,
		    "auto.land is pull-request, and it is not known what "
		    "origin is: set forge.kind to github or gitea");
	else
		forge_place_init(&floor->place, floor->dialect,
		    settings_string(settings, "forge.url"),
		    settings_string(settings, "forge.repo"), origin, &err);
	if (err.code == 0 && token_file == NULL &&
	    floor->dialect == FORGE_GITEA)
		err_set(&err, -EINVAL, "forge.token_file is not set");
	if (err.code == 0)
		check_place(floor, &err);
	if (err.code < 0) {
		/* The settings are read at the start. */
		forge_away(floor, EVENT_FORGE_REFUSES, err.msg);
		xstrset(&floor->unusable, err.msg);
		floor->busy = false;
		tell_mode(floor);
		landings_kick(floor->mode->landings);
		return;
	}
	floor->http =
	    forge_http_new(floor->core->loop, &floor->place, token_file, file);
	forge_done(floor);
}

static void
on_user(const struct forge_answer *answer, void *arg)
{
	struct forge_floor *floor = arg;

	if (forge_answered(floor, answer)) {
		xstrset(&floor->login, forge_login(answer->json));
		if (floor->login == NULL)
			forge_rest(
			    floor, "the forge does not say whose its token is");
	}
	forge_done(floor);
}

/* --- the list ----------------------------------------------------- */

static bool
is_full(struct json_object *json)
{
	return json_object_is_type(json, json_type_array) &&
	    json_object_array_length(json) >= FORGE_LIST_MAX;
}

static void
on_issues(const struct forge_answer *answer, void *arg)
{
	struct forge_floor *floor = arg;
	struct forge_issues issues = { 0 };
	struct err err = { 0 };

	if (!forge_answered(floor, answer)) {
		forge_done(floor);
		return;
	}
	floor->poll_ms = clock_mono_ms() + FORGE_POLL_MS;
	if (answer->verdict == FORGE_GOOD &&
	    forge_issues_read(answer->json, &issues, &err) < 0) {
		floor->page = 0;
		forge_rest(floor, err.msg);
	} else if (answer->verdict == FORGE_GOOD && is_full(answer->json) &&
	    floor->page < FORGE_PAGES_MAX) {
		/* The pages are one list, of which priority decides. */
		if (floor->page == 0)
			forge_issues_release(&floor->coming);
		forge_issues_join(&floor->coming, &issues);
		floor->page = floor->page == 0 ? 2 : floor->page + 1;
		floor->poll_ms = 0;
	} else {
		if (answer->verdict == FORGE_GOOD) {
			floor->whole = floor->page == 0;
			if (floor->page > 0) {
				forge_issues_join(&floor->coming, &issues);
				issues = floor->coming;
				floor->coming = (struct forge_issues){ 0 };
			}
			forge_issues_release(&floor->list);
			floor->list = issues;
			/* It is of one page. */
			xstrset(&floor->tag,
			    answer->tag[0] == '\0' || !floor->whole ?
				NULL :
				answer->tag);
		}
		floor->page = 0;
		floor->next = 0; /* somebody's claim may have ended */
		floor->listed = true;
		rows_compare(floor);
	}
	forge_done(floor);
}

/* --- what is next ------------------------------------------------- */

static void
look_soon(void *arg)
{
	struct forge_floor *floor = arg;

	loop_timer_free(take_ptr(&floor->timer));
	loop_call_request(floor->look);
}

/* Begin what is due; if nothing is, look again when something may be. */
static void
begin_next(struct forge_floor *floor)
{
	static const char *const args[] = { "remote", "get-url", "origin",
		NULL };
	int64_t now = clock_mono_ms(), wait, due;

	if (floor->http == NULL) {
		floor->busy = true;
		git_run(git_queue(floor->git, git_root(floor->git)),
		    &(struct git_command){ .args = args }, on_origin, floor);
		return;
	}
	wait = floor->rest_ms - now;
	if (wait > 0) {
		/* Claims are at origin, and others count the minutes. */
		if (floor->git_rest_ms <= now && rows_act(floor, true))
			return;
		due = rows_wait_ms(floor, true);
		if (due < floor->git_rest_ms - now)
			due = floor->git_rest_ms - now;
		wait = due < wait ? due : wait;
	} else {
		int64_t least = INT64_MAX;
		int64_t mono;

		if (floor->login == NULL) {
			forge_send(floor,
			    &(struct forge_request){ .what = FORGE_ASK_USER },
			    NULL, on_user);
			return;
		}
		if (rows_act(floor, false) || pulls_act(floor) ||
		    candidate_act(floor))
			return;
		if (floor->takes && floor->mode->begun &&
		    floor->poll_ms <= now) {
			forge_send(floor,
			    &(struct forge_request){
				.what = FORGE_ASK_ISSUES, .page = floor->page },
			    floor->tag, on_issues);
			return;
		}
		wait = rows_wait_ms(floor, false);
		mono = clock_mono_ms();
		for (size_t i = 0; i < floor->pull_count; i++) {
			const struct pull_held *held = floor->pulls[i];
			int64_t ms =
			    pull_row_wait_ms(held->row, clock_wall_ms());

			if (held->rest_ms > mono)
				ms = held->rest_ms - mono;
			least = ms < least ? ms : least;
		}
		due = least;
		wait = due < wait ? due : wait;
		due = floor->takes && floor->mode->begun ?
		    floor->poll_ms - now :
		    INT64_MAX;
		wait = due < wait ? due : wait;
	}
	loop_timer_free(take_ptr(&floor->timer));
	if (wait != INT64_MAX)
		floor->timer =
		    loop_after(floor->core->loop, wait, look_soon, floor);
}

static void
look(void *arg)
{
	struct forge_floor *floor = arg;

	if (!is_wanted(floor) || floor->core->stopping)
		return;
	rows_stop(floor);
	if (floor->busy || floor->unusable != NULL)
		return;
	begin_next(floor);
	tell_mode(floor);
}

static void
on_event(const struct event *event, void *arg)
{
	struct forge_floor *floor = arg;

	if (event->kind == EVENT_TASK_FINISHED && event->task != NULL) {
		enum task_outcome outcome = OUTCOME_NONE;

		task_outcome_parse(event->outcome, &outcome);
		rows_ended(floor, event->task, event->commit,
		    outcome == OUTCOME_LANDED || outcome == OUTCOME_NO_CHANGES,
		    event->reason);
	}
	pulls_event(floor, event);
	loop_call_request(floor->look);
}

/* --- the floor ---------------------------------------------------- */

static void
floor_begin(void *self)
{
	struct forge_floor *floor = self;
	struct core *core = floor->core;

	floor->takes = !core->options->oneshot &&
	    strcmp(settings_string(core->settings, "auto.source"), "local") !=
		0;
	floor->owner = xasprintf("llmc-%.8s", core->state.root_id);
	rows_load(floor);
	pulls_load(floor);
	if (!core->options->oneshot)
		asks_resolve(core, FORGE_ASK); /* it is asked anew */
	life_floor_begun(core);
	loop_call_request(floor->look);
}

static void
floor_patrol(void *self, bool all)
{
	struct forge_floor *floor = self;

	(void)all;
	loop_call_request(floor->look);
}

/* What is under way may be ended at any time: it is asked again. */
static void
floor_stop(void *self)
{
	struct forge_floor *floor = self;

	loop_timer_free(take_ptr(&floor->timer));
	forge_http_free(take_ptr(&floor->http));
	git_free(take_ptr(&floor->git));
	persist_forget(floor->core, floor);
	candidate_release(floor);
}

struct forge_floor *
forge_floor_new(struct auto_mode *mode)
{
	struct forge_floor *floor = xcalloc(1, sizeof *floor);
	struct core *core = mode->core;

	floor->core = core;
	floor->mode = mode;
	floor->floor = (struct core_floor){
		.self = floor,
		.begin = floor_begin,
		.patrol = floor_patrol,
		.stop = floor_stop,
	};
	floor->git = git_new(
	    core->loop, &(struct git_options){ .root = core->workspace->root });
	floor->look = loop_call_new(core->loop, look, floor);
	core_add_floor(core, &floor->floor);
	candidate_register(floor);
	auto_set_feed(mode, expects, lost, floor);
	emit_subscribe(core, on_event, floor);
	return floor;
}

void
forge_floor_free(struct forge_floor *floor)
{
	if (floor == NULL)
		return;
	emit_unsubscribe(floor->core, on_event, floor);
	auto_set_feed(floor->mode, NULL, NULL, NULL);
	floor_stop(floor);
	loop_call_free(floor->look);
	forge_place_release(&floor->place);
	forge_issues_release(&floor->list);
	forge_issues_release(&floor->coming);
	rows_free(floor);
	pulls_free(floor);
	for (size_t i = 0; i < floor->trust_count; i++)
		free(floor->trusts[i].login);
	free(floor->trusts);
	free(floor->rivals);
	strv_free(floor->left);
	free(floor->lefts);
	free(floor->owner);
	free(floor->login);
	free(floor->tag);
	free(floor->late);
	free(floor);
}
