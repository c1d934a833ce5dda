/* SPDX-License-Identifier: ISC */

/* When work is verified, and what follows from the result. */

#include "unit.h"
#include "contract.h"
#include "task.h"

#define A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

/* A task in its first attempt, whose contract says this. */
static struct task *
task_with(const char *contract)
{
	cleanup_json struct json_object *json = NULL;
	struct task *task =
	    task_new("t1", "folder", "k", NULL, "Make a.json\n", 1);

	ck_assert_int_eq(
	    json_parse(contract, strlen(contract), 65536, &json, NULL), 0);
	task_take(task, 2);
	verification_set(task, json);
	task_assign(task, "auto-1", 3);
	return task;
}

static struct json_object *
result(const char *reason)
{
	struct json_object *r = check_result_new();

	check_result_artifact(r, "a.json", reason);
	check_result_end(r, 10);
	return r;
}

static enum verification_next
ends(struct task *task, const char *reason, const char *commit)
{
	cleanup_json struct json_object *r = result(reason);

	verification_begin(task);
	ck_assert_int_eq(task->attempt.verification, VERIFICATION_RUNNING);
	return verification_end(task, r, commit);
}

TEST(without_a_contract_nothing_is_due)
{
	struct task *task = task_new("t1", "folder", "k", NULL, "x", 1);

	ck_assert(!verification_is_due(task, A));
	verification_set(task, NULL);
	ck_assert_int_eq(task->attempt.verification, VERIFICATION_NONE);
	verification_attempt(task);
	ck_assert(!verification_is_due(task, A));
	task_free(task);
}

TEST(what_passed_goes_on_and_another_commit_is_verified_again)
{
	struct task *task = task_with("{}");

	ck_assert_int_eq(task->attempt.verification, VERIFICATION_PENDING);
	ck_assert(verification_is_due(task, A));
	ck_assert_int_eq(ends(task, NULL, A), VERIFICATION_GO_ON);
	ck_assert_int_eq(task->attempt.verification, VERIFICATION_PASSED);
	ck_assert(!verification_is_due(task, A));
	ck_assert(verification_is_due(task, B));
	ck_assert(verification_is_due(task, ""));
	/* Another attempt has done nothing yet. */
	task_attempt_failed(task, "crashed", 3, 30);
	task_assign(task, "auto-1", 40);
	ck_assert(verification_is_due(task, A));
	task_free(task);
}

TEST(checks_that_were_interrupted_are_due)
{
	struct task *task = task_with("{}");
	cleanup_json struct json_object *json = NULL;
	struct task *read = NULL;

	verification_begin(task);
	json = task_to_json(task);
	ck_assert_int_eq(task_from_json(json, "", &read, NULL), 0);
	ck_assert_int_eq(read->attempt.verification, VERIFICATION_RUNNING);
	ck_assert(verification_is_due(read, A));
	task_free(task);
	task_free(read);
}

TEST(retry_once_is_once_whatever_happens)
{
	struct task *task = task_with("{\"onFailure\": \"retry_once\"}");

	ck_assert_int_eq(
	    ends(task, "artifact_not_found", A), VERIFICATION_RETRY);
	ck_assert_int_eq(task->attempt.verification, VERIFICATION_FAILED);
	ck_assert_str_eq(task->attempt.retry_of, "t1-1");
	/* The checks of the same attempt run again: no second retry. */
	ck_assert_int_eq(
	    ends(task, "artifact_not_found", A), VERIFICATION_GIVE_UP);
	task_attempt_failed(task, "x", 2, 30);
	task_assign(task, "auto-1", 40);
	ck_assert_int_eq(task->attempt.verification, VERIFICATION_PENDING);
	ck_assert_int_eq(
	    ends(task, "artifact_not_found", B), VERIFICATION_GIVE_UP);
	ck_assert_str_eq(task->attempt.retry_of, "t1-1");
	task_free(task);
}

