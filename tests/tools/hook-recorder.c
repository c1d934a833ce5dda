/* SPDX-License-Identifier: ISC */

/*
 * A hook that records its input: hook-recorder EVENT. Appends a line with the
 * JSON of its input to $HOOK_RECORD/events, and prints (once) what a test has
 * put into $HOOK_RECORD/answer.EVENT.
 */

#include "base.h"

#define INPUT_MAX (16 * 1024 * 1024)

static int
record_read(struct buf *input)
{
	ssize_t n;

	for (;;) {
		buf_reserve(input, 65536);
		n = read(STDIN_FILENO, input->data + input->len, 65536);
		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			return (int)n;
		buf_grew(input, (size_t)n);
		if (input->len > INPUT_MAX)
			return -1;
	}
}

int
main(int argc, char **argv)
{
	const char *dir = getenv("HOOK_RECORD");
	cleanup_buf struct buf input = BUF_INIT, line = BUF_INIT,
			       answer = BUF_INIT;
	cleanup_json struct json_object *json = NULL;
	cleanup_free char *events = NULL, *path = NULL;

	if (argc != 2 || dir == NULL || record_read(&input) < 0 ||
	    json_parse(input.data, input.len, INPUT_MAX, &json, NULL) < 0)
		return 1;
	events = file_join(dir, "events");
	path = xasprintf("%s/answer.%s", dir, argv[1]);
	/* Read before the event becomes visible, so that an answer given after
	 * it is for the next one. */
	if (file_read(path, INPUT_MAX, &answer, NULL) == 0)
		unlink(path);
	json_print(json, false, &line);
	buf_addc(&line, '\n');
	if (file_append(events, line.data, line.len, 0600, false, NULL) < 0)
		return 1;
	fwrite(answer.data, 1, answer.len, stdout);
	return 0;
}
