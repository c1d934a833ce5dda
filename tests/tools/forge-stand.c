/* SPDX-License-Identifier: ISC */

#include "forge-stand.h"

#include <netinet/in.h>
#include <sys/socket.h>

#define ANSWER_MAX (8 * 1024 * 1024)

static char base_url[64];
static uint16_t port;
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
	port = (uint16_t)strtol(said + strlen("PORT "), NULL, 10);
	snprintf(base_url, sizeof base_url, "http://127.0.0.1:%u", port);
	return base_url;
}

/* The caller owns the answer. */
static struct json_object *
talk(const char *what, const char *body)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons(port) };
	cleanup_fd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	cleanup_buf struct buf text = BUF_INIT;
	struct json_object *json = NULL;
	char piece[8192], *content;
	ssize_t n;

	buf_addf(&text,
	    "%s /control/%s HTTP/1.0\r\nContent-Length: %zu\r\n\r\n",
	    body == NULL ? "GET" : "POST", what,
	    body == NULL ? 0 : strlen(body));
	buf_adds(&text, body == NULL ? "" : body);
	ck_assert_int_eq(
	    connect(fd, (struct sockaddr *)&address, sizeof address), 0);
	ck_assert_int_eq(file_write_all(fd, text.data, text.len), 0);
	buf_clear(&text);
	while ((n = read(fd, piece, sizeof piece)) > 0)
		buf_add(&text, piece, (size_t)n);
	content = strstr(text.data, "\r\n\r\n");
	ck_assert_msg(content != NULL &&
		json_parse(content + 4,
		    text.len - (size_t)(content + 4 - text.data), ANSWER_MAX,
		    &json, NULL) == 0,
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

void
forge_wait(const char *method, const char *path, int count)
{
	while (forge_count(method, path) < count) {
		ck_assert_msg(!unit_is_late(), "no %s %s", method, path);
		poll(NULL, 0, 10); /* for another program */
	}
}
