/* SPDX-License-Identifier: ISC */

/* What people get to know of the interventions of oversight. */
#include "unit.h"
#include "auto-world.h"
#include "behaviour.h"
#include "book-history.h"
#include "book.h"
#include "message.h"
#include "oversight-floor.h"
#include "oversight-private.h"

#define DESK "[people.channels.desk]\ntype = \"command\"\ncommand = \"cat\"\n"
#define ALL                                                        \
	"[people.channels.all]\ntype = \"command\"\ncommand = "    \
	"\"cat\"\nlevels = [\"info\", \"warning\", \"critical\", " \
	"\"emergency\"]\n"

static struct world {
	struct oversight_floor *floor;
	char **ids;
} w;

static void
end(void)
{
	strv_free(w.ids);
	oversight_floor_free(w.floor);
	auto_world_end();
}

static void
begin(const char *settings)
{
	memset(&w, 0, sizeof w);
	auto_world_begin(settings);
	w.floor = oversight_floor_new(auto_world.mode);
	auto_world_live();
	unit_at_end(end);
}

/* Iteration 5 of a task. */
static void
tell(const char *task, enum detection_type type, enum severity severity,
    enum progress_step level, const char *error)
{
	cleanup_free char *name = xstrdup(task);
	struct watched watched = { .task = name, .count = 5 };
	struct detection d;

	detection_init(&d, type, severity);
	d.message = xstrdup("Stuck: it is so");
	json_set_string(d.evidence, "repeatedError", error);
	oversight_tell(w.floor, &watched, "adam", &d, level, "what to type");
	detection_release(&d);
}

static bool
on_id(struct book_row *row, void *arg)
{
	(void)arg;
	strv_add(&w.ids, book_text(row, 0));
	return true;
}

/* How many messages there are. */
static size_t
messages(void)
{
	strv_clear(&w.ids);
	ck_assert_int_eq(book_query(floor_world.core->book,
			     "SELECT m.id FROM message AS m ORDER BY m.rowid",
			     NULL, 0, on_id, &w, NULL),
	    0);
	return strv_count(w.ids);
}

/* After messages(); the caller frees it. */
static struct message *
message(size_t i)
{
	return book_find_message(floor_world.core->book, w.ids[i]);
}

static const struct {
	enum progress_step level;
	enum severity severity;
	enum escalation_level want;
	bool quiet; /* only to who asks for the level */
	const char *class;
} rows[] = {
	{ STEP_LOG, SEVERITY_LOW, ESCALATION_INFO, true, NULL },
	{ STEP_WARN, SEVERITY_MEDIUM, ESCALATION_WARNING, true, NULL },
	{ STEP_REDIRECT, SEVERITY_HIGH, ESCALATION_WARNING, false, NULL },
	{ STEP_REDIRECT, SEVERITY_CRITICAL, ESCALATION_CRITICAL, false, NULL },
	{ STEP_PAUSE, SEVERITY_HIGH, ESCALATION_CRITICAL, false, "task" },
};

TEST_ROWS(an_intervention_is_told_with_its_level_and_its_evidence, nitems(rows))
{
	struct message *record;
	struct json_object *evidence = NULL;

	begin(ALL DESK);
	tell("t1", DETECTION_STUCK, rows[_i].severity, rows[_i].level,
	    "no rule");
	ck_assert_uint_eq(messages(), 1);
	/* What oversight has done is news, and nobody has to decide it. */
	ck_assert_uint_eq(floor_world.core->state.ask_count, 0);
	record = message(0);
	ck_assert_int_eq(record->level, rows[_i].want);
	ck_assert_ptr_nonnull(message_delivery(record, "all"));
	ck_assert_int_eq(
	    message_delivery(record, "desk") == NULL, rows[_i].quiet);
	ck_assert_pstr_eq(record->class, rows[_i].class);
	ck_assert_str_eq(record->text, "what to type");
	ck_assert_str_eq(record->worker, "adam");
	ck_assert_str_eq(record->task, "t1");
	ck_assert_int_eq(record->iteration, 5);
	ck_assert_str_eq(
	    record->intervention, progress_step_words[rows[_i].level]);
	ck_assert_str_eq(
	    json_string_or(record->detection, "type", ""), "stuck");
	ck_assert_str_eq(json_string_or(record->detection, "message", ""),
	    "Stuck: it is so");
	json_object_object_get_ex(record->detection, "evidence", &evidence);
	ck_assert_str_eq(
	    json_string_or(evidence, "repeatedError", ""), "no rule");
	ck_assert_uint_eq(
	    strv_count(record->options), rows[_i].level == STEP_PAUSE ? 2 : 0);
	message_free(record);
}

TEST(an_intervention_is_told_once_whenever_the_daemon_dies)
{
	begin(DESK);
	tell("t1", DETECTION_STUCK, SEVERITY_HIGH, STEP_PAUSE, "x");
	oversight_floor_free(w.floor);
	auto_world_reopen();
	w.floor = oversight_floor_new(auto_world.mode);
	auto_world_live();
	tell("t1", DETECTION_STUCK, SEVERITY_HIGH, STEP_PAUSE, "x");
	ck_assert_uint_eq(messages(), 1);
	tell("t1", DETECTION_DEVIATION, SEVERITY_HIGH, STEP_PAUSE, "x");
	ck_assert_uint_eq(messages(), 2);
}

/* Two workers with the same error are one issue, two tasks that burn are two.
 */
TEST(equal_failures_have_one_signature)
{
	struct message *record[4];

	begin(DESK);
	tell("t1", DETECTION_STUCK, SEVERITY_HIGH, STEP_PAUSE,
	    "sum.c:12: undefined reference to add");
	tell("t2", DETECTION_STUCK, SEVERITY_HIGH, STEP_PAUSE,
	    "sum.c:99: undefined reference to add");
	tell("t1", DETECTION_RESOURCE_BURN, SEVERITY_HIGH, STEP_PAUSE, NULL);
	tell("t2", DETECTION_RESOURCE_BURN, SEVERITY_HIGH, STEP_PAUSE, NULL);
	ck_assert_uint_eq(messages(), 4);
	for (size_t i = 0; i < 4; i++)
		record[i] = message(i);
	ck_assert_str_eq(record[0]->signature, record[1]->signature);
	ck_assert_str_ne(record[2]->signature, record[3]->signature);
	ck_assert_str_ne(record[0]->signature, record[2]->signature);
	for (size_t i = 0; i < 4; i++)
		message_free(record[i]);
}
