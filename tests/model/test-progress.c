/* SPDX-License-Identifier: ISC */

/* From a detection to what is done about it, and whether it helped. */

#include "unit.h"
#include "error-signature.h"
#include "ladder.h"
#include "task.h"

/* --- the steps --------------------------------------------------------- */

static struct progress state;
static struct progress_policy policy;

static void
begin(void)
{
	memset(&state, 0, sizeof state);
	memset(&policy, 0, sizeof policy);
}

/* One iteration in which the findings of this type call for a step, and no
 * other is there; what is due is delivered at once. */
static enum progress_step
turn(enum detection_type type, enum progress_step step)
{
	enum progress_step all[DETECTION_TYPES] = { STEP_NONE };
	enum progress_step due[DETECTION_TYPES];

	all[type] = step;
	progress_next(&state, all, &policy, due);
	for (int i = 0; i < DETECTION_TYPES; i++)
		ck_assert(i == (int)type || due[i] == STEP_NONE);
	if (due[type] != STEP_NONE)
		progress_delivered(&state, type, due[type]);
	return due[type];
}

#define due(type, step, level) \
	ck_assert_int_eq(turn(DETECTION_##type, STEP_##step), STEP_##level)

TEST(each_step_is_taken_once)
{
	begin();
	due(STUCK, NONE, NONE);
	due(STUCK, WARN, WARN);
	due(STUCK, WARN, NONE);
	due(STUCK, REDIRECT, REDIRECT);
	due(STUCK, REDIRECT, NONE);
	due(STUCK, RESTART, RESTART);
	due(STUCK, PAUSE, PAUSE);
	due(STUCK, PAUSE, NONE);
	/* What got better begins anew. */
	due(STUCK, NONE, NONE);
	due(STUCK, WARN, WARN);
	due(REGRESSION, LOG, LOG);
	due(REGRESSION, LOG, NONE);
}

TEST(who_is_driven_by_hand_is_only_noted)
{
	begin();
	policy.by_hand = true;
	due(STUCK, REDIRECT, LOG);
	due(STUCK, PAUSE, NONE);
}

TEST(what_a_person_has_seen_is_only_logged)
{
	static const enum severity stuck[DETECTION_TYPES] = {
		[DETECTION_STUCK] = SEVERITY_CRITICAL
	};
	static const enum progress_step steps[DETECTION_TYPES] = {
		[DETECTION_STUCK] = STEP_PAUSE
	};

	begin();
	due(STUCK, PAUSE, PAUSE);
	ck_assert_int_eq(
	    progress_worst(&state, stuck, steps), SEVERITY_CRITICAL);
	progress_silence(&state, DETECTION_STUCK);
	due(STUCK, PAUSE, NONE);
	due(STUCK, NONE, NONE);
	due(STUCK, REDIRECT, LOG);
	ck_assert_int_eq(progress_worst(&state, stuck, steps), SEVERITY_NONE);
	/* Of other kinds nobody has said anything. */
	due(REGRESSION, WARN, WARN);
}

TEST(what_is_not_delivered_is_due_again)
{
	enum progress_step all[DETECTION_TYPES] = { [DETECTION_STUCK] =
							STEP_REDIRECT };
	enum progress_step next[DETECTION_TYPES];

	begin();
	for (int i = 0; i < 5; i++) {
		progress_next(&state, all, &policy, next);
		ck_assert_int_eq(next[DETECTION_STUCK], STEP_REDIRECT);
	}
	progress_delivered(&state, DETECTION_STUCK, STEP_REDIRECT);
	due(STUCK, REDIRECT, NONE);
}

TEST(a_restart_changes_nothing)
{
	cleanup_json struct json_object *json = NULL;
	struct progress kept;

	begin();
	due(STUCK, REDIRECT, REDIRECT);
	due(STUCK, REDIRECT, NONE);
	progress_silence(&state, DETECTION_RESOURCE_BURN);
	kept = state;
	json = progress_to_json(&state);
	memset(&state, 0xff, sizeof state);
	progress_from_json(&state, json);
	ck_assert_mem_eq(&state, &kept, sizeof kept);
}

/* --- status, outcome, fleet ------------------------------------------ */

TEST(the_status_follows_from_the_worst)
{
	ck_assert_int_eq(
	    oversight_status(SEVERITY_NONE, false), OVERSIGHT_HEALTHY);
	ck_assert_int_eq(
	    oversight_status(SEVERITY_LOW, false), OVERSIGHT_WARNING);
	ck_assert_int_eq(
	    oversight_status(SEVERITY_HIGH, false), OVERSIGHT_WARNING);
	ck_assert_int_eq(
	    oversight_status(SEVERITY_CRITICAL, false), OVERSIGHT_CRITICAL);
	ck_assert_int_eq(
	    oversight_status(SEVERITY_CRITICAL, true), OVERSIGHT_PAUSED);
}

TEST(an_outcome_is_judged_after_three_iterations)
{
	static const enum severity gone[] = { SEVERITY_HIGH, SEVERITY_HIGH,
		SEVERITY_NONE };
	static const enum severity same[] = { SEVERITY_NONE, SEVERITY_NONE,
		SEVERITY_HIGH };
	static const enum severity worse[] = { SEVERITY_HIGH, SEVERITY_HIGH,
		SEVERITY_CRITICAL };

	ck_assert_int_eq(progress_judge(SEVERITY_NONE, SEVERITY_HIGH, gone, 2),
	    OUTCOME_PENDING);
	ck_assert_int_eq(progress_judge(SEVERITY_NONE, SEVERITY_HIGH, gone, 3),
	    OUTCOME_IMPROVED);
	ck_assert_int_eq(
	    progress_judge(SEVERITY_NONE, SEVERITY_CRITICAL, same, 3),
	    OUTCOME_IMPROVED);
	ck_assert_int_eq(progress_judge(SEVERITY_NONE, SEVERITY_HIGH, same, 3),
	    OUTCOME_UNCHANGED);
	ck_assert_int_eq(progress_judge(SEVERITY_NONE, SEVERITY_HIGH, worse, 3),
	    OUTCOME_WORSE);
	/* It was getting better before anything was done. */
	ck_assert_int_eq(
	    progress_judge(SEVERITY_CRITICAL, SEVERITY_HIGH, gone, 3),
	    OUTCOME_UNCHANGED);
}

#define MINUTE INT64_C(60000)

TEST(the_same_error_on_three_workers_is_one_event)
{
	struct fleet_pattern fleet = { 0 };
	uint64_t error = error_signature_hash("a/b.c:1: x", 10);
	uint64_t other = error_signature_hash("y", 1);

	ck_assert_uint_eq(fleet_pattern_see(&fleet, error, "adam", 0), 0);
	ck_assert_uint_eq(fleet_pattern_see(&fleet, error, "adam", 1), 0);
	ck_assert_uint_eq(fleet_pattern_see(&fleet, error, "bert", 2), 0);
	ck_assert_uint_eq(fleet_pattern_see(&fleet, other, "carl", 3), 0);
	ck_assert_uint_eq(
	    fleet_pattern_see(&fleet, error, "carl", 15 * MINUTE), 3);
	/* The same event goes on. */
	ck_assert_uint_eq(
	    fleet_pattern_see(&fleet, error, "dora", 20 * MINUTE), 0);
	ck_assert_uint_eq(
	    fleet_pattern_see(&fleet, error, "adam", 30 * MINUTE), 0);
	/* Later it is a new one. */
	ck_assert_uint_eq(
	    fleet_pattern_see(&fleet, error, "adam", 60 * MINUTE), 0);
	ck_assert_uint_eq(
	    fleet_pattern_see(&fleet, error, "bert", 61 * MINUTE), 0);
	ck_assert_uint_eq(
	    fleet_pattern_see(&fleet, error, "carl", 62 * MINUTE), 3);
}

/* Three workers that meet the same error of the code are no event. */
TEST(only_errors_of_the_environment_are_shared)
{
	static const char *const errors[] = { "write: No space left on device",
		"curl: (6) Could not resolve host: example.org",
		"fatal: Authentication failed",
		"bash: cargo: command not found",
		"connect ECONNREFUSED 127.0.0.1:5432" };
	static const char *const others[] = { "src/a.c:3: error: no member 'x'",
		"String to replace not found in file.", "1 of 40 tests failed",
		"File has been modified since read" };

	for (size_t i = 0; i < nitems(errors); i++)
		ck_assert_msg(
		    fleet_pattern_is_shared(errors[i]), "%s", errors[i]);
	for (size_t i = 0; i < nitems(others); i++)
		ck_assert_msg(
		    !fleet_pattern_is_shared(others[i]), "%s", others[i]);
}

TEST(workers_further_apart_are_no_event)
{
	for (int later = -1; later <= 1; later++) {
		struct fleet_pattern fleet = { 0 };

		ck_assert_uint_eq(fleet_pattern_see(&fleet, 1, "adam", 0), 0);
		ck_assert_uint_eq(
		    fleet_pattern_see(&fleet, 1, "bert", MINUTE), 0);
		ck_assert_uint_eq(
		    fleet_pattern_see(&fleet, 1, "carl", 15 * MINUTE + later),
		    later <= 0 ? 3 : 0);
	}
}

/* An event goes on for as long as somebody has the error. */
TEST(an_event_is_repeated_after_it_was_quiet)
{
	static const char *const workers[] = { "adam", "bert", "carl" };

	for (int quiet = 0; quiet <= 1; quiet++) {
		struct fleet_pattern fleet = { 0 };
		int64_t last = 0;
		size_t told = 0;

		for (int i = 0; i < 30; i++) {
			last = i * 10 * MINUTE;
			for (int k = 0; k < 3; k++)
				told += fleet_pattern_see(
				    &fleet, 1, workers[k], last + k);
		}
		ck_assert_uint_eq(told, 3);
		last += 2 + 15 * MINUTE + quiet;
		for (int k = 0; k < 3; k++)
			told +=
			    fleet_pattern_see(&fleet, 1, workers[k], last + k);
		ck_assert_uint_eq(told, quiet ? 6 : 3);
	}
}

/* Whatever is seen, it takes no more memory, and forgets the oldest. */
TEST(other_errors_hide_nothing_that_is_new)
{
	struct fleet_pattern fleet = { 0 };

	ck_assert_uint_eq(fleet_pattern_see(&fleet, 1, "adam", 1), 0);
	for (uint64_t i = 0; i < FLEET_PATTERN_KEPT; i++)
		ck_assert_uint_eq(
		    fleet_pattern_see(&fleet, 100 + i, "adam", 2), 0);
	ck_assert_uint_eq(fleet_pattern_see(&fleet, 1, "bert", 3), 0);
	ck_assert_uint_eq(fleet_pattern_see(&fleet, 1, "carl", 4), 0);
	ck_assert_uint_eq(fleet_pattern_see(&fleet, 1, "adam", 5), 3);
}

/* --- failures alike ------------------------------------------------------ */

#define HOOK "the hook says: no commits today"

/* Attempts that failed: "task worker" and why; NULL as a reason: a task has
 * succeeded. */
static const struct {
	const char *what;
	size_t team;
	struct {
		const char *task, *worker, *reason;
	} failed[6];
	bool pauses; /* with the last one */
} alike_rows[] = {
	{ "three tasks, three workers", 3,
	    { { "t1", "auto-1", HOOK }, { "t2", "auto-2", HOOK },
		{ "t3", "auto-3", HOOK } },
	    true },
	{ "two tasks", 3,
	    { { "t1", "auto-1", HOOK }, { "t2", "auto-2", HOOK } }, false },
	{ "one task on three workers", 3,
	    { { "t1", "auto-1", HOOK }, { "t1", "auto-2", HOOK },
		{ "t1", "auto-3", HOOK } },
	    false },
	{ "the tree of one worker", 3,
	    { { "t1", "auto-1", HOOK }, { "t2", "auto-1", HOOK },
		{ "t3", "auto-1", HOOK } },
	    false },
	{ "and then those of the others", 3,
	    { { "t1", "auto-1", HOOK }, { "t2", "auto-1", HOOK },
		{ "t3", "auto-1", HOOK }, { "t2", "auto-2", HOOK },
		{ "t3", "auto-3", HOOK } },
	    true },
	{ "two of three workers", 3,
	    { { "t1", "auto-1", HOOK }, { "t2", "auto-2", HOOK },
		{ "t3", "auto-1", HOOK } },
	    false },
	{ "all that there are", 2,
	    { { "t1", "auto-1", HOOK }, { "t2", "auto-2", HOOK },
		{ "t3", "auto-1", HOOK } },
	    true },
	{ "the only one", 1,
	    { { "t1", "auto-1", HOOK }, { "t2", "auto-1", HOOK },
		{ "t3", "auto-1", HOOK } },
	    true },
	{ "a success between", 3,
	    { { "t1", "auto-1", HOOK }, { "t2", "auto-2", HOOK },
		{ "t9", "auto-1", NULL }, { "t3", "auto-3", HOOK } },
	    false },
	{ "numbers, paths, hashes and names", 3,
	    { { "t1", "auto-1", "/w/auto-1/x: 3 of 0123456789ab, \"a b\"" },
		{ "t2", "auto-2", "/w/auto-2/y: 4 of ba9876543210, 'c'" },
		{ "t3", "auto-3", "/w/auto-3/z: 5 of 00112233aabb, `d-e`" } },
	    true },
	{ "another word", 3,
	    { { "t1", "auto-1", "the parser fails" },
		{ "t2", "auto-2", "the lexer fails" },
		{ "t3", "auto-3", "the linker fails" } },
	    false },
	{ "another word in a later line", 3,
	    { { "t1", "auto-1", "the check fails:\nerror: parser" },
		{ "t2", "auto-2", "the check fails:\nerror: lexer" },
		{ "t3", "auto-3", "the check fails:\nerror: linker" } },
	    false },
	{ "an apostrophe is no quote", 3,
	    { { "t1", "auto-1", "auto's parser isn't there" },
		{ "t2", "auto-2", "auto's lexer isn't there" },
		{ "t3", "auto-3", "auto's linker isn't there" } },
	    false },
	{ "what says nothing", 3,
	    { { "t1", "auto-1", "exit code 1" }, { "t2", "auto-2", "" },
		{ "t3", "auto-3", "Exit status 7" } },
	    false },
};

TEST_ROWS(what_fails_alike_comes_from_outside, nitems(alike_rows))
{
	struct alike alike = { 0 };
	bool pauses = false;

	for (size_t i = 0; alike_rows[_i].failed[i].task != NULL; i++) {
		cleanup_free char *id = xstrdup(alike_rows[_i].failed[i].task);
		cleanup_free char *worker =
		    xstrdup(alike_rows[_i].failed[i].worker);
		const struct task task = { .id = id, .worker = worker };
		const char *reason = alike_rows[_i].failed[i].reason;

		ck_assert_msg(!pauses, "%s: too early", alike_rows[_i].what);
		if (reason == NULL)
			alike_clear(&alike);
		else
			pauses = alike_add(
			    &alike, &task, alike_rows[_i].team, reason);
	}
	ck_assert_msg(
	    pauses == alike_rows[_i].pauses, "%s", alike_rows[_i].what);
	alike_clear(&alike);
}

/* --- in a turn ------------------------------------------------------- */

TEST(a_turn_is_told_after_a_tool_and_interrupted_without_one)
{
	static const struct {
		enum progress_step due;
		int64_t waited; /* in a slice of 10 */
		enum progress_telling telling;
	} rows[] = {
		{ STEP_NONE, 99, TELLING_NOTHING },
		{ STEP_LOG, 99, TELLING_NOTHING },
		{ STEP_WARN, 0, TELLING_CONTEXT },
		{ STEP_WARN, 29, TELLING_CONTEXT },
		{ STEP_WARN, 30, TELLING_INTERRUPT },
		{ STEP_REDIRECT, 0, TELLING_CONTEXT },
		{ STEP_REDIRECT, 9, TELLING_CONTEXT },
		{ STEP_REDIRECT, 10, TELLING_INTERRUPT },
		{ STEP_RESTART, 0, TELLING_INTERRUPT },
		{ STEP_PAUSE, 0, TELLING_INTERRUPT },
	};

	for (size_t i = 0; i < nitems(rows); i++)
		ck_assert_msg(progress_telling(rows[i].due, rows[i].waited,
				  10) == rows[i].telling,
		    "row %zu", i);
}

TEST(what_was_said_in_vain_is_said_again)
{
	ck_assert(
	    progress_tell_again(STEP_REDIRECT, SEVERITY_HIGH, SEVERITY_HIGH));
	ck_assert(
	    progress_tell_again(STEP_REDIRECT, SEVERITY_MEDIUM, SEVERITY_HIGH));
	ck_assert(!progress_tell_again(
	    STEP_REDIRECT, SEVERITY_HIGH, SEVERITY_MEDIUM));
	ck_assert(
	    !progress_tell_again(STEP_REDIRECT, SEVERITY_HIGH, SEVERITY_NONE));
	ck_assert(
	    !progress_tell_again(STEP_WARN, SEVERITY_HIGH, SEVERITY_HIGH));
}

/* --- texts ----------------------------------------------------------- */

static const char *const two_recommendations[] = { "Do this", "Do that", NULL };

TEST(every_type_has_its_own_texts)
{
	cleanup_strv char **seen = NULL;

	for (int type = 0; type < DETECTION_TYPES; type++) {
		cleanup_buf struct buf warning = BUF_INIT, redirect = BUF_INIT;
		struct detection d;

		detection_init(&d, (enum detection_type)type, SEVERITY_HIGH);
		d.message = xstrdup("It is \033[31m so");
		d.recommendations = two_recommendations;
		json_set_string(d.evidence, "repeatedError", "x\033y");
		progress_warning(&d, &warning);
		progress_redirection(&d, "Fix\nit", &redirect);
		detection_release(&d);
		ck_assert_ptr_nonnull(
		    strstr(warning.data, "OVERSIGHT WARNING: It is "));
		ck_assert_int_eq(
		    strstr(warning.data, "1. Do this\n2. Do that\n") == NULL,
		    type == DETECTION_RESOURCE_BURN);
		ck_assert_ptr_null(strchr(warning.data, '\033'));
		ck_assert_ptr_nonnull(strstr(redirect.data, "The task: Fix"));
		ck_assert_ptr_null(strchr(redirect.data, '\033'));
		for (char **s = seen; s != NULL && *s != NULL; s++)
			ck_assert(strcmp(*s, warning.data) != 0 &&
			    strcmp(*s, redirect.data) != 0);
		strv_add(&seen, warning.data);
		strv_add(&seen, redirect.data);
	}
}

TEST(the_next_worker_is_told_what_was_learned)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct detection d;

	detection_init(&d, DETECTION_STUCK, SEVERITY_HIGH);
	d.message = xstrdup("Stuck: The check failed 6 times");
	progress_learned(&d, "I changed \033[1mx", "FAIL: it is red", &text);
	detection_release(&d);
	ck_assert_ptr_nonnull(strstr(text.data, "The check failed 6 times"));
	ck_assert_ptr_nonnull(strstr(text.data, "said last:\nI changed x\n"));
	ck_assert_ptr_nonnull(strstr(text.data, "failed:\nFAIL: it is red\n"));
	ck_assert_ptr_nonnull(strstr(text.data, "Name one approach"));
}

TEST(long_texts_of_others_are_cut)
{
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_free char *objective = xmalloc(100001);
	struct detection d;

	memset(objective, 'x', 100000);
	objective[100000] = '\0';
	detection_init(&d, DETECTION_DEVIATION, SEVERITY_MEDIUM);
	progress_redirection(&d, objective, &text);
	detection_release(&d);
	ck_assert_uint_lt(text.len, 2000);
}
