/* SPDX-License-Identifier: ISC */

#include "api.h"
#include "rpc.h"
#include "schema.h"
#include "unit.h"

/* --- the rows -------------------------------------------------------- */

TEST(each_row_is_complete)
{
	for (const struct api_method *m = api_methods; m->name != NULL; m++) {
		size_t group = strcspn(m->name, ".");

		ck_assert_msg(group > 0 && m->name[group] == '.' &&
			m->name[group + 1] != '\0' &&
			strspn(m->name, "abcdefghijklmnopqrstuvwxyz._") ==
			    strlen(m->name),
		    "%s", m->name);
		ck_assert_msg(m->help != NULL && m->help[0] != '\0' &&
			strchr(m->help, '\n') == NULL,
		    "%s", m->name);
		ck_assert_msg(m->params != NULL && m->params->fields != NULL,
		    "%s", m->name);
		ck_assert_msg(m->result != NULL, "%s", m->name);
		ck_assert_msg(m->errors != NULL, "%s", m->name);
	}
}

TEST(each_name_is_there_once)
{
	for (const struct api_method *m = api_methods; m->name != NULL; m++)
		ck_assert_msg(api_find(m->name) == m, "%s", m->name);
	ck_assert_ptr_null(api_find("worker.fly"));
	ck_assert_ptr_null(api_find("worker"));
	ck_assert_ptr_null(api_find(""));
}

TEST(each_shape_prints_a_schema)
{
	for (const struct api_method *m = api_methods; m->name != NULL; m++) {
		const struct schema_field whole = { .type = SCHEMA_OBJECT,
			.of = m->params };
		cleanup_json struct json_object *params = schema_print(&whole);
		cleanup_json struct json_object *result =
		    schema_print(m->result);

		ck_assert_str_eq(json_string_or(params, "type", ""), "object");
		ck_assert_ptr_nonnull(
		    json_object_object_get(params, "properties"));
		ck_assert_msg(json_object_object_get(result, "type") != NULL,
		    "%s", m->name);
	}
}

/* Every parameter needs a description, unless it is obvious. */
TEST(each_parameter_is_explained)
{
	for (const struct api_method *m = api_methods; m->name != NULL; m++)
		for (const struct schema_field *f = m->params->fields;
		     f->name != NULL; f++)
			ck_assert_msg(f->help != NULL || f->type == SCHEMA_INT,
			    "%s: %s", m->name, f->name);
}

TEST(each_error_is_known_and_there_once)
{
	for (const struct api_method *m = api_methods; m->name != NULL; m++)
		for (const enum api_error *e = m->errors; *e != 0; e++) {
			ck_assert_msg(*e == API_FAILED ||
				strcmp(api_error_word(m, *e), "failed") != 0,
			    "%s: %d", m->name, (int)*e);
			for (const enum api_error *o = m->errors; o != e; o++)
				ck_assert_msg(*o != *e, "%s", m->name);
		}
}

/* --- who may call when ----------------------------------------------- */

/* The names of the methods with this flag, separated by blanks. */
static void
assert_flagged(unsigned flag, const char *expected)
{
	cleanup_buf struct buf names = BUF_INIT;

	for (const struct api_method *m = api_methods; m->name != NULL; m++)
		if (m->flags & flag)
			buf_addf(
			    &names, "%s%s", names.len > 0 ? " " : "", m->name);
	ck_assert_str_eq(names.data, expected);
}

