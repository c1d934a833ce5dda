/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "health.h"

#define SECOND 1000
#define PID    4711

static const struct health_limits limits = {
	.start_ms = 60 * SECOND,
	.heartbeat_ms = 30 * SECOND,
	.stall_ms = 3600 * SECOND,
};

/* Ready for two hours, with a fresh heartbeat and progress. */
static struct health_facts
well(void)
{
	return (struct health_facts){ .ready = true,
		.identity = true,
		.status = -1,
		.up_ms = 7200 * SECOND };
}

/* Ready for so long, and before that; NEVER: nothing was heard yet. */
#define NEVER     INT64_MAX
#define UP(ms)    .ready = true, .identity = true, .up_ms = (ms)
#define WELL      UP(7200 * SECOND)
#define BEGUN(ms) .up_ms = (ms), .beat_ms = NEVER, .moved_ms = NEVER
#define ENDED(n)  .ended = true, .status = (n)

static const struct {
	struct health_facts facts;
	enum health_verdict verdict;
} judged[] = {
	{ { WELL }, HEALTH_FINE },
	{ { WELL, .assigned = true }, HEALTH_FINE },
	{ { WELL, .assigned = true, .beat_ms = -5, .moved_ms = -5 },
	    HEALTH_FINE },
	/* The start has its time and no more. */
	{ { BEGUN(0) }, HEALTH_STARTING },
	{ { BEGUN(60 * SECOND) }, HEALTH_STARTING },
	{ { BEGUN(60 * SECOND + 1) }, HEALTH_START_FAILED },
	{ { BEGUN(60 * SECOND + 1), .starved = true }, HEALTH_STARTING },
	{ { BEGUN(0), .frozen = true }, HEALTH_FROZEN },
	{ { BEGUN(0), .frozen = true, .complaint = "x" }, HEALTH_COMPLAINED },
	/* Who it is counts once it is ready. */
	{ { .ready = true, .moved_ms = NEVER }, HEALTH_IDENTITY },
	/* How it has ended. */
	{ { WELL, ENDED(0) }, HEALTH_DIED },
	{ { WELL, ENDED(1) }, HEALTH_DIED },
	{ { WELL, ENDED(-1) }, HEALTH_DIED },
	{ { WELL, ENDED(137) }, HEALTH_DIED },
	{ { WELL, ENDED(0), .declared = true }, HEALTH_COMPLETE },
	{ { WELL, ENDED(1), .declared = true }, HEALTH_COMPLETE },
	{ { WELL, ENDED(-1), .declared = true }, HEALTH_COMPLETE },
	{ { WELL, ENDED(137), .declared = true }, HEALTH_DIED },
	{ { WELL, ENDED(143), .declared = true }, HEALTH_DIED },
	{ { WELL, ENDED(143), .failure = true }, HEALTH_FAILED },
	{ { WELL, ENDED(143), .failure = true, .told_to_end = true },
	    HEALTH_STOPPED_BY_US },
	{ { BEGUN(10), ENDED(1) }, HEALTH_START_FAILED },
	{ { BEGUN(10), ENDED(0) }, HEALTH_START_FAILED },
	/* Nothing was there to do. */
	{ { BEGUN(10), ENDED(0), .declared = true }, HEALTH_COMPLETE },
	{ { BEGUN(10), ENDED(0), .declared = true, .failure = true },
	    HEALTH_FAILED },
	{ { BEGUN(10), ENDED(0), .declared = true, .failure = true,
	      .told_to_end = true },
	    HEALTH_STOPPED_BY_US },
	/* On its way out nothing is held against it. */
	{ { .ready = true,
	      .up_ms = 7200 * SECOND,
	      .told_to_end = true,
	      .beat_ms = NEVER,
	      .complaint = "x" },
	    HEALTH_FINE },
	/* Earlier verdicts hide later ones. */
	{ { WELL, .assigned = true, .moved_ms = NEVER }, HEALTH_STALLED },
	{ { WELL, .assigned = true, .moved_ms = NEVER, .beat_ms = NEVER },
	    HEALTH_HUNG },
	{ { WELL, .beat_ms = NEVER, .frozen = true }, HEALTH_FROZEN },
	{ { WELL, .frozen = true, .complaint = "x" }, HEALTH_COMPLAINED },
	{ { .ready = true, .complaint = "x" }, HEALTH_IDENTITY },
	{ { .ready = true, .failure = true }, HEALTH_FAILED },
	{ { .ready = true, ENDED(-1), .complaint = "x" }, HEALTH_DIED },
	/* A watcher that had no time itself judges no hang and no stall. */
	{ { WELL, .starved = true, .assigned = true, .beat_ms = NEVER,
	      .moved_ms = NEVER },
	    HEALTH_FINE },
	{ { WELL, .starved = true, .beat_ms = NEVER, .frozen = true },
	    HEALTH_FROZEN },
	{ { WELL, .starved = true, .frozen = true, ENDED(-1) }, HEALTH_DIED },
	/* One that did not run at all does not judge one that may not have run
	 * either, but what it did before counts. */
	{ { WELL, .woken = true, .assigned = true, .beat_ms = NEVER,
	      .moved_ms = NEVER, .frozen = true },
	    HEALTH_FINE },
	{ { BEGUN(NEVER), .woken = true, .frozen = true }, HEALTH_STARTING },
	{ { WELL, .woken = true, .complaint = "x" }, HEALTH_COMPLAINED },
	{ { WELL, .woken = true, ENDED(-1) }, HEALTH_DIED },
	/* An empty queue never stalls, and an earlier run not this one. */
	{ { UP(NEVER), .moved_ms = NEVER }, HEALTH_FINE },
	{ { UP(5 * SECOND), .assigned = true, .moved_ms = 90000 * SECOND },
	    HEALTH_FINE },
	{ { UP(5 * SECOND), .assigned = true, .moved_ms = NEVER },
	    HEALTH_FINE },
	{ { UP(3600 * SECOND), .assigned = true, .moved_ms = NEVER },
	    HEALTH_FINE },
	{ { UP(3600 * SECOND + 1), .assigned = true, .moved_ms = NEVER },
	    HEALTH_STALLED },
};

