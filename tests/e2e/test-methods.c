/* SPDX-License-Identifier: ISC */

/* The daemon follows the table of its methods (model/api/api): what it accepts,
 * what it answers, and its errors. */
#include "filed.h"
#include "fleet.h"
#include "api.h"
#include "client.h"
#include "rpc.h"
#include "workspace.h"
#include "schema.h"

#define ANSWER_MS 60000

/* Methods that the running test has called, by their index in the table. */
static bool called[128];

/* Not for people. */
static bool
is_agents(const struct api_method *m)
{
	return (m->flags & (API_OWN | API_TOOL)) != 0;
}

/* One call as any program makes it: 0, or the code of the error. */
static int
call(const struct api_method *m, struct json_object *params,
    struct json_object **ret_result, struct err *err)
{
	struct workspace workspace;
	cleanup_free char *socket = NULL;
	int code = 0, r;

	ck_assert_int_eq(workspace_at(fleet_root(), &workspace, NULL), 0);
	socket = is_agents(m) ? run_dir_socket(&workspace, "adam") :
				client_socket_path(&workspace);
	workspace_release(&workspace);
	called[m - api_methods] = true;
	r = client_call(
	    socket, m->name, params, ANSWER_MS, true, ret_result, &code, err);
	ck_assert_msg(r == 0 || r == -EPROTO, "%s: %s", m->name, err->msg);
	return r == 0 ? 0 : code;
}

/* As many strings as it must have. */
static struct json_object *
sample_array(const struct schema_field *field)
{
	struct json_object *list = json_object_new_array();

	for (int64_t i = 0; i < field->min; i++)
		json_object_array_add(list, json_object_new_string("nobody"));
	return list;
}

/* A value of the field's type, or one of another type. */
static struct json_object *
sample(const struct schema_field *field, bool right)
{
	enum schema_type type = field->type;

	if (!right)
		return type == SCHEMA_STRING ? json_object_new_int(7) :
					       json_object_new_string("seven");
	switch (type) {
	case SCHEMA_INT:
	case SCHEMA_NUMBER:
		return json_object_new_int(1);
	case SCHEMA_BOOL:
		return json_object_new_boolean(true);
	case SCHEMA_OBJECT:
		return json_object_new_object();
	case SCHEMA_ARRAY:
	case SCHEMA_LIST:
	case SCHEMA_ROWS:
		return sample_array(field);
	default:
		ck_assert_int_eq(type, SCHEMA_STRING);
		return json_object_new_string(
		    field->choices != NULL ? field->choices[0] : "nobody");
	}
}

/* All parameters, all but one (NULL = none) valid. */
static struct json_object *
sample_params(const struct api_method *m, const char *wrong)
{
	struct json_object *params = json_object_new_object();

	for (const struct schema_field *f = m->params->fields; f->name != NULL;
	     f++)
		json_set(params, f->name,
		    sample(f, wrong == NULL || strcmp(wrong, f->name) != 0));
	return params;
}

/* --- refused --------------------------------------------------------- */

static void
assert_invalid(
    const struct api_method *m, struct json_object *params, const char *name)
{
	cleanup_json struct json_object *owned = params, *result = NULL;
	struct err err = { 0 };

	ck_assert_msg(call(m, owned, &result, &err) == RPC_INVALID_PARAMS,
	    "%s: %s", m->name, err.msg);
	e2e_has(err.msg, e2e_path("params.%s: ", name));
}

const int unit_timeout = 120; /* seconds, each */

TEST(wrong_parameters_are_refused_by_name)
{
	fleet_up();
	for (const struct api_method *m = api_methods; m->name != NULL; m++) {
		struct json_object *params;

		if (is_agents(m))
			continue; /* refused before */
		for (const struct schema_field *f = m->params->fields;
		     f->name != NULL; f++) {
			/* The daemon says it, whatever the caller says. */
			if (((m->flags & API_NAMED) &&
				strcmp(f->name, "worker") == 0) ||
			    ((m->flags & API_SENT) &&
				strcmp(f->name, "sender") == 0))
				continue;
			assert_invalid(m, sample_params(m, f->name), f->name);
			if (f->flags & SCHEMA_OPTIONAL)
				continue;
			params = sample_params(m, NULL);
			json_object_object_del(params, f->name);
			assert_invalid(m, params, f->name);
		}
		if (m->params->open)
			continue;
		params = sample_params(m, NULL);
		json_set_bool(params, "nonsense", true);
		assert_invalid(m, params, "nonsense");
	}
}

static bool
has_error(const struct api_method *m, enum api_error error)
{
	for (const enum api_error *e = m->errors; *e != 0; e++)
		if (*e == error)
			return true;
	return false;
}

