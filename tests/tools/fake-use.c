/* SPDX-License-Identifier: ISC */

/* The use of tools of MCP servers: one answer of the model, several at once. */

#include "fake.h"

struct fake_use {
	TAILQ_ENTRY(fake_use) entry;
	struct fake *fake;
	char *name; /* mcp__llmc__report_progress */
	char id[40];
	struct json_object *input;
	struct fake_fired *fired;
	struct fake_server *server; /* while it is asked */
	int64_t request;
	struct loop_timer *timeout;
	int64_t began_ms;
	bool waits; /* for the server to be connected */
	bool failed, ended;
	struct buf result;
};

static void
use_free(struct fake_use *use)
{
	TAILQ_REMOVE(&use->fake->uses, use, entry);
	fake_fired_cancel(use->fired);
	loop_timer_free(use->timeout);
	json_object_put(use->input);
	buf_release(&use->result);
	free(use->name);
	free(use);
}

void
fake_use_cancel(struct fake *fake)
{
	struct fake_use *use;

	while ((use = TAILQ_FIRST(&fake->uses)) != NULL) {
		if (use->server != NULL)
			fake_mcp_cancel(use->server, use->request);
		use_free(use);
	}
}

/* ---- after the last one: the batch */

static struct json_object *
use_response(const struct fake_use *use)
{
	struct json_object *list, *block;

	if (use->failed)
		return json_object_new_string(use->result.data);
	block = json_object_new_object();
	json_set_string(block, "type", "text");
	json_set_string(block, "text", use->result.data);
	list = json_object_new_array();
	json_object_array_add(list, block);
	return list;
}

static void
uses_over(struct fake *fake, const struct fake_answer *answer, void *arg)
{
	(void)answer;
	(void)arg;
	fake->turn.fired = NULL;
	fake_use_cancel(fake);
	fake_turn_step(fake);
}

static void
uses_batch(struct fake *fake)
{
	struct json_object *calls = json_object_new_array(), *call, *event;
	struct fake_use *use;

	TAILQ_FOREACH (use, &fake->uses, entry) {
		call = json_object_new_object();
		json_set_string(call, "tool_name", use->name);
		json_set(call, "tool_input", json_object_get(use->input));
		json_set_string(call, "tool_use_id", use->id);
		json_set(call, "tool_response", use_response(use));
		json_object_array_add(calls, call);
		script_answer(&fake->turn.script, use->result.data);
	}
	event = fake_event(
	    fake, "PostToolBatch", FAKE_WITH_MODE | FAKE_WITH_EFFORT);
	json_set(event, "tool_calls", calls);
	fake->turn.fired = fake_fire(fake, event, NULL, uses_over, NULL);
}

static void
use_over(struct fake_use *use)
{
	struct fake *fake = use->fake;
	struct fake_use *other;

	use->ended = true;
	TAILQ_FOREACH (other, &fake->uses, entry)
		if (!other->ended)
			return;
	uses_batch(fake);
}

/* ---- after the answer */

static void
use_told(struct fake *fake, const struct fake_answer *answer, void *arg)
{
	struct fake_use *use = arg;
	cleanup_buf struct buf context = BUF_INIT;

	use->fired = NULL;
	if (answer->context.len > 0) {
		buf_addf(&context, "PostToolUse:%s hook additional context: %s",
		    use->name, answer->context.data);
		fake_log_prompt(fake, context.data);
		fake_term_say(fake, "  ", context.data);
	}
	use_over(use);
}

static struct json_object *
use_event(struct fake_use *use, const char *name)
{
	struct json_object *event =
	    fake_event_tool(use->fake, name, json_object_get(use->input));
	struct json_object *server = json_object_new_object();
	const char *end = strstr(use->name + 5, "__");
	cleanup_free char *owner = end == NULL ?
	    xstrdup("") :
	    xstrndup(use->name + 5, (size_t)(end - use->name) - 5);

	json_set_string(event, "tool_name", use->name);
	json_set_string(event, "tool_use_id", use->id);
	json_set_string(server, "name", owner);
	json_set_string(server, "source", "dynamic");
	json_set(event, "mcp_server", server);
	return event;
}

static void
use_finish(struct fake_use *use)
{
	struct fake *fake = use->fake;
	cleanup_buf struct buf error = BUF_INIT;
	struct json_object *event;

	loop_timer_free(take_ptr(&use->timeout));
	use->server = NULL;
	buf_addf(&error, "Error: %s", use->result.data);
	fake_transcript_result(fake, use->id, use->result.data, use->failed,
	    use->failed ? json_object_new_string(error.data) :
			  use_response(use));
	fake_term_say(fake, "  ", use->result.data);
	event =
	    use_event(use, use->failed ? "PostToolUseFailure" : "PostToolUse");
	if (use->failed) {
		json_set_string(event, "error", use->result.data);
		json_set_bool(event, "is_interrupt", false);
	} else {
		json_set(event, "tool_response", use_response(use));
	}
	json_set_int(event, "duration_ms", clock_mono_ms() - use->began_ms);
	use->fired = fake_fire(fake, event, use->name, use_told, use);
}

