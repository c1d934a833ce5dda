/* SPDX-License-Identifier: ISC */

/* What happens in the world, and the rules that must hold. */

#include "base.h"
#include "landing-world-inside.h"
#include "schema.h"

static size_t
collect(struct world *w)
{
	size_t count = 0;

	for (int i = 0; i < w->options->entries; i++) {
		struct member *member = &w->members[i];

		if (member->fate != QUEUED)
			continue;
		member->entry.held = member->free_ms > w->now_ms;
		member->excused |= member->entry.held;
		w->entries[count] = member->entry;
		w->who[count++] = i;
	}
	for (size_t i = 0; i < w->run_count; i++)
		w->facts_runs[i] = (struct landing_run){
			.tree = w->runs[i].tree.text,
			.tasks = w->runs[i].tasks,
			.started_ms = w->runs[i].started_ms,
			.cancelled = w->runs[i].cancelled,
		};
	return count;
}

static struct landing_facts
facts_of(struct world *w)
{
	return (struct landing_facts){
		.base_commit = w->base.text,
		.base_tree = w->base_tree.text,
		.moving = w->moves_ms > 0,
		.hold = w->held_ms > w->now_ms,
		.entries = w->entries,
		.entry_count = collect(w),
		.runs = w->facts_runs,
		.run_count = w->run_count,
		.book = &w->book,
		.command = w->options->no_command ? NULL : COMMAND,
		.mode = w->options->mode,
		.window = w->window,
		.slots = w->options->slots,
		.red_told = w->told.text[0] != '\0' ? w->told.text : NULL,
	};
}

static const struct set *
content_of(struct world *w, const struct landing_plan *plan, const char *commit)
{
	if (strcmp(commit, w->base.text) == 0)
		return &w->content;
	for (size_t i = 0; i < plan->link_count; i++)
		if (strcmp(plan->links[i].commit, commit) == 0 &&
		    !plan->links[i].same)
			return &w->members[w->who[plan->links[i].entry]]
				    .content;
	world_broken(w, "a commit is in the chain");
	return &w->content;
}

static void
start_run(struct world *w, const struct landing_facts *facts,
    const struct landing_plan *plan, const struct landing_action *action)
{
	struct run *run = &w->runs[w->run_count];

	world_must(w, (int)w->run_count < w->options->slots, "a slot is free");
	for (size_t i = 0; i < w->run_count; i++)
		world_must(w,
		    w->runs[i].cancelled ||
			strcmp(w->runs[i].tree.text, action->tree) != 0,
		    "no tree is checked twice at a time");
	if (w->run_count == RUNS_MAX)
		return;
	*run = (struct run){ .content = *content_of(w, plan, action->commit),
		.started_ms = w->now_ms,
		.ends_ms = w->now_ms + WORLD_CHECK_MS };
	snprintf(run->tree.text, sizeof run->tree.text, "%s", action->tree);
	for (size_t i = 0; i < action->upto; i++) {
		struct member *member =
		    &w->members[w->who[plan->links[i].entry]];

		if (member->covered_ms == 0)
			member->covered_ms = w->now_ms;
	}
	landing_plan_tasks(facts, plan, action, run->tasks);
	w->run_count++;
	w->result->checks++;
}

static bool
passed(const struct world *w, const char *tree)
{
	const struct check_result *result =
	    check_book_find(&w->book, tree, COMMAND);

	return w->options->no_command || (result != NULL && result->passes > 0);
}

static void
begin_move(struct world *w, const struct landing_plan *plan,
    const struct landing_action *action)
{
	const char *parent = w->base.text;

	world_must(
	    w, w->moves_ms == 0 && w->held_ms <= w->now_ms, "one landing");
	world_must(w, passed(w, action->tree), "the tip has passed");
	for (size_t i = 0; i < action->upto; i++) {
		struct member *member =
		    &w->members[w->who[plan->links[i].entry]];

		world_must(
		    w, strcmp(member->parent.text, parent) == 0, "a chain");
		parent = plan->links[i].commit;
		if (w->options->mode == LANDING_EACH)
			world_must(w, passed(w, plan->links[i].tree),
			    "each commit has passed");
		member->entry.landing = true;
	}
	world_must(w, action->upto > 0 && strcmp(parent, action->commit) == 0,
	    "the last link is the target");
	w->old = w->base;
	w->old_tree = w->base_tree;
	w->old_content = w->content;
	w->content = *content_of(w, plan, action->commit);
	snprintf(w->base.text, sizeof w->base.text, "%s", action->commit);
	snprintf(
	    w->base_tree.text, sizeof w->base_tree.text, "%s", action->tree);
	w->moves_ms = w->now_ms + (w->options->accidents ? MOVE_MS : 0);
}

