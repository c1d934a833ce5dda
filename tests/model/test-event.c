/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "event.h"
#include "event-table.h"
#include "work-record.h"
#include "schema.h"

/* All fields are set. */
static struct event
full(enum event_kind kind)
{
	return (struct event){ .kind = kind,
		.worker = "w",
		.task = "t",
		.reason = "r",
		.from = "idle",
		.to = "working",
		.session = "s",
		.receipt = "c",
		.resume = "yes",
		.status = "0",
		.text = "x",
		.error = "e",
		.class = "k",
		.commit = "0123",
		.branch = "main",
		.title = "Do it",
		.outcome = "landed",
		.result = "changes",
		.action = "interrupt",
		.scope = "day",
		.ref = "refs/x",
		.path = "/p",
		.key = "1.md",
		.instance = "i",
		.goal = "g",
		.node = "T1",
		.assignment = "A",
		.dispatch = "D",
		.actor = "person",
		.attempt = 1,
		.until_unix = 2,
		.exit_code = 3,
		.duration_ms = 4,
		.concurrency = 5,
		.count = 6,
		.done = 7,
		.failed = 8 };
}

/* Is the word of len bytes in the list? */
static bool
is_listed(const char *list, const char *word, size_t len)
{
	while (list != NULL && *list != '\0') {
		size_t n = strcspn(list, " ");

		if (n == len && memcmp(list, word, len) == 0)
			return true;
		list += n + strspn(list + n, " ");
	}
	return false;
}

static size_t
count_words(const char *list)
{
	size_t count = 0;

	while (list != NULL && *list != '\0') {
		count++;
		list += strcspn(list, " ");
		list += strspn(list, " ");
	}
	return count;
}

/* --- the rows -------------------------------------------------------- */

TEST(each_kind_has_a_text)
{
	for (int i = 0; i < EVENT_KIND_COUNT; i++) {
		const struct event_row *row = event_row((enum event_kind)i);

		ck_assert_msg(
		    row->text != NULL && row->text[0] != '\0', "kind %d", i);
		ck_assert_msg(
		    (row->name == NULL) == (row->words == NULL), "kind %d", i);
		ck_assert_msg(
		    row->name != NULL || row->colour == NULL, "kind %d", i);
	}
}

TEST(each_name_finds_its_row)
{
	for (int i = 0; i < EVENT_KIND_COUNT; i++) {
		const struct event_row *row = event_row((enum event_kind)i);

		if (row->name != NULL)
			ck_assert_ptr_eq(event_row_named(row->name), row);
	}
	ck_assert_ptr_null(event_row_named("of_tomorrow"));
	ck_assert_ptr_null(event_row_named(""));
}

static void
count_field(const char *name, const char *value, void *arg)
{
	size_t *count = arg;

	ck_assert_ptr_nonnull(name);
	ck_assert_str_ne(value, "");
	++*count;
}

/* Each field appears once: in the sentence, or beside it. */
TEST(texts_name_fields_of_their_kind)
{
	for (int i = 0; i < EVENT_KIND_COUNT; i++) {
		const struct event_row *row = event_row((enum event_kind)i);
		struct event event = full((enum event_kind)i);
		size_t count = 0;

		for (const char *at = row->text; (at = strchr(at, '{')) != NULL;
		     at++, count++) {
			size_t len = strcspn(at, "}");

			ck_assert_msg(at[len] == '}' &&
				is_listed(row->fields, at + 1, len - 1),
			    "%s", row->text);
		}
		event_fields(&event, count_field, &count);
		ck_assert_msg(count == count_words(row->fields), "%s: %s",
		    row->text, row->fields);
	}
}

/* A member of the record, possibly with a format. */
static void
assert_member(
    const struct event_row *row, struct json_object *event, const char *spec)
{
	size_t close = strcspn(spec, "}"), len = strcspn(spec, ":}");
	cleanup_free char *name = xstrndup(spec, len);
	cleanup_free char *way = xstrndup(spec + len, close - len);

	ck_assert_msg(spec[close] == '}', "%s", row->words);
	ck_assert_msg(json_object_object_get_ex(event, name, NULL), "%s: %s",
	    row->words, name);
	ck_assert_msg(way[0] == '\0' || strcmp(way, ":sha") == 0 ||
		strcmp(way, ":ms") == 0 || strcmp(way, ":time") == 0,
	    "%s", row->words);
}

