/* SPDX-License-Identifier: ISC */

/* Print docs/failures.md from the table that the tests use. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failure-table.h"
#include "mem.h"

static const char head[] =
    "# What can break, and what comes of it\n"
    "\n"
    "Made by `contrib/docs.sh` from the table in `tests/e2e/failure-table.c`; "
    "a test\n(`tests/manual.sh`) tells when it is out of date. Each row is a "
    "test that starts\nthe real `llmc overseer` with autod, tmux, git and an "
    "agent, breaks that very\nthing from outside, and looks at process ids, "
    "landed commits and exit statuses.\n"
    "\n"
    "Classes: **AUTO** recovers by itself, **AI** is repaired by a Claude Code "
    "session of\nthe overseer, **HUMAN** needs a person: the overseer ends "
    "with an exit status that\nsays why (overseer(8)). Rows with a star are "
    "played a second time with\n`overseer.remediate = false`, and must not "
    "recover then: the same failure comes\nagain, and the overseer ends with "
    "3.\n";

static void
print_rows(const char *title, bool beyond)
{
	printf(
	    "\n## %s\n\n| # | failure | class | injected by | expected | test "
	    "|\n|---|---|---|---|---|---|\n",
	    title);
	for (size_t i = 0; i < failure_row_count; i++) {
		const struct failure_row *r = &failure_rows[i];

		if ((r->row[0] == '+') != beyond)
			continue;
		printf("| %s%s | %s | %s | %s | %s | `%s` in "
		       "`test-%s.c` |\n",
		    r->row, r->fails_unrepaired ? "\\*" : "", r->what, r->class,
		    r->injected, r->expected, r->test, r->program);
	}
}

static bool
is_row(size_t at, const char *row)
{
	return at < failure_row_count && strcmp(failure_rows[at].row, row) == 0;
}

/* Rows 1 to 27, 15a and 20a, each once, in this order, and nothing else. */
static bool
is_complete(void)
{
	static const char *const more[] = { "15a", "20a" };
	size_t at = 0;

	for (int number = 1; number <= 27; number++) {
		char row[8];

		snprintf(row, sizeof row, "%d", number);
		if (!is_row(at++, row))
			return false;
		for (size_t i = 0; i < nitems(more); i++) {
			if (strtol(more[i], NULL, 10) == number &&
			    !is_row(at++, more[i]))
				return false;
		}
	}
	return at == failure_row_count || failure_rows[at].row[0] == '+';
}

int
main(void)
{
	if (!is_complete()) {
		fputs("the table lacks a row of the design\n", stderr);
		return 1;
	}
	fputs(head, stdout);
	print_rows("The failures of the design", false);
	print_rows("Beyond it", true);
	return 0;
}