TEST(flags_are_those_that_callers_rely_on)
{
	assert_flagged(API_ONESHOT,
	    "worker.add worker.try worker.nuke worker.reset worker.pause worker.stop "
	    "worker.accept worker.pick "
	    "landing.revert "
	    "task.add task.edit task.priority task.retry task.drop "
	    "ask.end overseer.status "
	    "overseer.goal.create overseer.goal.list overseer.goal.show overseer.goal.plan overseer.plan.draft overseer.plan.apply overseer.goal.update overseer.goal.pause overseer.goal.resume overseer.goal.cancel overseer.goal.archive "
	    "overseer.work.list overseer.work.show overseer.work.update overseer.work.add overseer.work.split overseer.work.merge overseer.work.move overseer.work.assign "
	    "overseer.store.check overseer.store.export overseer.store.sql "
	    "overseer.events overseer.why "
	    "request.answer mail.send mail.inbox mail.show mail.ack reservation.list reservation.release team.tree");
	assert_flagged(API_OWN, "hook.event sandbox.refused");
	assert_flagged(API_STOPPING, "hook.event daemon.stop view.get");
	assert_flagged(API_STREAM, "view.follow events.follow");
	assert_flagged(API_EARLY, "daemon.stop");
	assert_flagged(API_TOOL,
	    "team.report_progress "
	    "team.report_completion "
	    "team.agent_spawn "
	    "team.agent_status "
	    "team.mail_send "
	    "team.mail_inbox "
	    "team.mail_ack "
	    "team.mail_reserve "
	    "team.mail_release "
	    "team.mail_list_reservations "
	    "team.request_orchestrator "
	    "team.respond_orchestrator_request "
	    "team.plan_review_needed");
}

TEST(flags_do_not_contradict_each_other)
{
	const unsigned all = API_ONESHOT | API_OWN | API_STOPPING | API_STREAM |
	    API_EARLY | API_TOOL | API_NAMED | API_SENT;
	/* Each of these needs a daemon that keeps running. */
	const unsigned running = API_STOPPING | API_STREAM | API_EARLY;

	for (const struct api_method *m = api_methods; m->name != NULL; m++) {
		ck_assert_msg((m->flags & ~all) == 0, "%s", m->name);
		ck_assert_msg(
		    !(m->flags & API_ONESHOT) || !(m->flags & running), "%s",
		    m->name);
		ck_assert_msg((m->flags & running) != running, "%s", m->name);
	}
}

/* Every row, with all who may call it: p(erson), r(epair), w(orker), any
 * (reade)R. */
