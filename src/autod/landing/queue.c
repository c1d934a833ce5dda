/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "core.h"
#include "emit.h"
#include "git-facts.h"
#include "git.h"
#include "landing-private.h"
#include "landing-record.h"
#include "loop.h"
#include "persist.h"
#include "person.h"
#include "prompt.h"
#include "settings-table.h"
#include "settings.h"
#include "workspace.h"

static void queue_wake(struct queue *queue, int64_t ms);

#define BASE_RETRY_MS     200 /* times the number of failures, */
#define BASE_RETRY_MAX_MS 60000 /* up to this */
#define BASE_TRIES        5 /* then a person must know */

static void
use_known(struct queue *queue)
{
	xstrset(&queue->base_commit, queue->known_commit);
	xstrset(&queue->base_tree, queue->known_tree);
	queue->base_date = queue->known_date;
}

static void
on_base(const struct git_answer *answer, void *arg)
{
	struct queue *queue = arg;
	char commit[GIT_ID_SIZE] = "", tree[GIT_ID_SIZE] = "";
	long long date = 0;

	queue->base_asked = false;
	if (answer->status != 0) {
		const char *complaint = answer->complaint;
		int64_t wait = ++queue->base_fails * BASE_RETRY_MS;

		if (queue->base_fails == 1)
			EMIT(queue->core, EVENT_LANDING_WAITS,
			    .branch = core_branch(queue->core),
			    .reason = complaint);
		if (queue->base_fails == BASE_TRIES) {
			const struct landing_record *record =
			    &queue->core->state.landings;
			struct err err = { 0 };

			/* Everybody waits for the branch: a person who asked is
			 * answered, and in auto mode it is a failure. */
			err_set(&err, -ENOENT,
			    "git cannot read the branch %s: %s",
			    core_branch(queue->core), complaint);
			for (size_t i = record->count; i-- > 0;)
				if (i < record->count &&
				    record->items[i]->step == ITEM_QUEUED)
					settle_refused(queue->landings,
					    record->items[i], &err);
			if (record->count > 0)
				landings_blocked(
				    queue->landings, "git", err.msg);
		}
		queue_wake(
		    queue, wait < BASE_RETRY_MAX_MS ? wait : BASE_RETRY_MAX_MS);
		return;
	}
	queue->base_fails = 0;
	sscanf(answer->out, "%64s %64s %lld", commit, tree, &date);
	queue_base_know(queue, commit, tree, date);
	use_known(queue);
	queue_look(queue);
}

/* Read it; then the queue looks again. */
static void
queue_base_ask(struct queue *queue)
{
	const struct core *core = queue->core;
	cleanup_free char *branch =
	    xasprintf("refs/heads/%s", core_branch(core));
	const char *const args[] = { "log", "--max-count=1",
		"--no-show-signature", "--format=%H %T %ct", branch, "--",
		NULL };
	struct git_command ask = { .args = args };

	if (queue->base_asked)
		return;
	if (queue->known_commit != NULL &&
	    git_facts_is_at(
		core->git, core_branch(core), queue->known_commit)) {
		use_known(queue);
		queue_look(queue);
		return;
	}
	queue->base_asked = true;
	git_run(
	    git_queue(core->git, core->workspace->root), &ask, on_base, queue);
}

#define UNJUDGED_MAX 10 /* tries, then a person is notified */

#define UNJUDGED_RETRY_MS                                  \
	(60 * 1000) /* before the same tree is tried again \
		     */

static struct landing_record *
record_of(const struct queue *queue)
{
	return &queue->core->state.landings;
}

static void
on_wake(void *arg)
{
	queue_look(arg);
}

/* The same after this time. */
static void
queue_wake(struct queue *queue, int64_t ms)
{
	loop_timer_set(&queue->wake, queue->core->loop, ms, on_wake, queue);
}

/* --- actions --------------------------------------------------------- */

static struct queue_slot *
free_slot(struct queue *queue)
{
	for (int i = 0; i < queue->slot_count; i++)
		if (check_slot_tree(queue->slots[i].slot) == NULL)
			return &queue->slots[i];
	return NULL;
}

static void
cancel_slot(struct queue_slot *slot)
{
	slot->cancelled = true;
	check_slot_cancel(slot->slot);
}

