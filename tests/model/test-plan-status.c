/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "api.h"
#include "work-record.h"

/* Each line: a status and all that may follow it. Everything else is
 * refused. */
static const char *const goal_lines[] = {
	"active: paused completed cancelled",
	"paused: active completed cancelled",
	"completed: active archived",
	"cancelled: archived",
	"archived:",
};

static const char *const node_lines[] = {
	"todo: queued cancelled",
	"queued: in_progress blocked cancelled",
	"in_progress: queued blocked done cancelled",
	"blocked: queued cancelled",
	"done: queued",
	"cancelled:",
};

static const char *const assignment_lines[] = {
	"queued: dispatched cancelled",
	"dispatched: active stalled blocked done cancelled",
	"active: stalled blocked done cancelled",
	"stalled: active blocked done cancelled",
	"blocked: queued active done cancelled",
	"done:",
	"cancelled:",
};

static void
check_row(const char *line, const char *const *words, unsigned from,
    bool (*may)(unsigned from, unsigned to))
{
	cleanup_buf struct buf row = BUF_INIT;

	buf_addf(&row, "%s:", words[from]);
	for (unsigned to = 0; words[to] != NULL; to++)
		if (may(from, to))
			buf_addf(&row, " %s", words[to]);
	ck_assert_str_eq(row.data, line);
}

static bool
goal_may(unsigned from, unsigned to)
{
	return goal_status_may((enum goal_status)from, (enum goal_status)to);
}

static bool
node_may(unsigned from, unsigned to)
{
	return node_status_may((enum node_status)from, (enum node_status)to);
}

static bool
assignment_may(unsigned from, unsigned to)
{
	return assignment_status_may(
	    (enum assignment_status)from, (enum assignment_status)to);
}

TEST(every_row_of_the_tables_is_as_written)
{
	for (unsigned i = 0; i < GOAL_STATUS_COUNT; i++)
		check_row(goal_lines[i], goal_status_words, i, goal_may);
	for (unsigned i = 0; i < NODE_STATUS_COUNT; i++)
		check_row(node_lines[i], node_status_words, i, node_may);
	for (unsigned i = 0; i < ASSIGNMENT_STATUS_COUNT; i++)
		check_row(assignment_lines[i], assignment_status_words, i,
		    assignment_may);
}

TEST(an_invalid_status_follows_nothing)
{
	ck_assert(!node_may(NODE_STATUS_COUNT, NODE_QUEUED));
	ck_assert(!node_may(NODE_TODO, NODE_STATUS_COUNT));
	ck_assert(!goal_may(GOAL_STATUS_COUNT, GOAL_ACTIVE));
	ck_assert(!assignment_may(ASSIGNMENT_STATUS_COUNT, ASSIGNMENT_QUEUED));
}

TEST(a_refusal_says_what_may_follow)
{
	struct err err = { 0 };

	ck_assert_int_eq(node_status_check("T1.1", NODE_TODO, NODE_DONE, &err),
	    API_E_TRANSITION);
	ck_assert_int_eq(err.code, API_E_TRANSITION);
	ck_assert_str_eq(err.msg,
	    "T1.1 is todo and cannot become done; it can become: queued, "
	    "cancelled");
	ck_assert_int_eq(
	    goal_status_check("goal_1", GOAL_ARCHIVED, GOAL_ACTIVE, &err),
	    API_E_TRANSITION);
	ck_assert_ptr_nonnull(strstr(err.msg, "nothing else"));
	ck_assert_int_eq(assignment_status_check(
			     "A_1", ASSIGNMENT_DONE, ASSIGNMENT_DONE, &err),
	    API_E_TRANSITION);
	ck_assert_str_eq(err.msg, "A_1 is done already");
	ck_assert_int_eq(assignment_status_check("A_1", ASSIGNMENT_QUEUED,
			     ASSIGNMENT_DISPATCHED, &err),
	    0);
}

TEST(every_refusal_has_its_word_in_the_api)
{
	static const struct {
		int code;
		const char *word;
	} rows[] = {
		{ API_E_TRANSITION, "E_TRANSITION" },
		{ API_E_EVIDENCE, "E_EVIDENCE" },
		{ API_E_REASON, "E_REASON" },
		{ API_E_UNKNOWN, "E_UNKNOWN" },
		{ API_E_EXISTS, "E_EXISTS" },
		{ API_E_STARTED, "E_STARTED" },
		{ API_E_CYCLE, "E_CYCLE" },
		{ API_E_LEVEL, "E_LEVEL" },
		{ API_E_LIMIT, "E_LIMIT" },
		{ API_E_CLOSED, "E_CLOSED" },
		{ API_E_ASSIGNED, "E_ASSIGNED" },
		{ API_E_CHILDREN, "E_CHILDREN" },
	};

	for (size_t i = 0; i < nitems(rows); i++)
		ck_assert_str_eq(api_error_word(&api_methods[0], rows[i].code),
		    rows[i].word);
}

TEST(open_means_that_something_follows_by_itself)
{
	ck_assert(goal_status_open(GOAL_PAUSED));
	ck_assert(!goal_status_open(GOAL_COMPLETED));
	ck_assert(node_status_open(NODE_BLOCKED));
	ck_assert(!node_status_open(NODE_DONE));
	ck_assert(assignment_status_open(ASSIGNMENT_BLOCKED));
	ck_assert(!assignment_status_open(ASSIGNMENT_CANCELLED));
}