static const struct {
	const char *method, *callers;
	enum api_reach reach;
} rows[] = {
	{ "hook.event", "  w ", API_REACH_NOTHING },
	{ "worker.add", "pr  ", API_REACH_PERSON },
	{ "worker.try", "p   ", API_REACH_PERSON },
	{ "worker.nuke", "p   ", API_REACH_PERSON },
	{ "worker.reset", "pr  ", API_REACH_PERSON },
	{ "worker.start", "prw ", API_REACH_FREE },
	{ "worker.pause", "p   ", API_REACH_PERSON },
	{ "worker.stop", "p   ", API_REACH_PERSON },
	{ "worker.message", "prw ", API_REACH_WORKER },
	{ "worker.reject", "prw ", API_REACH_WORK },
	{ "worker.accept", "p   ", API_REACH_PERSON },
	{ "worker.rebase", "prw ", API_REACH_WORK },
	{ "worker.review", "prw ", API_REACH_WORK },
	{ "review.get", "pr  ", API_REACH_PERSON },
	{ "screen.get", "pr  ", API_REACH_PERSON },
	{ "replay.get", "pr  ", API_REACH_PERSON },
	{ "worker.pick", "p   ", API_REACH_PERSON },
	{ "worker.wait", "prwR", API_REACH_SIGHT },
	{ "landing.list", "prwR", API_REACH_SIGHT },
	{ "landing.revert", "p   ", API_REACH_PERSON },
	{ "task.add", "prw ", API_REACH_SHARED },
	{ "task.from", "p   ", API_REACH_PERSON },
	{ "task.edit", "prw ", API_REACH_TASK },
	{ "task.priority", "prw ", API_REACH_TASK },
	{ "task.retry", "prw ", API_REACH_TASK },
	{ "task.drop", "prw ", API_REACH_TASK },
	{ "task.abort", "p   ", API_REACH_PERSON },
	{ "auto.resume", "p   ", API_REACH_PERSON },
	{ "fleet.events", "p   ", API_REACH_PERSON },
	{ "daemon.info", "prwR", API_REACH_NOTHING },
	{ "daemon.reload", "p   ", API_REACH_PERSON },
	{ "daemon.stop", "p   ", API_REACH_PERSON },
	{ "view.get", "pr  ", API_REACH_PERSON },
	{ "view.follow", "pr  ", API_REACH_PERSON },
	{ "metrics.get", "pr  ", API_REACH_PERSON },
	{ "charts.get", "pr  ", API_REACH_PERSON },
	{ "web.get", "p   ", API_REACH_PERSON },
	{ "events.follow", "prwR", API_REACH_SIGHT },
	{ "sandbox.refused", "  w ", API_REACH_NOTHING },
	{ "ask.end", "p   ", API_REACH_PERSON },
	{ "ask.seen", "p   ", API_REACH_PERSON },
	{ "overseer.status", "p   ", API_REACH_PERSON },
	{ "overseer.goal.create", "p   ", API_REACH_PERSON },
	{ "overseer.goal.list", "p   ", API_REACH_PERSON },
	{ "overseer.goal.show", "p   ", API_REACH_PERSON },
	{ "overseer.goal.plan", "p   ", API_REACH_PERSON },
	{ "overseer.plan.draft", "p   ", API_REACH_PERSON },
	{ "overseer.plan.apply", "p   ", API_REACH_PERSON },
	{ "overseer.goal.update", "p   ", API_REACH_PERSON },
	{ "overseer.goal.pause", "p   ", API_REACH_PERSON },
	{ "overseer.goal.resume", "p   ", API_REACH_PERSON },
	{ "overseer.goal.cancel", "p   ", API_REACH_PERSON },
	{ "overseer.goal.archive", "p   ", API_REACH_PERSON },
	{ "overseer.work.list", "p   ", API_REACH_PERSON },
	{ "overseer.work.show", "p   ", API_REACH_PERSON },
	{ "overseer.work.update", "p   ", API_REACH_PERSON },
	{ "overseer.work.add", "p   ", API_REACH_PERSON },
	{ "overseer.work.split", "p   ", API_REACH_PERSON },
	{ "overseer.work.merge", "p   ", API_REACH_PERSON },
	{ "overseer.work.move", "p   ", API_REACH_PERSON },
	{ "overseer.work.assign", "p   ", API_REACH_PERSON },
	{ "overseer.tick", "p   ", API_REACH_PERSON },
	{ "overseer.wake", "p   ", API_REACH_PERSON },
	{ "overseer.store.check", "p   ", API_REACH_PERSON },
	{ "overseer.store.export", "p   ", API_REACH_PERSON },
	{ "overseer.store.sql", "pr  ", API_REACH_PERSON },
	{ "overseer.events", "p   ", API_REACH_PERSON },
	{ "overseer.why", "p   ", API_REACH_PERSON },
	{ "team.report_progress", "  w ", API_REACH_NOTHING },
	{ "team.report_completion", "  w ", API_REACH_NOTHING },
	{ "team.agent_spawn", "  w ", API_REACH_SHARED },
	{ "team.agent_status", "  w ", API_REACH_NOTHING },
	{ "team.mail_send", "  w ", API_REACH_MESSAGE },
	{ "team.mail_inbox", "  w ", API_REACH_NOTHING },
	{ "team.mail_ack", "  w ", API_REACH_NOTHING },
	{ "team.mail_reserve", "  w ", API_REACH_SHARED },
	{ "team.mail_release", "  w ", API_REACH_NOTHING },
	{ "team.mail_list_reservations", "  w ", API_REACH_NOTHING },
	{ "team.request_orchestrator", "  w ", API_REACH_MESSAGE },
	{ "team.respond_orchestrator_request", "  w ", API_REACH_MESSAGE },
	{ "team.plan_review_needed", "  w ", API_REACH_NOTHING },
	{ "request.answer", "p   ", API_REACH_PERSON },
	{ "mail.send", "p   ", API_REACH_PERSON },
	{ "mail.deliver", "p   ", API_REACH_PERSON },
	{ "mail.inbox", "p   ", API_REACH_PERSON },
	{ "mail.show", "p   ", API_REACH_PERSON },
	{ "mail.ack", "p   ", API_REACH_PERSON },
	{ "reservation.list", "p   ", API_REACH_PERSON },
	{ "reservation.release", "p   ", API_REACH_PERSON },
	{ "team.tree", "prwo", API_REACH_SIGHT },
};