static void
pin(struct queue_slot *slot, const struct queue_facts *facts,
    const struct landing_plan *plan, const struct landing_action *action)
{
	cleanup_free const char **tasks =
	    xcalloc(facts->plan.entry_count + 1, sizeof *tasks);

	landing_plan_tasks(&facts->plan, plan, action, tasks);
	strv_clear(&slot->pinned);
	for (size_t i = 0; tasks[i] != NULL; i++)
		strv_add(&slot->pinned, tasks[i]);
}

static void
do_check(struct queue *queue, const struct queue_facts *facts,
    const struct landing_plan *plan, const struct landing_action *action)
{
	struct queue_slot *slot = free_slot(queue);
	const struct check_result *known = check_book_find(
	    &record_of(queue)->checks, action->tree, facts->key);
	struct check_subject subject = {
		.tree = action->tree,
		.commit = action->commit,
		.afresh = action->act == LANDING_DO_CONTROL ||
		    (known != NULL && known->fails_row > 0),
	};
	cleanup_free char *what = action->upto == 0 ?
	    xasprintf("%s itself", core_branch(queue->core)) :
	    xasprintf("%zu in the landing queue", action->upto);

	for (size_t i = 0; i < action->upto; i++) {
		const struct landing_item *item =
		    facts->items[plan->links[i].entry];

		subject.task = item->task;
		if (item->guarded) /* it must not change its own judge */
			subject.base = queue->base_commit;
	}
	settings_list(queue->core->settings, "repo.protected_paths",
	    &subject.protected_paths);
	if (slot == NULL)
		return;
	pin(slot, facts, plan, action);
	strv_clear(&slot->covers);
	slot->cancelled = slot->overtaken = false;
	for (size_t i = 0; i < action->upto; i++) {
		const char *item = facts->items[plan->links[i].entry]->id;

		strv_add(&slot->covers, item);
		candidates_checked(queue->candidates, item);
	}
	check_slot_start(slot->slot, &subject);
	EMIT(
	    queue->core, EVENT_CHECK_BEGINS, .text = what, .ref = action->tree);
}

/* The date of a commit that the queue has read or built, 0 = not known. */
static int64_t
date_of(const struct queue *queue, const struct queue_facts *facts,
    const char *commit)
{
	if (strcmp(commit, queue->base_commit) == 0)
		return queue->base_date;
	for (size_t i = 0; i < facts->plan.entry_count; i++) {
		const struct candidate *c =
		    candidates_of(queue->candidates, facts->items[i]->id);

		if (c != NULL && text_is(c->commit, commit))
			return c->date;
	}
	return 0;
}

static void
do_build(struct queue *queue, const struct queue_facts *facts,
    const struct landing_action *action)
{
	const struct landing_item *item = facts->items[action->entry];

	candidates_build(queue->candidates, item, action->commit,
	    date_of(queue, facts, action->commit), queue->base_commit);
}

static void
do_land(struct queue *queue, const struct queue_facts *facts,
    const struct landing_plan *plan, const struct landing_action *action)
{
	struct landing_record *record = record_of(queue);
	cleanup_free char *tree =
	    xstrndup(action->tree, strcspn(action->tree, "_"));

	for (size_t i = 0; i < action->upto; i++) {
		const struct landing_link *link = &plan->links[i];
		struct landing_item *item = facts->items[link->entry];

		xstrset(&item->commit, link->commit);
		xstrset(&item->tree, link->tree);
		item->incorporated = link->same;
		item->place = (int)i + 1;
		item->overtaken = action->overtaken;
	}
	xstrset(&record->branch, core_branch(queue->core));
	xstrset(&record->from, queue->base_commit);
	xstrset(&record->from_tree, queue->base_tree);
	xstrset(&record->to, action->commit);
	queue->base_date = date_of(queue, facts, action->commit);
	xstrset(&queue->base_commit, action->commit);
	xstrset(&queue->base_tree, tree);
	queue_base_know(queue, action->commit, tree, queue->base_date);
	persist_changed(queue->core);
	queue_move_begin(queue->move);
}

/* The branch stays where it is. */
static void
do_propose(struct queue *queue, const struct landing_link *link,
    struct landing_item *item)
{
	const struct landings *landings = queue->landings;

