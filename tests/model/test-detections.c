/* SPDX-License-Identifier: ISC */

/* The rules of the detectors, as detections.txt has them. */
#include "behaviour-scene.h"

#define TEXT_MAX (1 << 20)

static struct buf text = BUF_INIT;

/* The beginning of a test of the file, NULL = there is none. */
static const char *
nth_test(int n)
{
	const char *at;

	if (text.len == 0 && file_read(DETECTIONS, TEXT_MAX, &text, NULL) < 0)
		return NULL;
	at = text.data;
	while ((at = strstr(at, "\ntest ")) != NULL && n-- > 0)
		at++;
	return at;
}

static int
count_tests(void)
{
	int count = 0;

	while (nth_test(count) != NULL)
		count++;
	return count;
}

static void
expect_detection(const char *want, const char *name)
{
	cleanup_json struct json_object *json = NULL;
	struct json_object *found;

	ck_assert_int_eq(
	    json_parse(want, strlen(want), TEXT_MAX, &json, NULL), 0);
	found = scene_detection(json_string_or(json, "type", ""));
	ck_assert_msg(json_object_equal(found, json) == 1, "%s: %s", name,
	    json_object_to_json_string(found));
}

static void
play(const char *line, const char *name)
{
	const char *plus = line + strspn(line, "0123456789");

	if (strncmp(line, "begin", 5) == 0)
		scene_begin(line[5] != '\0' ? line + 6 : NULL);
	else if (plus[0] == '+')
		scene_repeat(
		    plus > line ? (int)strtol(line, NULL, 10) : 1, plus + 2);
	else if (line[0] == '=')
		ck_assert_msg(
		    strcmp(scene_found(), line[1] != '\0' ? line + 2 : "") == 0,
		    "%s: found %s, not %s", name, scene_found(), line + 1);
	else if (line[0] == '?')
		expect_detection(line + 2, name);
	else
		ck_abort_msg("%s: %s", name, line);
}

TEST(the_tests_are_there)
{
	ck_assert_int_gt(count_tests(), 50);
}

TEST_ROWS(detections_hold, count_tests())
{
	const char *at = nth_test(_i);
	cleanup_free char *lines = NULL, *name = NULL;
	char *rest, *line;

	ck_assert_ptr_nonnull(at);
	lines = xstrdup(at + strlen("\ntest "));
	rest = strstr(lines, "\n\n");
	if (rest != NULL)
		*rest = '\0';
	rest = lines;
	name = xstrdup(strsep(&rest, "\n"));
	while ((line = strsep(&rest, "\n")) != NULL && line[0] != '\0')
		play(line, name);
}
