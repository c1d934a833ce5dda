/* SPDX-License-Identifier: ISC */

/* From a detection to what is done about it, and whether it helped. */

#include "unit.h"
#include "error-signature.h"
#include "ladder.h"
#include "task.h"

/* --- the table ------------------------------------------------------- */

/* The first step of each type: none, low, medium, high, critical. */
TEST(the_table_is_that_of_the_design)
{
	static const char *const rows[DETECTION_TYPES] = {
		[DETECTION_STUCK] = "none log warn redirect redirect ",
		[DETECTION_OSCILLATION] = "none log warn redirect redirect ",
		[DETECTION_DEVIATION] = "none log log log log ", /* words */
		[DETECTION_RESOURCE_BURN] = "none log warn warn pause ",
		[DETECTION_REGRESSION] = "none log warn warn redirect ",
	};

	for (int type = 0; type < DETECTION_TYPES; type++) {
		cleanup_buf struct buf row = BUF_INIT;

		for (int s = SEVERITY_NONE; s < SEVERITY_COUNT; s++)
			buf_addf(&row, "%s ",
			    progress_step_words[progress_level(
				(enum detection_type)type, (enum severity)s)]);
		ck_assert_str_eq(row.data, rows[type]);
	}
}

/* --- repetition ------------------------------------------------------ */

static struct progress state;
static struct progress_policy policy;

/* One iteration in which this type has this severity, and no other is there;
 * what is due is delivered at once. */
static enum progress_step
turn(enum detection_type type, enum severity severity)
{
	enum severity all[DETECTION_TYPES] = { SEVERITY_NONE };
	enum progress_step due[DETECTION_TYPES];

	all[type] = severity;
	progress_next(&state, all, &policy, due);
	for (int i = 0; i < DETECTION_TYPES; i++)
		ck_assert(i == (int)type || due[i] == STEP_NONE);
	if (due[type] != STEP_NONE)
		progress_delivered(&state, type);
	return due[type];
}

static void
begin(void)
{
	memset(&state, 0, sizeof state);
	memset(&policy, 0, sizeof policy);
}