	xstrset(&item->commit, link->commit);
	item->step = ITEM_PROPOSED;
	landings->policy->propose(landings->policy_arg, item);
	persist_changed(queue->core);
	queue_look(queue);
}

static void
do_eject(struct queue *queue, struct landing_item *item,
    const struct landing_action *action)
{
	const struct candidate *c = candidates_of(queue->candidates, item->id);
	struct landing_record *record = record_of(queue);

	item->conflict = action->act == LANDING_DO_EJECT_CONFLICT;
	if (item->conflict) {
		if (item->kind != ITEM_PICK)
			xstrset(&item->words, c != NULL ? c->words : NULL);
		xstrset(&item->commit, NULL);
	} else {
		settle_check_words(queue->core, action->tree, item);
		xstrset(&item->commit, c != NULL ? c->commit : NULL);
		record->window = landing_plan_window_ejected(record->window);
	}
	settle_ejected(queue->landings, item, item->words);
}

static void
do_done(struct queue *queue, struct landing_item *item)
{
	item->incorporated = true;
	settle_landed(queue->landings, item);
	queue_look(queue);
}

#define DAY_MS (24 * 3600 * INT64_C(1000))

static void
tell_red(struct landings *landings, const char *tree)
{
	const struct core *core = landings->core;
	cleanup_buf struct buf how = BUF_INIT, output = BUF_INIT;
	cleanup_free char *words = NULL;

	check_output_read(core, tree, &how, &output);
	words = xasprintf("%s itself fails its check at %.12s: %s %s\n%s",
	    core_branch(core), landings->queue->base_commit,
	    settings_string(core->settings, "auto.check_command"), how.data,
	    output.data);
	if (!landings->queue->trial)
		EMIT(landings->core, EVENT_BRANCH_RED,
		    .branch = core_branch(core),
		    .commit = landings->queue->base_commit, .reason = words);
	POLICY_TELL(landings, policy, red, tree, words, landings->queue->trial);
}

/* --- checks that were overtaken --------------------------------------- */

static void
note_in_vain(struct queue *queue, int checks)
{
	struct overtaken_record *overtaken = &record_of(queue)->overtaken;
	const struct core *core = queue->core;
	bool asked = overtaken->checks >= OVERTAKEN_ASKS;
	cleanup_free char *words = NULL;

	overtaken_in_vain(overtaken, checks);
	persist_changed(queue->core);
	words = landing_record_overtaken(
	    &core->state.landings, core->settings, core_branch(core));
	if (!asked && words != NULL)
		EMIT(queue->core, EVENT_CHECKS_OVERTAKEN,
		    .branch = core_branch(core), .reason = words);
}

/* Nobody waits for a landing any more. */
static void
forget_overtaken(struct queue *queue)
{
	struct overtaken_record *overtaken = &record_of(queue)->overtaken;

	queue->passed = 0;
	queue->passed_overtaken = false;
	if (overtaken->checks == 0 && overtaken->moves == 0)
		return;
	overtaken_over(overtaken);
	persist_changed(queue->core);
}

/* Have others moved the branch while checks ran, or before what they passed has
 * landed? */
static void
note_moved(struct queue *queue, const struct queue_facts *facts, int64_t now_ms)
{
	bool moved = queue->planned != NULL &&
	    strcmp(queue->planned, queue->base_commit) != 0;
	bool overtaken = moved && queue->passed > 0;
	int64_t began_ms = now_ms;

	if (facts->plan.moving)
		return;
	xstrset(&queue->planned, queue->base_commit);
	for (size_t i = 0; moved && i < facts->plan.run_count; i++) {
		if (facts->runs[i].cancelled)
			continue;
		facts->run_slots[i]->overtaken = overtaken = true;
		if (facts->runs[i].started_ms < began_ms)
			began_ms = facts->runs[i].started_ms;
	}
	if (!overtaken)
		return;
	/* What passed was built again, and could not land before the next
	 * commit came. */
	if (queue->passed_overtaken && !facts->plan.hold &&
	    overtaken_mode_of(queue->core->settings) == OVERTAKEN_LAND)
		note_in_vain(queue, 1);
	queue->passed_overtaken = queue->passed > 0;
	overtaken_moved(&record_of(queue)->overtaken, began_ms, now_ms);
	persist_changed(queue->core);
}

