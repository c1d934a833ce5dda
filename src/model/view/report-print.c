/* SPDX-License-Identifier: ISC */

#include <inttypes.h>
#include <string.h>

#include "budget.h"
#include "buf.h"
#include "json.h"
#include "mem.h"
#include "moment.h"
#include "report-make.h"
#include "report-money.h"
#include "report-print.h"
#include "table.h"
#include "text.h"

#define SHA_LEN   9
#define WORDS_MAX 300 /* bytes of last words */

struct printing {
	struct json_object *report;
	int width;
	bool colours;
	struct buf *out;
};

static struct json_object *
part(const struct printing *p, const char *key)
{
	return json_object_object_get(p->report, key);
}

int64_t
report_print_count(struct json_object *report, const char *list)
{
	return (int64_t)json_object_array_length(
		   json_object_object_get(report, list)) +
	    json_int_or(json_object_object_get(report, "left_off"), list, 0);
}

/* Nothing for an empty list. Returns the index of the first row to print: of a
 * long list, its last ones. */
static size_t
heading(const struct printing *p, const char *title, const char *list)
{
	size_t count = json_object_array_length(part(p, list));
	int64_t all = report_print_count(p->report, list);

	if (count > 0)
		buf_addf(p->out,
		    p->colours ? "\n\033[1m%s (%" PRId64 ")\033[0m\n" :
				 "\n%s (%" PRId64 ")\n",
		    title, all);
	if (all > REPORT_LINES_MAX)
		buf_addf(p->out, "  %d of them; more: llmc report --json\n",
		    REPORT_LINES_MAX);
	return count > REPORT_LINES_MAX ? count - REPORT_LINES_MAX : 0;
}

static void
print_table(const struct printing *p, struct table *table)
{
	table_print(table, p->width, p->colours, p->out);
	table_free(table);
}

static void
add_visible(struct buf *out, const char *text)
{
	text_add_words(out, text, strlen(text));
}

static void
add_short(struct buf *out, int64_t ms)
{
	text_add_duration(out, ms >= 1000 ? ms / 1000 * 1000 : ms);
}

/* --- what the page says too ------------------------------------------ */

void
report_print_period(struct json_object *report, struct buf *out)
{
	struct json_object *period = json_object_object_get(report, "period");
	int64_t from = json_int_or(period, "from_ms", 0);
	int64_t to = json_int_or(period, "to_ms", 0);
	const char *run = json_string_or(period, "run", NULL);
	const char *first = json_string_or(period, "first_run", run);

	if (run != NULL) {
		buf_adds(out, "run ");
		if (strcmp(first, run) != 0) {
			add_visible(out, first);
			buf_adds(out, " to ");
		}
		add_visible(out, run);
		buf_adds(out, ", ");
	}
	moment_add(out, from);
	buf_adds(out, " to ");
	if (json_bool_or(period, "goes_on", false))
		buf_adds(out, "now");
	else
		moment_add(out, to);
	buf_adds(out, " (");
	add_short(out, to - from);
	buf_addc(out, ')');
}

const char *
report_print_landed_title(struct json_object *report)
{
	return json_int_or(json_object_object_get(report, "counts"),
		   "no_changes", 0) > 0 ?
	    "Landed, or needed no change" :
	    "Landed";
}

void
report_print_commit(struct json_object *task, struct buf *out)
{
	const char *commit = json_string_or(task, "commit", NULL);

	if (commit != NULL)
		buf_addf(out, "%.*s", SHA_LEN, commit);
	else
		buf_adds(out, json_string_or(task, "outcome", "-"));
}

void
report_print_lines(struct json_object *task, struct buf *out)
{
	int64_t added = json_int_or(task, "lines_added", -1);
	int64_t removed = json_int_or(task, "lines_removed", -1);

	if (added >= 0 && removed >= 0)
		buf_addf(out, "+%" PRId64 " -%" PRId64, added, removed);
}

static void
add_check(struct json_object *check, struct buf *out)
{
	int64_t trees = json_int_or(check, "trees", 0);

	if (trees <= 0)
		return;
	buf_addf(out,
	    "; its check has contradicted itself on %" PRId64 " of %" PRId64
	    " trees",
	    json_int_or(check, "flaky_trees", 0), trees);
	if (json_bool_or(check, "flaky_alarm", false))
		buf_adds(out, ", which is too often: make it reliable");
}

