/* SPDX-License-Identifier: ISC */

/* Any text in a prompt: the prompt stays valid and within its limits. */

#include "excerpt.h"
#include "fuzz.h"
#include "remedy.h"

/* "[masked]" for one byte, which may have been invalid. */
#define GROWTH 9

static size_t
count_lines(const struct buf *text)
{
	size_t lines = text->len > 0 && text->data[text->len - 1] != '\n';

	for (size_t i = 0; i < text->len; i++)
		lines += text->data[i] == '\n';
	return lines;
}

static void
check_excerpt(const char *bytes, size_t size, int lines, size_t max)
{
	cleanup_buf struct buf clean = BUF_INIT, out = BUF_INIT;

	text_add_utf8(&clean, bytes, size);
	excerpt_tail(bytes, size, lines, max, &out);
	check(text_utf8_valid(out.data, out.len));
	check(out.len <= max && out.len <= clean.len);
	check(count_lines(&out) <= (size_t)lines);
	check(memcmp(clean.data + clean.len - out.len, out.data, out.len) == 0);
}

static void
check_prompt(const char *t)
{
	const char *half = t + strlen(t) / 2;
	struct remedy_log logs[] = { { t, half }, { half, t }, { NULL, NULL } };
	struct remedy_facts facts = { t, half, t, half, t, -1, half, t, half, t,
		half, t, half, t, half, logs, nitems(logs), "/f", "/m", "/r", t,
		false };
	cleanup_buf struct buf out = BUF_INIT;

	remedy_prompt(&facts, &out);
	check(out.len <= REMEDY_SIZE_MAX);
	check(text_utf8_valid(out.data, out.len));
	check(strstr(out.data, "\n# Recovery Instructions\n") != NULL);
	check(strstr(out.data, "\n/m\n") != NULL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *string = xstrndup((const char *)data, size);
	/* Exactly this long, so that reading past the end is detected. */
	cleanup_free char *bytes = xmalloc(size);
	cleanup_buf struct buf out = BUF_INIT;

	if (size > 0)
		memcpy(bytes, data, size);
	remedy_mask(bytes, size, &out);
	check(text_utf8_valid(out.data, out.len));
	check(out.len <= GROWTH * size);
	for (size_t max = 0; max < 40; max += 3)
		check_excerpt(bytes, size, (int)max / 5, max);
	check_excerpt(bytes, size, 3, REMEDY_EXCERPT_MAX);
	check_prompt(string);
	return 0;
}