/* What has passed, and cannot land: it was in vain. */
static void
note_unused(struct queue *queue, const struct queue_facts *facts,
    const struct landing_plan *plan)
{
	if (!plan->built || facts->plan.moving || plan->green > 0)
		return;
	if (queue->passed_overtaken)
		note_in_vain(queue, queue->passed);
	queue->passed = 0;
	queue->passed_overtaken = false;
}

static void
proven(struct queue *queue)
{
	struct overtaken_record *overtaken = &record_of(queue)->overtaken;

	xstrset(&overtaken->commit, NULL);
	xstrset(&overtaken->tree, NULL);
}

/* Is there a commit that has landed on a result that was overtaken, and nothing
 * that will be checked on top of it? Then it is checked itself, as it has
 * landed: the branch may move too fast for a check of the tip. */
static bool
proves(struct queue *queue)
{
	const struct landing_record *record = record_of(queue);
	const struct overtaken_record *overtaken = &record->overtaken;
	const struct check_result *result;
	char key[CHECK_KEY_SIZE];

	if (overtaken->commit == NULL || overtaken->tree == NULL ||
	    record->to != NULL)
		return false;
	check_slot_key(queue->core, key);
	result = check_book_find(&record->checks, overtaken->tree, key);
	if (key[0] == '\0' || (result != NULL && result->passes > 0)) {
		proven(queue);
		persist_changed(queue->core);
		return false;
	}
	xstrset(&queue->base_commit, overtaken->commit);
	xstrset(&queue->base_tree, overtaken->tree);
	queue->base_date = 0;
	return true;
}

static void
act(struct queue *queue, const struct queue_facts *facts,
    const struct landing_plan *plan, const struct landing_action *action)
{
	struct landing_item *first = NULL;
	const char *wait;

	switch (action->act) {
	case LANDING_DO_BUILD:
		do_build(queue, facts, action);
		break;
	case LANDING_DO_CHECK:
	case LANDING_DO_CONTROL:
		do_check(queue, facts, plan, action);
		break;
	case LANDING_DO_CANCEL:
		if (facts->run_slots[action->run]->overtaken)
			note_in_vain(queue, 1);
		cancel_slot(facts->run_slots[action->run]);
		break;
	case LANDING_DO_LAND:
		if (!upstream_may_land(queue->upstream))
			break;
		first = facts->items[plan->links[0].entry];
		if (landings_proposes(queue->landings, first, &wait))
			do_propose(queue, &plan->links[0], first);
		else
			do_land(queue, facts, plan, action);
		break;
	case LANDING_DO_EJECT_CONFLICT:
	case LANDING_DO_EJECT_FAILED:
		do_eject(queue, facts->items[action->entry], action);
		break;
	case LANDING_DO_DONE:
		do_done(queue, facts->items[action->entry]);
		break;
	case LANDING_DO_RED:
		xstrset(&record_of(queue)->red_told, action->tree);
		proven(queue);
		persist_changed(queue->core);
		tell_red(queue->landings, action->tree);
		break;
	case LANDING_ACT_COUNT:
		break;
	}
}

/* --- the loop of it -------------------------------------------------- */

static bool
is_empty(const struct queue *queue)
{
	const struct landing_record *record = record_of(queue);

	for (size_t i = 0; i < record->count; i++)
		if (record->items[i]->step == ITEM_QUEUED)
			return false;
	return true;
}

/* --- work of other hosts ---------------------------------------------- */

#define ATTEMPTS_MAX "--max-count=20000" /* commits that are looked at */

static bool
is_shared(const struct landing_item *item)
{
	return item->kind == ITEM_SHARED && item->step == ITEM_QUEUED &&
	    item->commit == NULL;
}

/* A line for each commit: its id, and the task and the attempt that its
 * trailers name. */
