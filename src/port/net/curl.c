/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/stat.h>

#include "child.h"
#include "curl.h"
#include "http-request.h"

#define DEADLINE_MS ((int64_t)(CURL_MAX_SECONDS + 5) * 1000)
#define HEADERS_MAX (256 * 1024)
/* The first half of what is kept is its beginning. */
#define OUTPUT_MAX (2 * ((size_t)CURL_ANSWER_MAX + HEADERS_MAX))
#define TOKEN_MAX  4096

struct curl {
	struct child *child;
	char *body_file; /* NULL = none */
	bool tail;
	curl_fn *fn;
	void *arg;
};

static void
drop_body(struct curl *curl)
{
	if (curl->body_file != NULL)
		unlink(curl->body_file);
	free(take_ptr(&curl->body_file));
}

static void
curl_free(struct curl *curl)
{
	drop_body(curl);
	free(curl);
}

/* curl's own words, on one line. */
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
on_exit_of_curl(const struct child_result *result, void *arg)
{
	struct curl *curl = arg;
	struct http_answer answer;
	struct err err = { 0 };

	if (!child_succeeded(result))
		describe(result, &err);
	else if (result->out.tail.len > 0 && !curl->tail)
		err_set(&err, -E2BIG, "the server's answer is too long");
	else if (http_answer_parse(
		     result->out.head.data, result->out.head.len, &answer) < 0)
		err_set(&err, -EBADMSG, "the server's answer is not HTTP");
	else if (result->out.tail.len > 0) {
		answer.body = result->out.tail.data;
		answer.body_len = result->out.tail.len;
	}
	drop_body(curl); /* the next request may use that name */
	curl->fn(err.code == 0 ? &answer : NULL, &err, curl->arg);
	curl_free(curl);
}

int
curl_start(struct loop *loop, const struct http_request *request,
    const char *body_file, const struct buf *body, const char *hide,
    curl_fn *fn, void *arg, struct curl **ret_curl, struct err *err)
{
	static const char *const argv[] = { "curl", "-q", "--config", "-",
		NULL };
	const char *env[] = { hide, NULL };
	struct http_request full = *request;
	struct buf config = BUF_INIT;
	struct child_spec spec = { .argv = argv,
		.env = hide != NULL && hide[0] != '\0' ? env : NULL,
		.deadline_ms = DEADLINE_MS,
		.output_max =
		    request->tail ? (size_t)2 * CURL_TAIL_MAX : OUTPUT_MAX };
	struct curl *curl = xcalloc(1, sizeof *curl);
	int r = 0;

	curl->fn = fn;
	curl->arg = arg;
	curl->tail = request->tail;
	if (body != NULL && body->len > 0) {
		curl->body_file = xstrdup(body_file);
		unlink(body_file); /* its mode would be kept */
		r = file_replace(body_file, body->data, body->len, 0600, err);
	}
	if (r == 0) {
		full.body_file = curl->body_file;
		curl_config(&full, &config);
		spec.input = config.data;
		spec.input_len = config.len;
		r = child_spawn(
		    loop, &spec, on_exit_of_curl, curl, &curl->child, err);
		explicit_bzero(config.data, config.len);
		buf_release(&config);
	}
	if (r < 0)
		curl_free(curl);
	else
		*ret_curl = curl;
	return r;
}

void
curl_abandon(struct curl *curl)
{
	if (curl == NULL)
		return;
	child_abandon(curl->child);
	curl_free(curl);
}

/* --- tokens ------------------------------------------------------------- */

/* One line of printable characters. */
static bool
is_token(const struct buf *text)
{
	for (size_t i = 0; i < text->len; i++)
		if (text->data[i] <= ' ' || text->data[i] > '~')
			return false;
	return text->len > 0;
}

int
curl_token_take(
    struct buf *text, const char *what, struct buf *out, struct err *err)
{
	int r = 0;

	while (text->len > 0 && strchr(" \t\r\n", text->data[text->len - 1]))
		buf_truncate(text, text->len - 1);
	if (!is_token(text))
		r = err_set(err, -EINVAL,
		    "%s does not hold a token: one line without blanks", what);
	else
		buf_add(out, text->data, text->len);
	explicit_bzero(text->data, text->len);
	return r;
}

int
curl_token(const char *path, struct buf *out, struct err *err)
{
	struct buf text = BUF_INIT;
	struct stat st;
	int r;

	if (stat(path, &st) == 0 && st.st_uid == geteuid() &&
	    (st.st_mode & 077) != 0)
		return err_set(err, -EPERM,
		    "others can read or change %s (mode %03o), so it is not "
		    "used; type: chmod 600 '%s'",
		    path, (unsigned)(st.st_mode & 0777), path);
	r = file_read(path, TOKEN_MAX, &text, err);
	if (r == 0)
		r = curl_token_take(&text, path, out, err);
	buf_release(&text);
	return r;
}