TEST_ROWS(facts_have_one_verdict, nitems(judged))
{
	ck_assert_str_eq(
	    health_verdict_name(health_judge(&judged[_i].facts, &limits)),
	    health_verdict_name(judged[_i].verdict));
}

TEST(limit_of_zero_is_never)
{
	static const struct health_limits none = { 0 };
	struct health_facts facts = { BEGUN(NEVER) };

	ck_assert_int_eq(health_judge(&facts, &none), HEALTH_STARTING);
	facts.ready = facts.identity = facts.assigned = true;
	ck_assert_int_eq(health_judge(&facts, &none), HEALTH_FINE);
}

TEST(abrupt_is_what_ends_without_a_word)
{
	static const struct {
		enum health_verdict verdict;
		bool ended;
		int status;
		bool abrupt;
	} rows[] = {
		{ HEALTH_DIED, true, 128 + 9, true },
		{ HEALTH_DIED, true, 128 + 11, true },
		{ HEALTH_DIED, true, FATAL_EXIT_MEMORY, true },
		{ HEALTH_DIED, true, -1, true }, /* taken over: not known */
		{ HEALTH_DIED, true, 0, false },
		{ HEALTH_DIED, true, 1, false },
		{ HEALTH_DIED, true, 70, false }, /* a broken invariant */
		{ HEALTH_START_FAILED, true, 128 + 9, true },
		{ HEALTH_START_FAILED, true, 127, false },
		{ HEALTH_START_FAILED, false, 0, true }, /* it hangs */
		{ HEALTH_HUNG, false, 0, true },
		{ HEALTH_FROZEN, false, 0, true },
		{ HEALTH_COMPLAINED, false, 0, false },
		{ HEALTH_COMPLAINED, true, 128 + 9, false },
		{ HEALTH_COMPLAINED, true, FATAL_EXIT_MEMORY, true },
		{ HEALTH_FAILED, true, 128 + 9, false },
		{ HEALTH_IDENTITY, true, 128 + 9, false },
		{ HEALTH_STALLED, true, 128 + 9, false },
	};

	for (size_t i = 0; i < nitems(rows); i++)
		ck_assert_msg(health_is_abrupt(rows[i].verdict, rows[i].ended,
				  rows[i].status) == rows[i].abrupt,
		    "row %zu", i);
}

