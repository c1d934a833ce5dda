/* SPDX-License-Identifier: ISC */

/*
 * What a plan of 10,000 nodes costs, compared with targets: bench-plan. The
 * plan is as wide as it can be: one phase of many tasks, each of which depends
 * on the one before. Time of the processor: nothing here waits.
 */
#include "base.h"

#include <sys/resource.h>

#include "bench.h"
#include "plan-edit.h"
#include "plan-file.h"
#include "plan-progress.h"
#include "plan-revise.h"
#include "plan.h"

#define RUNS  10
#define NODES 10000
#define NOW   INT64_C(1000000)

static const struct plan_source source = {
	.goal_id = "goal_1", .title = "t", .now_ms = NOW
};

static struct buf markdown = BUF_INIT, json = BUF_INIT, records = BUF_INIT;

static void
write_texts(void)
{
	buf_adds(&markdown, "## Phase\n");
	buf_adds(
	    &json, "{\"phases\":[{\"id\":\"P1\",\"name\":\"n\",\"tasks\":[");
	for (int i = 1; i < NODES; i++) {
		buf_addf(&markdown, "### Task %d\nAcceptance: it works\n", i);
		buf_addf(&json,
		    "%s{\"id\":\"T1.%d\",\"name\":\"Task %d\",\"acceptance\":["
		    "\"it works\"]",
		    i == 1 ? "" : ",", i, i);
		if (i > 1) {
			buf_addf(&markdown, "Depends: T1.%d\n", i - 1);
			buf_addf(&json, ",\"deps\":[\"T1.%d\"]", i - 1);
		}
		buf_addc(&json, '}');
	}
	buf_adds(&json, "]}]}");
}

static struct plan *
load(const struct buf *text)
{
	struct plan *plan = NULL;
	struct err err = { 0 };

	bench_must(plan_load_text(text->data, text->len, &source, &plan, &err),
	    "reading the plan", &err);
	return plan;
}

static int64_t
cpu_us(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (int64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) *
	    1000000 +
	    usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
}

/* --- what is measured --------------------------------------------------- */

static void
read_markdown(struct plan *plan)
{
	(void)plan;
	plan_free(load(&markdown));
}

static void
read_json(struct plan *plan)
{
	(void)plan;
	plan_free(load(&json));
}

static void
read_records(struct plan *plan)
{
	cleanup_json struct json_object *all = NULL;
	struct plan *again = NULL;
	struct err err = { 0 };

	(void)plan;
	bench_must(json_parse(records.data, records.len, 1 << 26, &all, &err),
	    "parsing records", &err);
	bench_must(plan_from_json(all, "", &again, &err), "records", &err);
	plan_free(again);
}

static void
check_cycles(struct plan *plan)
{
	bench_must(plan_deps_check(plan, NULL, NULL), "cycles", NULL);
}

static void
find_ready(struct plan *plan)
{
	struct plan_set set = { 0 };
	struct plan_ready *list = NULL;

	plan_set_add(&set, plan, NULL);
	plan_ready_list(&set, &list);
	free(list);
	free(set.plans);
	strmap_release(&set.by_goal);
}

static void
roll_up(struct plan *plan)
{
	struct plan_changes changes = { 0 };

	plan_rollup(plan, NOW, &changes);
	plan_changes_release(&changes);
}

static void
edit(struct plan *plan)
{
	struct plan_changes changes = { 0 };
	const struct plan_edit e = { plan, "person", NULL, NOW, &changes };
	const char *const deps[] = { "T1.1", NULL };
	const struct plan_spec spec = { .name = "more", .depends_on = deps };
	struct err err = { 0 };

	bench_must(plan_edit_add(&e, "P1", PLAN_LAST, &spec, NULL, &err),
	    "adding", &err);
	plan_changes_release(&changes);
}

static void
replan(struct plan *plan)
{
	struct plan_changes changes = { 0 };
	const struct plan_edit e = { plan, "planner", NULL, NOW, &changes };
	struct plan *next = load(&json);
	struct err err = { 0 };

	bench_must(plan_replan(&e, next, NULL, &err), "replanning", &err);
	plan_changes_release(&changes);
	plan_free(next);
}

static const struct {
	const char *name;
	void (*run)(struct plan *plan);
	double target; /* ms */
} rows[] = {
	{ "read as Markdown", read_markdown, 100 },
	{ "read as JSON", read_json, 100 },
	{ "read from records", read_records, 200 },
	{ "look for cycles", check_cycles, 20 },
	{ "list what is ready", find_ready, 20 },
	{ "roll up", roll_up, 20 },
	{ "add a node", edit, 20 },
	{ "replan, with reading", replan, 1000 },
};

int
main(void)
{
	struct table *table = bench_table("WHAT");
	struct json_object *all;
	struct plan *plan;

	write_texts();
	plan = load(&json);
	all = plan_to_json(plan);
	json_print(all, false, &records);
	json_object_put(all);
	for (size_t i = 0; i < nitems(rows); i++) {
		cleanup_free char *worst = NULL;
		double times[RUNS];

		for (int k = 0; k < RUNS; k++) {
			int64_t start = cpu_us();

			rows[i].run(plan);
			times[k] = (double)(cpu_us() - start) / 1000;
		}
		bench_sort(times, RUNS);
		worst = xasprintf("worst %.2f ms", times[RUNS - 1]);
		bench_report(table, rows[i].name, times[RUNS / 2],
		    rows[i].target, "ms", worst);
	}
	bench_print(table);
	plan_free(plan);
	buf_release(&markdown);
	buf_release(&json);
	buf_release(&records);
	return 0;
}
