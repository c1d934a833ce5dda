/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "loop.h"
#include "source-base.h"

#define PAUSE_MOST_MS 2000

void
source_base_quarantine(struct source *source, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	strv_take(&source->quarantined, xvasprintf(fmt, ap));
	va_end(ap);
}

static void
timer_drop(struct source *source)
{
	if (source->timer != NULL)
		loop_timer_free(source->timer);
	source->timer = NULL;
}

static void
look(void *arg)
{
	struct source *source = arg;

	timer_drop(source);
	if (source->fn == NULL)
		return;
	strv_clear(&source->quarantined);
	source->kind->ask(source);
}

void
source_base_look_later(struct source *source)
{
	timer_drop(source);
	source->timer =
	    loop_after(source->loop, source->pause_ms, look, source);
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
source_base_fail(struct source *source, const struct err *err)
{
	struct source_failure failure = { "task_source", -1, err->msg };

	source_base_answer(source, SOURCE_FAILED, NULL, &failure);
}

bool
source_base_has(const char *const *list, const char *key)
{
	for (; list != NULL && *list != NULL; list++) {
		if (strcmp(*list, key) == 0)
			return true;
	}
	return false;
}

bool
source_base_is_ours(const struct source *source, const char *key)
{
	return source_base_has(strv_const(source->keys), key);
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

void
source_base_init(struct source *source, const struct source_kind *kind,
    const struct source_options *options)
{
	source->kind = kind;
	source->loop = options->loop;
	source->where = xstrdup(options->where);
	source->owner = options->owner == NULL ? NULL : xstrdup(options->owner);
	source->call = loop_call_new(source->loop, look, source);
}

void
source_base_release(struct source *source)
{
	timer_drop(source);
	loop_call_free(source->call);
	strv_free(source->labels);
	strv_free(source->keys);
	strv_free(source->quarantined);
	free(source->where);
	free(source->owner);
}

void
source_base_ask(struct source *source, const char *const *labels,
    const char *const *keys, source_fn *fn, void *arg)
{
	if (source->fn != NULL)
		fatalx("a task source is asked twice");
	source->labels = strv_copy(labels);
	source->keys = strv_copy(keys);
	source->fn = fn;
	source->arg = arg;
	source->pause_ms = SOURCE_SETTLED_MS;
	loop_call_request(source->call);
}
