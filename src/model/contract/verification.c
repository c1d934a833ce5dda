/* SPDX-License-Identifier: ISC */

#include <string.h>

#include "artifact-check.h"
#include "buf.h"
#include "contract.h"
#include "json.h"
#include "mem.h"
#include "task-run.h"
#include "task.h"
#include "text.h"
#include "verification.h"

#define REASONS_MAX 4096 /* bytes */

void
verification_set(struct task *task, struct json_object *contract)
{
	struct task_run *run;

	if (contract == NULL)
		return;
	run = task_run_of(task);
	json_object_put(run->contract);
	run->contract = json_object_get(contract);
	run->verification = VERIFICATION_PENDING;
}

/* The result stays until there is another: a retry is told its reasons. */
void
verification_attempt(struct task *task)
{
	struct task_run *run = task->run;

	if (run == NULL)
		return;
	run->verification =
	    run->contract != NULL ? VERIFICATION_PENDING : VERIFICATION_NONE;
}

/* Is the last result about this attempt? */
static bool
is_own_result(const struct task *task)
{
	cleanup_free char *id = task_run_id(task);

	return task->run->verified != NULL &&
	    strcmp(json_string_or(task->run->verified, "run", ""), id) == 0;
}

bool
verification_is_due(const struct task *task, const char *commit)
{
	const struct task_run *run = task->run;

	if (run == NULL || run->contract == NULL)
		return false;
	return run->verification != VERIFICATION_PASSED ||
	    !is_own_result(task) ||
	    (commit != NULL &&
		strcmp(json_string_or(run->verified, "commit", ""), commit) !=
		    0);
}

void
verification_begin(struct task *task)
{
	task_run_of(task)->verification = VERIFICATION_RUNNING;
}

bool
verification_reported(const struct task *task)
{
	const struct task_run *run = task->run;
	const char *tool =
	    run != NULL && run->last_tool != NULL ? run->last_tool : "";

	return strcmp(tool, "report_completion") == 0 ||
	    strcmp(tool, "mcp__llmc__report_completion") == 0 ||
	    (run != NULL && is_own_result(task) &&
		check_result_reported(run->verified));
}

static enum contract_failure
on_failure(const struct task *task)
{
	cleanup_contract struct contract contract = { 0 };

	return contract_read(task->run->contract, "", &contract, NULL) < 0 ?
	    CONTRACT_FAIL :
	    contract.on_failure;
}

enum verification_next
verification_end(
    struct task *task, struct json_object *result, const char *commit)
{
	struct task_run *run = task_run_of(task);
	cleanup_free char *id = task_run_id(task);

	json_object_get(result);
	json_object_put(run->verified);
	run->verified = result;
	json_set_string(result, "run", id);
	json_set_string(result, "commit", commit);
	if (check_result_passed(result)) {
		run->verification = VERIFICATION_PASSED;
		return VERIFICATION_GO_ON;
	}
	run->verification = VERIFICATION_FAILED;
	if (on_failure(task) != CONTRACT_RETRY_ONCE || run->retry_of != NULL)
		return VERIFICATION_GIVE_UP;
	xstrset(&run->retry_of, id);
	return VERIFICATION_RETRY;
}

bool
verification_is_met(const struct task *task)
{
	const struct task_run *run = task->run;

	return run != NULL && run->verification == VERIFICATION_PASSED &&
	    is_own_result(task) &&
	    strcmp(json_string_or(run->verified, "status", ""), "passed") == 0;
}

/* The agent that spawned it judges its report, whatever that says. Without one,
 * its last words are one. */
static bool
has_reported(const struct task *task)
{
	const char *words = task->last_words;
	bool child = task_run_is_child(task);

	if (task->run == NULL || (!child && !task->run->report_only))
		return false;
	if (task->run->report != NULL)
		return child ||
		    strcmp(json_string_or(task->run->report, "status", ""),
			"complete") == 0;
	return words != NULL && words[strspn(words, " \t\r\n")] != '\0';
}

bool
verification_gave_up(const struct task *task, struct buf *out)
{
	struct json_object *report =
	    task_run_is_child(task) ? task->run->report : NULL;
	const char *status = json_string_or(report, "status", "complete");
	struct json_object *blockers = NULL;

	if (strcmp(status, "complete") == 0 || verification_is_met(task) ||
	    task->run->children_landed)
		return false;
	buf_addf(out, "its agent reports that it has %s: %s",
	    strcmp(status, "partial") == 0 ? "done a part, without a change" :
					     "failed",
	    json_string_or(report, "summary", ""));
	json_object_object_get_ex(report, "blockers", &blockers);
	for (size_t i = 0;
	     blockers != NULL && i < json_object_array_length(blockers); i++)
		buf_addf(out, "%s%s", i == 0 ? " Blockers: " : "; ",
		    json_object_get_string(
			json_object_array_get_idx(blockers, i)));
	return true;
}

bool
verification_has_result(const struct task *task)
{
	return verification_is_met(task) || has_reported(task) ||
	    (task->run != NULL && task->run->children_landed);
}

static void
add_reasons(const struct task *task, struct buf *out)
{
	cleanup_buf struct buf reasons = BUF_INIT;
	size_t cut;

	check_result_reasons(task->run->verified, &reasons);
	cut = text_cut(reasons.data, reasons.len, REASONS_MAX);
	buf_add(out, reasons.data, cut);
	if (cut < reasons.len)
		buf_adds(out, "...");
}

void
verification_reason(const struct task *task, struct buf *out)
{
	const struct task_run *run = task->run;
	const char *kept = json_string_or(run->verified, "kept", NULL);

	buf_adds(out, "it does not meet its contract: ");
	add_reasons(task, out);
	if (kept != NULL)
		buf_addf(out, "; what there is of its files is in %s", kept);
}

bool
verification_is_retry(const struct task *task)
{
	const struct task_run *run = task->run;

	return run != NULL && run->retry_of != NULL && run->verified != NULL &&
	    !check_result_passed(run->verified);
}

void
verification_retry_text(const struct task *task, struct buf *out)
{
	buf_adds(out,
	    "[RETRY \xe2\x80\x94 Previous attempt failed verification]\n"
	    "Failure reason: ");
	add_reasons(task, out);
	buf_addf(
	    out, "\nOriginal task: %s", task->text != NULL ? task->text : "");
	if (out->data[out->len - 1] != '\n')
		buf_addc(out, '\n');
	buf_adds(out,
	    "\nThe files are looked for in your last commit. One that is not "
	    "committed, or is still as it was when you began, does not "
	    "count.\n");
}

bool
verification_is_parents(const struct task *task)
{
	const struct task_run *run = task->run;

	return run != NULL && run->parent != NULL &&
	    run->verification == VERIFICATION_FAILED &&
	    on_failure(task) != CONTRACT_ESCALATE;
}
