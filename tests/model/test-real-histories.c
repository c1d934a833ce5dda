/* SPDX-License-Identifier: ISC */

/*
 * The rules of oversight, judged by runs of real agents: a table of the outside
 * (LLMC_VECTORS, or ../shared/vectors), which is not everywhere. Work that was
 * solved, and sessions that people led, are left alone; loops are met. The
 * table of docs/oversight.md is what this prints.
 */

#include "unit.h"
#include "behaviour.h"
#include "json-short.h"
#include "thresholds.h"

#define FILE_MAX (64 << 20)
#define RUNS     477 /* that the table of the manual is made of */

/* Of the runs of a row, how many were told more than a note. */
struct row {
	const char *what;
	const char *source; /* begins so; NULL = any */
	const char *outcome; /* NULL = any */
	const char *label; /* NULL = any */
	bool checked; /* the agent's own test runs end a turn, and count */
	int runs, told, redirected, noted;
	int most, least; /* told: at most, and at least, where these count */
};

/* What the prototype of these rules met is the least. */
static struct row rows[] = {
	{ "solved, one session", "gruckion/", "solved", NULL, false,
	    .most = 0 },
	{ "solved, with a check, in the attempt that solved it", "Aider-AI/",
	    "solved", NULL, false, .most = 0 },
	{ "people's sessions", "specstoryai/", NULL, NULL, false, .most = 0 },
	{ "not solved, one session", "gruckion/", "unsolved", NULL, false,
	    .most = 1000 },
	{ "not solved, with a check", "Aider-AI/", "unsolved", NULL, false,
	    .most = 1000 },
	{ "loops, one session", "gruckion/", "unsolved", "loop", false,
	    .most = 1000 },
	{ "loops, with a check", "Aider-AI/", "unsolved", "loop", false,
	    .most = 1000, .least = 6 },
	{ "loops, by the agent's own test runs", "gruckion/", "unsolved",
	    "loop", true, .most = 1000, .least = 1 },
};

static bool
is_of(const struct row *row, struct json_object *run)
{
	return text_begins(json_string_or(run, "source", ""), row->source) &&
	    (!row->checked || json_member(run, "checked") != NULL) &&
	    (row->outcome == NULL ||
		strcmp(json_string_or(run, "outcome", ""), row->outcome) ==
		    0) &&
	    (row->label == NULL ||
		strcmp(json_string_or(run, "label", ""), row->label) == 0);
}

/* What is said to an attempt that was given up does no harm. */
static void
count(struct row *row, struct json_object *run, struct json_object *steps)
{
	int64_t from = row->most == 0 ? json_int_or(run, "solvedFrom", 0) : 0;
	bool told = false, redirected = false, noted = false;

	JSON_EACH (step, steps) {
		const char *what = json_string_or(step, "step", "");

		if (json_int_or(step, "iteration", 0) < from)
			continue;
		noted = noted || strcmp(what, "log") == 0;
		if (strcmp(what, "log") == 0 || strcmp(what, "check") == 0)
			continue;
		told = true;
		redirected = redirected || strcmp(what, "warn") != 0;
		if (row->most == 0)
			ck_abort_msg("%s: %s at iteration %lld: %s",
			    json_string_or(run, "name", "?"), what,
			    (long long)json_int_or(step, "iteration", 0),
			    json_string_or(step, "why", ""));
	}
	row->runs++;
	row->told += told;
	row->redirected += redirected;
	row->noted += noted;
}

static void
judge(const struct thresholds *thresholds, struct json_object *run,
    struct row *row)
{
	cleanup_json struct json_object *one = json_object_new_object();
	cleanup_json struct json_object *got = NULL;
	struct err err = { 0 };

	json_set_string(one, "name", json_string_or(run, "name", "?"));
	json_set(one, "history",
	    json_object_get(
		json_member(run, row->checked ? "checked" : "history")));
	json_set(one, "calls", json_object_get(json_member(run, "calls")));
	ck_assert_msg(behaviour_replay(thresholds, one, &got, &err) == 0,
	    "%s: %s", json_string_or(run, "name", "?"), err.msg);
	count(
	    row, run, json_member(json_object_array_get_idx(got, 0), "steps"));
}

static char *
table_text(void)
{
	struct buf text = BUF_INIT;

	buf_adds(&text,
	    "| runs | number | noted | warned or more | redirected or more "
	    "|\n|---|---|---|---|---|\n");
	for (size_t i = 0; i < nitems(rows); i++)
		buf_addf(&text, "| %s | %d | %d | %d | %d |\n", rows[i].what,
		    rows[i].runs, rows[i].noted, rows[i].told,
		    rows[i].redirected);
	return buf_take(&text);
}

TEST(real_work_is_left_alone_and_real_loops_are_met)
{
	cleanup_free char *path =
	    xasprintf("%s/histories/real-histories.json", unit_vectors());
	cleanup_json struct json_object *runs = NULL;
	cleanup_free char *table = NULL;
	cleanup_buf struct buf manual = BUF_INIT;
	struct thresholds thresholds;

	if (access(path, R_OK) == -1)
		unit_skip("no real histories are there");
	ck_assert_int_eq(json_load(path, FILE_MAX, &runs, NULL), 0);
	thresholds_init(&thresholds, PROFILE_DEFAULT);
	JSON_EACH (run, runs)
		for (size_t i = 0; i < nitems(rows); i++)
			if (is_of(&rows[i], run))
				judge(&thresholds, run, &rows[i]);
	table = table_text();
	for (char *line = table, *end; *line != '\0'; line = end) {
		end = line + strcspn(line, "\n");
		printf("# %.*s\n", (int)(end - line), line);
		end += *end == '\n';
	}
	for (size_t i = 0; i < nitems(rows); i++)
		ck_assert_msg(rows[i].told <= rows[i].most &&
			(json_length(runs) != RUNS ||
			    rows[i].told >= rows[i].least),
		    "%s: %d of %d", rows[i].what, rows[i].told, rows[i].runs);
	if (json_length(runs) != RUNS)
		return;
	ck_assert_int_eq(
	    file_read(OVERSIGHT_MANUAL, FILE_MAX, &manual, NULL), 0);
	ck_assert_msg(strstr(manual.data, table) != NULL,
	    "docs/oversight.md has another table; it is:\n%s", table);
}