TEST(unknown_workers_and_tasks_are_told)
{
	fleet_up();
	for (const struct api_method *m = api_methods; m->name != NULL; m++) {
		cleanup_json struct json_object *params = NULL, *result = NULL;
		struct err err = { 0 };

		if (!has_error(m, API_UNKNOWN))
			continue;
		params = sample_params(m, NULL);
		ck_assert_msg(call(m, params, &result, &err) == API_UNKNOWN,
		    "%s: %s", m->name, err.msg);
		e2e_has(err.msg, "nobody");
	}
}

/* The answer of autod --oneshot to a request. */
static const char *
oneshot(const struct api_method *m)
{
	cleanup_json struct json_object *params = sample_params(m, NULL);

	return e2e_sh(fleet_root(),
	    e2e_path("echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\","
		     "\"params\":%s}' | \"${LLMC%%/*}/../autod/autod\" "
		     "--oneshot",
		m->name,
		json_object_to_json_string_ext(params, JSON_C_TO_STRING_PLAIN)))
	    ->out;
}

TEST(without_a_daemon_there_is_a_hint)
{
	for (const struct api_method *m = api_methods; m->name != NULL; m++) {
		const char *answer;

		if ((m->flags & API_STREAM) || is_agents(m))
			continue; /* nothing to wait for; not for people */
		answer = oneshot(m);
		e2e_has(answer, "\"jsonrpc\"");
		if (m->flags & API_ONESHOT)
			e2e_lacks(answer, "no daemon is running");
		else
			e2e_has(answer,
			    "no daemon is running; start it with: llmc up --detach");
	}
}

/* --- results --------------------------------------------------------- */

/* The result, which must match the table. Valid until the test ends. */
static struct json_object *
must(const char *method, const char *params)
{
	const struct api_method *m = api_find(method);
	struct json_object *request = json_tokener_parse(params);
	struct json_object *result = NULL;
	struct err err = { 0 };

	ck_assert_ptr_nonnull(request);
	ck_assert_msg(
	    call(m, request, &result, &err) == 0, "%s: %s", method, err.msg);
	ck_assert_msg(schema_check(m->result, result, "", &err) == 0,
	    "%s: %s: %s", method, err.msg, json_object_get_string(result));
	json_object_put(request);
	return result;
}

/* There is no fleet. */
static void
is_refused(const char *method, const char *params, const char *words)
{
	struct json_object *request = json_tokener_parse(params);
	struct json_object *result = NULL;
	struct err err = { 0 };

	ck_assert_int_ne(call(api_find(method), request, &result, &err), 0);
	e2e_has(err.msg, words);
	json_object_put(request);
}

#define ADAM "{\"worker\":\"adam\"}"

static void
until(const char *status)
{
	struct json_object *result = must("worker.wait",
	    e2e_path("{\"worker\":\"adam\",\"until\":\"%s\","
		     "\"timeout_ms\":30000}",
		status));

	ck_assert_msg(
	    json_bool_or(result, "reached", false), "not %s in time", status);
}

static void
with_text(const char *method, const char *text)
{
	must(method, e2e_path("{\"worker\":\"adam\",\"text\":\"%s\"}", text));
	until("needs_review");
}

static void
start(const char *prompt)
{
	must("worker.start",
	    e2e_path("{\"worker\":\"adam\",\"prompt\":\"%s\"}", prompt));
	until("needs_review");
}

/* A tool, as adam's session would: what the table says, or one of the errors
 * that it says. */
static void
tool(const char *name, const char *params)
{
	const struct api_method *m = api_find(e2e_path("team.%s", name));
	cleanup_json struct json_object *request = json_tokener_parse(params);
	cleanup_json struct json_object *result = NULL;
	struct err err = { 0 };
	int code;

	ck_assert_ptr_nonnull(request);
	code = call(m, request, &result, &err);
	ck_assert_msg(code == 0 || has_error(m, (enum api_error)code),
	    "%s: %d: %s", m->name, code, err.msg);
	if (code == 0)
		ck_assert_int_eq(schema_check(m->result, result, "", NULL), 0);
}

/* The id of the first mail to a person. */
static const char *
mail_to_person(void)
{
	struct json_object *list;

	do {
		ck_assert_msg(!unit_is_late(), "no mail");
		list = must("mail.inbox", "{}");
	} while (json_object_array_length(list) == 0);
	return json_string_or(json_object_array_get_idx(list, 0), "id", "");
}