static void
eject(struct world *w, const struct landing_plan *plan,
    const struct landing_action *action)
{
	struct member *member = &w->members[w->who[action->entry]];

	member->fate = EJECTED;
	w->result->ejected++;
	world_must(w, !plan->red, "a red base ejects nobody");
	world_must(w, strcmp(member->parent.text, w->base.text) == 0,
	    "who is ejected was built on the base");
	if (action->act == LANDING_DO_EJECT_CONFLICT) {
		world_must(w, world_meets(&member->conflicts, &w->content),
		    "a conflict");
		return;
	}
	world_must(
	    w, world_is_good(w, &w->content), "a red base blames nobody");
	world_must(
	    w, strcmp(member->tree.text, action->tree) == 0, "its own tree");
	if (world_is_good(w, &member->content))
		w->result->false_ejections++;
	world_must(w,
	    w->options->flakes > 0 || !world_is_good(w, &member->content),
	    "without flakes nobody is blamed wrongly");
	w->window = landing_plan_window_ejected(w->window);
}

static void
act(struct world *w, const struct landing_facts *facts,
    const struct landing_plan *plan, const struct landing_action *action)
{
	struct member *member = &w->members[w->who[action->entry]];

	switch (action->act) {
	case LANDING_DO_BUILD:
		world_build(w, member, content_of(w, plan, action->commit),
		    action->commit);
		break;
	case LANDING_DO_CHECK:
	case LANDING_DO_CONTROL:
		start_run(w, facts, plan, action);
		break;
	case LANDING_DO_CANCEL:
		world_must(
		    w, !w->runs[action->run].cancelled, "cancelled once");
		w->runs[action->run].cancelled = true;
		w->runs[action->run].ends_ms = w->now_ms;
		break;
	case LANDING_DO_LAND:
		begin_move(w, plan, action);
		break;
	case LANDING_DO_EJECT_CONFLICT:
	case LANDING_DO_EJECT_FAILED:
		eject(w, plan, action);
		break;
	case LANDING_DO_DONE:
		world_must(w, world_has(&w->content, member->twin),
		    "it is in the base");
		member->fate = DONE;
		w->result->done++;
		break;
	case LANDING_DO_RED:
		world_must(w,
		    !world_is_good(w, &w->content) || w->options->flakes > 0,
		    "red is red");
		w->told = w->base_tree;
		w->result->reds++;
		break;
	case LANDING_ACT_COUNT:
		break;
	}
}

/* Whoever arrived before and should be first, and was never out of the chain,
 * must not be passed by. */
static void
check_order(struct world *w, const struct member *landed)
{
	for (int i = 0; i < w->options->entries; i++) {
		const struct member *other = &w->members[i];
		int order = priority_compare(
		    other->entry.priority, landed->entry.priority);

		if (other->fate != QUEUED || other->excused ||
		    other->entry.landing)
			continue;
		if (order > 0 ||
		    (order == 0 && other->entry.seq > landed->entry.seq))
			continue;
		if (other->entry.priority == PRIORITY_URGENT && order < 0)
			world_must(w,
			    landed->passed_ms > 0 &&
				landed->passed_ms <= other->arrives_ms,
			    "urgent is first");
		else
			world_must(w,
			    landed->covered_ms > 0 &&
				landed->covered_ms <= other->arrives_ms,
			    "order");
	}
}

