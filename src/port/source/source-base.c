/* SPDX-License-Identifier: ISC */

/* A source as its type sees it: the question, which is answered once. */
#include "base.h"
#include "loop.h"
#include "source-private.h"
#include "taskfile.h"

#define PAUSE_MOST_MS 2000

void
source_base_quarantine(struct source *source, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	strv_take(&source->quarantined, xvasprintf(fmt, ap));
	va_end(ap);
}

void
source_base_look(void *arg)
{
	struct source *source = arg;

	loop_timer_free(take_ptr(&source->timer));
	if (source->fn == NULL)
		return;
	strv_clear(&source->quarantined);
	source->kind->ask(source);
}

void
source_base_look_later(struct source *source)
{
	loop_timer_set(&source->timer, source->loop, source->pause_ms,
	    source_base_look, source);
	source->pause_ms *= 2;
	if (source->pause_ms > PAUSE_MOST_MS)
		source->pause_ms = PAUSE_MOST_MS;
}

void
source_base_answer(struct source *source, enum source_answer answer,
    const struct source_offer *offer, const struct source_failure *failure)
{
	source_fn *fn = source->fn;

	if (fn == NULL)
		fatalx("a task source answers, but nobody asked");
	strv_clear(&source->labels);
	strv_clear(&source->keys);
	source->fn = NULL;
	fn(answer, offer, failure, source->arg);
}

void
source_base_read_head(const struct task_head *head, struct source_offer *offer,
    struct json_object **ret_contract)
{
	task_head_contract(head, ret_contract, NULL);
	offer->contract = *ret_contract;
	offer->report = head->report;
	offer->recovery = head->recovery;
	if (head->agent[0] != '\0')
		offer->agent = head->agent;
	offer->wants = head->wants;
	offer->priority = head->priority;
	if (head->commit[0] != '\0')
		offer->landed_before = head->commit;
}

void
source_base_fail(struct source *source, const struct err *err)
{
	struct source_failure failure = { "task_source", -1, err->msg };

	source_base_answer(source, SOURCE_FAILED, NULL, &failure);
}

bool
source_base_is_done(enum task_outcome outcome)
{
	return outcome == OUTCOME_LANDED || outcome == OUTCOME_NO_CHANGES;
}

bool
source_base_is_shortage(int error)
{
	return error == -EMFILE || error == -ENFILE || error == -ENOMEM;
}

char *
source_base_title(const char *text)
{
	struct task *task = task_new("task", "", "", NULL, text, 0);
	char *title = take_ptr(&task->title);

	task_free(task);
	return title;
}