#define due(type, severity, level) \
	ck_assert_int_eq(          \
	    turn(DETECTION_##type, SEVERITY_##severity), STEP_##level)

/* It was paused for it, and a person has let it go on. */
/* A story, word by word: "3*stuck/high=warn" is an iteration, three times, with
 * what is due then; the others say what holds from then on. */
static void
tell(const char *story)
{
	cleanup_free char *copy = xstrdup(story);
	char *rest = copy, *word;

	begin();
	while ((word = strsep(&rest, " ")) != NULL) {
		char *severity = strchr(word, '/'), *step = strchr(word, '=');
		unsigned type = 0, level = 0, wanted = 0;
		long times = strtol(word, &word, 10);

		word += *word == '*';
		if (strcmp(word, "last") == 0) {
			policy.last_attempt = true;
			continue;
		} else if (strcmp(word, "hand") == 0) {
			policy.by_hand = true;
			continue;
		}
		*(severity != NULL ? severity++ : step) = '\0';
		if (step != NULL)
			*step++ = '\0';
		ck_assert(word_find(detection_type_words, word, &type));
		if (severity == NULL) { /* stuck=7: its cause */
			policy.cause[type] = strtol(step, NULL, 10);
			continue;
		} else if (strcmp(severity, "old") == 0) {
			policy.old ^= 1u << type;
			continue;
		} else if (strcmp(severity, "silence") == 0) {
			progress_silence(&state, (enum detection_type)type);
			continue;
		}
		ck_assert(word_find(severity_words, severity, &level));
		ck_assert(word_find(progress_step_words, step, &wanted));
		do
			ck_assert_msg(turn((enum detection_type)type,
					  (enum severity)level) == wanted,
			    "%s: %s/%s=%s", story, word, severity, step);
		while (--times > 0);
	}
}

/* Told once, and one step higher after three iterations. */
#define UP(finding, level, next) \
	finding "=" level " 2*" finding "=none " finding "=" next

static const char *const stories[] = {
	UP("regression/medium", "warn",
	    "redirect") " "
			"2*regression/medium=none regression/medium=restart "
			"2*regression/medium=none regression/medium=retry "
			"2*regression/medium=none regression/medium=pause "
			"2*regression/medium=none regression/medium=pause",
	/* A person is asked where no attempt is left. */
	"last stuck/high=redirect 2*stuck/high=none stuck/critical=restart "
	"2*stuck/critical=none stuck/critical=pause",
	/* A part of a turn, or one without a check, is no further failure. */
	"stuck/high=redirect stuck/old 50*stuck/high=none stuck/old "
	"2*stuck/high=none stuck/high=restart",
	/* What is judged from words is logged once, and what is counted warns
	 * once and pauses at most. */
	"deviation/medium=log 50*deviation/medium=none",
	"resource_burn/high=warn 50*resource_burn/high=none "
	"resource_burn/critical=pause",
	/* What is worse does not wait. */
	"resource_burn/high=warn resource_burn/critical=pause "
	"resource_burn/high=none",
	/* A turn or two without it are not enough to go down: a fresh session
	 * may need them. */
	UP("stuck/high", "redirect",
	    "restart") " "
		       "stuck/none=none stuck/high=none 2*stuck/none=none stuck/high=none "
		       "stuck/high=retry 3*stuck/none=none stuck/high=restart "
		       "6*stuck/none=none stuck/high=redirect",
	/* Another failure begins anew; what a person has seen is a kind of
	 * finding, not a failure. */
	"stuck=7 " UP("stuck/high", "redirect",
	    "restart") " stuck=8 "
		       "stuck/high=redirect stuck/silence stuck=9 stuck/high=log",
	"hand 10*regression/critical=log",
};

TEST_ROWS(a_story_has_its_steps, nitems(stories))
{
	tell(stories[_i]);
}

TEST(what_a_person_has_seen_is_only_logged)
{
	static const enum severity stuck[DETECTION_TYPES] = {
		[DETECTION_STUCK] = SEVERITY_CRITICAL
	};

	begin();
	due(STUCK, CRITICAL, REDIRECT);
	progress_silence(&state, DETECTION_STUCK);
	due(STUCK, CRITICAL, LOG);
	for (int i = 0; i < 50; i++)
		due(STUCK, CRITICAL, NONE);
	for (int i = 0; i < 3; i++)
		due(STUCK, NONE, NONE);
	due(STUCK, HIGH, LOG);
	ck_assert_int_eq(progress_worst(&state, stuck), SEVERITY_NONE);
	/* Of other kinds nobody has said anything. */
	due(OSCILLATION, HIGH, REDIRECT);
}

TEST(iterations_count_from_the_delivery)
{
	enum severity all[DETECTION_TYPES] = { [DETECTION_STUCK] =
						   SEVERITY_HIGH };
	enum progress_step next[DETECTION_TYPES];

	begin();
	for (int i = 0; i < 5; i++) {
		progress_next(&state, all, &policy, next);
		ck_assert_int_eq(next[DETECTION_STUCK], STEP_REDIRECT);
	}
	progress_delivered(&state, DETECTION_STUCK);
	due(STUCK, HIGH, NONE);
	due(STUCK, HIGH, NONE);
	due(STUCK, HIGH, RESTART);
}

TEST(a_restart_changes_nothing)
{
	begin();
	for (int i = 0; i < 12; i++) {
		cleanup_json struct json_object *json =
		    progress_to_json(&state);
		struct progress kept = state;
		enum progress_step one = turn(DETECTION_STUCK, SEVERITY_MEDIUM);
		struct progress after = state;

		if (i == 6) {
			progress_silence(&state, DETECTION_STUCK);
			continue;
		}
		memset(&state, 0xff, sizeof state);
		progress_from_json(&state, json);
		ck_assert_mem_eq(&state, &kept, sizeof kept);
		ck_assert_int_eq(turn(DETECTION_STUCK, SEVERITY_MEDIUM), one);
		ck_assert_mem_eq(&state, &after, sizeof after);
	}
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

	ck_assert_int_eq(
	    progress_judge(SEVERITY_HIGH, gone, 2), OUTCOME_PENDING);
	ck_assert_int_eq(
	    progress_judge(SEVERITY_HIGH, gone, 3), OUTCOME_IMPROVED);
	ck_assert_int_eq(
	    progress_judge(SEVERITY_CRITICAL, same, 3), OUTCOME_IMPROVED);
	ck_assert_int_eq(
	    progress_judge(SEVERITY_HIGH, same, 3), OUTCOME_UNCHANGED);
	ck_assert_int_eq(
	    progress_judge(SEVERITY_HIGH, worse, 3), OUTCOME_WORSE);
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