TEST(each_method_has_its_callers_and_its_reach)
{
	static const unsigned callers[] = { API_PERSON, API_REPAIR, API_WORKER,
		API_READER };
	const struct api_method *m = api_methods;

	for (size_t i = 0; i < nitems(rows); i++, m++) {
		ck_assert_ptr_nonnull(m->name);
		ck_assert_str_eq(m->name, rows[i].method);
		ck_assert_msg(m->reach == rows[i].reach, "%s", m->name);
		for (size_t j = 0; j < nitems(callers); j++)
			ck_assert_msg(((m->callers & callers[j]) != 0) ==
				(rows[i].callers[j] != ' '),
			    "%s: %s", m->name, api_caller_words[j]);
	}
	ck_assert_ptr_null(m->name);
	ck_assert_ptr_null(api_caller_words[nitems(callers)]);
}

/* --- error names ------------------------------------------------------ */

TEST(errors_have_the_words_of_the_command_line)
{
	const struct api_method *start = api_find("worker.start");
	const struct api_method *drop = api_find("task.drop");
	const struct api_method *add = api_find("task.add");

	ck_assert_str_eq(api_error_word(start, API_UNKNOWN), "no_such_worker");
	ck_assert_str_eq(api_error_word(drop, API_UNKNOWN), "no_such_task");
	ck_assert_str_eq(
	    api_error_word(api_find("landing.revert"), API_UNKNOWN),
	    "no_such_commit");
	ck_assert_str_eq(api_error_word(api_find("worker.pick"), API_UNKNOWN),
	    "no_such_worker");
	ck_assert_str_eq(api_error_word(drop, API_BUSY), "busy");
	ck_assert_str_eq(api_error_word(start, API_STATUS), "wrong_status");
	ck_assert_str_eq(
	    api_error_word(api_find("worker.accept"), API_CHANGED), "changed");
	ck_assert_str_eq(api_error_word(add, API_REFUSED), "refused");
	ck_assert_str_eq(api_error_word(add, RPC_INVALID_PARAMS), "bad_value");
	ck_assert_str_eq(api_error_word(add, API_FAILED), "failed");
	ck_assert_str_eq(api_error_word(add, RPC_METHOD_NOT_FOUND), "failed");
}

/* --- params and results ---------------------------------------------- */

/* In a list, because null alone is not a document. */
static int
check(const struct schema_field *field, const char *text, struct err *err)
{
	cleanup_free char *list = xasprintf("[%s]", text);
	cleanup_json struct json_object *value = NULL;

	ck_assert_int_eq(json_parse(list, strlen(list), 4096, &value, err), 0);
	return schema_check(
	    field, json_object_array_get_idx(value, 0), "", err);
}

struct example {
	const char *method, *text, *complaint; /* NULL = valid */
};

static void
assert_example(const struct example *example, const struct schema_field *field)
{
	struct err err = { 0 };
	int r = check(field, example->text, &err);

	if (example->complaint == NULL)
		ck_assert_msg(r == 0, "%s: %s: %s", example->method,
		    example->text, err.msg);
	else
		ck_assert_str_eq(err.msg, example->complaint);
}

