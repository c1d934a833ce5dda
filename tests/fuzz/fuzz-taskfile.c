/* SPDX-License-Identifier: ISC */

/*
 * Task files, on any input: an accepted file is written so that it can be read
 * again, with the same members; a list of them has at most one next task, which
 * is neither blocked nor part of a cycle.
 */

#include "fuzz.h"
#include "taskfile.h"

#define TASKS_MAX 32

static void
check_writing(const struct taskfile *task)
{
	cleanup_buf struct buf claimed = BUF_INIT, back = BUF_INIT;
	struct taskfile *again = NULL, *third = NULL;

	taskfile_write(task, TASKFILE_IN_PROGRESS, "o", "f", &claimed);
	check(taskfile_parse(claimed.data, claimed.len, &again, NULL) == 0 ||
	    claimed.len > TASKFILE_SIZE_MAX);
	if (again == NULL)
		return;
	check(again->status == TASKFILE_IN_PROGRESS);
	check(strcmp(again->owner, "o") == 0);
	check(strcmp(again->failed, "f") == 0);
	check(strcmp(again->id, task->id) == 0);
	check(again->priority == task->priority);
	taskfile_write(again, task->status, task->owner, task->failed, &back);
	check(taskfile_parse(back.data, back.len, &third, NULL) == 0);
	check(third->status == task->status);
	check((third->owner == NULL) == (task->owner == NULL));
	check(json_object_object_length(third->json) <=
	    json_object_object_length(task->json) + 1);
	taskfile_free(again);
	taskfile_free(third);
}

static void
check_priority(const struct taskfile *task)
{
	for (int i = 0; i < PRIORITY_COUNT; i++) {
		cleanup_buf struct buf text = BUF_INIT;
		struct taskfile *again = NULL;

		taskfile_write_priority(task, (enum priority)i, &text);
		if (text.len > TASKFILE_SIZE_MAX)
			return;
		check(taskfile_parse(text.data, text.len, &again, NULL) == 0);
		check(again->priority == (enum priority)i);
		check(again->status == task->status);
		taskfile_free(again);
	}
}

static void
check_list(struct taskfile *const *all, size_t count)
{
	cleanup_buf struct buf words = BUF_INIT;
	const struct taskfile *next = taskfile_select(all, count, NULL);

	if (next != NULL)
		check(taskfile_eligible(next, all, count));
	for (size_t i = 0; i < count; i++) {
		check(next != NULL || !taskfile_eligible(all[i], all, count));
		buf_clear(&words);
		check(taskfile_broken(all[i], all, count, &words) ==
		    (words.len > 0));
	}
}

/* One file per line. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *at = (const char *)data, *end = at + size, *line_end;
	struct taskfile *all[TASKS_MAX];
	size_t count = 0;

	while (at < end && count < TASKS_MAX) {
		line_end = memchr(at, '\n', (size_t)(end - at));
		if (line_end == NULL)
			line_end = end;
		if (taskfile_parse(
			at, (size_t)(line_end - at), &all[count], NULL) == 0) {
			cleanup_buf struct buf text = BUF_INIT;

			check_writing(all[count]);
			check_priority(all[count]);
			taskfile_text(all[count], &text);
			count++;
		}
		at = line_end + 1;
	}
	check_list(all, count);
	while (count > 0)
		taskfile_free(all[--count]);
	return 0;
}