static void
add_checks(struct json_object *checks, struct buf *out)
{
	const char *before = "; checks: ";

	json_object_object_foreach(checks, result, count)
	{
		buf_addf(out, "%s%" PRId64 " ", before,
		    json_object_get_int64(count));
		add_visible(out, result);
		before = ", ";
	}
}

void
report_print_landing(struct json_object *report, struct buf *out)
{
	struct json_object *landing = json_object_object_get(report, "landing");
	int64_t queue = json_int_or(landing, "queue", 0);

	if (queue == 0)
		buf_adds(out, "nothing waits to land");
	else
		buf_addf(out, "%" PRId64 " wait%s to land", queue,
		    queue == 1 ? "s" : "");
	add_checks(json_object_object_get(landing, "checks"), out);
	add_check(json_object_object_get(landing, "check"), out);
	if (json_bool_or(landing, "red", false))
		buf_adds(out, "; the branch itself fails its check");
}

void
report_print_oversight(struct json_object *report, struct buf *out)
{
	struct json_object *counts =
	    json_object_object_get(report, "oversight_counts");
	int64_t found = json_int_or(counts, "detections", 0);
	int64_t acted = json_int_or(counts, "interventions", 0);

	buf_addf(out, "%" PRId64 " detection%s, %" PRId64 " intervention%s",
	    found, found == 1 ? "" : "s", acted, acted == 1 ? "" : "s");
}

void
report_print_repair(struct json_object *row, struct buf *out)
{
	static const char *const members[] = { "kind", "class", "words",
		"outcome" };
	const char *before = "";

	for (size_t i = 0; i < nitems(members); i++) {
		const char *word = json_string_or(row, members[i], NULL);

		if (word == NULL || *word == '\0')
			continue;
		buf_adds(out, before);
		add_visible(out, word);
		before = ", ";
	}
	if (json_int_or(row, "cost_micros", 0) > 0) {
		buf_adds(out, before);
		budget_add_cost(out, json_int_or(row, "cost_micros", 0));
	}
}

/* --- what needs a person --------------------------------------------- */

static void
print_needs(const struct printing *p)
{
	static const struct table_column columns[] = { { NULL, false, false },
		{ NULL, false, false }, { NULL, false, true },
		{ NULL, false, false } };
	struct json_object *list = part(p, "needs");
	size_t count = json_object_array_length(list);
	struct table *table;

	if (count == 0) {
		buf_adds(p->out, "\nNothing needs you.\n");
		return;
	}
	heading(p, "Needs you", "needs");
	if (count > REPORT_LINES_MAX) /* the most urgent ones */
		count = REPORT_LINES_MAX;
	table = table_new(columns, nitems(columns));
	for (size_t i = 0; i < count; i++) {
		struct json_object *row = json_object_array_get_idx(list, i);

		table_row(table,
		    (const char *[]){ "", json_string_or(row, "who", "?"),
			json_string_or(row, "words", ""),
			json_string_or(row, "command", "") });
		table_colour(table, 1, "1;31");
	}
	print_table(p, table);
}

/* --- tasks ----------------------------------------------------------- */

static void
add_task(struct table *table, struct json_object *row, const char *first)
{
	cleanup_buf struct buf cost = BUF_INIT, took = BUF_INIT,
			       worked = BUF_INIT, lines = BUF_INIT;
	cleanup_free char *attempts =
	    xasprintf("%" PRId64, json_int_or(row, "attempts", 0));

	report_money_add(&cost, row);
	if (json_object_object_get(row, "wall_ms") != NULL)
		add_short(&took, json_int_or(row, "wall_ms", 0));
	add_short(&worked, json_int_or(row, "worked_ms", 0));
	report_print_lines(row, &lines);
	table_row(table,
	    (const char *[]){ "", json_string_or(row, "id", "?"), first,
		cost.data, took.data, worked.data, attempts, lines.data,
		json_string_or(row, "title", "") });
}

static struct table *
task_table(const char *first)
{
	const struct table_column columns[] = { { "", false, false },
		{ "TASK", false, false }, { first, false, false },
		{ "COST", true, false }, { "WALL", true, false },
		{ "WORKED", true, false }, { "TRIES", true, false },
		{ "LINES", true, false }, { "TITLE", false, true } };

	return table_new(columns, nitems(columns));
}