TEST(parameters_are_checked)
{
	static const struct example examples[] = {
		{ "hook.event",
		    "{\"event\":\"Stop\",\"worker\":\"w\",\"generation\":1,"
		    "\"id\":\"a\",\"data\":{\"any\":[1]},\"more\":1}",
		    NULL },
		{ "hook.event",
		    "{\"event\":\"Stop\",\"worker\":\"w\",\"generation\":1,"
		    "\"id\":\"\",\"data\":{}}",
		    "id: expected 1 or more bytes, found 0" },
		{ "worker.start", "{\"prompt\":\"Do it\"}", NULL },
		{ "worker.start", "{\"worker\":\"w\"}", "prompt: missing" },
		{ "worker.start", "{\"prompt\":\"x\",\"self_reviw\":true}",
		    "self_reviw: unknown member, did you mean "
		    "\"self_review\"?" },
		{ "worker.accept", "{\"worker\":\"w\",\"force\":1}",
		    "force: expected a boolean, found a number" },
		{ "worker.accept", "{\"worker\":\"w\",\"commit\":\"0123456\"}",
		    NULL },
		{ "worker.accept", "{\"worker\":\"w\",\"commit\":1}",
		    "commit: expected a string, found a number" },
		{ "worker.reject",
		    "{\"worker\":\"w\",\"text\":\"no\",\"commit\":"
		    "\"0123456\"}",
		    NULL },
		{ "worker.pick", "{\"worker\":\"w\",\"commit\":\"0123456\"}",
		    NULL },
		{ "worker.review", "{\"worker\":\"w\",\"commit\":\"0123456\"}",
		    "commit: unknown member" },
		{ "worker.wait",
		    "{\"worker\":\"w\",\"until\":\"idle\",\"timeout_ms\":0}",
		    "timeout_ms: expected an integer from 1 to 604800000, "
		    "found 0" },
		{ "worker.wait",
		    "{\"worker\":\"w\",\"until\":\"idle\","
		    "\"timeout_ms\":604800000}",
		    NULL },
		{ "auto.resume", "{}", NULL },
		{ "daemon.info", "{}", NULL },
		{ "daemon.info", "{\"worker\":\"w\"}",
		    "worker: unknown member" },
		{ "events.follow", "{}", NULL },
	};

	for (size_t i = 0; i < nitems(examples); i++) {
		const struct api_method *m = api_find(examples[i].method);
		const struct schema_field whole = { .type = SCHEMA_OBJECT,
			.of = m->params };

		assert_example(&examples[i], &whole);
	}
}

TEST(results_are_described)
{
	static const struct example examples[] = {
		{ "hook.event", "null", NULL },
		{ "hook.event",
		    "{\"decision\":\"block\",\"reason\":\"commit it\"}", NULL },
		{ "hook.event", "{\"decision\":\"block\"}", "reason: missing" },
		{ "worker.accept",
		    "{\"worker\":\"w\",\"commit_sha\":\"\","
		    "\"head_sha\":\"01\",\"landing_branch\":\"main\","
		    "\"commit_message\":null,\"status\":\"idle\","
		    "\"needs_conflict_resolution\":false,"
		    "\"already_incorporated\":true,"
		    "\"proposed\":false}",
		    NULL },
		{ "worker.rebase",
		    "{\"worker\":\"w\",\"commit_sha\":null,"
		    "\"landing_branch\":\"main\","
		    "\"commit_message\":null,\"status\":\"idle\","
		    "\"needs_conflict_resolution\":false,"
		    "\"already_incorporated\":false}",
		    "status: expected one of needs_review, rebasing; found "
		    "\"idle\"" },
		{ "worker.review",
		    "{\"worker\":\"w\",\"message_sent\":true,"
		    "\"commit_sha\":\"01\",\"landing_branch\":\"main\","
		    "\"uncommitted_files\":2,"
		    "\"previous_status\":\"working\","
		    "\"new_status\":\"working\"}",
		    NULL },
		{ "worker.review",
		    "{\"worker\":\"w\",\"commit_sha\":null,"
		    "\"landing_branch\":\"main\","
		    "\"commit_message\":null,\"status\":\"needs_review\","
		    "\"needs_conflict_resolution\":false,"
		    "\"already_incorporated\":false}",
		    NULL },
		{ "auto.resume",
		    "{\"message\":\"\",\"resumed\":[\"auto-1\"],"
		    "\"changes\":[{\"worker\":\"auto-1\","
		    "\"cleared\":[\"oversight\"],\"left\":[]}]}",
		    NULL },
		{ "daemon.reload", "null", NULL },
		{ "daemon.stop", "4711", NULL },
		{ "events.follow",
		    "{\"timestamp\":\"2026-01-31T09:15:30Z\",\"level\":"
		    "\"INFO\",\"event\":{\"type\":\"stall\",\"task\":\"t1\"}}",
		    NULL },
	};

	for (size_t i = 0; i < nitems(examples); i++)
		assert_example(
		    &examples[i], api_find(examples[i].method)->result);
}
