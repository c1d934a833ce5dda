/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "rpc.h"

static bool
rpc_has(struct json_object *root, const char *key)
{
	return json_object_object_get_ex(root, key, NULL);
}

static bool
rpc_is_id(struct json_object *value)
{
	return json_object_is_type(value, json_type_string) ||
	    json_object_is_type(value, json_type_int);
}

/* The id, NULL if it is missing or null. Whether it may be missing depends on
 * the kind of message. */
static int
rpc_decode_id(struct rpc_message *m, struct err *err)
{
	struct json_object *id = json_member(m->root, "id");

	if (id != NULL && !rpc_is_id(id))
		return err_set(err, -EINVAL,
		    "id: expected a string or an integer, found %s",
		    json_object_is_type(id, json_type_double) ?
			json_object_to_json_string(id) :
			json_type_words(id));
	m->id = id;
	return 0;
}

static int
rpc_decode_version(struct rpc_message *m, struct err *err)
{
	const char *version;
	int r;

	r = json_get_string(m->root, "", "jsonrpc", &version, err);
	if (r < 0)
		return r;
	if (strcmp(version, "2.0") != 0)
		return err_set(err, -EINVAL, "jsonrpc: expected \"2.0\"");
	return 0;
}

static int
rpc_decode_call(struct rpc_message *m, struct err *err)
{
	int r;

	r = json_get_string(m->root, "", "method", &m->method, err);
	if (r < 0)
		return r;
	if (rpc_has(m->root, "id") && m->id == NULL)
		return err_set(err, -EINVAL,
		    "id: expected a string or an integer, found null");
	m->kind = m->id == NULL ? RPC_NOTIFICATION : RPC_REQUEST;
	if (json_object_object_get_ex(m->root, "params", &m->params) &&
	    !json_object_is_type(m->params, json_type_object) &&
	    !json_object_is_type(m->params, json_type_array))
		return err_set(err, -EINVAL,
		    "params: expected an object or an array, found %s",
		    json_type_words(m->params));
	return 0;
}

static int
rpc_decode_result(struct rpc_message *m, struct err *err)
{
	m->kind = RPC_RESULT;
	if (m->id == NULL)
		return err_set(err, -EINVAL, "id: missing in a result");
	json_object_object_get_ex(m->root, "result", &m->result);
	return 0;
}

static int
rpc_decode_error(struct rpc_message *m, struct err *err)
{
	struct json_object *error = NULL;
	int64_t code = 0;
	int r;

	m->kind = RPC_ERROR;
	/* The id is null if the request's id could not be read. */
	if (!rpc_has(m->root, "id"))
		return err_set(err, -EINVAL, "id: missing in an error");
	r = json_get_object(m->root, "", "error", &error, err);
	if (r == 0)
		r = json_get_int(
		    error, "error", "code", INT_MIN, INT_MAX, &code, err);
	if (r == 0)
		r = json_get_string(
		    error, "error", "message", &m->message, err);
	if (r < 0)
		return r;
	m->code = (int)code;
	json_object_object_get_ex(error, "data", &m->data);
	return 0;
}

/* The kind of a message follows from the one member that only it has. */
static const struct {
	const char *key;
	int (*decode)(struct rpc_message *m, struct err *err);
} rpc_kinds[] = {
	{ "method", rpc_decode_call },
	{ "result", rpc_decode_result },
	{ "error", rpc_decode_error },
};

static int
rpc_decode_root(struct rpc_message *m, struct err *err)
{
	size_t kind = 0, count = 0;
	int r;

	if (json_object_is_type(m->root, json_type_array))
		return err_set(err, -EINVAL,
		    "expected an object, found an array: "
		    "batches are not supported");
	if (!json_object_is_type(m->root, json_type_object))
		return err_set(err, -EINVAL, "expected an object, found %s",
		    json_type_words(m->root));
	/* First, so that later errors can be answered with the id. */
	r = rpc_decode_id(m, err);
	if (r == 0)
		r = rpc_decode_version(m, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < nitems(rpc_kinds); i++) {
		if (!rpc_has(m->root, rpc_kinds[i].key))
			continue;
		kind = i;
		count++;
	}
	if (count != 1)
		return err_set(err, -EINVAL,
		    "expected one of method, result and error, found %s",
		    count == 0 ? "none" : "several");
	return rpc_kinds[kind].decode(m, err);
}

int
rpc_decode(const char *line, size_t len, struct rpc_message *ret_message,
    int *ret_code, struct json_object **ret_id, struct err *err)
{
	struct rpc_message m = { .root = NULL };
	int r, code = RPC_PARSE_ERROR;

	r = json_parse(line, len, RPC_LINE_MAX, &m.root, err);
	if (r == 0) {
		code = RPC_INVALID_REQUEST;
		r = rpc_decode_root(&m, err);
	}
	if (r == 0) {
		*ret_message = m;
		return 0;
	}
	if (ret_code != NULL)
		*ret_code = code;
	if (ret_id != NULL)
		*ret_id = json_object_get(m.id);
	rpc_message_release(&m);
	/* Missing or too deep counts as malformed here. */
	r = len > RPC_LINE_MAX ? -E2BIG : -EINVAL;
	if (err != NULL)
		err->code = r;
	return r;
}

