/* SPDX-License-Identifier: ISC */

/*
 * JSON-RPC 2.0, one object per line: the codec for our sockets and for MCP. It
 * only converts between bytes and messages; the caller does the reading,
 * writing and waiting.
 *
 * Ids are strings or integers and are returned exactly as they came. Batches
 * are refused. Unknown members are ignored.
 */
#ifndef RPC_H
#define RPC_H

#include <stdbool.h>
#include <stddef.h>

#include "buf.h"

struct err;
struct json_object;

#define RPC_LINE_MAX (4 * 1024 * 1024)

#define RPC_PARSE_ERROR      (-32700)
#define RPC_INVALID_REQUEST  (-32600)
#define RPC_METHOD_NOT_FOUND (-32601)
#define RPC_INVALID_PARAMS   (-32602)
#define RPC_INTERNAL_ERROR   (-32603)

enum rpc_kind {
	RPC_REQUEST, /* method, id, params */
	RPC_NOTIFICATION, /* method, params */
	RPC_RESULT, /* id, result */
	RPC_ERROR, /* id (may be NULL), code, message, data */
};

struct rpc_message {
	enum rpc_kind kind;
	struct json_object *root; /* owns everything below */
	const char *method;
	struct json_object *id; /* string or integer */
	struct json_object *params; /* object or array, NULL = none */
	struct json_object *result; /* NULL = null */
	int code;
	const char *message;
	struct json_object *data;
};

/* Decode one line (without its newline). On failure -EINVAL, or -E2BIG for a
 * line over RPC_LINE_MAX. *ret_code (may be NULL) is then the JSON-RPC error to
 * answer with, and *ret_id (may be NULL) the id to answer to, owned by the
 * caller, or NULL if it could not be read. Both are unchanged on success. Only
 * an error may have a null id. */
int rpc_decode(const char *line, size_t len, struct rpc_message *ret_message,
    int *ret_code, struct json_object **ret_id, struct err *err);
void rpc_message_release(struct rpc_message *message);

/* Append one line, including the newline. The caller keeps the objects. id NULL
 * makes a request a notification, and is null in an error. */
void rpc_encode_request(struct buf *out, struct json_object *id,
    const char *method, struct json_object *params);
void rpc_encode_result(
    struct buf *out, struct json_object *id, struct json_object *result);
void rpc_encode_error(struct buf *out, struct json_object *id, int code,
    const char *message, struct json_object *data);

/* Split a stream into lines: feed what was read, take lines until 0. */
struct rpc_reader {
	struct buf pending;
	size_t taken; /* bytes of it already returned as lines */
	size_t tail; /* bytes of the incomplete line at its end */
	size_t line_max; /* 0 = RPC_LINE_MAX */
	bool skipping; /* inside a line that was reported as too long */
};

void rpc_reader_init(struct rpc_reader *reader, size_t line_max);
void rpc_reader_release(struct rpc_reader *reader);
void rpc_reader_feed(struct rpc_reader *reader, const void *bytes, size_t len);

/* Returns 1: *line is cleared and set to the next line, without newline or CRLF
 * (blank lines are skipped); 0: no complete line yet; -E2BIG: a line was longer
 * than line_max bytes (counting the CR) and is skipped. That is reported once
 * per line, with *line unchanged; continue with the next. Never keeps more than
 * line_max + 1 bytes of a line. */
int rpc_reader_next(struct rpc_reader *reader, struct buf *line);

#endif