TEST(a_failure_is_final_otherwise)
{
	static const struct {
		const char *contract;
		bool parents;
	} rows[] = {
		{ "{}", true },
		{ "{\"onFailure\": \"fail\"}", true },
		{ "{\"onFailure\": \"escalate\"}", false },
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		struct task *task = task_with(rows[i].contract);
		cleanup_buf struct buf reason = BUF_INIT;

		ck_assert_int_eq(
		    ends(task, "artifact_not_found", A), VERIFICATION_GIVE_UP);
		ck_assert(!verification_is_parents(task));
		xstrset(&task->launch.parent, "t0");
		ck_assert(verification_is_parents(task) == rows[i].parents);
		verification_reason(task, &reason);
		ck_assert_str_eq(reason.data,
		    "it does not meet its contract: a.json: "
		    "artifact_not_found");
		task_free(task);
	}
}

TEST(a_retry_is_told_why_and_has_the_original_task)
{
	struct task *task = task_with("{\"onFailure\": \"retry_once\"}");
	cleanup_buf struct buf reason = BUF_INIT, text = BUF_INIT;

	xstrset(&task->launch.model, "opus");
	xstrset(&task->launch.thinking, "high");
	task->launch.timeout_s = 60;
	xstrset(&task->last_words, "All done.");
	ends(task, "artifact_not_found", A);
	verification_reason(task, &reason);
	ck_assert(
	    task_attempt_failed(task, reason.data, task->attempts + 1, 30));
	task_assign(task, "auto-2", 40);
	task_text(task, &text);
	ck_assert_ptr_eq(strstr(text.data,
			     "[RETRY \xe2\x80\x94 Previous attempt failed "
			     "verification]\nFailure reason: a.json: "
			     "artifact_not_found\nOriginal task: Make "
			     "a.json\n"),
	    text.data);
	/* The reason stands there once. */
	ck_assert_ptr_null(strstr(text.data, "An earlier attempt"));
	ck_assert_str_eq(task->launch.model, "opus");
	ck_assert_str_eq(task->launch.thinking, "high");
	ck_assert_int_eq(task->launch.timeout_s, 60);
	/* How a later attempt ended is told, too. */
	task_attempt_failed(task, "it crashed", 9, 50);
	task_assign(task, "auto-2", 60);
	buf_clear(&text);
	task_text(task, &text);
	ck_assert_ptr_nonnull(strstr(text.data, "[RETRY"));
	ck_assert_ptr_nonnull(strstr(text.data, "> it crashed"));
	/* After it has passed, it is an attempt as any other. */
	ends(task, NULL, B);
	ck_assert(!verification_is_retry(task));
	task_free(task);
}

TEST(a_report_counts_for_its_own_attempt)
{
	struct task *task = task_with("{\"requireCompletionReport\": true}");
	cleanup_json struct json_object *r = check_result_new();

	ck_assert(!verification_reported(task));
	xstrset(&task->attempt.last_tool, "Bash");
	ck_assert(!verification_reported(task));
	xstrset(&task->attempt.last_tool, "mcp__other__report_completion");
	ck_assert(!verification_reported(task));
	xstrset(&task->attempt.last_tool, "mcp__llmc__report_completion");
	ck_assert(verification_reported(task));
	check_result_report(r, verification_reported(task));
	check_result_end(r, 10);
	verification_end(task, r, A);
	/* The queue sends it back: it reports once. */
	xstrset(&task->attempt.last_tool, "Bash");
	ck_assert(verification_reported(task));
	task->attempt.progress_count = 3;
	task_attempt_failed(task, "crashed", 3, 30);
	task_assign(task, "auto-1", 40);
	ck_assert(!verification_reported(task));
	ck_assert_ptr_null(task->attempt.last_tool);
	ck_assert_int_eq(task->attempt.progress_count, 0);
	task_free(task);
}

TEST(long_reasons_are_cut)
{
	struct task *task = task_with("{}");
	cleanup_json struct json_object *r = check_result_new();
	cleanup_buf struct buf text = BUF_INIT;

	for (int i = 0; i < 1000; i++)
		check_result_artifact(r, "a/long/name", "artifact_not_found");
	check_result_end(r, 10);
	verification_end(task, r, A);
	verification_reason(task, &text);
	ck_assert_uint_lt(text.len, 5000);
	task_free(task);
}