/* adam asks, and a person answers. */
static void
call_question_methods(void)
{
	const char *mail, *subject;

	must("worker.start",
	    "{\"worker\":\"adam\",\"prompt\":\"fake: tool "
	    "request_orchestrator {\\\"message\\\":\\\"A or B?\\\"}\\n"
	    "fake: commit e.txt fifth\"}");
	called[api_find("team.request_orchestrator") - api_methods] = true;
	mail = e2e_path("{\"id\":\"%s\"}", mail_to_person());
	subject = json_string_or(must("mail.show", mail), "subject", "");
	ck_assert(strncmp(subject, "request:", 8) == 0);
	must("mail.ack", mail);
	must("team.tree", "{}");
	must("request.answer",
	    e2e_path("{\"id\":\"%s\",\"response\":\"A\"}", subject + 8));
	until("needs_review");
}

/* What adam has reserved. */
static void
call_reservation_methods(void)
{
	struct json_object *list = must("reservation.list", "{}");

	ck_assert_uint_eq(json_object_array_length(list), 1);
	must("reservation.release",
	    e2e_path("{\"id\":\"%s\"}",
		json_string_or(json_object_array_get_idx(list, 0), "id", "")));
	ck_assert_uint_eq(
	    json_object_array_length(must("reservation.list", "{}")), 0);
}

static void
call_team_methods(void)
{
	call_question_methods();
	tool("report_progress", "{\"phase\":\"p\",\"percentComplete\":1.5}");
	tool("report_completion", "{\"status\":\"complete\"}");
	tool("agent_spawn",
	    "{\"spawn_reason\":\"r\",\"requested_subagents\":[{\"role\":"
	    "\"coder\",\"task\":\"t\"}]}");
	tool("agent_status", "{}");
	tool("mail_send",
	    "{\"to\":\"person\",\"subject\":\"s\",\"body\":\"b\"}");
	tool("mail_inbox", "{}");
	tool("mail_ack", "{\"id\":\"none\"}");
	tool("mail_reserve", "{\"paths\":[\"src\"]}");
	tool("mail_list_reservations", "{}");
	call_reservation_methods();
	tool("mail_release", "{}");
	tool("respond_orchestrator_request",
	    "{\"requestId\":\"R_1\",\"response\":\"B\"}");
	tool("plan_review_needed", "{\"reason\":\"r\"}");
	must("mail.send", "{\"to\":\"adam\",\"subject\":\"s\",\"body\":\"b\"}");
	must("worker.reset", ADAM);
	until("idle");
}

static void
call_worker_methods(void)
{
	must("worker.try", "{}");
	must("worker.add", ADAM);
	until("idle");
	must("worker.review", "{\"worker\":\"adam\",\"force\":true}");
	start("fake: commit a.txt first");
	must("worker.review", ADAM);
	must("review.get", ADAM);
	must("screen.get", ADAM);
	must("replay.get", "{\"task\":\"adam\"}");
	must("worker.rebase", ADAM);
	with_text("worker.reject", "fake: commit b.txt second");
	with_text("worker.message", "fake: commit c.txt third");
	must("worker.accept", "{\"worker\":\"adam\",\"force\":false}");
	until("idle");
	start("fake: commit d.txt fourth");
	must("worker.pick", ADAM);
	must("landing.list", "{}");
	must("landing.revert",
	    e2e_path("{\"commit\":\"%.40s\"}",
		e2e_git(fleet_root(), "rev-parse", "main", NULL)));
	must("worker.reset", ADAM);
	until("idle");
	call_team_methods();
	must("hook.event",
	    "{\"event\":\"Stop\",\"worker\":\"adam\",\"generation\":99,"
	    "\"id\":\"1\",\"data\":{}}");
	must("sandbox.refused",
	    "{\"worker\":\"adam\",\"host\":\"a.example\",\"port\":443}");
	must("worker.pause", ADAM);
	must("worker.stop", ADAM);
	must("worker.nuke", ADAM);
}

static void
call_task_methods(void)
{
	struct json_object *result = must("task.add", "{\"text\":\"Do this\"}");
	const char *path = json_string_or(result, "path", "");
	const char *name = json_string_or(result, "task", "");
	struct json_object *params;
	struct err err = { 0 };

	ck_assert(e2e_exists(path));
	must("task.priority",
	    e2e_path("{\"task\":\"%s\",\"priority\":\"low\"}", name));
	e2e_sh(fleet_root(),
	    e2e_path("d=$(dirname '%s'); "
		     "mkdir -p \"$d/../failed\"; mv '%s' \"$d/../failed/\"",
		path, path));
	must("task.retry", e2e_path("{\"task\":\"%s\"}", name));
	must("task.edit",
	    e2e_path("{\"task\":\"%s\",\"before\":\"Do this\\n\","
		     "\"text\":\"Do that\"}",
		name));
	must("task.drop", e2e_path("{\"task\":\"%s\"}", name));
	name = json_string_or(
	    must("task.retry", "{\"task\":\"t90\"}"), "task", "");
	must("task.abort", e2e_path("{\"task\":\"%s\"}", name));
	/* It needs a forge: test-forge-issues.c has the rest. */
	params = json_tokener_parse("{\"issue\":\"1\"}");
	ck_assert_int_lt(call(api_find("task.from"), params, &result, &err), 0);
	ck_assert_ptr_nonnull(strstr(err.msg, "auto.source"));
	json_object_put(params);
}

