/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "history.h"
#include "view-state.h"
#include "view.h"
#include "workspace.h"

#define NOW (INT64_C(1769853600) * 1000)

static struct workspace workspace;
static struct view_files *files;

static void
begin(void)
{
	cleanup_free char *dir = xasprintf("%s/.llmc", unit_scratch());

	workspace = (struct workspace){ 0 };
	workspace.root = xstrdup(unit_scratch());
	workspace.dir = xstrdup(dir);
	ck_assert_int_eq(mkdir(dir, 0700), 0);
	files = view_files_new(&workspace);
}

static void
end(void)
{
	view_files_free(files);
	workspace_release(&workspace);
}

static struct json_object *
view_now(void)
{
	struct json_object *view = view_new();

	view_files_fill(files, view);
	return view;
}

static void
put(const char *name, const char *text)
{
	cleanup_free char *file = workspace_path(&workspace, name);

	ck_assert_int_eq(file_replace(file, text, strlen(text), 0600, NULL), 0);
}

TEST(without_files_there_is_nothing)
{
	cleanup_json struct json_object *view = NULL;

	begin();
	view = view_now();
	ck_assert_int_eq(
	    json_object_object_length(view_of(view, "repairs")), 0);
	ck_assert_ptr_null(
	    json_object_object_get(view_of(view, "head"), "overseer"));
	end();
}

static int
kept_rows(struct json_object *before, struct json_object *after)
{
	struct json_object *rows = view_of(before, "repairs");
	int kept = 0;

	json_object_object_foreach(rows, key, row)
	{
		(void)row;
		kept += view_row(after, "repairs", key) != NULL;
	}
	return kept;
}

TEST(repairs_keep_their_keys)
{
	cleanup_json struct json_object *before = NULL, *after = NULL;
	struct history history = { 0 };

	begin();
	for (int i = 0; i < HISTORY_MAX + 1; i++) {
		struct spiral_event event = { .at_ms = NOW + i / 2,
			.kind = SPIRAL_FAILURE };

		history_note(&history, &event);
		if (i == HISTORY_MAX - 1) {
			ck_assert_int_eq(
			    history_save(&workspace, &history, NULL), 0);
			before = view_now();
		}
	}
	ck_assert_int_eq(history_save(&workspace, &history, NULL), 0);
	after = view_now();
	ck_assert_int_eq(json_object_object_length(view_of(after, "repairs")),
	    VIEW_REPAIRS_MAX);
	ck_assert_int_eq(kept_rows(before, after), VIEW_REPAIRS_MAX - 1);
	history_release(&history);
	end();
}

static const struct {
	const char *text, *state;
} documents[] = {
	{ "{\"state\": \"watching\", \"secret\": 1}", "watching" },
	{ "{\"state\": ", NULL },
	{ "[1]", NULL },
	{ "", NULL },
};

TEST_ROWS(the_overseer_is_shown_as_its_file_says, nitems(documents))
{
	cleanup_json struct json_object *view = NULL;
	struct json_object *overseer;

	begin();
	put("overseer.json", documents[_i].text);
	view = view_now();
	overseer = json_object_object_get(view_of(view, "head"), "overseer");
	ck_assert((overseer != NULL) == (documents[_i].state != NULL));
	if (overseer != NULL)
		ck_assert_str_eq(
		    json_string_or(overseer, "state", ""), documents[_i].state);
	ck_assert_ptr_null(json_object_object_get(overseer, "secret"));
	end();
}

TEST(a_file_that_goes_is_shown_no_longer)
{
	cleanup_json struct json_object *view = NULL, *later = NULL;
	cleanup_free char *file = NULL;

	begin();
	put("failure.json", "{\"class\": \"outage\"}");
	view = view_now();
	ck_assert_ptr_nonnull(
	    json_object_object_get(view_of(view, "head"), "failure"));
	file = workspace_path(&workspace, "failure.json");
	ck_assert_int_eq(unlink(file), 0);
	later = view_now();
	ck_assert_ptr_null(
	    json_object_object_get(view_of(later, "head"), "failure"));
	end();
}

/* The clock was set back, or a backup was restored. */
TEST(a_file_from_the_future_is_read_once)
{
	cleanup_json struct json_object *view = NULL, *later = NULL;
	cleanup_free char *file = NULL;
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT },
		{ .tv_sec = INT64_C(4102444800) } };

	begin();
	put("overseer.json", "{\"state\": \"Running\"}");
	file = workspace_path(&workspace, "overseer.json");
	ck_assert_int_eq(utimensat(AT_FDCWD, file, times, 0), 0);
	view = view_now();
	later = view_now();
	ck_assert_ptr_nonnull(
	    json_object_object_get(view_of(view, "head"), "overseer"));
	ck_assert_ptr_eq(
	    json_object_object_get(view_of(view, "head"), "overseer"),
	    json_object_object_get(view_of(later, "head"), "overseer"));
	end();
}

TEST(the_words_of_a_failure_are_cut)
{
	cleanup_json struct json_object *view = NULL;
	cleanup_free char *words = xcalloc(1, 100001);
	cleanup_free char *text = NULL;
	struct json_object *failure;

	memset(words, 'x', 100000);
	text = xasprintf("{\"words\": \"%s\", \"class\": [1]}", words);
	begin();
	put("failure.json", text);
	view = view_now();
	failure = json_object_object_get(view_of(view, "head"), "failure");
	ck_assert_uint_eq(
	    strlen(json_string_or(failure, "words", "")), VIEW_REASON_MAX);
	ck_assert_ptr_null(json_object_object_get(failure, "class"));
	end();
}

/* --- events ---------------------------------------------------------- */

TEST(the_last_events_are_those_of_the_log)
{
	static const char lines[] =
	    "{\"timestamp\": \"2026-01-31T10:00:00.000Z\", \"level\": "
	    "\"WARN\", \"event\": {\"type\": \"strange\", "
	    "\"worker_name\": \"eve\", \"task\": \"t7\", \"x\": "
	    "\"1\"}}\n"
	    "{\"timestamp\": \"soon\", \"event\": {}}\n"
	    "{\"event\": 7}\n{\"timestamp\": \"2026-01-31T10:00:01.000Z\", "
	    "\"event\": {\"type\": \"a\\u001b[2J\"}}\n{\"torn";
	cleanup_json struct json_object *none = NULL, *list = NULL;
	cleanup_free char *dir = NULL;
	struct json_object *row;

	begin();
	none = view_files_events(&workspace);
	ck_assert_uint_eq(json_object_array_length(none), 0);
	dir = workspace_path(&workspace, "logs");
	ck_assert_int_eq(mkdir(dir, 0700), 0);
	put("logs/auto.log", lines);
	list = view_files_events(&workspace);
	ck_assert_uint_eq(json_object_array_length(list), 2);
	row = json_object_array_get_idx(list, 0);
	ck_assert_int_eq(json_int_or(row, "n", 0), 1);
	ck_assert_int_eq(json_int_or(row, "at_ms", 0), NOW);
	ck_assert_str_eq(json_string_or(row, "level", ""), "WARN");
	ck_assert_str_eq(json_string_or(row, "worker", ""), "eve");
	ck_assert_str_eq(json_string_or(row, "task", ""), "t7");
	ck_assert_ptr_nonnull(strstr(json_string_or(row, "words", ""), "x=1"));
	row = json_object_array_get_idx(list, 1);
	ck_assert_int_eq(json_int_or(row, "n", 0), 2);
	ck_assert_ptr_null(strchr(json_string_or(row, "words", ""), '\033'));
	end();
}
