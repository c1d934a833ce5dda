/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "view.h"

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

	setenv("TZ", "UTC", 1);
	tzset();
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

#define ASK(id, kind, who, more)                                       \
	"\"" id "\": {\"kind\": \"" kind "\", \"who\": \"" who         \
	"\", \"words\": \"" who " W\", \"command\": \"llmc answer " id \
	" TEXT\"" more "}"
#define SAID(id, who) who ": " who " W (llmc answer " id " TEXT)\n"

static const struct {
	const char *what, *view, *needs;
} rows[] = {
	{ "nobody is needed when nothing is asked",
	    "{\"workers\": {\"auto-1\": {\"status\": \"error\"}}, "
	    "\"tasks\": {\"t1\": {\"step\": \"parked\"}}}",
	    "" },
	{ "the most urgent first",
	    "{\"asks\": {" ASK("a1", "told", "mail", "") ", " ASK(
		"a2", "review", "eve", ", \"worker\": \"eve\"") ", " ASK("a3",
		"failure", "t1", ", \"task\": \"t1\"") ", " ASK("a4", "budget",
		"t2", ", \"task\": \"t2\"") ", " ASK("a5", "blocked", "g",
		", \"goal\": \"g\"") ", " ASK("a6", "question", "t3",
		", \"task\": \"t3\"") ", " ASK("a7", "blocked", "checkout",
		"") ", " ASK("a8", "blocked", "paused",
		", \"key\": \"paused\"") "}}",
	    SAID("a8", "paused") SAID("a7", "checkout") SAID("a6", "t3")
		SAID("a5", "g") SAID("a4", "t2") SAID("a3", "t1")
		    SAID("a2", "eve") SAID("a1", "mail") },
	{ "two about the same task",
	    "{\"asks\": {" ASK(
		"a1", "question", "t1", ", \"task\": \"t1\"") ", " ASK("a2",
		"question", "t1", ", \"task\": \"t1\"") "}}",
	    SAID("a1", "t1") SAID("a2", "t1") },
	{ "words on one line",
	    "{\"asks\": {\"a1\": {\"kind\": \"told\", \"who\": \"x\", "
	    "\"words\": \"the first\\n\\tand the next\", \"command\": "
	    "\"c\"}}}",
	    "x: the first and the next (c)\n" },
	{ "a failure that ended the daemon",
	    "{\"head\": {\"failure\": {\"class\": \"git_lock\", \"words\": "
	    "\"no\"}}}",
	    "git_lock: no (llmc log daemon --level error)\n" },
	{ "one under an overseer",
	    "{\"head\": {\"overseer_alive\": true, \"failure\": {\"class\": "
	    "\"git_lock\", \"words\": \"no\"}}}",
	    "git_lock: no (llmc log failures)\n" },
	{ "an overseer that gave up",
	    "{\"head\": {\"overseer_alive\": false, \"overseer\": {\"state\": "
	    "\"Terminated\", \"exit_status\": 5}}}",
	    "overseer: it ended: a failure could not be repaired (llmc "
	    "log failures)\n" },
	{ "one that was killed",
	    "{\"head\": {\"overseer_alive\": false, \"overseer_unix\": 5, "
	    "\"run_unix\": 4, \"overseer\": {\"state\": \"Running\"}}}",
	    "overseer: it crashed or was killed (llmc overseer)\n" },
	{ "one that was killed with its daemon",
	    "{\"head\": {\"auto\": true, \"daemon_gone\": true, "
	    "\"overseer_alive\": false, \"overseer\": {\"state\": "
	    "\"Running\"}}}",
	    "autod: it was killed, and was not started again (llmc overseer)\n"
	    "overseer: it crashed or was killed (llmc overseer)\n" },
	{ "one that gave up after it had ended its daemon",
	    "{\"head\": {\"auto\": true, \"daemon_gone\": true, "
	    "\"overseer_alive\": false, \"overseer\": {\"state\": "
	    "\"Terminated\", \"exit_status\": 3}}}",
	    "overseer: it ended: failures went on and on (llmc log "
	    "failures)\n" },
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
	{ "one ask is one thing, also without a channel",
	    "{\"head\": {\"auto\": true, \"channel\": false}, \"asks\": "
	    "{" ASK("a1", "blocked", "checkout", "") "}}",
	    SAID("a1", "checkout") },
	{ "channels that have failed, whatever is driven",
	    "{\"head\": {\"channel\": true, \"untold\": {\"since_unix\": "
	    "1766502000, \"channel\": \"x\", \"why\": \"x: exited with "
	    "3\"}}, \"asks\": {" ASK("a1", "blocked", "checkout", "") "}}",
	    SAID(
		"a1", "checkout") "channel: nothing could be sent to you "
				  "since 2025-12-23 15:00:00: x: exited with 3 "
				  "(llmc doctor channel x)\n" },
	{ "not those that work",
	    "{\"head\": {\"auto\": true, \"channel\": true, \"untold\": "
	    "null}, \"asks\": {" ASK("a1", "blocked", "checkout", "") "}}",
	    SAID("a1", "checkout") },
	{ "mail", "{\"team\": {\"mail_person\": 1, \"mail_open\": 5}}",
	    "mail: 1 to you (llmc mail inbox)\n" },
	{ "not mail between others",
	    "{\"team\": {\"mail_person\": 0, \"mail_open\": 5}}", "" },
};

TEST_ROWS(needs_are_said_once_with_what_to_type, nitems(rows))
{
	cleanup_free char *needs = needs_of(rows[_i].view);

	ck_assert_msg(
	    strcmp(needs, rows[_i].needs) == 0, "%s: %s", rows[_i].what, needs);
}

static const struct {
	const char *view;
	bool wait;
} waiting[] = {
	{ "{\"workers\": {\"a\": {}, \"b\": {}}, \"asks\": {" ASK("a1",
	      "review", "a",
	      "") ", " ASK("a2", "question", "t1", ", \"worker\": \"b\"") "}}",
	    true },
	{ "{\"workers\": {\"a\": {}, \"b\": {}}, \"asks\": {" ASK(
	      "a1", "review", "a", "") "}}",
	    false },
	{ "{\"workers\": {\"a\": {}}, \"landing\": {\"q1\": {}}, "
	  "\"asks\": {" ASK("a1", "review", "a", "") "}}",
	    false },
	{ "{\"asks\": {" ASK("a1", "told", "mail", "") "}}", false },
};

TEST_ROWS(nothing_runs_where_every_worker_waits_for_a_person, nitems(waiting))
{
	cleanup_json struct json_object *view =
	    view_complete(json_tokener_parse(waiting[_i].view));

	ck_assert_int_eq(view_all_wait(view), waiting[_i].wait);
}