TEST(words_name_members_of_their_record)
{
	for (int i = 0; i < EVENT_KIND_COUNT; i++) {
		const struct event_row *row = event_row((enum event_kind)i);
		struct event event = full((enum event_kind)i);
		cleanup_json struct json_object *record =
		    event_record(&event, "now");
		struct json_object *json;
		struct err err = { 0 };
		int depth = 0;

		ck_assert((record == NULL) == (row->name == NULL));
		if (record == NULL)
			continue;
		ck_assert_msg(
		    schema_check(&event_record_schema, record, "", &err) == 0,
		    "%s", err.msg);
		json = json_object_object_get(record, "event");
		for (const char *at = row->words; *at != '\0'; at++) {
			depth += (*at == '[') - (*at == ']');
			ck_assert_msg(
			    depth == 0 || depth == 1, "%s", row->words);
			if (*at == '{')
				assert_member(row, json, at + 1);
		}
		ck_assert_msg(depth == 0, "%s", row->words);
	}
}

/* What is left out if it is not known is so only in auto.log; the other log has
 * such members beside the sentence. */
TEST(a_sentence_of_the_log_has_no_optional_part)
{
	for (size_t i = 0; i < EVENT_KIND_COUNT; i++)
		ck_assert_msg(event_table[i].text == NULL ||
			strchr(event_table[i].text, '[') == NULL,
		    "%s", event_table[i].text);
}

/* The overseer acts on such lines: a repair must be able to help. */
TEST(a_complaint_has_a_class_that_a_repair_helps)
{
	for (size_t i = 0; i < EVENT_KIND_COUNT; i++) {
		const struct event_row *row = &event_table[i];

		if (row->level < LOG_LEVEL_WARN) {
			ck_assert_msg(row->failure == NULL, "%s", row->text);
			continue;
		}
		if (i == EVENT_FAILURE)
			continue;
		ck_assert_msg(row->failure != NULL, "%s", row->text);
		ck_assert_str_eq(
		    failure_class_find(row->failure)->name, row->failure);
		ck_assert_int_eq(failure_class_find(row->failure)->help,
		    FAILURE_HELP_REPAIR);
	}
	ck_assert_str_eq(failure_class_find("no such")->name, "unknown");
	ck_assert_int_eq(failure_class_find(NULL)->help, FAILURE_HELP_REPAIR);
}

/* --- records and texts ----------------------------------------------- */