TEST(verdicts_have_names_of_their_own)
{
	for (unsigned a = 0; a < HEALTH_VERDICT_COUNT; a++)
		for (unsigned b = 0; b < a; b++)
			ck_assert_str_ne(
			    health_verdict_name((enum health_verdict)a),
			    health_verdict_name((enum health_verdict)b));
}

/* NULL: the line is ignored. */
static void
assert_line(const char *line, const char *level, const char *wanted)
{
	cleanup_buf struct buf out = BUF_INIT;

	buf_adds(&out, ">");
	ck_assert_msg(
	    health_read_line(line, level, PID, NULL, &out) == (wanted != NULL),
	    "%s at %s", line, level);
	ck_assert_str_eq(out.data + 1, wanted == NULL ? "" : wanted);
}

TEST(line_at_the_level_or_above_counts)
{
	const char *info = "{\"level\":\"INFO\",\"message\":\"m\"}";
	const char *warn = "{\"level\":\"WARN\",\"message\":\"m\"}";
	const char *error = "{\"level\":\"error\",\"message\":\"m\"}";

	assert_line(info, "warn", NULL);
	assert_line(warn, "warn", "m");
	assert_line(error, "warn", "m");
	assert_line(warn, "error", NULL);
	assert_line(error, "error", "m");
	assert_line(error, "never", NULL);
	assert_line(error, "", NULL);
}

TEST(line_of_another_process_is_ignored)
{
	cleanup_buf struct buf out = BUF_INIT;
	const char *other =
	    "{\"level\":\"ERROR\",\"pid\":4712,\"message\":\"m\"}";

	assert_line(other, "warn", NULL);
	assert_line("{\"level\":\"ERROR\",\"pid\":4711,\"message\":\"m\"}",
	    "warn", "m");
	assert_line("{\"level\":\"ERROR\",\"message\":\"m\"}", "warn", "m");
	ck_assert(health_read_line(other, "warn", 0, NULL, &out));
}

TEST(line_from_before_it_began_is_that_of_another)
{
	static const char since[] = "2026-01-31T08:15:30.000Z";
	static const struct {
		const char *stamp;
		bool ours;
	} lines[] = { { "2026-01-31T08:15:29.999Z", false },
		{ "2025-12-31T23:59:59.999Z", false },
		{ "2026-01-31T08:15:30.000Z", true },
		{ "2026-02-01T00:00:00.000Z", true }, { "", true } };

	for (size_t i = 0; i < nitems(lines); i++) {
		cleanup_buf struct buf out = BUF_INIT;
		cleanup_free char *line =
		    xasprintf("{\"timestamp\":\"%s\",\"level\":\"WARN\","
			      "\"pid\":4711,\"message\":\"m\"}",
			lines[i].stamp);

		ck_assert_int_eq(
		    health_read_line(line, "warn", PID, since, &out),
		    lines[i].ours);
		assert_line(line, "warn", "m");
	}
}

TEST(what_is_no_record_is_ignored)
{
	static const char *const lines[] = { "", "x", "null", "[]", "\"ERROR\"",
		"{", "{}", "{\"level\":3}", "{\"level\":\"LOUD\"}",
		"{\"message\":\"m\"}", "{\"level\":\"ERROR\"} x",
		"{\"level\":\"ERROR\",\"message\":\"m" };

	for (size_t i = 0; i < nitems(lines); i++)
		assert_line(lines[i], "warn", NULL);
}

TEST(message_is_found_where_it_is)
{
	assert_line("{\"level\":\"ERROR\",\"error\":\"e\"}", "warn", "e");
	assert_line("{\"level\":\"ERROR\",\"message\":\"\",\"event\":{"
		    "\"message\":\"in\"}}",
	    "warn", "in");
	assert_line("{\"level\":\"ERROR\",\"message\":7,\"event\":7}", "warn",
	    "(a line without a message)");
}