static void
on_attempts(const struct git_answer *answer, void *arg)
{
	struct queue *queue = arg;
	const struct landing_record *record = record_of(queue);
	cleanup_free char *text = xstrdup(answer->out);
	cleanup_free char *upto = take_ptr(&queue->reading);
	char *rest = text, *line;

	if (answer->status != 0) {
		queue_wake(queue, BASE_RETRY_MS);
		return;
	}
	while ((line = strsep(&rest, "\n")) != NULL) {
		const char *commit = strsep(&line, "\t");
		const char *task = strsep(&line, "\t");

		for (size_t i = 0; line != NULL && i < record->count; i++) {
			struct landing_item *item = record->items[i];

			if (!is_shared(item) || strcmp(item->task, task) != 0 ||
			    strcmp(item->attempt, line) != 0)
				continue;
			xstrset(&item->commit, commit);
			settle_landed(queue->landings, item);
		}
	}
	if (!queue->unread)
		xstrset(&queue->read, upto);
	queue_look(queue);
}

/* Is it known that the branch has none of the work that other hosts have
 * submitted? A lander that was killed may have pushed it without a word, and
 * what was pushed must not be built again. False: it is looked at. */
static bool
has_read_attempts(struct queue *queue)
{
	static const char format[] =
	    "--format=%H%x09%(trailers:key=" PROMPT_TASK_TRAILER
	    ",valueonly,separator=%x2C)%x09%(trailers:"
	    "key=" PROMPT_ATTEMPT_TRAILER ",valueonly,separator=%x2C)";
	const struct landing_record *record = record_of(queue);
	const char *base =
	    record->to != NULL ? record->from : queue->base_commit;
	cleanup_free char *range = NULL;
	const char *args[] = { "log", "--no-show-signature", ATTEMPTS_MAX,
		format, NULL, "--", NULL };
	struct git_command ask = { .args = args };
	size_t i = 0;

	while (i < record->count && !is_shared(record->items[i]))
		i++;
	if (i == record->count || text_is(queue->read, base))
		return true;
	if (queue->reading != NULL || record->to != NULL)
		return false; /* looked at again when that has ended */
	range = queue->read != NULL ? xasprintf("%s..%s", queue->read, base) :
				      xstrdup(base);
	args[4] = range;
	queue->unread = false;
	queue->reading = xstrdup(base);
	git_run(git_queue(queue->core->git, queue->core->workspace->root), &ask,
	    on_attempts, queue);
	return false;
}

void
landings_share(struct landings *landings, struct landing_item *item)
{
	struct queue *queue = landings->queue;

	item->kind = ITEM_SHARED;
	item->step = ITEM_QUEUED;
	xstrset(&queue->read, NULL);
	queue->unread = true;
	queue_add(queue, item);
}

/* What git could not build in several tries: a person gets the error; for auto
 * mode it is a failure. */
static void
refuse_broken(struct queue *queue)
{
	const struct landing_record *record = record_of(queue);

	for (size_t i = record->count; i-- > 0;) {
		struct landing_item *item = record->items[i];
		const struct candidate *c =
		    candidates_of(queue->candidates, item->id);
		struct err err = { 0 };

		if (item->step != ITEM_QUEUED || c == NULL || !c->broken)
			continue;
		err_set(&err, -EIO, "%s", c->words);
		if (item->kind == ITEM_SHARED)
			settle_ejected(queue->landings, item, c->words);
		else if (landings_keeps(queue->landings, item->task))
			landings_item_blocked(
			    queue->landings, item, "git", err.msg);
		else
			settle_refused(queue->landings, item, &err);
	}
}

/* Work was built that nothing is done with now: it waits for a check, or for
 * the branch. Everything else is reported when it is done. */
static void
tell_built(struct queue *queue, const struct landing_plan *plan)
{
	if (!queue->built || candidates_busy(queue->candidates))
		return;
	queue->built = false;
	if (plan->action_count == 0)
		EMIT(queue->core, EVENT_LANDINGS_BUILT,
		    .branch = core_branch(queue->core),
		    .count = (int64_t)plan->link_count);
}

