/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "errtext.h"
#include "json.h"
#include "log.h"
#include "loop.h"
#include "mem.h"
#include "source-kind.h"
#include "source.h"

#define PAUSE_MOST_MS 2000

static const struct source_kind *const kinds[] = { &source_command,
	&source_files, &source_folder };

static const struct source_kind *
kind_find(const char *name, struct err *err)
{
	for (size_t i = 0; i < nitems(kinds); i++) {
		if (strcmp(kinds[i]->name, name) == 0)
			return kinds[i];
	}
	err_set(err, -EINVAL, "there is no task source \"%s\"", name);
	return NULL;
}

static char **
list_copy(const char *const *list)
{
	size_t count = 0;
	char **copy;

	while (list != NULL && list[count] != NULL)
		count++;
	copy = xcalloc(count + 1, sizeof *copy);
	for (size_t i = 0; i < count; i++)
		copy[i] = xstrdup(list[i]);
	return copy;
}

static void
list_free(char **list)
{
	for (char **at = list; at != NULL && *at != NULL; at++)
		free(*at);
	free(list);
}

static void
quarantine_clear(struct source *source)
{
	list_free(source->quarantined);
	source->quarantined = xcalloc(1, sizeof *source->quarantined);
	source->quarantined_count = 0;
}

void
source_quarantine(struct source *source, const char *fmt, ...)
{
	size_t count = source->quarantined_count++;
	va_list ap;

	source->quarantined = xreallocarray(
	    source->quarantined, count + 2, sizeof *source->quarantined);
	va_start(ap, fmt);
	source->quarantined[count] = xvasprintf(fmt, ap);
	va_end(ap);
	source->quarantined[count + 1] = NULL;
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
	if (source->cancelled) {
		source_answer(source, SOURCE_EMPTY, NULL, NULL);
		return;
	}
	quarantine_clear(source);
	source->kind->ask(source);
}

void
source_look_later(struct source *source)
{
	timer_drop(source);
	source->timer =
	    loop_after(source->loop, source->pause_ms, look, source);
	source->pause_ms *= 2;
	if (source->pause_ms > PAUSE_MOST_MS)
		source->pause_ms = PAUSE_MOST_MS;
}

void
source_answer(struct source *source, enum source_answer answer,
    const struct source_offer *offer, const struct source_failure *failure)
{
	source_fn *fn = source->fn;

	if (fn == NULL)
		fatalx("a task source answers, but nobody asked");
	list_free(source->labels);
	list_free(source->keys);
	source->labels = source->keys = NULL;
	source->fn = NULL;
	source->cancelled = false;
	fn(answer, offer, failure, source->arg);
}

void
source_answer_broken(struct source *source, const struct err *err)
{
	struct source_failure failure = { "task_source", -1, err->msg };

	source_answer(source, SOURCE_FAILED, NULL, &failure);
}

bool
source_has(const char *const *list, const char *key)
{
	for (; list != NULL && *list != NULL; list++) {
		if (strcmp(*list, key) == 0)
			return true;
	}
	return false;
}

bool
source_is_key(const struct source *source, const char *key)
{
	return source_has((const char *const *)source->keys, key);
}

bool
source_is_done(enum task_outcome outcome)
{
	return outcome == OUTCOME_LANDED || outcome == OUTCOME_NO_CHANGES;
}

bool
source_is_poverty(int error)
{
	return error == -EMFILE || error == -ENFILE || error == -ENOMEM;
}

char *
source_title(const char *text)
{
	struct task *task = task_new("task", "", "", NULL, text, 0);
	char *title = take_ptr(&task->title);

	task_free(task);
	return title;
}

/* --- the interface ---------------------------------------------------- */

int
source_new(const struct source_options *options, struct source **ret_source,
    struct err *err)
{
	const struct source_kind *kind = kind_find(options->kind, err);
	struct source *source;
	int r;

	if (kind == NULL)
		return -EINVAL;
	source = xcalloc(1, kind->size);
	source->kind = kind;
	source->loop = options->loop;
	source->where = xstrdup(options->where);
	source->owner = options->owner == NULL ? NULL : xstrdup(options->owner);
	source->call = loop_call_new(source->loop, look, source);
	quarantine_clear(source);
	r = kind->open(source, options, err);
	if (r < 0) {
		source_free(source);
		return r;
	}
	*ret_source = source;
	return 0;
}

void
source_free(struct source *source)
{
	if (source == NULL)
		return;
	source->kind->close(source);
	timer_drop(source);
	loop_call_free(source->call);
	list_free(source->labels);
	list_free(source->keys);
	list_free(source->quarantined);
	free(source->where);
	free(source->owner);
	free(source);
}

const char *
source_kind(const struct source *source)
{
	return source->kind->name;
}

void
source_ask(struct source *source, const char *const *labels,
    const char *const *keys, source_fn *fn, void *arg)
{
	if (source->fn != NULL)
		fatalx("a task source is asked twice");
	source->labels = list_copy(labels);
	source->keys = list_copy(keys);
	source->fn = fn;
	source->arg = arg;
	source->pause_ms = SOURCE_SETTLED_MS;
	loop_call_request(source->call);
}

bool
source_asking(const struct source *source)
{
	return source->fn != NULL;
}

void
source_cancel(struct source *source)
{
	if (source->fn == NULL || source->cancelled)
		return;
	source->cancelled = true;
	if (source->kind->cancel == NULL || !source->kind->cancel(source))
		loop_call_request(source->call);
}

int
source_take(
    struct source *source, const char *key, const char *worker, struct err *err)
{
	return source->kind->take(source, key, worker, err);
}

int
source_settle(struct source *source, const char *key, enum task_outcome outcome,
    const char *note, struct err *err)
{
	if (source->kind->settle == NULL)
		return 0;
	return source->kind->settle(source, key, outcome, note, err);
}

int
source_recover(struct source *source, const char *const *keys, struct err *err)
{
	if (source->kind->recover == NULL)
		return 0;
	return source->kind->recover(source, keys, err);
}

int
source_watch(
    struct source *source, void (*fn)(void *arg), void *arg, struct err *err)
{
	if (source->kind->watch == NULL)
		return 0;
	return source->kind->watch(source, fn, arg, err);
}

const char *const *
source_quarantined(const struct source *source)
{
	return (const char *const *)source->quarantined;
}

struct json_object *
source_list(const char *kind, const char *where, size_t limit, struct err *err)
{
	const struct source_kind *found = kind_find(kind, err);

	if (found == NULL)
		return NULL;
	if (found->list == NULL)
		return json_object_new_array();
	return found->list(where, limit, err);
}