void
rpc_message_release(struct rpc_message *message)
{
	json_object_put(message->root);
	memset(message, 0, sizeof *message);
}

static void
rpc_encode_start(struct buf *out)
{
	buf_adds(out, "{\"jsonrpc\":\"2.0\"");
}

/* NULL values are written as null. */
static void
rpc_encode_member(struct buf *out, const char *key, struct json_object *value)
{
	buf_addf(out, ",\"%s\":", key);
	json_print(value, false, out);
}

static void
rpc_encode_end(struct buf *out)
{
	buf_adds(out, "}\n");
}

void
rpc_encode_request(struct buf *out, struct json_object *id, const char *method,
    struct json_object *params)
{
	rpc_encode_start(out);
	if (id != NULL)
		rpc_encode_member(out, "id", id);
	buf_adds(out, ",\"method\":");
	text_add_json(out, method, strlen(method));
	if (params != NULL)
		rpc_encode_member(out, "params", params);
	rpc_encode_end(out);
}

void
rpc_encode_result(
    struct buf *out, struct json_object *id, struct json_object *result)
{
	rpc_encode_start(out);
	rpc_encode_member(out, "id", id);
	rpc_encode_member(out, "result", result);
	rpc_encode_end(out);
}

void
rpc_encode_error(struct buf *out, struct json_object *id, int code,
    const char *message, struct json_object *data)
{
	rpc_encode_start(out);
	rpc_encode_member(out, "id", id);
	buf_addf(out, ",\"error\":{\"code\":%d,\"message\":", code);
	text_add_json(out, message, strlen(message));
	if (data != NULL)
		rpc_encode_member(out, "data", data);
	buf_addc(out, '}');
	rpc_encode_end(out);
}

void
rpc_reader_init(struct rpc_reader *reader, size_t line_max)
{
	memset(reader, 0, sizeof *reader);
	buf_init(&reader->pending);
	reader->line_max = line_max;
}

void
rpc_reader_release(struct rpc_reader *reader)
{
	buf_release(&reader->pending);
	rpc_reader_init(reader, reader->line_max);
}

static size_t
rpc_reader_max(const struct rpc_reader *reader)
{
	return reader->line_max == 0 ? RPC_LINE_MAX : reader->line_max;
}

/* Append bytes of one line, without the newline. Of a line that is too long,
 * keep one byte more than allowed, so that rpc_reader_next() notices. */
static void
rpc_reader_keep(struct rpc_reader *reader, const char *bytes, size_t len)
{
	size_t max = rpc_reader_max(reader);

	if (reader->skipping || reader->tail > max)
		return;
	if (len > max - reader->tail)
		len = max - reader->tail + 1;
	buf_add(&reader->pending, bytes, len);
	reader->tail += len;
}

void
rpc_reader_feed(struct rpc_reader *reader, const void *bytes, size_t len)
{
	const char *at = bytes, *newline;
	size_t part;

	/* Lines are taken by advancing `taken`; moving the rest down once per
	 * feed keeps a flood of short lines cheap. */
	buf_consume(&reader->pending, reader->taken);
	reader->taken = 0;
	while (len > 0) {
		newline = memchr(at, '\n', len);
		part = newline == NULL ? len : (size_t)(newline - at);
		rpc_reader_keep(reader, at, part);
		if (newline == NULL)
			return;
		if (!reader->skipping)
			buf_addc(&reader->pending, '\n');
		reader->skipping = false;
		reader->tail = 0;
		at += part + 1;
		len -= part + 1;
	}
}

static bool
rpc_is_blank(const char *line, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r')
			return false;
	return true;
}

int
rpc_reader_next(struct rpc_reader *reader, struct buf *line)
{
	struct buf *pending = &reader->pending;
	const char *start, *newline;
	size_t len;

	while (pending->len - reader->taken > reader->tail) {
		start = pending->data + reader->taken;
		newline = memchr(start, '\n', pending->len - reader->taken);
		len = (size_t)(newline - start);
		reader->taken += len + 1;
		if (len > rpc_reader_max(reader))
			return -E2BIG;
		if (rpc_is_blank(start, len))
			continue;
		if (start[len - 1] == '\r')
			len--;
		buf_clear(line);
		buf_add(line, start, len);
		return 1;
	}
	if (reader->tail <= rpc_reader_max(reader))
		return 0;
	buf_truncate(pending, pending->len - reader->tail);
	reader->tail = 0;
	reader->skipping = true;
	return -E2BIG;
}
