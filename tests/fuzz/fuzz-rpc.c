/* SPDX-License-Identifier: ISC */

/* However a stream is split, the same lines come out; a line that decodes means
 * the same after encoding. The first two bytes choose the piece size and the
 * limit. */

#include "fuzz.h"
#include "rpc.h"

/* Everything that the reader returns, each preceded by its return value. */
static void
drain(struct rpc_reader *reader, struct buf *out)
{
	cleanup_buf struct buf line = BUF_INIT;
	int r;

	while ((r = rpc_reader_next(reader, &line)) != 0) {
		buf_addc(out, r == 1 ? '+' : '!');
		if (r == 1)
			buf_add(out, line.data, line.len);
		buf_addc(out, '\n');
	}
}

static void
read_lines(
    const uint8_t *data, size_t size, size_t piece, size_t max, struct buf *out)
{
	struct rpc_reader reader;
	size_t part;

	rpc_reader_init(&reader, max);
	for (size_t at = 0; at < size; at += part) {
		part = size - at < piece ? size - at : piece;
		rpc_reader_feed(&reader, data + at, part);
		/* Only every other piece, so that lines also queue up. */
		if ((at / piece) % 2 == 0)
			drain(&reader, out);
	}
	drain(&reader, out);
	if (reader.pending.len - reader.taken > max)
		abort();
	rpc_reader_release(&reader);
}

static void
encode(const struct rpc_message *m, struct buf *out)
{
	switch (m->kind) {
	case RPC_REQUEST:
	case RPC_NOTIFICATION:
		rpc_encode_request(out, m->id, m->method, m->params);
		break;
	case RPC_RESULT:
		rpc_encode_result(out, m->id, m->result);
		break;
	case RPC_ERROR:
		rpc_encode_error(out, m->id, m->code, m->message, m->data);
		break;
	}
}

static bool
same_text(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static void
check_message(const char *line, size_t len)
{
	cleanup_buf struct buf out = BUF_INIT;
	cleanup_json struct json_object *id = NULL;
	struct rpc_message a, b;
	struct err err = { 0, "" };
	int code = 0;

	if (rpc_decode(line, len, &a, &code, &id, &err) < 0) {
		if (err.code != -EINVAL || err.msg[0] == '\0' || code == 0)
			abort();
		return;
	}
	encode(&a, &out);
	if (memchr(out.data, '\n', out.len) != out.data + out.len - 1)
		abort();
	if (rpc_decode(out.data, out.len - 1, &b, NULL, NULL, NULL) < 0)
		abort();
	if (a.kind != b.kind || a.code != b.code ||
	    !same_text(a.method, b.method) ||
	    !same_text(a.message, b.message) ||
	    !json_object_equal(a.id, b.id) ||
	    !json_object_equal(a.params, b.params) ||
	    !json_object_equal(a.result, b.result) ||
	    !json_object_equal(a.data, b.data))
		abort();
	rpc_message_release(&a);
	rpc_message_release(&b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_buf struct buf whole = BUF_INIT, pieces = BUF_INIT;
	const char *newline;
	size_t piece, max;

	if (size < 2)
		return 0;
	piece = (size_t)data[0] + 1;
	max = (size_t)data[1] + 1;
	data += 2;
	size -= 2;
	read_lines(data, size, size + 1, max, &whole);
	read_lines(data, size, piece, max, &pieces);
	if (whole.len != pieces.len ||
	    memcmp(whole.data, pieces.data, whole.len) != 0)
		abort();
	for (const char *at = whole.data; *at != '\0'; at = newline + 1) {
		newline =
		    memchr(at, '\n', whole.len - (size_t)(at - whole.data));
		check_message(at + 1, (size_t)(newline - at) - 1);
	}
	return 0;
}
