/* SPDX-License-Identifier: ISC */

/* The tools of llmc mcp, in a session of the fake agent with a real daemon. */
#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "fleet.h"
#include "mem.h"
#include "scenarios.h"

#define ABSENT "No such tool available"

static void
begin(void)
{
	fleet_begin();
	fleet_up();
}

/* The conversation of a worker so far. */
static const char *
conversation(const char *worker)
{
	struct json_object *record = fleet_worker(worker);
	const char *text = e2e_read(json_string_or(record, "transcript", ""));

	json_object_put(record);
	return text;
}

START_TEST(a_session_has_the_tools)
{
	fleet_add("adam");
	fleet_start("adam",
	    "fake: tool report_progress {\"phase\":\"begin\"}\n"
	    "fake: commit a.txt a");
	fleet_wait("adam", "needs_review");
	e2e_has(conversation("adam"), "mcp__llmc__report_progress");
	e2e_lacks(conversation("adam"), ABSENT);
	/* And not others. */
	fleet_do("reset", "adam", "--yes", NULL);
	fleet_start("adam", "fake: tool strange\nfake: commit b.txt b");
	fleet_wait("adam", "needs_review");
	e2e_has(conversation("adam"), ABSENT);
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s = suite_create("mcp");

	const TTest *const all[] = { a_session_has_the_tools };

	for (size_t i = 0; i < nitems(all); i++)
		scenarios_add_test(s, begin, all[i]);
	return s;
}