#define GOAL(more) e2e_path("{\"goal\":\"%s\"" more "}", goal)

/* The store is replaced while the daemon runs. */
static void
call_store_methods(void)
{
	const char *file =
	    e2e_path("{\"file\":\"%s\"}", unit_path("export.json"));

	must("overseer.why", "{\"subject\":\"T1.3\"}");
	must("overseer.events", "{\"workers\":[\"eve\",\"adam\"]}");
	must("overseer.store.check", "{}");
	must("overseer.store.sql", "{\"sql\":\"SELECT 1, 'a', NULL\"}");
	must("overseer.store.export", file);
}

static void
call_goal_methods(void)
{
	struct json_object *result;
	const char *goal;

	result = must("overseer.goal.create",
	    "{\"title\":\"Ship it\",\"plan\":\"## One\\n### A\\nAcceptance: "
	    "x\\n### B\\nAcceptance: y\\n### C\\nAcceptance: z\\n\"}");
	goal = json_string_or(result, "goal", "");
	must("overseer.status", "{}");
	must("overseer.goal.list", "{}");
	must("overseer.goal.show", GOAL(""));
	must("overseer.goal.update", GOAL(",\"priority\":\"high\""));
	must("overseer.goal.plan",
	    GOAL(",\"plan\":\"## One\\n### A\\nAcceptance: x\\n### B\\n"
		 "Acceptance: y\\n### C\\nAcceptance: z\\n\""));
	must("overseer.plan.draft",
	    GOAL(",\"plan\":\"## One\\n### A\\nAcceptance: x\\n### B\\n"
		 "Acceptance: y\\n### C\\nAcceptance: w\\n\""));
	must("overseer.plan.apply", GOAL(""));
	must("overseer.goal.pause", GOAL(""));
	must("overseer.work.list", "{\"all\":true}");
	must("overseer.work.show", "{\"node\":\"T1.1\"}");
	must("overseer.work.update",
	    "{\"node\":\"T1.1\",\"status\":\"blocked\",\"reason\":\"r\"}");
	must("overseer.work.add", "{\"parent\":\"P1\",\"name\":\"D\"}");
	must("overseer.work.split",
	    "{\"node\":\"T1.2\",\"names\":[\"E\",\"F\"]}");
	must("overseer.work.move", "{\"node\":\"T1.3\",\"place\":1}");
	must("overseer.work.merge", "{\"nodes\":[\"T1.3\",\"T1.4\"]}");
	must("overseer.work.assign", "{\"node\":\"T1.3\",\"worker\":\"eve\"}");
	must("overseer.goal.resume", GOAL(""));
	must("overseer.tick", "{\"dry_run\":true}");
	must("overseer.tick", "{}");
	must("overseer.wake", "{}");
	must("ask.end", "{\"ask\":\"a1\"}");
	must("ask.seen", "{\"asks\":[\"a1\"]}");
	call_store_methods();
	must("overseer.goal.cancel", GOAL(""));
	must("overseer.goal.archive", GOAL(""));
}

TEST(answers_are_as_the_table_says)
{
	fleet_do("config", "set", "plan.enabled", "true", NULL);
	fleet_do("config", "set", "plan.allow_agents", "[\"*\"]", NULL);
	filed_put_tasks(fleet_root(),
	    "{\"id\":\"t90\",\"source\":\"fix\",\"title\":\"x\",\"text\":"
	    "\"x\",\"step\":\"settling\",\"outcome\":\"failed\"}\n");
	fleet_up();
	call_worker_methods();
	call_task_methods();
	must("worker.add", "{\"worker\":\"eve\"}");
	call_goal_methods();
	must("auto.resume", "{}");
	must("view.get", "{}");
	must("metrics.get", "{}");
	must("charts.get", "{\"from_ms\":1,\"worker\":\"eve\"}");
	must("web.get", "{}");
	is_refused(
	    "mail.deliver", "{\"from_host\":\"other\",\"mail\":{}}", "mail");
	must("fleet.events", "{}");
	must("daemon.info", "{}");
	must("daemon.reload", "{}");
	must("daemon.stop", "{}");
	for (const struct api_method *m = api_methods; m->name != NULL; m++)
		ck_assert_msg(
		    called[m - api_methods] || (m->flags & API_STREAM),
		    "%s was not called", m->name);
}

void
unit_before(void)
{
	fleet_begin();
}
