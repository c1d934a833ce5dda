/* SPDX-License-Identifier: ISC */

/* Any answer of a forge: what is read of it is bounded, and has no hidden
 * characters in it. */

#include "fuzz.h"
#include "pull.h"
#include "schema.h"

static void
check_text(const char *text, size_t max)
{
	check(strlen(text) <= max);
	check(text_utf8_valid(text, strlen(text)));
	for (size_t i = 0, n; text[i] != '\0'; i += n) {
		uint32_t codepoint = 0;

		n = text_utf8_decode(text + i, strlen(text + i), &codepoint);
		check(n > 0);
		check(codepoint == '\n' || codepoint == '\t' ||
		    !text_is_hidden(codepoint));
	}
}

/* The same answer to every question of a look. */
static void
check_look(struct json_object *json, const char *bytes, size_t size,
    enum forge_dialect dialect)
{
	struct pull_row *row =
	    pull_row_new("t1", "x", "main", "k", "h1", "text");
	struct forge_request request;
	struct pull_look look;
	struct pull pull = { 0 };
	int requests = 0;

	xstrset(&row->pushed, "h1");
	row->number = 1;
	pull_look_init(&look, dialect);
	pull_look_begin(&look, row);
	while (pull_look_request(&look, row, &request) &&
	    pull_look_answer(
		&look, row, "me", FORGE_GOOD, json, bytes, size, "", NULL) == 0)
		check(++requests < 2000);
	for (size_t i = 0; i < look.runs.job_count; i++) {
		check_text(look.runs.jobs[i].name, FORGE_TITLE_MAX);
		check_text(look.runs.jobs[i].log, PULL_LOG_MAX);
	}
	for (size_t i = 0; i < look.talk.count; i++)
		check_text(look.talk.list[i].text, PULL_REMARK_MAX);
	if (look.step == PULL_LOOK_STEP_COUNT)
		pull_row_looked(row, &look, "me/work", "nonce", 1);
	check(row->verdict != PULL_GREEN ||
	    look.runs.count + look.statuses.count > 0);
	if (pull_find(json, row, "me", &pull, NULL) == 0)
		pull_release(&pull);
	pull_graphql(json, NULL);
	pull_look_release(&look);
	schema_free(&pull_row_schema, row);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_json struct json_object *json = NULL;
	struct forge_issues issues = { 0 };
	struct forge_issue issue;
	cleanup_buf struct buf clean = BUF_INIT;
	struct err err = { 0 };
	bool more = false, set = false;

	forge_clean((const char *)data, size, &clean);
	check_text(clean.data, size);
	if (json_parse((const char *)data, size, 1 << 20, &json, NULL) < 0)
		return 0;
	if (forge_issue_read(json, &issue, NULL) == 0) {
		check_text(issue.title, FORGE_TITLE_MAX);
		check_text(issue.text, FORGE_TEXT_MAX);
		check(issue.number > 0);
		forge_issue_release(&issue);
	}
	if (forge_issues_read(json, &issues, &err) == 0) {
		check(issues.count <= FORGE_LIST_MAX);
		forge_issues_release(&issues);
	} else {
		check(err.msg[0] != '\0');
	}
	for (int d = FORGE_GITHUB; d <= FORGE_GITEA; d++) {
		cleanup_free char *who =
		    forge_labeller(json, (enum forge_dialect)d, &more, &set);

		check_look(
		    json, (const char *)data, size, (enum forge_dialect)d);
		check(who == NULL || set);
		check(who == NULL || strlen(who) <= FORGE_LOGIN_MAX);
	}
	check(forge_label_find(json, FORGE_FAILED, &more) >= -1);
	forge_may_write(json);
	forge_repo_lacks(json, true, true, &clean);
	check(forge_comment_find(json, "me", "<!--", &more, NULL) >= 0);
	return 0;
}