TEST(message_is_cut_between_characters)
{
	cleanup_buf struct buf line = BUF_INIT, out = BUF_INIT;

	buf_adds(&line, "{\"level\":\"WARN\",\"message\":\"x");
	while (line.len < 3 * HEALTH_MESSAGE_MAX)
		buf_adds(&line, "\xe2\x82\xac");
	buf_adds(&line, "\"}");
	ck_assert(health_read_line(line.data, "warn", PID, NULL, &out));
	ck_assert_uint_le(out.len, HEALTH_MESSAGE_MAX);
	ck_assert_uint_gt(out.len, HEALTH_MESSAGE_MAX - 3);
	ck_assert(text_utf8_valid(out.data, out.len));
}

static void
assert_signature(const char *words, const char *wanted)
{
	cleanup_buf struct buf out = BUF_INIT;

	health_signature(HEALTH_FAILED, "pool", words, &out);
	ck_assert_str_eq(out.data, wanted);
}

TEST(signature_has_verdict_class_and_words)
{
	cleanup_buf struct buf out = BUF_INIT;

	health_signature(HEALTH_DIED, NULL, NULL, &out);
	health_signature(HEALTH_DIED, "", "", &out);
	ck_assert_str_eq(out.data, "dieddied");
	assert_signature("No  such\tfile\n", "failed/pool: no such file");
}

TEST(signature_forgets_what_is_new_each_time)
{
	assert_signature(
	    "exit status 17, pid 4711", "failed/pool: exit status # pid #");
	assert_signature(
	    "no heartbeat for 1m5s", "failed/pool: no heartbeat for #");
	assert_signature(
	    "no heartbeat for 1h 5m", "failed/pool: no heartbeat for #");
	assert_signature("worker auto-12 at 2026-01-02 03:04:05.6",
	    "failed/pool: worker auto-# at #");
	assert_signature(
	    "commit c3c4991f is gone", "failed/pool: commit # is gone");
	assert_signature("instance a3bb189e-8bf9-3888-9912-ace4e6543002",
	    "failed/pool: instance #");
	assert_signature("task 01HX3Z8K9QW4T5Y6R7E8W9Q0AB (TK3Z8K9QW4T5Y6R7E8)",
	    "failed/pool: task #");
	assert_signature("cannot open \"/home/a/x.json\": I/O error",
	    "failed/pool: cannot open @ i/o error");
	assert_signature("src/a.c and ~/b", "failed/pool: @ and ~/b");
}

TEST(signature_keeps_failures_apart)
{
	cleanup_buf struct buf a = BUF_INIT, b = BUF_INIT, c = BUF_INIT;

	health_signature(HEALTH_DIED, "x", "no space left", &a);
	health_signature(HEALTH_DIED, "x", "no such file", &b);
	health_signature(HEALTH_HUNG, "x", "no space left", &c);
	ck_assert_str_ne(a.data, b.data);
	ck_assert_str_ne(a.data, c.data);
	assert_signature("feedback defaced", "failed/pool: feedback defaced");
}

TEST(signature_is_short_and_valid)
{
	static const char *const pieces[] = { "\xe2\x82\xac", "\xff", " ", "7",
		"/a/b", "word ", "\n", "(", "0xdeadbeef1", "\xc3" };

	for (uint64_t seed = 1; seed <= 500; seed++) {
		struct dice dice = { seed * 0x9e3779b97f4a7c15 };
		cleanup_buf struct buf words = BUF_INIT, out = BUF_INIT;

		for (unsigned i = 0; i < 40; i++)
			dice_text(&dice, pieces, nitems(pieces), 8000, &words);
		health_signature(HEALTH_DIED, "c", words.data, &out);
		ck_assert_uint_le(out.len, 220);
		ck_assert(text_utf8_valid(out.data, out.len));
		ck_assert_ptr_null(strchr(out.data, '\n'));
		ck_assert_ptr_null(strpbrk(out.data, "0123456789"));
	}
}

