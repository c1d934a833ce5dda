/* SPDX-License-Identifier: ISC */

/*
 * The Model Context Protocol, as far as `llmc mcp` speaks it: JSON-RPC 2.0, one
 * object a line; the tools are the rows of the table of methods with API_TOOL.
 * A line in gives an answer, a call for the daemon, or nothing. Pure, and
 * without a memory of earlier lines: what is asked before "initialize" is
 * answered too.
 *
 * An id is echoed as it came: a string, a number or null. A batch is refused
 * with one error, as in the versions of the protocol that are spoken here.
 */
#ifndef MCP_H
#define MCP_H

struct api_method;
struct guard_policy;
struct json_object;

/* How long Claude Code waits for a tool (MCP_TOOL_TIMEOUT), and how long an
 * answer may take at most: less, so that it hears ours. */
#define MCP_TOOL_TIMEOUT_MS 3900000
#define MCP_WAIT_MAX_MS     3840000

/* Who speaks. */
struct mcp_server {
	const char *version; /* of llmc */
	const char *session; /* begins the ids of calls; NULL = "" */
	const struct guard_policy *policy; /* which of the tools it offers; NULL
					    * = all */
};

enum mcp_kind {
	MCP_NOTHING, /* a notification, or an answer without a request */
	MCP_ANSWER, /* `answer` is the line to send, with its newline */
	MCP_CALL, /* the daemon is to answer */
	MCP_CANCEL, /* the call with this id is not wanted any more */
};

struct mcp_ask {
	enum mcp_kind kind;
	struct buf answer;
	bool lists; /* it is the list of tools */
	struct json_object *id; /* of the call; NULL = null */
	const struct api_method *method; /* of the daemon */
	struct json_object *params; /* for it; "call" is missing if the client
				     * gave the tool's use no id */
	int64_t wait_ms; /* how long the call may take */
	const char *late; /* what to say if it takes longer; NULL = nothing
			   * special */
};

/* A line, without its newline. All of *ret_ask is set; for mcp_ask_release().
 */
void mcp_read(const struct mcp_server *server, const char *line, size_t len,
    struct mcp_ask *ret_ask);
void mcp_ask_release(struct mcp_ask *ask);

/* Append the answer to a call: what the daemon returned, as text for the model;
 * or why it refused, with its code (api.h) if that is one of the E_ codes. */
void
mcp_result(struct buf *out, struct json_object *id, struct json_object *result);
void mcp_refusal(
    struct buf *out, struct json_object *id, int code, const char *message);

/* The list of tools, as in the answer to tools/list; the caller owns it. */
struct json_object *mcp_tools(const struct mcp_server *server);
/* A number that is another one when the list is; and what to tell the client
 * then. */
uint64_t mcp_tools_mark(const struct mcp_server *server);

#endif