static void
look(void *arg)
{
	struct queue *queue = arg;
	const struct landing_record *record = record_of(queue);

	if (queue->stopping)
		return;
	queue->long_waits = 0;
	settle_due(queue->landings);
	refuse_broken(queue);
	if (record->to != NULL && !queue_move_busy(queue->move) &&
	    !queue_move_waits(queue->move)) {
		queue_move_begin(queue->move);
		return;
	}
	if (is_empty(queue)) {
		forget_overtaken(queue);
		queue->proving = !queue->trial && proves(queue);
	} else if (queue->proving) {
		queue->proving = false;
		xstrset(&queue->base_commit, NULL);
	}
	if (is_empty(queue) && !queue->trial && !queue->proving) {
		if (record->to == NULL) {
			/* Nothing waits: checks that run are of no use, and the
			 * next item reads the branch again. */
			for (int i = 0; i < LANDING_SLOTS_MAX; i++)
				if (queue_slot_tree(&queue->slots[i]) != NULL)
					cancel_slot(&queue->slots[i]);
			xstrset(&queue->base_commit, NULL);
			xstrset(&queue->base_tree, NULL);
		}
	} else if (queue->base_commit == NULL) {
		if (record->to == NULL) /* else it is about to move */
			queue_base_ask(queue);
	} else if (has_read_attempts(queue)) {
		struct landing_plan plan;
		struct queue_facts facts;
		int64_t now = clock_wall_ms();

		queue_facts_make(queue, &facts);
		note_moved(queue, &facts, now);
		landing_plan_make(&facts.plan, now, &plan);
		note_unused(queue, &facts, &plan);
		tell_built(queue, &plan);
		if (!plan.red && record_of(queue)->red_told != NULL) {
			/* It was fixed, or has moved on. */
			xstrset(&record_of(queue)->red_told, NULL);
			persist_changed(queue->core);
		}
		queue->long_waits = release_due(
		    queue->landings, &facts.plan, &plan, facts.items, now);
		if (red_revert_review(queue, &facts, &plan))
			queue_look(queue);
		else
			for (size_t i = 0; i < plan.action_count; i++)
				act(queue, &facts, &plan, &plan.actions[i]);
		if (plan.wake_ms > 0)
			queue_wake(
			    queue, plan.wake_ms > now ? plan.wake_ms - now : 1);
		landing_plan_release(&plan);
		queue_facts_release(&facts);
	}
	if (queue->trial && !queue_trial_due(queue)) {
		queue->trial = false;
		POLICY_TELL(queue->landings, policy, tried);
		queue_look(queue);
	}
}

bool
queue_trial_due(const struct queue *queue)
{
	char key[CHECK_KEY_SIZE];

	check_slot_key(queue->core, key);
	return tuning.trial != 0 && key[0] != '\0' &&
	    !check_book_judged(&record_of(queue)->checks, key);
}

static void
on_candidates(void *arg)
{
	struct queue *queue = arg;

	queue->built = true;
	queue_look(queue);
}

/* The event each time, the person once a day. */
static void
tell_flaky(struct landings *landings, const char *key)
{
	struct core *core = landings->core;
	int percent =
	    check_book_flake_percent(&core->state.landings.checks, key);
	int64_t now = clock_mono_ms();
	cleanup_free char *why = xasprintf(
	    "auto.check_command both passed and failed on %d %% of the trees "
	    "that it judged: %s",
	    percent, settings_string(core->settings, "auto.check_command"));

	EMIT(core, EVENT_CHECK_FLAKY, .count = percent);
	if (landings->flaky_told_ms != 0 &&
	    now - landings->flaky_told_ms < DAY_MS)
		return;
	landings->flaky_told_ms = now;
	person_tell(
	    core, &(struct notice){ .class = NOTICE_CHECK, .why = why });
}

static void
tell_checked(struct landings *landings, const struct check_end *end, bool flaky)
{
	static const char *const words[] = {
		[CHECK_PASSED] = "passed",
		[CHECK_FAILED] = "failed",
		[CHECK_UNJUDGED] = "not judged",
	};
	struct core *core = landings->core;

	EMIT(core, EVENT_CHECKED, .result = words[end->verdict],
	    .ref = end->tree,
	    .reason = end->verdict == CHECK_PASSED ? NULL : end->how,
	    .duration_ms = end->duration_ms);
	if (flaky && check_book_alarm(&core->state.landings.checks, end->key))
		tell_flaky(landings, end->key);
}

/* A check that is never judged holds everything back: a person must know. */
static void
give_up_judging(struct queue *queue, const struct check_end *end)
{
	const struct check_result *result =
	    check_book_find(&record_of(queue)->checks, end->tree, end->key);
	cleanup_free char *reason = NULL;

	if (end->verdict != CHECK_UNJUDGED || result == NULL ||
	    result->unjudged < UNJUDGED_MAX)
		return;
	reason = xasprintf("check_command could not judge in %d tries: it %s",
	    result->unjudged, end->how);
	landings_blocked(queue->landings, "check", reason);
}

