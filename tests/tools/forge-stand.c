/* SPDX-License-Identifier: ISC */

#include "forge-stand.h"

#define ANSWER_MAX (8 * 1024 * 1024)

static char base_url[64];
static struct json_object *answers; /* all that were given away */

const char *
forge_stand(const char *dialect)
{
	static char *program; /* a test may clear its environment */
	cleanup_free char *out = NULL, *command = NULL;
	cleanup_child_result struct child_result result;
	char said[64] = "";
	static int count;
	FILE *from;

	if (program == NULL && getenv("LLMC_STUB_FORGE") != NULL)
		program = xstrdup(getenv("LLMC_STUB_FORGE"));
	ck_assert_msg(program != NULL, "LLMC_STUB_FORGE is not set");
	out = xasprintf("%s/forge-%d", unit_scratch(), ++count);
	ck_assert_int_eq(mkfifo(out, 0600), 0);
	command = xasprintf("'%s' --dialect %s --with %d >'%s' 2>'%s.err' &",
	    program, dialect, (int)getpid(), out, out);
	child_result_init(&result);
	ck_assert_int_eq(
	    child_run(
		&(struct child_spec){ .argv = (const char *const[]){ "setsid",
					  "sh", "-c", command, NULL } },
		&result, NULL),
	    0);
	from = fopen(out, "re");
	ck_assert_ptr_nonnull(from);
	ck_assert_msg(fgets(said, sizeof said, from) != NULL &&
		strncmp(said, "PORT ", strlen("PORT ")) == 0,
	    "%s did not start", program);
	fclose(from);
	snprintf(base_url, sizeof base_url, "http://127.0.0.1:%ld",
	    strtol(said + strlen("PORT "), NULL, 10));
	return base_url;
}

/* The caller owns the answer. */
static struct json_object *
talk(const char *what, const char *body)
{
	cleanup_free char *url = xasprintf("%s/control/%s", base_url, what);
	const char *const argv[] = { "curl", "-q", "-s", "-S", "--noproxy", "*",
		url, body == NULL ? NULL : "--data-binary", "@-", NULL };
	struct json_object *json = NULL;
	cleanup_child_result struct child_result result;
	cleanup_buf struct buf text = BUF_INIT;

	child_result_init(&result);
	ck_assert_int_eq(
	    child_run(&(struct child_spec){ .argv = argv,
			  .input = body,
			  .input_len = body == NULL ? 0 : strlen(body),
			  .output_max = ANSWER_MAX },
		&result, NULL),
	    0);
	child_output_text(&result.out, &text);
	ck_assert_msg(
	    json_parse(text.data, text.len, ANSWER_MAX, &json, NULL) == 0,
	    "%s: %s", what, text.data);
	return json;
}

static struct json_object *
give(struct json_object *answer)
{
	if (answers == NULL)
		answers = json_object_new_array();
	json_object_array_add(answers, answer);
	return answer;
}

struct json_object *
forge_tell(const char *what, const char *fmt, ...)
{
	cleanup_buf struct buf body = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&body, fmt, ap);
	va_end(ap);
	return give(talk(what, body.data));
}

struct json_object *
forge_look(const char *what)
{
	return give(talk(what, NULL));
}

int
forge_count(const char *method, const char *path)
{
	struct json_object *log = talk("log", NULL);
	int count = 0;

	for (size_t i = 0; i < json_object_array_length(log); i++) {
		struct json_object *row = json_object_array_get_idx(log, i);

		count +=
		    strcmp(json_string_or(row, "method", ""), method) == 0 &&
		    strstr(json_string_or(row, "path", ""), path) != NULL;
	}
	json_object_put(log);
	return count;
}
