/* SPDX-License-Identifier: ISC */

/* How many tasks land in the time of one check, simulated, beside the figures
 * that the design was measured with: bench-landing. 200 tasks are queued, 3 of
 * 100 checks fail without a reason. */

#include "base.h"
#include "landing-world.h"
#include "table.h"

#define HISTORIES 100
#define NOISE     5 /* percent that a figure may be below the design's */

static const struct row {
	enum landing_mode mode;
	int slots, bad; /* per thousand */
	double wanted;
} rows[] = {
	{ LANDING_EACH, 1, 50, 0.87 },
	{ LANDING_EACH, 1, 20, 0.93 },
	{ LANDING_EACH, 2, 50, 1.60 },
	{ LANDING_EACH, 2, 20, 1.80 },
	{ LANDING_EACH, 4, 50, 2.74 },
	{ LANDING_EACH, 4, 20, 3.39 },
	{ LANDING_EACH, 8, 50, 4.18 },
	{ LANDING_EACH, 8, 20, 6.04 },
	{ LANDING_TIP, 1, 50, 2.29 },
	{ LANDING_TIP, 1, 20, 5.62 },
	{ LANDING_TIP, 2, 50, 3.24 },
	{ LANDING_TIP, 2, 20, 7.27 },
	{ LANDING_TIP, 4, 50, 4.02 },
	{ LANDING_TIP, 4, 20, 8.57 },
	{ LANDING_TIP, 8, 50, 4.40 },
	{ LANDING_TIP, 8, 20, 9.36 },
};

static void
measure(const struct row *row, struct table *table)
{
	struct world_options options = { .entries = WORLD_ENTRIES_MAX,
		.mode = row->mode,
		.slots = row->slots,
		.bad = row->bad,
		.flakes = 30 };
	cleanup_free char *name = NULL, *all = NULL, *mean = NULL;
	cleanup_free char *wanted = NULL, *wrong = NULL;
	double landed = 0, checks = 0, rates = 0, ejected = 0;

	for (int i = 0; i < HISTORIES; i++) {
		struct world_result result;

		options.seed = (uint64_t)i + 1;
		world_run(&options, &result);
		landed += result.landed;
		ejected += result.false_ejections;
		checks += (double)result.took_ms / WORLD_CHECK_MS;
		rates += (double)result.landed * WORLD_CHECK_MS /
		    (double)result.took_ms;
	}
	name = xasprintf("landing: mode %s, %d slot%s, %d %% bad",
	    landing_mode_words[row->mode], row->slots,
	    row->slots == 1 ? "" : "s", row->bad / 10);
	all = xasprintf("%.2f", landed / checks);
	mean = xasprintf("%.2f", rates / HISTORIES);
	wanted = xasprintf("%.2f", row->wanted);
	wrong = xasprintf("%.2f", ejected / HISTORIES);
	table_row(table,
	    (const char *[]){ name, all, mean, wanted, wrong,
		landed / checks * 100 >= row->wanted * (100 - NOISE) ?
		    "reached" :
		    "missed" });
}

int
main(void)
{
	const struct table_column columns[] = { { .title = "WHAT" },
		{ .title = "LANDED PER CHECK", .right = true },
		{ .title = "MEAN OF RUNS", .right = true },
		{ .title = "DESIGN", .right = true },
		{ .title = "WRONGLY SENT BACK", .right = true },
		{ .title = "" } };
	struct table *table = table_new(columns, nitems(columns));
	cleanup_buf struct buf text = BUF_INIT;

	for (size_t i = 0; i < nitems(rows); i++)
		measure(&rows[i], table);
	table_print(table, 0, false, &text);
	table_free(table);
	fputs(text.data, stdout);
	return 0;
}