/* Other programs read these names, so they must not change. */
TEST(records_have_the_members_that_programs_know)
{
	static const struct {
		enum event_kind kind;
		const char *type, *members;
	} known[] = {
		{ EVENT_AUTO_BEGINS, "daemon_startup",
		    "instance_id concurrency" },
		{ EVENT_AUTO_ENDS, "daemon_shutdown", "instance_id reason" },
		{ EVENT_AGENT_VERSION, "agent_version",
		    "worker_name text reason" },
		{ EVENT_TASK_ASSIGNED, "task_assigned",
		    "worker_name task task_excerpt attempt" },
		{ EVENT_TASK_COMPLETED, "task_completed",
		    "worker_name task result" },
		{ EVENT_VERIFIED, "verification",
		    "worker_name task result commit_sha reason" },
		{ EVENT_REVIEWED, "review",
		    "worker_name task result commit_sha reason" },
		{ EVENT_TASK_RETRY, "task_retry",
		    "worker_name task reason attempt" },
		{ EVENT_TASK_PARKED, "task_parked", "worker_name task reason" },
		{ EVENT_TASK_RESUMED, "task_resumed", "task text" },
		{ EVENT_PROGRESS, "progress", "worker_name task text" },
		{ EVENT_REPORTED, "reported", "worker_name task status text" },
		{ EVENT_TASK_FINISHED, "task_finished",
		    "task outcome worker_name task_excerpt commit_sha "
		    "reason" },
		{ EVENT_LANDED, "accept_success",
		    "worker_name task branch commit_sha" },
		{ EVENT_LANDING_QUEUED, "landing_queued",
		    "worker_name task branch task_excerpt" },
		{ EVENT_LANDINGS_BUILT, "landings_built", "branch count" },
		{ EVENT_REVERTED, "reverted", "branch commit_sha ref" },
		{ EVENT_LANDING_WAITS, "landing_waits", "reason" },
		{ EVENT_BRANCH_CHOSEN, "branch_chosen", "branch" },
		{ EVENT_BRANCH_WRONG, "branch_wrong", "branch reason" },
		{ EVENT_BRANCH_TAKEN, "branch_taken",
		    "worker_name branch reason" },
		{ EVENT_BRANCH_RED, "branch_red", "branch commit_sha reason" },
		{ EVENT_CHECKS_OVERTAKEN, "checks_overtaken", "branch reason" },
		{ EVENT_CHECK_BEGINS, "check_begins", "text ref" },
		{ EVENT_TESTS_WEAKENED, "tests_weakened",
		    "worker_name task reason" },
		{ EVENT_PULL, "pull_request", "task text" },
		{ EVENT_CHECKED, "check", "result ref reason duration_ms" },
		{ EVENT_CHECK_FLAKY, "check_flaky", "count" },
		{ EVENT_PUSHED, "pushed", "branch commit_sha" },
		{ EVENT_PUSH_FAILED, "push_failed",
		    "branch commit_sha reason" },
		{ EVENT_ISSUE_TAKEN, "issue_taken", "key task task_excerpt" },
		{ EVENT_ISSUE_LEFT, "issue_left", "key reason" },
		{ EVENT_ISSUE_CHANGED, "issue_changed", "key task reason" },
		{ EVENT_ISSUE_LOST, "issue_lost", "key task" },
		{ EVENT_ISSUE_TOLD, "issue_told", "key task result" },
		{ EVENT_ISSUE_NOT_TOLD, "issue_not_told", "key task reason" },
		{ EVENT_FORGE_AWAY, "forge_away", "reason" },
		{ EVENT_FORGE_REFUSES, "forge_refuses", "reason" },
		{ EVENT_FORGE_BACK, "forge_back", "text" },
		{ EVENT_HOST_UP, "host_up", "text" },
		{ EVENT_HOST_LOST, "host_lost", "text" },
		{ EVENT_HOSTS_AWAY, "fleet_away", "reason" },
		{ EVENT_HOSTS_REFUSED, "fleet_refuses", "reason" },
		{ EVENT_HOSTS_BACK, "fleet_back", "text" },
		{ EVENT_HOSTS_DOUBT, "fleet_doubt", "reason" },
		{ EVENT_HOSTS_TRUSTED, "fleet_trusted", "text" },
		{ EVENT_HOSTS_FORGOT, "fleet_forgot", "text count" },
		{ EVENT_HOSTS_MISSED, "fleet_missed", "count" },
		{ EVENT_TASK_CLAIMED, "task_claimed", "task text" },
		{ EVENT_TASK_FENCED, "task_fenced", "task reason" },
		{ EVENT_FOLLOWED, "followed", "branch commit_sha" },
		{ EVENT_ORIGIN_AWAY, "origin_away", "branch reason" },
		{ EVENT_NOT_LANDED, "accept_failure",
		    "worker_name task branch commit_sha error" },
		{ EVENT_WORKER_MOVED, "worker_state_transition",
		    "worker_name from_state to_state" },
		{ EVENT_LAUNCH_UNBLOCKED, "launch_unblocked", "worker_name" },
		{ EVENT_HOST_REFUSED, "host_refused", "worker_name text" },
		{ EVENT_WEB_OPEN, "web_open", "text" },
		{ EVENT_STATE_RECOVERED, "state_recovered", "reason" },
		{ EVENT_WEB_FAILED, "web_failed", "reason" },
		{ EVENT_WEB_DONE, "web_done", "text" },
		{ EVENT_REPORT_FAILED, "report_failed", "text reason" },
		{ EVENT_SENT_BACK, "sent_back", "worker_name task reason" },
		{ EVENT_WAITING, "waiting", "worker_name reason until_unix" },
		{ EVENT_STALL, "stall", "worker_name task action" },
		{ EVENT_BUDGET, "budget", "scope worker_name task reason" },
		{ EVENT_INTAKE_STOPPED, "intake_stopped", "reason" },
		{ EVENT_HOOKS_CHANGED, "hooks_changed", "reason" },
		{ EVENT_OVERSIGHT, "oversight",
		    "worker_name task class action reason" },
		{ EVENT_COST_UNKNOWN, "cost_unknown",
		    "worker_name task reason" },
		{ EVENT_QUARANTINE, "quarantine", "reason" },
		{ EVENT_POST_ACCEPT, "post_accept",
		    "task commit_sha exit_code duration_ms" },
		{ EVENT_FAILURE, "failure",
		    "class scope worker_name task reason" },
		{ EVENT_LOGIN_NEEDED, "login_needed", "worker_name reason" },
		{ EVENT_CHECKOUT_HELD, "checkout_held", "branch reason" },
	};
	size_t named = 0;

	for (size_t i = 0; i < nitems(known); i++) {
		struct event event = full(known[i].kind);
		cleanup_json struct json_object *record =
		    event_record(&event, "now");
		struct json_object *json =
		    json_object_object_get(record, "event");
		cleanup_free char *copy = xstrdup(known[i].members);
		char *rest = copy, *word;

		ck_assert_str_eq(
		    json_string_or(json, "type", ""), known[i].type);
		while ((word = strsep(&rest, " ")) != NULL)
			ck_assert_msg(json_string_or(json, word, NULL) != NULL,
			    "%s: %s", known[i].type, word);
	}
	for (int i = 0; i < EVENT_GOAL_CREATED; i++)
		named += event_row((enum event_kind)i)->name != NULL;
	ck_assert_uint_eq(named, nitems(known));
}