static void
add_words(const struct printing *p, const char *title, const char *words)
{
	cleanup_buf struct buf line = BUF_INIT;

	if (words == NULL || *words == '\0')
		return;
	text_add_visible(
	    &line, words, text_cut(words, strlen(words), WORDS_MAX), false);
	buf_addf(p->out, "      %s: %s%s\n", title, line.data,
	    strlen(words) > WORDS_MAX ? "..." : "");
}

static void
print_landed(const struct printing *p)
{
	struct json_object *list = part(p, "landed");
	size_t count = json_object_array_length(list);
	size_t first =
	    heading(p, report_print_landed_title(p->report), "landed");
	struct table *table = task_table("COMMIT");

	for (size_t i = first; i < count; i++) {
		struct json_object *row = json_object_array_get_idx(list, i);
		cleanup_buf struct buf commit = BUF_INIT;

		report_print_commit(row, &commit);
		add_task(table, row, commit.data);
	}
	if (count > 0)
		print_table(p, table);
	else
		table_free(table);
	/* Where nothing was changed, what was said is the result. */
	for (size_t i = first; i < count; i++) {
		struct json_object *row = json_object_array_get_idx(list, i);
		cleanup_free char *title =
		    xasprintf("%s said", json_string_or(row, "id", "?"));

		if (json_string_or(row, "commit", NULL) == NULL)
			add_words(
			    p, title, json_string_or(row, "last_words", NULL));
	}
}

static void
print_not_landed(const struct printing *p)
{
	struct json_object *list = part(p, "not_landed");
	size_t count = json_object_array_length(list);
	size_t first = heading(p, "Not landed", "not_landed");

	for (size_t i = first; i < count; i++) {
		struct json_object *row = json_object_array_get_idx(list, i);
		int64_t attempts = json_int_or(row, "attempts", 0);

		buf_adds(p->out, "  ");
		add_visible(p->out, json_string_or(row, "id", "?"));
		buf_addf(p->out, "  %s, ", json_string_or(row, "outcome", "?"));
		report_money_add(p->out, row);
		buf_addf(p->out, ", %" PRId64 " attempt%s: ", attempts,
		    attempts == 1 ? "" : "s");
		add_visible(p->out, json_string_or(row, "title", ""));
		buf_addc(p->out, '\n');
		add_words(p, "why", json_string_or(row, "reason", NULL));
		add_words(
		    p, "it said", json_string_or(row, "last_words", NULL));
	}
}

static void
print_open(const struct printing *p)
{
	struct json_object *list = part(p, "open");
	size_t count = json_object_array_length(list);
	size_t first = heading(p, "Not ended", "open");
	struct table *table = task_table("STEP");

	for (size_t i = first; i < count; i++) {
		struct json_object *row = json_object_array_get_idx(list, i);

		add_task(table, row, json_string_or(row, "step", "?"));
	}
	if (count > 0)
		print_table(p, table);
	else
		table_free(table);
}

/* --- money and time -------------------------------------------------- */

const struct report_amount report_amounts[] = {
	{ "all of this report", "total_micros", true },
	{ "for each that landed", "per_landed_micros", true },
	{ "on what landed", "landed_micros", true },
	{ "spent without landing", "not_landed_micros", true },
	{ "on what has not ended", "open_micros", true },
	{ "by the planner", "planner_micros", false },
	{ "on repairs of llmc", "repairs_micros", false },
	{ "by workers of a person", "hand_micros", false },
	{ "of all that, estimated", "estimated_micros", true },
	{ "on these days, for others", "elsewhere_micros", false },
	{ NULL, NULL, false },
};

static void
add_amount(const struct printing *p, struct json_object *money,
    const char *title, const char *key)
{
	int64_t cost = json_int_or(money, key, 0);

	buf_addf(p->out, "  %-28s ", title);
	if (cost < 0 || json_object_object_get(money, key) == NULL)
		buf_addc(p->out, '-');
	if (json_object_object_get(money, key) != NULL)
		budget_add_cost(p->out, cost < 0 ? -cost : cost);
	buf_addc(p->out, '\n');
}