static void
use_fail(struct fake_use *use, const char *text)
{
	use->failed = true;
	buf_adds(&use->result, text);
	use_finish(use);
}

static void
use_timed_out(void *arg)
{
	struct fake_use *use = arg;

	fake_mcp_cancel(use->server, use->request);
	use_fail(use, "MCP error -32001: Request timed out");
}

void
fake_use_answered(struct fake *fake, const struct fake_server *server,
    int64_t id, struct json_object *result, int code, const char *message)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct json_object *content = NULL;
	struct fake_use *use;

	TAILQ_FOREACH (use, &fake->uses, entry)
		if (use->server == server && use->request == id)
			break;
	if (use == NULL)
		return;
	if (code != 0) {
		buf_addf(&text, "MCP error %d: %s", code, message);
		use_fail(use, text.data);
		return;
	}
	json_get_array(result, "", "content", &content, NULL);
	if (content != NULL)
		buf_adds(&text,
		    json_string_or(
			json_object_array_get_idx(content, 0), "text", ""));
	use->failed = json_bool_or(result, "isError", false);
	buf_adds(&use->result, text.data);
	use_finish(use);
}

/* ---- the call */

static void
use_exec(struct fake_use *use)
{
	struct fake *fake = use->fake;
	struct fake_server *server = NULL;
	cleanup_buf struct buf text = BUF_INIT;
	const char *tool = NULL;
	int r = fake_mcp_find(fake, use->name, &server, &tool);

	/* The real one waits for a server that is still starting. */
	use->waits = r == -EAGAIN;
	if (use->waits)
		return;
	if (r < 0) {
		buf_addf(&text,
		    "<tool_use_error>Error: No such tool available: %s"
		    "</tool_use_error>",
		    use->name);
		use_fail(use, text.data);
		return;
	}
	use->server = server;
	use->request = fake_mcp_call(server, tool, use->id, use->input);
	if (fake->options.tool_timeout_ms > 0)
		use->timeout = loop_after(fake->loop,
		    fake->options.tool_timeout_ms, use_timed_out, use);
}

void
fake_use_ready(struct fake *fake)
{
	struct fake_use *use, *next;

	TAILQ_FOREACH_SAFE(use, &fake->uses, entry, next)
	{
		struct fake_server *server;
		const char *tool;

		if (use->waits)
			use_exec(use);
		else if (use->server != NULL &&
		    fake_mcp_find(fake, use->name, &server, &tool) == -EPIPE)
			use_fail(use, "MCP error -32000: Connection closed");
	}
}

/* ---- may it run? */

static void
use_deny(struct fake_use *use, const char *reason)
{
	use->failed = true;
	buf_adds(&use->result, reason);
	fake_transcript_result(
	    use->fake, use->id, reason, true, json_object_new_string(reason));
	use_over(use);
}

static void
use_requested(struct fake *fake, const struct fake_answer *answer, void *arg)
{
	struct fake_use *use = arg;

	(void)fake;
	use->fired = NULL;
	if (answer->allow)
		use_exec(use);
	else
		use_deny(use,
		    answer->block ? answer->reason.data :
				    "Nobody answered the question.");
}

static void
use_hooked(struct fake *fake, const struct fake_answer *answer, void *arg)
{
	struct fake_use *use = arg;
	const char *mode = fake->options.mode;

	use->fired = NULL;
	if (answer->block)
		use_deny(use, answer->reason.data);
	else if (answer->allow || fake->options.llmc_allowed ||
	    strcmp(mode, "bypassPermissions") == 0 || strcmp(mode, "auto") == 0)
		use_exec(use);
	else if (strcmp(mode, "dontAsk") == 0)
		use_deny(use, "Permission to use the tool was denied.");
	else
		use->fired =
		    fake_fire(fake, use_event(use, "PermissionRequest"),
			use->name, use_requested, use);
}

void
fake_use_run(struct fake *fake, const struct script_action *action)
{
	struct fake_use *use;
	char uuid[ID_UUID_SIZE];

	for (size_t i = 0; i < action->use_count; i++) {
		const struct script_use *from = &action->uses[i];

		use = xcalloc(1, sizeof(*use));
		TAILQ_INSERT_TAIL(&fake->uses, use, entry);
		use->fake = fake;
		use->name = xasprintf("mcp__llmc__%s", from->name);
		use->began_ms = clock_mono_ms();
		buf_init(&use->result);
		if (json_parse(from->input, strlen(from->input),
			strlen(from->input), &use->input, NULL) < 0)
			use->input = json_object_new_object();
		id_uuid(uuid);
		snprintf(use->id, sizeof(use->id), "toolu_%.23s", uuid);
		fake_transcript_tool(fake, i == 0 ? action->say.data : "",
		    use->id, use->name, json_object_get(use->input));
		fake_term_say(fake, "● ", use->name);
	}
	if (action->say.len > 0)
		fake_term_say(fake, "● ", action->say.data);
	TAILQ_FOREACH (use, &fake->uses, entry)
		use->fired = fake_fire(fake, use_event(use, "PreToolUse"),
		    use->name, use_hooked, use);
}
