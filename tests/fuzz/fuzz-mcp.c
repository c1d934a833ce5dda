/* SPDX-License-Identifier: ISC */

/* Whatever a client says is answered by one line with the id that it had, is a
 * call of a tool that says nothing about who calls, or is nothing. */

#include "api.h"
#include "fuzz.h"
#include "guard.h"
#include "mcp.h"
#include "rpc.h"

static void
check_answer(const struct buf *line, struct json_object *asked)
{
	cleanup_json struct json_object *answer = NULL;
	struct json_object *id = NULL, *wanted = NULL;

	if (memchr(line->data, '\n', line->len) != line->data + line->len - 1)
		abort();
	if (json_parse(line->data, line->len - 1, RPC_LINE_MAX, &answer, NULL) <
		0 ||
	    !json_object_object_get_ex(answer, "id", &id) ||
	    json_object_object_get_ex(answer, "result", NULL) ==
		json_object_object_get_ex(answer, "error", NULL))
		abort();
	/* An id that is none is answered as null. */
	json_object_object_get_ex(asked, "id", &wanted);
	if (id != NULL && !json_object_equal(id, wanted))
		abort();
}

static void
check_call(const struct mcp_ask *ask)
{
	cleanup_buf struct buf line = BUF_INIT;
	cleanup_json struct json_object *asked = json_object_new_object();

	if (!(ask->method->flags & API_TOOL) ||
	    !json_object_is_type(ask->params, json_type_object) ||
	    json_object_object_get_ex(ask->params, "worker", NULL) ||
	    strlen(json_string_or(ask->params, "call", "")) > 200 ||
	    ask->wait_ms <= 0 || ask->wait_ms > MCP_WAIT_MAX_MS)
		abort();
	json_set(asked, "id", json_object_get(ask->id));
	mcp_result(&line, ask->id, ask->params);
	check_answer(&line, asked);
	buf_clear(&line);
	mcp_refusal(&line, ask->id, API_E_RATE, ask->method->help);
	check_answer(&line, asked);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct guard_policy some = { .llmc_scoped = true };
	struct mcp_server server = { .version = "1", .session = "9" };
	cleanup_json struct json_object *asked = NULL;
	struct mcp_ask ask;

	if (size == 0)
		return 0;
	server.policy = data[0] & 1 ? &some : NULL;
	data++;
	size--;
	json_parse((const char *)data, size, RPC_LINE_MAX, &asked, NULL);
	mcp_read(&server, (const char *)data, size, &ask);
	switch (ask.kind) {
	case MCP_ANSWER:
		check_answer(&ask.answer, asked);
		break;
	case MCP_CALL:
		check_call(&ask);
		break;
	case MCP_CANCEL:
	case MCP_NOTHING:
		if (ask.answer.len > 0)
			abort();
		break;
	}
	mcp_ask_release(&ask);
	return 0;
}
