/* SPDX-License-Identifier: ISC */

/*
 * The rules for workers, on any input: an accepted record is written and read
 * back unchanged, and its moves never leave the enums; notices and prompts are
 * read without errors.
 */

#include "fuzz.h"
#include "limit.h"
#include "prompt.h"
#include "schema.h"
#include "worker.h"

#define NOW 1766502000000

static void
check_again(const struct worker *worker)
{
	cleanup_json struct json_object *json =
	    schema_json(&worker_table, worker);
	cleanup_json struct json_object *second = NULL;
	struct worker *again;

	check(worker_from_json(json, "", NOW, &again, NULL) == 0);
	second = schema_json(&worker_table, again);
	check(json_object_equal(json, second));
	schema_free(&worker_table, again);
}

static void
check_record(const uint8_t *data, size_t size)
{
	cleanup_json struct json_object *json = NULL;
	struct worker *worker;
	enum delivery_action action;
	int64_t wait;

	if (json_parse((const char *)data, size, 65536, &json, NULL) < 0)
		return;
	if (worker_from_json(json, "", NOW, &worker, NULL) < 0)
		return;
	check_again(worker);
	for (unsigned i = 0; i < 16 && i < size; i++) {
		worker_transition(
		    worker, (enum worker_status)(data[i] % 15), "x", NOW, NULL);
		check(worker->status < WORKER_STATUS_COUNT);
		check(worker->before < WORKER_STATUS_COUNT);
		action = delivery_next(
		    &worker->session, !worker_is_held(worker), NOW, &wait);
		check(action < DELIVERY_ACTION_COUNT);
		delivery_did(&worker->session, action, NOW);
	}
	check_again(worker);
	schema_free(&worker_table, worker);
}

static void
check_limit(const char *text)
{
	struct limit_reset reset;

	check(limit_classify(NULL, text) < LIMIT_CLASS_COUNT);
	check(limit_classify("unknown", text) < LIMIT_CLASS_COUNT);
	check(limit_classify(text, text) < LIMIT_CLASS_COUNT);
	if (!limit_reset_parse(text, &reset))
		return;
	check(reset.hour >= -1 && reset.hour <= 23 && reset.minute <= 59);
	check(reset.month >= 0 && reset.month <= 12 && reset.day <= 31);
	check(reset.zone[0] != '/' && strchr(reset.zone, '.') == NULL);
	check((reset.at_ms != 0) == (reset.hour == -1));
	check(strstr(text, reset.words) != NULL);
}

static void
check_prompt(const char *text, size_t size)
{
	static const char *const files[] = { "a.c", NULL };
	cleanup_buf struct buf clean = BUF_INIT, out = BUF_INIT;
	const char *half = text + strlen(text) / 2;
	struct prompt_facts facts = { .worktree = text,
		.branch = half,
		.default_branch = text,
		.role = half,
		.task = text,
		.answers = half };
	char receipt[PROMPT_RECEIPT_SIZE];

	if (prompt_clean(text, size, &clean)) {
		check(clean.len > 0 && clean.len <= PROMPT_MAX);
		check(strlen(clean.data) == clean.len);
		check(text_utf8_valid(clean.data, clean.len));
		check(clean.data[clean.len - 1] != '\\');
		check(strpbrk(clean.data, "\x1b\r\x7f") == NULL);
		prompt_with_receipt("a-1", clean.data, &out);
		check(prompt_receipt(out.data, receipt));
		check(strcmp(receipt, "a-1") == 0);
		check(prompt_carries(out.data, "a-1"));
	}
	if (prompt_receipt(text, receipt))
		check(prompt_carries(text, receipt) ||
		    text[strlen("[llmc ]") + strlen(receipt)] != ' ');
	prompt_task(&facts, &out);
	prompt_rejection(text, &out);
	prompt_conflict(&facts, files, &out);
	prompt_names_root(text, "/src", &out);
	prompt_names_root(text, half, &out);
}

static void
check_commit(const char *text, bool strip)
{
	const char *const messages[] = { text, text + strlen(text) / 2, "x" };
	cleanup_buf struct buf out = BUF_INIT;
	const char *again;

	prompt_commit_message(NULL, messages, nitems(messages), strip, &out);
	check(out.len > 0 && strlen(out.data) == out.len);
	check(out.data[out.len - 1] != '\n');
	/* A second pass changes nothing. */
	again = out.data;
	if (strip) {
		cleanup_buf struct buf second = BUF_INIT;

		prompt_commit_message(NULL, &again, 1, true, &second);
		check(strcmp(second.data, out.data) == 0);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = xstrndup((const char *)data, size);

	check_record(data, size);
	check_limit(text);
	check_prompt(text, strlen(text));
	check_commit(text, false);
	check_commit(text, true);
	return 0;
}