static void
end_move(struct world *w)
{
	size_t count = 0;

	w->moves_ms = 0;
	w->result->moves++;
	for (int i = 0; i < w->options->entries; i++) {
		struct member *member = &w->members[i];

		if (member->fate != QUEUED || !member->entry.landing)
			continue;
		count++;
		if (!w->options->no_command &&
		    member->entry.build != LANDING_SAME)
			check_order(w, member);
	}
	for (int i = 0; i < w->options->entries; i++) {
		struct member *member = &w->members[i];

		if (member->fate != QUEUED || !member->entry.landing)
			continue;
		if (member->entry.build == LANDING_SAME) {
			member->fate = DONE;
			w->result->done++;
			continue;
		}
		world_must(
		    w, world_has(&w->content, i), "what landed is there");
		member->fate = LANDED;
		w->result->landed_names[i] = 1;
		w->result->landed++;
	}
	w->window = landing_plan_window_landed(w->window, count);
}

/* A person commits: a landing under way comes too late. */
static void
commit_by_person(struct world *w)
{
	if (w->moves_ms > 0) {
		w->base = w->old;
		w->base_tree = w->old_tree;
		w->content = w->old_content;
		w->moves_ms = 0;
		for (int i = 0; i < w->options->entries; i++)
			w->members[i].entry.landing = false;
	}
	if (USERS + w->users >= WORDS * 64)
		return;
	world_put(&w->content, USERS + w->users++);
	if (w->options->red)
		world_put(&w->content, BROKEN);
	world_name_hash(&w->base_tree, w->content.words, WORDS);
	snprintf(w->base.text, sizeof w->base.text, "user%d", w->users);
}

static void
restart(struct world *w)
{
	cleanup_json struct json_object *json =
	    schema_json(&check_book_schema, &w->book);

	schema_release(&check_book_schema, &w->book);
	world_must(w,
	    schema_read(&check_book_schema, json, "", &w->book, NULL) == 0,
	    "book");
	for (int i = 0; i < w->options->entries; i++)
		if (!w->members[i].entry.landing)
			w->members[i].entry.build = LANDING_UNBUILT;
}

static void
have_accident(struct world *w)
{
	int who = (int)dice_below(&w->dice, (unsigned)w->options->entries);

	switch (dice_below(&w->dice, 40)) {
	case 0:
	case 1:
		restart(w);
		break;
	case 2:
		if (w->moves_ms == 0)
			w->held_ms = w->now_ms + dice_below(&w->dice, 3000);
		break;
	case 3:
		if (!w->members[who].entry.landing)
			w->members[who].free_ms =
			    w->now_ms + dice_below(&w->dice, 3000);
		break;
	case 4:
		commit_by_person(w);
		break;
	default:
		break;
	}
}

static void
note_passed(struct world *w, const char *task)
{
	for (int i = 0; i < w->options->entries; i++)
		if (w->members[i].task.text == task &&
		    w->members[i].passed_ms == 0)
			w->members[i].passed_ms = w->now_ms;
}

static void
end_run(struct world *w, struct run *run)
{
	enum check_verdict verdict = CHECK_PASSED;

	if (world_chance(w, w->options->unjudged))
		verdict = CHECK_UNJUDGED;
	else if (!world_is_good(w, &run->content) ||
	    world_chance(w, w->options->flakes))
		verdict = CHECK_FAILED;
	for (size_t i = 0; verdict == CHECK_PASSED && run->tasks[i] != NULL;
	     i++)
		note_passed(w, run->tasks[i]);
	w->result->flaky += check_book_note(&w->book, run->tree.text, COMMAND,
	    verdict, w->now_ms, WORLD_CHECK_MS, w->now_ms + RETRY_MS);
}

static void
end_runs(struct world *w)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->run_count; i++) {
		struct run *run = &w->runs[i];

		if (run->ends_ms > w->now_ms)
			w->runs[kept++] = *run;
		else if (!run->cancelled)
			end_run(w, run);
	}
	w->run_count = kept;
}

/* All that is due now. */
static void
happen(struct world *w)
{
	if (w->moves_ms > 0 && w->moves_ms <= w->now_ms)
		end_move(w);
	end_runs(w);
	for (int i = 0; i < w->options->entries; i++)
		if (w->members[i].fate == AWAY &&
		    w->members[i].arrives_ms <= w->now_ms)
			w->members[i].fate = QUEUED;
}

static void
trim_book(struct world *w, const struct landing_plan *plan)
{
	const char *keep[WORLD_ENTRIES_MAX + RUNS_MAX + 2];
	size_t count = 0;

	keep[count++] = w->base_tree.text;
	for (size_t i = 0; i < plan->link_count; i++)
		keep[count++] = plan->links[i].tree;
	for (size_t i = 0; i < w->run_count; i++)
		keep[count++] = w->runs[i].tree.text;
	keep[count] = NULL;
	check_book_trim(&w->book, keep);
}

