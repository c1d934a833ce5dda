/* SPDX-License-Identifier: ISC */

/* What stub-api answers: from a request to a message, without sockets. */
#ifndef STUB_H
#define STUB_H

#include "base.h"

struct buf;
struct json_object;
struct script_action;

/* What comes next in the conversation of a request. rules: an array of objects
 * with words and steps: a prompt with those words gets these steps, and not its
 * own; the last such rule counts. */
void stub_plan(struct json_object *request, struct json_object *rules,
    struct script_action *action);

/* The API's message for it; the caller owns it. usage: tokens of input, of
 * output, read from the cache, written to it for five minutes and for an hour;
 * NULL = as many as it looks like. */
#define STUB_TOKENS 5
struct json_object *stub_message(struct json_object *request,
    const struct script_action *action, const int64_t *usage);

/* The same message as a stream of server-sent events. */
void stub_stream(struct json_object *message, struct buf *out);

/* For the log: the conversation ("" = unknown), and what a person (or a hook)
 * has said in it from the beginning; the caller owns the list. */
const char *stub_conversation(struct json_object *request);
struct json_object *stub_prompts(struct json_object *request);

/* The names of the tools that the model may use: those of MCP servers or the
 * agent's own, with those that it must search for or without; the caller owns
 * the list. The bytes of those of servers in the request. */
struct json_object *
stub_tools(struct json_object *request, bool served, bool deferred);
int64_t stub_served_bytes(struct json_object *request);

/* stub-codex.c: a request of Codex as one of the others, owned by the caller,
 * with the member "codex"; and the stream that it reads. */
struct json_object *stub_codex_request(struct json_object *body);
void stub_codex_stream(struct json_object *message, struct buf *out);

/* stub-gemini.c: likewise for Gemini, with the member "gemini". */
struct json_object *
stub_gemini_request(const char *path, struct json_object *body);
struct json_object *stub_gemini_answer(struct json_object *message);
void stub_gemini_error(struct json_object *error, int status);

int64_t stub_tokens(struct json_object *json);

#endif