/* Whoever tells of a status finds the kind by counting. */
TEST(events_of_goals_follow_the_statuses)
{
	static const struct {
		enum event_kind first;
		const char *what;
		const char *const *words;
	} rows[] = {
		{ EVENT_GOAL_ACTIVE, "goal", goal_status_words },
		{ EVENT_NODE_TODO, "work", node_status_words },
		{ EVENT_ASSIGNMENT_QUEUED, "assignment",
		    assignment_status_words },
	};

	for (size_t i = 0; i < nitems(rows); i++)
		for (size_t k = 0; rows[i].words[k] != NULL; k++) {
			cleanup_free char *name =
			    xasprintf("%s.%s", rows[i].what, rows[i].words[k]);

			ck_assert_str_eq(
			    event_row((enum event_kind)(rows[i].first + k))
				->name,
			    name);
		}
}

TEST(record_has_what_is_given)
{
	const struct event event = { .kind = EVENT_TASK_ASSIGNED,
		.worker = "auto-1",
		.task = "t17",
		.attempt = 2 };
	cleanup_json struct json_object *record =
	    event_record(&event, "2026-01-31T08:15:30.123Z");
	cleanup_buf struct buf text = BUF_INIT;

	json_print(record, false, &text);
	ck_assert_str_eq(text.data,
	    "{\"timestamp\":\"2026-01-31T08:15:30.123Z\",\"level\":\"INFO\","
	    "\"event\":{\"type\":\"task_assigned\",\"worker_name\":\"auto-1\","
	    "\"task\":\"t17\",\"attempt\":\"2\"}}");
}

static void
add_field(const char *name, const char *value, void *arg)
{
	buf_addf(arg, " %s=%s", name, value);
}

TEST(log_has_the_sentence_and_the_other_fields)
{
	const struct event landed = { .kind = EVENT_LANDED,
		.worker = "auto-1",
		.branch = "main",
		.commit = "0123" };
	const struct event pushed = { .kind = EVENT_PUSH_FAILED,
		.branch = "main",
		.commit = "0123",
		.reason = "no remote" };
	const struct event owns = { .kind = EVENT_DAEMON_OWNS, .path = "/r" };
	cleanup_buf struct buf text = BUF_INIT;

	event_text(&landed, &text);
	event_fields(&landed, add_field, &text);
	ck_assert_str_eq(
	    text.data, "landed worker=auto-1 branch=main commit=0123");
	buf_clear(&text);
	event_text(&pushed, &text);
	event_fields(&pushed, add_field, &text);
	ck_assert_str_eq(text.data, "push of main: no remote commit=0123");
	buf_clear(&text);
	event_text(&owns, &text); /* a field that is not set is left empty */
	ck_assert_str_eq(text.data, "autod  is running for /r");
}
