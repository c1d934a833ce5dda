/* SPDX-License-Identifier: ISC */

/* Any text as the values of a request: each line of the options is one of ours.
 * And any bytes as what curl prints. */

#include "http-request.h"
#include "fuzz.h"

/* name = "value", whose quotes and backslashes are escaped, or a word. */
static void
check_line(const char *line, size_t len)
{
	static const char *const words[] = { "silent", "show-error", "include",
		"suppress-connect-headers", "globoff" };
	static const char *const names[] = { "url = \"", "request = \"",
		"proto = \"", "header = \"", "data-binary = \"@",
		"max-time = ", "connect-timeout = ", "max-filesize = " };
	size_t at = 0;

	for (size_t i = 0; i < nitems(words); i++)
		if (len == strlen(words[i]) &&
		    strncmp(line, words[i], len) == 0)
			return;
	for (size_t i = 0; i < nitems(names) && at == 0; i++)
		if (strncmp(line, names[i], strlen(names[i])) == 0)
			at = strlen(names[i]);
	check(at > 0 && at < len);
	if (strchr("0123456789", line[at]) != NULL && line[len - 1] != '"')
		return;
	check(line[len - 1] == '"');
	for (; at < len - 1; at++) {
		check(line[at] != '"');
		if (line[at] == '\\')
			at++;
	}
	check(at == len - 1); /* the last quote is not an escaped one */
}

static void
check_config(const char *text)
{
	struct http_request request = { .method = "POST",
		.url = text,
		.authorization = text,
		.event_id = text,
		.accept = text,
		.body_file = text };
	cleanup_buf struct buf out = BUF_INIT;
	size_t lines = 0;

	curl_config(&request, &out);
	for (const char *line = out.data; *line != '\0'; lines++) {
		size_t len = strcspn(line, "\n");

		check(line[len] == '\n');
		check_line(line, len);
		line += len + 1;
	}
	check(lines == 17);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = xstrndup((const char *)data, size);
	struct http_answer answer;

	check_config(text);
	if (http_answer_parse((const char *)data, size, &answer) == 0) {
		check(answer.status >= 0 && answer.status <= 999);
		check(answer.retry_after_s >= -1);
		check(
		    answer.body + answer.body_len == (const char *)data + size);
	}
	return 0;
}