static void
checked(
    struct queue *queue, struct queue_slot *slot, const struct check_end *end)
{
	struct landing_record *record = record_of(queue);
	int64_t now = clock_wall_ms();
	bool flaky;

	if (!end->cancelled) {
		if (end->verdict == CHECK_PASSED && slot->covers != NULL) {
			queue->passed++;
			queue->passed_overtaken |= slot->overtaken;
		} else if (end->verdict == CHECK_FAILED && slot->overtaken) {
			note_in_vain(queue, 1);
		}
		if (end->verdict == CHECK_UNJUDGED) {
			/* What was to be checked may be gone: git gc ran
			 * without our refs. The commits are built again. */
			for (char **id = slot->covers;
			     id != NULL && *id != NULL; id++)
				candidates_forget(queue->candidates, *id);
		}
		flaky = check_book_note(&record->checks, end->tree, end->key,
		    end->verdict, now, end->duration_ms,
		    now + UNJUDGED_RETRY_MS);
		if (end->verdict == CHECK_FAILED)
			check_output_keep(
			    queue->core, end->tree, end->how, end->output);
		candidates_trim_book(queue->candidates, queue->base_tree);
		tell_checked(queue->landings, end, flaky);
		give_up_judging(queue, end);
		persist_changed(queue->core);
	}
	queue_look(queue);
}

static void
on_checked(struct check_slot *slot, const struct check_end *end, void *arg)
{
	struct queue *queue = arg;
	struct queue_slot none = { .slot = slot }, *at = &none;

	for (int i = 0; i < LANDING_SLOTS_MAX; i++)
		if (queue->slots[i].slot == slot)
			at = &queue->slots[i];
	checked(queue, at, end);
}

/* There were more slots once: end what still runs in them. */
static void
end_others(struct queue *queue)
{
	for (int i = queue->slot_count; i < LANDING_SLOTS_MAX; i++) {
		struct check_slot *slot =
		    check_slot_new(queue->core, i + 1, on_checked, queue);

		if (check_slot_adopt(slot)) {
			queue->slots[i].slot = slot;
			check_slot_cancel(slot);
		} else {
			check_slot_free(slot);
		}
	}
}

void
queue_begin(struct queue *queue)
{
	for (int i = 0; i < queue->slot_count; i++)
		check_slot_adopt(queue->slots[i].slot);
	queue_item_drop_strays(queue);
	end_others(queue);
	landed_watch_begin(queue->landed);
	upstream_begin(queue->upstream);
	queue_look(queue);
}

struct queue *
queue_new(struct landings *landings)
{
	struct queue *queue = xcalloc(1, sizeof *queue);
	struct core *core = landings->core;

	queue->landings = landings;
	queue->core = core;
	queue->look = loop_call_new(core->loop, look, queue);
	queue->candidates = candidates_new(core, on_candidates, queue);
	queue->slot_count =
	    (int)settings_int(core->settings, "auto.check_slots");
	for (int i = 0; i < queue->slot_count; i++)
		queue->slots[i].slot =
		    check_slot_new(core, i + 1, on_checked, queue);
	queue->landed = landed_watch_new(core);
	queue->move = queue_move_new(queue);
	queue->upstream = upstream_new(queue);
	return queue;
}

void
queue_free(struct queue *queue)
{
	if (queue == NULL)
		return;
	queue_move_free(queue->move);
	landed_watch_free(queue->landed);
	upstream_free(queue->upstream);
	for (int i = 0; i < LANDING_SLOTS_MAX; i++) {
		check_slot_free(queue->slots[i].slot);
		strv_clear(&queue->slots[i].covers);
		strv_clear(&queue->slots[i].pinned);
	}
	candidates_free(queue->candidates);
	loop_call_free(queue->look);
	loop_timer_free(queue->wake);
	free(queue->base_commit);
	free(queue->base_tree);
	free(queue->planned);
	free(queue->known_commit);
	free(queue->known_tree);
	free(queue->read);
	free(queue->reading);
	free(queue);
}
