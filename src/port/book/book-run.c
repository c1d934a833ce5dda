/* SPDX-License-Identifier: ISC */

#include "history-private.h"
#include "book-history.h"
#include "book.h"
#include "json.h"
#include "mem.h"
#include "schema.h"
#include "report-period.h"

#define RUNS_MAX 100 /* that are looked at for the last one */

/* A daemon's part of a run. */
struct run {
	const char *run_id, *instance_id;
	int64_t began_ms;
	int64_t ended_ms; /* 0 = it goes on, or was killed */
	bool complete; /* there was nothing left to do */
};

#define FIELD(member) SCHEMA_FIELD(struct run, #member, member)

static const struct schema_field fields[] = {
	BORROWED(struct run, run_id),
	BORROWED(struct run, instance_id),
	FIELD(began_ms),
	FIELD(ended_ms),
	FIELD(complete),
};

const struct book_table book_run_table = {
	.name = "run",
	.fields = fields,
	.count = nitems(fields),
	.keys =
	    (const char *const[]){ "run_id", "instance_id", "began_ms", NULL },
	.more_ddl = "CREATE INDEX IF NOT EXISTS run_began ON run (began_ms);",
};

void
book_begin_run(
    struct book *book, const char *run, const char *instance, int64_t at_ms)
{
	book_put(book, &book_run_table,
	    &(struct run){
		.run_id = run, .instance_id = instance, .began_ms = at_ms });
}

void
book_end_run(struct book *book, const char *run, const char *instance,
    int64_t at_ms, bool complete)
{
	BOOK_RUN(book,
	    "UPDATE run SET ended_ms = $3, complete = $4 WHERE run_id = $1 AND "
	    "instance_id = $2 AND began_ms = (SELECT max(r.began_ms) FROM run "
	    "r WHERE r.run_id = $1 AND r.instance_id = $2)",
	    BOOK_T(run), BOOK_T(instance), BOOK_I(at_ms), BOOK_I(complete));
}

/* Columns: run_id, began_ms, ended_ms, complete. */
static bool
on_row(struct book_row *row, void *arg)
{
	report_run_event(
	    arg, book_text(row, 0), REPORT_RUN_BEGINS, book_int(row, 1));
	if (book_int(row, 2) > 0)
		report_run_event(arg, book_text(row, 0),
		    book_int(row, 3) != 0 ? REPORT_RUN_COMPLETE :
					    REPORT_RUN_ENDS,
		    book_int(row, 2));
	return true;
}

int
book_find_run(struct book *book, struct report_run *run, struct err *err)
{
	return book_query(book,
	    "SELECT n.run_id, n.began_ms, n.ended_ms, n.complete FROM ("
	    "SELECT r.run_id, r.began_ms, r.ended_ms, r.complete FROM run r "
	    "ORDER BY r.began_ms DESC LIMIT $1) n ORDER BY n.began_ms",
	    BOOK_VALUES(BOOK_I(run->wanted != NULL ? INT32_MAX : RUNS_MAX)),
	    on_row, run, err);
}
