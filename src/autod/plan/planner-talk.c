/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "auto.h"
#include "buf.h"
#include "core.h"
#include "errtext.h"
#include "json.h"
#include "ledger.h"
#include "mem.h"
#include "plan-text.h"
#include "planner-prompt.h"
#include "planner-result.h"
#include "planner-run.h"
#include "planner-talk.h"
#include "settings.h"
#include "strv.h"
#include "text.h"

struct planner_talk {
	struct planner_question question; /* prompt is not used */
	char *prompt;
	struct planner_run *run;
	char **problems;
	char *answer, *model;
	int repairs;
	int64_t cost_millionths;
};

static void ask(struct planner_talk *talk, const char *prompt);

static void
note(struct planner_talk *talk, const struct planner_reply *reply)
{
	free(talk->answer);
	talk->answer = reply->answer == NULL ?
	    NULL :
	    xstrndup(reply->answer,
		text_cut(reply->answer, reply->len, PLAN_TEXT_MAX));
	if (reply->model[0] != '\0')
		xstrset(&talk->model, reply->model);
	talk->cost_millionths += reply->cost_millionths;
	ledger_planned(talk->question.mode->ledger, reply->cost_millionths);
}

static void
talk_end(struct planner_talk *talk, const struct err *err, bool invalid)
{
	talk->question.done(talk->question.arg,
	    &(struct planner_outcome){ .err = err,
		.invalid = invalid,
		.problems = talk->problems,
		.answer = talk->answer,
		.model = talk->model,
		.repairs = talk->repairs,
		.cost_millionths = talk->cost_millionths });
	planner_talk_free(talk);
}

static int
max_repairs(const struct planner_talk *talk)
{
	return (int)settings_int(
	    talk->question.mode->core->settings, "planner.max_repair_attempts");
}

/* An answer that is too long was not kept. */
static void
judge_long(
    struct planner_talk *talk, const char *words, struct planner_result *result)
{
	cleanup_buf struct buf prompt = BUF_INIT;

	strv_add(&result->problems, words);
	if (talk->repairs >= max_repairs(talk)) {
		result->verdict = PLANNER_GIVE_UP;
		return;
	}
	planner_prompt_repair(
	    strv_const(result->problems), talk->answer, &prompt);
	result->prompt = buf_take(&prompt);
	result->verdict = PLANNER_ASK_AGAIN;
}

static void
take_problems(struct planner_talk *talk, char *const *problems)
{
	size_t room = PLAN_LIST_MAX - strv_count(talk->problems);

	for (size_t i = 0; i < strv_count(problems) && i < room; i++)
		strv_take(&talk->problems,
		    xstrndup(problems[i],
			text_cut(
			    problems[i], strlen(problems[i]), PLAN_LINE_MAX)));
}

static void
give_up(struct planner_talk *talk, char *const *problems)
{
	struct err err = { 0 };

	err_set(&err, -EINVAL,
	    "the planner gave no valid answer in %d attempts, the last because "
	    "of %.300s",
	    talk->repairs + 1, strv_count(problems) > 0 ? problems[0] : "");
	talk_end(talk, &err, true);
}

static void
on_reply(const struct planner_reply *reply, void *arg)
{
	struct planner_talk *talk = arg;
	struct planner_result result = { 0 };

	talk->run = NULL;
	note(talk, reply);
	if (reply->err != NULL && reply->err->code != -E2BIG) {
		talk_end(talk, reply->err, false);
		return;
	}
	if (reply->err != NULL)
		judge_long(talk, reply->err->msg, &result);
	else
		talk->question.check(talk->question.arg, reply->answer,
		    reply->len, talk->repairs, &result);
	take_problems(talk, result.problems);
	switch (result.verdict) {
	case PLANNER_ACCEPTED:
		talk_end(talk, NULL, false);
		break;
	case PLANNER_ASK_AGAIN:
		talk->repairs++;
		ask(talk, result.prompt);
		break;
	case PLANNER_GIVE_UP:
		give_up(talk, result.problems);
		break;
	}
	planner_result_release(&result);
}

/* repair: what was wrong with the answer before; NULL = the first one. */
static void
ask(struct planner_talk *talk, const char *repair)
{
	cleanup_buf struct buf prompt = BUF_INIT;

	buf_adds(&prompt, talk->prompt);
	if (repair != NULL)
		buf_addf(&prompt, "\n\n%s", repair);
	talk->run = planner_run_start(talk->question.mode->core, prompt.data,
	    talk->question.schema, on_reply, talk);
}

struct planner_talk *
planner_talk_start(const struct planner_question *q)
{
	struct planner_talk *talk = xcalloc(1, sizeof *talk);

	talk->question = *q;
	talk->question.schema = json_object_get(q->schema);
	talk->prompt = xstrdup(q->prompt);
	talk->model = xstrdup("");
	ask(talk, NULL);
	return talk;
}

void
planner_talk_free(struct planner_talk *talk)
{
	if (talk == NULL)
		return;
	planner_run_free(talk->run);
	json_object_put(talk->question.schema);
	strv_free(talk->problems);
	free(talk->prompt);
	free(talk->answer);
	free(talk->model);
	free(talk);
}