static void
print_money(const struct printing *p)
{
	struct json_object *money = part(p, "money");
	int64_t unknown = json_int_or(money, "unknown", 0);

	if (json_int_or(money, "total_micros", 0) == 0 && unknown == 0)
		return;
	buf_adds(p->out, p->colours ? "\n\033[1mMoney\033[0m\n" : "\nMoney\n");
	for (const struct report_amount *a = report_amounts; a->title != NULL;
	     a++)
		if (a->always || json_int_or(money, a->member, 0) != 0)
			add_amount(p, money, a->title, a->member);
	if (unknown > 0)
		buf_addf(p->out, "  %-28s ? (%" PRId64 " task%s)\n",
		    "not known", unknown, unknown == 1 ? "" : "s");
}

static void
print_time(const struct printing *p)
{
	static const struct table_column columns[] = { { NULL, false, false },
		{ NULL, false, false }, { NULL, true, false },
		{ NULL, true, false } };
	struct json_object *time = part(p, "time");
	struct json_object *rows = json_object_object_get(time, "rows");
	int64_t all = json_int_or(time, "worker_ms", 0);
	int64_t workers = json_int_or(time, "workers", 0);
	struct table *table;

	if (all <= 0)
		return;
	buf_addf(p->out,
	    p->colours ? "\n\033[1mTime of %" PRId64 " worker%s\033[0m\n" :
			 "\nTime of %" PRId64 " worker%s\n",
	    workers, workers == 1 ? "" : "s");
	table = table_new(columns, nitems(columns));
	for (int i = 0; i <= REPORT_USE_COUNT; i++) {
		bool sum = i == REPORT_USE_COUNT;
		int64_t ms =
		    sum ? all : json_int_or(rows, report_use_words[i], 0);
		cleanup_buf struct buf took = BUF_INIT;
		cleanup_free char *percent =
		    xasprintf("%.1f %%", 100.0 * (double)ms / (double)all);

		if (ms == 0)
			continue;
		add_short(&took, ms);
		table_row(table,
		    (const char *[]){ "", sum ? "all" : report_use_titles[i],
			took.data, percent });
	}
	print_table(p, table);
}

/* --- the rest -------------------------------------------------------- */

static void
print_repairs(const struct printing *p)
{
	struct json_object *list = part(p, "repairs");
	size_t count = json_object_array_length(list);
	size_t first = heading(p, "Failures and repairs of llmc", "repairs");

	for (size_t i = first; i < count; i++) {
		struct json_object *row = json_object_array_get_idx(list, i);

		buf_adds(p->out, "  ");
		moment_add(p->out, json_int_or(row, "at_ms", 0));
		buf_adds(p->out, "  ");
		report_print_repair(row, p->out);
		buf_addc(p->out, '\n');
	}
}

static void
print_oversight(const struct printing *p)
{
	struct json_object *list = part(p, "oversight");
	size_t count = json_object_array_length(list);
	size_t first = heading(p, "Oversight", "oversight");

	if (count > 0) {
		buf_adds(p->out, "  ");
		report_print_oversight(p->report, p->out);
		buf_addc(p->out, '\n');
	}
	for (size_t i = first; i < count; i++) {
		struct json_object *row = json_object_array_get_idx(list, i);

		buf_adds(p->out, "  ");
		moment_add(p->out, json_int_or(row, "at_ms", 0));
		buf_adds(p->out, "  ");
		add_visible(p->out, json_string_or(row, "words", ""));
		buf_addc(p->out, '\n');
	}
}

static void
print_notes(const struct printing *p)
{
	struct json_object *list = part(p, "notes");

	if (json_object_array_length(list) > 0)
		buf_addc(p->out, '\n');
	for (size_t i = 0; i < json_object_array_length(list); i++)
		buf_addf(p->out, "%s\n",
		    json_object_get_string(json_object_array_get_idx(list, i)));
}

void
report_print(
    struct json_object *report, int width, bool colours, struct buf *out)
{
	struct printing p = { report, width, colours, out };
	struct json_object *verdict = part(&p, "verdict");

	buf_adds(out, "Report of ");
	report_print_period(report, out);
	buf_addf(out, colours ? "\n\033[1m%s\033[0m\n" : "\n%s\n",
	    json_string_or(verdict, "words", ""));
	print_needs(&p);
	print_landed(&p);
	print_not_landed(&p);
	print_open(&p);
	print_money(&p);
	print_time(&p);
	buf_adds(out, "\nLanding: ");
	report_print_landing(report, out);
	buf_adds(out, ".\n");
	print_repairs(&p);
	print_oversight(&p);
	print_notes(&p);
}