static void
excuse(struct world *w, const struct landing_plan *plan, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (plan->places[i] == LANDING_OUT_DEFERRED ||
		    plan->places[i] == LANDING_OUT_CONFLICT ||
		    plan->places[i] == LANDING_OUT_RED)
			w->members[w->who[i]].excused = true;
}

/* The same facts give the same plan. */
static void
check_pure(struct world *w, const struct landing_facts *facts,
    const struct landing_plan *plan)
{
	struct landing_plan again;

	landing_plan_make(facts, w->now_ms, &again);
	world_must(w,
	    again.action_count == plan->action_count &&
		memcmp(again.actions, plan->actions,
		    plan->action_count * sizeof *plan->actions) == 0,
	    "the same facts give the same plan");
	landing_plan_release(&again);
}

/* One call; returns false if it asked for nothing. */
static bool
step(struct world *w, int64_t *ret_wake_ms)
{
	struct landing_facts facts = facts_of(w);
	struct landing_plan plan;
	bool acted;

	landing_plan_make(&facts, w->now_ms, &plan);
	excuse(w, &plan, facts.entry_count);
	acted = plan.action_count > 0;
	if (w->options->accidents)
		check_pure(w, &facts, &plan);
	for (size_t i = 0; i < plan.action_count; i++) {
		act(w, &facts, &plan, &plan.actions[i]);
		/* Killed between two actions. */
		if (w->options->accidents && world_chance(w, 20)) {
			restart(w);
			break;
		}
	}
	trim_book(w, &plan);
	*ret_wake_ms = plan.wake_ms;
	landing_plan_release(&plan);
	return acted;
}

static void
sooner(const struct world *w, int64_t at_ms, int64_t *next_ms)
{
	if (at_ms > w->now_ms && at_ms < *next_ms)
		*next_ms = at_ms;
}

static int64_t
next_event(const struct world *w, int64_t wake_ms)
{
	int64_t next = INT64_MAX;

	sooner(w, wake_ms, &next);
	sooner(w, w->moves_ms, &next);
	sooner(w, w->held_ms, &next);
	for (size_t i = 0; i < w->run_count; i++)
		sooner(w, w->runs[i].ends_ms, &next);
	for (int i = 0; i < w->options->entries; i++) {
		if (w->members[i].fate == AWAY)
			sooner(w, w->members[i].arrives_ms, &next);
		if (w->members[i].fate == QUEUED)
			sooner(w, w->members[i].free_ms, &next);
	}
	return next;
}

static int
count_queued(const struct world *w)
{
	int count = 0;

	for (int i = 0; i < w->options->entries; i++)
		count +=
		    w->members[i].fate == QUEUED || w->members[i].fate == AWAY;
	return count;
}

static void
finish(struct world *w, int64_t began_ms)
{
	struct world_result *r = w->result;

	r->queued = count_queued(w);
	r->took_ms = w->now_ms - began_ms;
	world_must(w,
	    r->landed + r->ejected + r->done + r->queued == w->options->entries,
	    "each entry is counted once");
	world_must(w, r->queued == 0 || !world_is_good(w, &w->content),
	    "no standstill");
	world_must(w, r->reds == 0 || w->options->red || w->options->flakes > 0,
	    "red without a reason");
	schema_release(&check_book_schema, &w->book);
}

void
world_run(const struct world_options *options, struct world_result *ret_result)
{
	static struct world w;
	int64_t wake_ms = 0, next, began_ms;
	int steps = 0;

	world_make(&w, options, ret_result);
	began_ms = w.now_ms;
	while (ret_result->broken == NULL && ++steps < STEPS_MAX) {
		happen(&w);
		if (step(&w, &wake_ms))
			continue;
		next = next_event(&w, wake_ms);
		if (count_queued(&w) == 0 || next == INT64_MAX ||
		    next - began_ms > INT64_C(10000000))
			break;
		w.now_ms = next;
		if (options->accidents)
			have_accident(&w);
	}
	world_must(&w, steps < STEPS_MAX, "it comes to an end");
	finish(&w, began_ms);
}