static struct json_object *
vectors(const char *name, struct json_object **ret_file)
{
	cleanup_free char *path = xasprintf("%s/llmc.json", unit_vectors());
	struct json_object *list = NULL;

	ck_assert_int_eq(json_load(path, 1 << 20, ret_file, NULL), 0);
	ck_assert_int_eq(json_get_array(*ret_file, "", name, &list, NULL), 0);
	ck_assert_uint_gt(json_object_array_length(list), 0);
	return list;
}

TEST(heartbeat_is_stale_as_in_the_original)
{
	cleanup_json struct json_object *file = NULL;
	struct json_object *list = vectors("heartbeat_stale", &file), *row;

	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct health_facts facts = well();
		struct health_limits given = { 0 };

		row = json_object_array_get_idx(list, i);
		facts.beat_ms = json_int_or(row, "age", -1) * SECOND;
		given.heartbeat_ms = json_int_or(row, "timeout", -1) * SECOND;
		ck_assert_msg((health_judge(&facts, &given) == HEALTH_HUNG) ==
			json_bool_or(row, "stale", false),
		    "%s", json_object_to_json_string(row));
	}
}

TEST(stall_is_judged_as_in_the_original)
{
	cleanup_json struct json_object *file = NULL;
	struct json_object *list = vectors("stall", &file), *row;

	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct health_facts facts = well();
		struct health_limits given = { 0 };
		int64_t done, given_out;

		row = json_object_array_get_idx(list, i);
		done = json_int_or(row, "last_done_ago", -1) * SECOND;
		given_out = json_int_or(row, "last_assign_ago", -1) * SECOND;
		facts.assigned = true;
		facts.moved_ms = done < given_out ? done : given_out;
		facts.up_ms = INT64_MAX;
		given.stall_ms = json_int_or(row, "timeout", -1) * SECOND;
		ck_assert_msg(
		    (health_judge(&facts, &given) == HEALTH_STALLED) ==
			json_bool_or(row, "stalled", false),
		    "%s", json_object_to_json_string(row));
	}
}

/* "ERROR First" of the vectors as a log line; words that are not a level are
 * kept. */
static void
line_of(const char *words, struct buf *out)
{
	size_t level = strcspn(words, " ");

	if (strncmp(words, "ERROR", level) != 0 &&
	    strncmp(words, "INFO", level) != 0) {
		buf_adds(out, words);
		return;
	}
	buf_addf(out, "{\"level\":\"%.*s\",\"message\":\"%s\"}", (int)level,
	    words, words[level] == '\0' ? "" : words + level + 1);
}

static void
first_complaint(struct json_object *lines, struct buf *out)
{
	for (size_t i = 0; i < json_object_array_length(lines); i++) {
		cleanup_buf struct buf line = BUF_INIT;

		line_of(
		    json_object_get_string(json_object_array_get_idx(lines, i)),
		    &line);
		if (health_read_line(line.data, "warn", PID, NULL, out))
			return;
	}
}

/* The rows about files are covered by the tests of tail. A WARN is ignored at
 * "error" as in the original, and counts at "warn", which is the default
 * here. */
TEST(lines_are_read_as_in_the_original)
{
	cleanup_json struct json_object *file = NULL;
	struct json_object *list = vectors("log_tail", &file), *row, *part;
	unsigned checked = 0;

	for (size_t i = 0; i < json_object_array_length(list); i++) {
		cleanup_buf struct buf out = BUF_INIT;
		const char *wanted;

		row = json_object_array_get_idx(list, i);
		wanted = json_string_or(row, "expect", "");
		if (json_get_array(row, "", "lines", &part, NULL) == 0) {
			first_complaint(part, &out);
			ck_assert_str_eq(out.data, wanted);
		} else if (json_get_object(row, "", "line", &part, NULL) == 0) {
			bool fails =
			    health_read_line(json_object_to_json_string(part),
				"error", PID, NULL, &out);

			ck_assert(
			    fails == (strncmp(wanted, "failure: ", 9) == 0));
			ck_assert_str_eq(out.data, fails ? wanted + 9 : "");
		} else {
			continue;
		}
		checked++;
	}
	ck_assert_uint_eq(checked, 5);
	assert_line("{\"level\":\"WARN\",\"message\":\"Slow query\"}", "warn",
	    "Slow query");
}
