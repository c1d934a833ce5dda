/* SPDX-License-Identifier: ISC */

/*
 * The rules for tasks, on any input: an accepted record is written and read
 * back unchanged, and its moves never leave the enums; titles and
 * excerpts can be made from any text, and its head written and read again.
 */

#include "fuzz.h"
#include "excerpt.h"
#include "task.h"
#include "taskfile.h"
#include "turn.h"

#define NOW 1766502000000

static void
check_again(const struct task *task)
{
	cleanup_json struct json_object *json = task_to_json(task);
	cleanup_json struct json_object *second = NULL;
	struct task *again = NULL;

	check(task_from_json(json, "", &again, NULL) == 0);
	second = task_to_json(again);
	check(json_object_equal(json, second));
	check(json_object_array_length(again->history) <= TASK_HISTORY_MAX);
	task_free(again);
}

static void
move(struct task *task, uint8_t how, const char *words)
{
	switch (how % 6) {
	case 0:
		if (task->attempts < 1000 && task->turns < 1000 &&
		    task->turns_before < 1000)
			task_assign(task, "auto-1", NOW);
		break;
	case 1:
		task_attempt_failed(task, words, how / 6 % 4, NOW);
		break;
	case 2:
		task_give_back(task, words, NOW);
		break;
	case 3:
		task_take(task, NOW);
		break;
	case 4:
		task_landed(task, how / 6 % 2 == 0 ? NULL : words, NOW);
		break;
	default:
		task_settle(task,
		    (enum task_outcome)(1 + how / 6 % (OUTCOME_COUNT - 1)),
		    words, NOW);
	}
}

static void
check_record(const uint8_t *data, size_t size, const char *words)
{
	cleanup_json struct json_object *json = NULL;
	cleanup_buf struct buf out = BUF_INIT;
	struct task *task = NULL, *fix;

	if (json_parse((const char *)data, size, 65536, &json, NULL) < 0 ||
	    task_from_json(json, "", &task, NULL) < 0)
		return;
	check_again(task);
	for (size_t i = 0; i < 16 && i < size; i++) {
		move(task, data[i], words);
		check(task->step < TASK_STEP_COUNT);
		check(task->outcome < OUTCOME_COUNT);
		check_again(task);
	}
	task_text(task, &out);
	check(task_next_waiting(&task, 1) ==
	    (task->step == TASK_WAITING ? task : NULL));
	if (task->fixes < INT32_MAX) {
		fix = task_for_fix("t2", &task, 1, "make", words, NOW);
		check_again(fix);
		task_free(fix);
	}
	task_free(task);
}

/* The prompt behind any head, with another head, is read again as it was. */
static void
check_head(const char *text)
{
	cleanup_buf struct buf out = BUF_INIT;
	struct task_head head, again;
	const char *prompt = task_head_read(text, &head);

	check(head.priority < PRIORITY_COUNT);
	if (*prompt == '\0' || strchr(" \t\r\n", *prompt) != NULL ||
	    strncmp(prompt, "\xef\xbb\xbf", 3) == 0)
		return;
	task_head_write(&head, prompt, &out);
	check(strcmp(task_head_read(out.data, &again), prompt) == 0);
	check(again.priority == head.priority);
	check(strcmp(again.commit, head.commit) == 0);
}

static void
check_text(const char *text)
{
	cleanup_buf struct buf out = BUF_INIT;
	struct task *task = task_new("t1", "folder", "k", NULL, text, NOW);
	size_t len = strlen(task->title);

	check(len > 0 && len <= TASK_TITLE_MAX);
	check(text_utf8_valid(task->title, len));
	check(strpbrk(task->title, "\n\r\x1b\t") == NULL);
	task_free(task);
	excerpt_add(text, &out);
	check(out.len > 0 && text_utf8_valid(out.data, out.len));
	check(out.data[out.len - 1] == '\n');
	check(strpbrk(out.data, "\r\x1b\x7f") == NULL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = xstrndup((const char *)data, size);

	check_record(data, size, text);
	check_text(text);
	check_head(text);
	return 0;
}
