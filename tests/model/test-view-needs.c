/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "json.h"
#include "mem.h"
#include "unit.h"
#include "view-doc.h"
#include "view-needs.h"

/* The needs of a view: "key: words (command)" lines, in the order of keys. */
static int
by_key(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static size_t
keys_of(struct json_object *rows, const char **keys, size_t room)
{
	size_t count = 0;

	json_object_object_foreach(rows, key, row)
	{
		(void)row;
		ck_assert_uint_lt(count, room);
		keys[count++] = key;
	}
	qsort(keys, count, sizeof(const char *), by_key);
	return count;
}

static char *
needs_of(const char *text)
{
	cleanup_json struct json_object *view =
	    view_complete(json_tokener_parse(text));
	cleanup_buf struct buf out = BUF_INIT;
	const char *keys[16];
	size_t count;

	view_needs(view);
	count = keys_of(view_of(view, "needs"), keys, nitems(keys));
	for (size_t i = 0; i < count; i++) {
		struct json_object *need = view_row(view, "needs", keys[i]);

		buf_addf(&out, "%s: %s (%s)\n",
		    json_string_or(need, "who", "?"),
		    json_string_or(need, "words", "?"),
		    json_string_or(need, "command", "-"));
	}
	return buf_take(&out);
}

#define WORKER(name, status, more)                      \
	"\"" name "\": {\"name\": \"" name              \
	"\", \"mode\": \"auto\", \"status\": \"" status \
	"\", \"paused_for\": [], \"title\": \"T\"" more "}"

static const struct {
	const char *what, *view, *needs;
} rows[] = {
	{ "nobody is needed when all is well",
	    "{\"workers\": {" WORKER("auto-1", "working", "") "}}", "" },
	{ "an error",
	    "{\"workers\": {" WORKER(
		"auto-1", "error", ", \"reason\": \"R\"") "}}",
	    "auto-1: R (llmc logs --worker auto-1)\n" },
	{ "words on one line",
	    "{\"head\": {\"paused\": \"the first\\n\\tand the next\"}}",
	    "everything: the first and the next (llmc resume)\n" },
	{ "work of a hand-driven worker waits for a review",
	    "{\"workers\": {\"eve\": {\"mode\": \"hand\", \"status\": "
	    "\"needs_review\", \"title\": \"T\"}}}",
	    "eve: T (llmc review eve)\n" },
	{ "not that of auto mode",
	    "{\"workers\": {" WORKER("auto-1", "needs_review", "") "}}", "" },
	{ "a parked task", "{\"tasks\": {\"t1\": {\"step\": \"parked\"}}}",
	    "t1: parked (llmc resume t1)\n" },
	{ "tasks that failed in this run",
	    "{\"head\": {\"run_id\": \"r2\"}, \"ended\": {\"t1\": {\"outcome\": "
	    "\"failed\", \"run_id\": \"r1\"}, \"t2\": {\"outcome\": "
	    "\"dead-letter\", \"run_id\": \"r2\", \"reason\": \"R\"}, \"t3\": "
	    "{\"outcome\": \"landed\", \"run_id\": \"r2\"}}}",
	    "t2: R (llmc task show t2)\n" },
	{ "the most urgent first",
	    "{\"head\": {\"red\": true, \"branch\": \"main\", \"paused\": "
	    "\"P\"}, \"workers\": {" WORKER("auto-1", "error", "") "}}",
	    "everything: P (llmc resume)\nmain: fails its own check (llmc "
	    "landing)\nauto-1: T (llmc logs --worker auto-1)\n" },
	{ "a question, and nothing that was said before or seen",
	    "{\"workers\": {" WORKER("auto-1", "error",
		"") "}, \"people\": "
		    "{\"A\": {\"level\": \"critical\", \"title\": \"Q\", \"options\": "
		    "[\"yes\"]}, \"B\": {\"level\": \"critical\", \"worker\": "
		    "\"auto-1\"}, \"C\": {\"level\": \"critical\", \"acked\": true}, "
		    "\"D\": {\"level\": \"info\"}}}",
	    "A: Q (llmc escalations answer A TEXT)\nauto-1: T (llmc logs "
	    "--worker auto-1)\n" },
	{ "a worker that cannot be started: its reason says what to type",
	    "{\"workers\": {\"auto-1\": {\"mode\": \"auto\", \"status\": "
	    "\"paused\", \"paused_for\": [\"trust\"], \"reason\": \"R; type: "
	    "llmc trust\"}, \"auto-2\": {\"mode\": \"auto\", \"status\": "
	    "\"paused\", \"paused_for\": [\"trust\"], \"reason\": \"R\"}}}",
	    "auto-1: R; type: llmc trust (llmc trust)\nauto-2: R (llmc "
	    "doctor)\n" },
	{ "what was aborted, unless somebody wanted that",
	    "{\"head\": {\"run_id\": \"r2\"}, \"ended\": {\"t1\": {\"outcome\": "
	    "\"aborted\", \"run_id\": \"r2\", \"reason\": \"R\"}, \"t2\": "
	    "{\"outcome\": \"aborted\", \"run_id\": \"r2\", \"dropped\": "
	    "true}}}",
	    "t1: R (llmc task show t1)\n" },
	{ "what failed before the daemon was started again",
	    "{\"head\": {\"run_id\": \"r2\", \"night_unix\": 100}, \"ended\": "
	    "{\"t1\": {\"outcome\": \"failed\", \"run_id\": \"r1\", "
	    "\"finished_unix\": 99}, \"t2\": {\"outcome\": \"failed\", "
	    "\"run_id\": \"r1\", \"finished_unix\": 100, \"reason\": \"R\"}}}",
	    "t2: R (llmc task show t2)\n" },
	{ "but not what is worked on again",
	    "{\"head\": {\"run_id\": \"r2\"}, \"tasks\": {\"t1\": {\"step\": "
	    "\"assigned\"}}, \"ended\": {\"t1\": {\"outcome\": \"failed\", "
	    "\"run_id\": \"r2\"}}}",
	    "" },
	{ "an agent that asks a person, and not one that asks another agent",
	    "{\"workers\": {" WORKER("auto-1", "waiting",
		", \"asks\": {\"id\": \"R_1\", \"text\": \"Which?\", \"person\": "
		"true}") ", " WORKER("auto-2", "waiting",
		", \"asks\": {\"id\": \"R_2\", \"text\": \"Why?\", \"person\": "
		"false}") "}, \"people\": {\"A\": {\"level\": "
			  "\"critical\", \"title\": \"an agent asks\", "
			  "\"question\": \"R_1\", \"options\": [\"yes\"]}}}",
	    "R_1: auto-1 asks: Which? (llmc escalations answer R_1 TEXT)\n" },
	{ "a blocked goal",
	    "{\"goals\": {\"g\": {\"blocked\": 1, \"nodes\": [{\"id\": "
	    "\"S1\", \"status\": \"blocked\", \"reason\": \"T1.1: R\"}, "
	    "{\"id\": \"T1.1\", \"status\": \"blocked\", \"reason\": \"R\"}, "
	    "{\"id\": \"T1.2\", \"status\": \"todo\"}]}, \"h\": {\"blocked\": "
	    "0}, \"i\": {\"blocked\": 2}}}",
	    "g: T1.1 is blocked: R (llmc goal show g)\ni: 2 nodes are blocked "
	    "(llmc goal show i)\n" },
	{ "a push that failed, and not one that waits",
	    "{\"head\": {\"push\": {\"state\": \"failed\", \"reason\": \"R\"}}}",
	    "push: landed work could not be pushed: R (llmc resume)\n" },
	{ "", "{\"head\": {\"push\": {\"state\": \"waiting\"}}}", "" },
	{ "an overseer that gave up",
	    "{\"head\": {\"overseer_alive\": false, \"overseer\": {\"state\": "
	    "\"Terminated\", \"exit_status\": 5}}}",
	    "overseer: it ended: a failure could not be repaired (llmc "
	    "failures)\n" },
	{ "one that was killed",
	    "{\"head\": {\"overseer_alive\": false, \"overseer_unix\": 5, "
	    "\"run_unix\": 4, \"overseer\": {\"state\": \"Running\"}}}",
	    "overseer: it crashed or was killed (llmc overseer)\n" },
	{ "not one that was stopped",
	    "{\"head\": {\"overseer_alive\": false, \"overseer\": {\"state\": "
	    "\"Terminated\", \"exit_status\": 0}}}",
	    "" },
	{ "nor the one before a run without one",
	    "{\"head\": {\"overseer_alive\": false, \"overseer_unix\": 5, "
	    "\"run_unix\": 6, \"overseer\": {\"state\": \"Running\"}}}",
	    "" },
	{ "nor one that runs",
	    "{\"head\": {\"overseer_alive\": true, \"overseer\": {\"state\": "
	    "\"Running\"}}}",
	    "" },
	{ "no channel, while there is something to tell of",
	    "{\"head\": {\"auto\": true, \"channel\": false, \"paused\": "
	    "\"P\"}}",
	    "everything: P (llmc resume)\nchannel: no channel is set, so "
	    "nobody was told of this (llmc config doc "
	    "people.notify_command)\n" },
	{ "not otherwise", "{\"head\": {\"auto\": true, \"channel\": false}}",
	    "" },
	{ "no task that failed before there were runs",
	    "{\"ended\": {\"t1\": {\"outcome\": \"failed\"}}}", "" },
	{ "mail", "{\"team\": {\"mail_person\": 2, \"mail_open\": 5}}",
	    "mail: 2 to you (llmc mail inbox)\n" },
};

START_TEST(needs_are_said_once_with_what_to_type)
{
	cleanup_free char *needs = needs_of(rows[_i].view);

	ck_assert_msg(
	    strcmp(needs, rows[_i].needs) == 0, "%s: %s", rows[_i].what, needs);
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s = suite_create("view-needs");
	TCase *c = tcase_create("view-needs");

	tcase_add_loop_test(
	    c, needs_are_said_once_with_what_to_type, 0, (int)nitems(rows));
	suite_add_tcase(s, c);
	return s;
}
