/* SPDX-License-Identifier: ISC */

#include "landing-scene.h"
#include "schema.h"

#define NAMES_MAX 2000

struct scene scene;

/* Names live as long as the test. */
static char names[NAMES_MAX][SCENE_MAX + 4];
static const char *task_lists[SCENE_MAX * 4][SCENE_MAX + 1];
static size_t name_count, list_count;

static const char *
name(const char *prefix, const char *text)
{
	int len;

	ck_assert(name_count < NAMES_MAX);
	len =
	    snprintf(names[name_count], sizeof names[0], "%s%s", prefix, text);
	ck_assert_int_lt(len, sizeof names[0]);
	return names[name_count++];
}

static const char *
letter_name(char letter)
{
	return name("", (char[]){ letter, '\0' });
}

void
scene_setup(void)
{
	name_count = list_count = 0;
	scene =
	    (struct scene){ .now_ms = SCENE_NOW, .conflicts = "", .same = "" };
	scene.facts = (struct landing_facts){
		.entries = scene.entries,
		.runs = scene.runs,
		.book = &scene.book,
		.command = SCENE_COMMAND,
		.mode = LANDING_TIP,
		.slots = 1,
	};
	scene_base("0");
}

void
scene_teardown(void)
{
	schema_release(&check_book_schema, &scene.book);
}

void
scene_add_as(char letter, enum priority priority)
{
	static uint64_t seq;

	scene.entries[scene.facts.entry_count++] = (struct landing_entry){
		.task = letter_name(letter), .priority = priority, .seq = ++seq
	};
}

void
scene_add(const char *letters)
{
	for (; *letters != '\0'; letters++)
		scene_add_as(*letters, PRIORITY_NORMAL);
}

struct landing_entry *
scene_entry(char letter)
{
	for (size_t i = 0; i < scene.facts.entry_count; i++)
		if (scene.entries[i].task[0] == letter)
			return &scene.entries[i];
	ck_abort_msg("no entry %c", letter);
	return NULL;
}

void
scene_remove(char letter)
{
	struct landing_entry *entry = scene_entry(letter);

	*entry = scene.entries[--scene.facts.entry_count];
}

static void
note(const char *tree, enum check_verdict verdict, int64_t retry_ms)
{
	check_book_note(&scene.book, tree, SCENE_COMMAND, verdict, scene.now_ms,
	    1000, retry_ms);
	scene_run_ended(tree);
}

void
scene_passed(const char *tree)
{
	note(tree, CHECK_PASSED, 0);
}

void
scene_failed(const char *tree)
{
	note(tree, CHECK_FAILED, 0);
}

void
scene_unjudged(const char *tree, int64_t retry_ms)
{
	note(tree, CHECK_UNJUDGED, retry_ms);
}

void
scene_run(const char *tree, const char *letters)
{
	const char **tasks = task_lists[list_count++];
	size_t count = 0;

	for (; *letters != '\0'; letters++)
		tasks[count++] = letter_name(*letters);
	tasks[count] = NULL;
	scene.runs[scene.facts.run_count++] =
	    (struct landing_run){ .tree = name("", tree),
		    .tasks = tasks,
		    .started_ms = scene.now_ms };
}

void
scene_run_ended(const char *tree)
{
	size_t kept = 0;

	for (size_t i = 0; i < scene.facts.run_count; i++)
		if (strcmp(scene.runs[i].tree, tree) != 0)
			scene.runs[kept++] = scene.runs[i];
	scene.facts.run_count = kept;
}

void
scene_base(const char *tree)
{
	scene.facts.base_tree = name("", tree);
	scene.facts.base_commit = name("c", tree);
}

static bool
is_paired(const char *pairs, char first, char second)
{
	for (; *pairs != '\0'; pairs += pairs[2] == ' ' ? 3 : 2)
		if (pairs[0] == first && pairs[1] == second)
			return true;
	return false;
}

static void
build(struct landing_entry *entry, const char *tree)
{
	char letter = entry->task[0];
	char next[SCENE_MAX + 4];

	scene.builds++;
	entry->parent = name("c", tree);
	entry->build = LANDING_BUILT;
	for (const char *in = tree; *in != '\0'; in++) {
		if (is_paired(scene.conflicts, *in, letter) ||
		    is_paired(scene.conflicts, letter, *in))
			entry->build = LANDING_CONFLICT;
		else if (is_paired(scene.same, *in, letter))
			entry->build = LANDING_SAME;
	}
	snprintf(next, sizeof next, "%s%c", tree, letter);
	entry->tree = name("", next);
	entry->commit = name("c", next);
}

static void
add_action(const struct landing_action *action, struct buf *out)
{
	static const char *const verbs[] = { "build", "check", "control",
		"cancel", "land", "conflict", "eject", "done", "red" };
	const char *task = scene.entries[action->entry].task;

	buf_addf(out, "%s%s ", out->len > 0 ? ", " : "", verbs[action->act]);
	switch (action->act) {
	case LANDING_DO_BUILD:
		buf_addf(out, "%s on %s", task, action->tree);
		break;
	case LANDING_DO_CANCEL:
		buf_adds(out, scene.runs[action->run].tree);
		break;
	case LANDING_DO_EJECT_CONFLICT:
	case LANDING_DO_EJECT_FAILED:
	case LANDING_DO_DONE:
		buf_adds(out, task);
		break;
	default:
		buf_addf(out, "%s%s", action->tree,
		    action->overtaken ? " overtaken" : "");
		ck_assert_str_eq(action->commit + 1, action->tree);
	}
}

/* Make a plan, and again until all is built. */
static void
make(struct landing_plan *plan)
{
	const struct landing_action *last;

	for (;;) {
		landing_plan_make(&scene.facts, scene.now_ms, plan);
		last = plan->actions + plan->action_count - 1;
		if (scene.manual || plan->action_count == 0 ||
		    last->act != LANDING_DO_BUILD)
			return;
		build(&scene.entries[last->entry], last->tree);
		landing_plan_release(plan);
	}
}

void
scene_expect(const char *actions)
{
	cleanup_buf struct buf found = BUF_INIT;
	struct landing_plan plan;

	make(&plan);
	for (size_t i = 0; i < plan.action_count; i++)
		add_action(&plan.actions[i], &found);
	if (plan.wake_ms != 0)
		buf_addf(&found, "%swake %lld", found.len > 0 ? ", " : "",
		    (long long)(plan.wake_ms - scene.now_ms));
	landing_plan_release(&plan);
	ck_assert_str_eq(found.data, actions);
}

void
scene_expect_views(const char *views)
{
	cleanup_buf struct buf found = BUF_INIT;
	struct landing_view view[SCENE_MAX];
	struct landing_plan plan;

	make(&plan);
	landing_view_make(&scene.facts, &plan, scene.now_ms, view);
	for (size_t i = 0; i < scene.facts.entry_count; i++) {
		const struct landing_view *v = &view[plan.order[i]];

		ck_assert_uint_eq(v->position, i + 1);
		buf_addf(&found, "%s%s %s", i > 0 ? ", " : "",
		    scene.entries[plan.order[i]].task,
		    landing_state_name(v->state));
		if (v->tree != NULL)
			buf_addf(&found, " %s", v->tree);
		if (v->expected_ms > 0)
			buf_addf(&found, " %lld", (long long)v->expected_ms);
	}
	landing_plan_release(&plan);
	ck_assert_str_eq(found.data, views);
}
