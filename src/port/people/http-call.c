/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/stat.h>

#include "channel.h"
#include "child.h"
#include "curl-config.h"
#include "http-call.h"

#define TOKEN_MAX   4096
#define DEADLINE_MS ((int64_t)(CURL_MAX_SECONDS + 5) * 1000)
#define HEADERS_MAX (256 * 1024)
/* The first half of what is kept is its beginning. */
#define OUTPUT_MAX (2 * ((size_t)CURL_ANSWER_MAX + HEADERS_MAX))

struct http_call {
	struct child *child;
	char *body_file; /* NULL = none */
	http_call_fn *done;
	void *arg;
};

static void
call_free(struct http_call *call)
{
	if (call->body_file != NULL)
		unlink(call->body_file);
	free(call->body_file);
	free(call);
}

/* curl's own words, on one line: they name the host, never the path. */
static void
describe(const struct child_result *result, struct err *err)
{
	cleanup_buf struct buf how = BUF_INIT, said = BUF_INIT;

	if (result->start_error == -ENOENT) {
		err_set(err, -ENOENT, "curl is not installed");
		return;
	}
	child_result_describe(result, &how);
	child_output_text(&result->err, &said);
	while (said.len > 0 && said.data[said.len - 1] == '\n')
		buf_truncate(&said, said.len - 1);
	err_set(err, -EIO, "curl %s%s%.300s", how.data,
	    said.len > 0 ? ": " : "", said.data);
}

static void
on_curl(const struct child_result *result, void *arg)
{
	struct http_call *call = arg;
	void *done_arg = call->arg;
	http_call_fn *done;
	struct http_answer answer;
	struct err err = { 0 };
	bool good = false;

	if (!child_succeeded(result))
		describe(result, &err);
	else if (result->out.tail.len > 0)
		err_set(&err, -E2BIG, "the server's answer is too long");
	else if (http_answer_parse(
		     result->out.head.data, result->out.head.len, &answer) < 0)
		err_set(&err, -EBADMSG, "the server's answer is not HTTP");
	else
		good = true;
	done = call->done;
	call_free(call); /* the next one may have a file of the same name */
	done(good ? &answer : NULL, good ? NULL : &err, done_arg);
}

static int
write_body(struct http_call *call, const struct buf *body, const char *dir,
    const char *name, struct err *err)
{
	if (body == NULL)
		return 0;
	call->body_file = xasprintf("%s/%s.body", dir, name);
	unlink(call->body_file); /* its mode would be kept */
	return file_replace(call->body_file, body->data, body->len, 0600, err);
}

static int
spawn(struct http_call *call, struct loop *loop,
    const struct http_request *request, const char *hide, struct err *err)
{
	static const char *const argv[] = { "curl", "-q", "--config", "-",
		NULL };
	const char *env[] = { hide, NULL };
	struct http_request with = *request;
	struct buf config = BUF_INIT;
	struct child_spec spec = { .argv = argv,
		.env = hide[0] != '\0' ? env : NULL,
		.deadline_ms = DEADLINE_MS,
		.output_max = OUTPUT_MAX };
	int r;

	with.body_file = call->body_file;
	curl_config(&with, &config);
	spec.input = config.data;
	spec.input_len = config.len;
	r = child_spawn(loop, &spec, on_curl, call, &call->child, err);
	explicit_bzero(config.data, config.len);
	buf_release(&config);
	return r;
}

struct http_call *
http_call_start(struct loop *loop, const struct http_request *request,
    const struct buf *body, const char *dir, const char *name, const char *hide,
    http_call_fn *done, void *arg, struct err *err)
{
	struct http_call *call = xcalloc(1, sizeof *call);

	call->done = done;
	call->arg = arg;
	if (write_body(call, body, dir, name, err) < 0 ||
	    spawn(call, loop, request, hide, err) < 0) {
		call_free(call);
		return NULL;
	}
	return call;
}

void
http_call_cancel(struct http_call *call)
{
	if (call == NULL)
		return;
	child_abandon(call->child);
	call_free(call);
}

/* --- tokens ----------------------------------------------------------- */

char *
http_token_path(const struct channel *channel, const char *root)
{
	return channel->token_file[0] != '\0' ?
	    file_join(root, channel->token_file) :
	    NULL;
}

/* One line of printable characters. */
static bool
is_token(const char *text)
{
	if (*text == '\0')
		return false;
	for (; *text != '\0'; text++)
		if (*text <= ' ' || *text > '~')
			return false;
	return true;
}

/* As ssh does it with keys: one of ours that others can read is none. */
static int
read_file(const char *path, struct buf *out, struct err *err)
{
	struct stat st;

	if (stat(path, &st) == 0 && st.st_uid == geteuid() &&
	    (st.st_mode & 077) != 0)
		return err_set(err, -EPERM,
		    "others can read or change %s (mode %03o), so it is not "
		    "used; type: chmod 600 '%s'",
		    path, (unsigned)(st.st_mode & 0777), path);
	return file_read(path, TOKEN_MAX, out, err);
}

int
http_token(const struct channel *channel, const char *root, struct buf *out,
    struct err *err)
{
	cleanup_free char *path = http_token_path(channel, root);
	struct buf text = BUF_INIT;
	const char *value;
	int r = 0;

	if (path != NULL) {
		r = read_file(path, &text, err);
	} else if (channel->token_env[0] != '\0') {
		value = getenv(channel->token_env);
		if (value == NULL)
			r = err_set(err, -ENOENT,
			    "the environment variable %s is not set",
			    channel->token_env);
		else
			buf_adds(&text, value);
	} else {
		return 0;
	}
	while (text.len > 0 && strchr(" \t\r\n", text.data[text.len - 1]))
		buf_truncate(&text, text.len - 1);
	if (r == 0 && (strlen(text.data) != text.len || !is_token(text.data)))
		r = err_set(err, -EINVAL,
		    "%s does not hold a token: one line "
		    "without blanks",
		    path != NULL ? path : channel->token_env);
	if (r == 0)
		buf_add(out, text.data, text.len);
	explicit_bzero(text.data, text.len);
	buf_release(&text);
	return r;
}
