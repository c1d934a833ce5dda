/* SPDX-License-Identifier: ISC */

/* Tasks out of their source: offered, written down, taken, in that order. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "clock.h"
#include "errtext.h"
#include "log.h"
#include "mem.h"
#include "pilot.h"
#include "source-choice.h"
#include "source.h"

struct source *
supply_source(struct pilot *p, struct err *err)
{
	struct daemon *d = p->daemon;
	cleanup_source_choice struct source_choice choice;

	source_choice_init(
	    &choice, d->settings, d->workspace, d->state.root_id);
	choice.options.loop = d->loop;
	if (p->source == NULL &&
	    source_new(&choice.options, &p->source, err) < 0)
		err_prefix(err, "tasks cannot be had (%s)",
		    source_type_setting(choice.options.type));
	return p->source;
}

size_t
supply_count(const struct pilot *p, enum task_step step)
{
	const struct state *s = &p->daemon->state;
	size_t count = 0;

	for (size_t i = 0; i < s->task_count; i++)
		count += s->tasks[i]->step == step;
	return count;
}

/* --- taking ---------------------------------------------------------- */

static void
take(void *arg)
{
	struct pilot *p = arg;
	struct daemon *d = p->daemon;
	struct err err = { 0 };
	int r;

	for (size_t i = 0; i < d->state.task_count; i++) {
		struct task *t = d->state.tasks[i];

		if (t->step != TASK_OFFERED)
			continue;
		if (strcmp(t->source, source_kind(p->source)) != 0) {
			task_take(t, clock_wall_ms());
			continue;
		}
		r = source_take(p->source, t->key, "", &err);
		if (r == 0) {
			task_take(t, clock_wall_ms());
		} else if (r == -ESTALE) {
			log_fields(LOG_LEVEL_INFO, "somebody else took it",
			    "task", t->id, "key", t->key, NULL);
			state_remove_task(&d->state, t->id);
			i--;
		} else {
			log_fields(LOG_LEVEL_INFO, "a task cannot be taken yet",
			    "task", t->id, "reason", err.msg, NULL);
		}
		daemon_changed(d);
	}
	pilot_look(d);
}

void
supply_recover(struct pilot *p)
{
	daemon_then(p->daemon, p, take, p);
}

/* --- asking ---------------------------------------------------------- */

static void
offered(struct pilot *p, const struct source_offer *offer)
{
	struct daemon *d = p->daemon;
	cleanup_free char *id = state_task_id(&d->state);
	struct task *t = task_new(id, source_kind(p->source), offer->key,
	    offer->title, offer->text, clock_wall_ms());

	t->priority = offer->priority;
	xstrset(&t->label, offer->label);
	state_add_task(&d->state, t);
	p->told_waiting = false;
	daemon_changed(d);
	daemon_then(d, p, take, p);
}

/* Said when it changes, not every time it is seen. */
static void
tell_quarantined(struct pilot *p)
{
	const char *const *list = source_quarantined(p->source);
	cleanup_buf struct buf words = BUF_INIT;

	for (size_t i = 0; list[i] != NULL; i++)
		buf_addf(&words, "%s%s", i > 0 ? "; " : "", list[i]);
	if (words.len == 0 ||
	    (p->quarantined != NULL && strcmp(p->quarantined, words.data) == 0))
		return;
	xstrset(&p->quarantined, words.data);
	log_info("tasks that cannot be used: %s", words.data);
	record(p->daemon, LOG_LEVEL_INFO, "quarantine", "reason", words.data,
	    NULL);
}

static void
answered(enum source_answer answer, const struct source_offer *offer,
    const struct source_failure *failure, void *arg)
{
	struct pilot *p = arg;

	tell_quarantined(p);
	switch (answer) {
	case SOURCE_OFFER:
		offered(p, offer);
		break;
	case SOURCE_EMPTY:
		p->hungry = false;
		pilot_look(p->daemon);
		break;
	case SOURCE_FAILED:
		failure_raise(p->daemon,
		    &(struct failure){ .class = failure->class,
			.status = failure->status,
			.words = failure->words });
		break;
	}
}

/* Labels in use and keys that are ours, NULL terminated. */
static void
collect(const struct state *s, const char **labels, const char **keys)
{
	size_t label_count = 0;

	for (size_t i = 0; i < s->task_count; i++) {
		const struct task *t = s->tasks[i];

		keys[i] = t->key;
		if (t->label != NULL && t->step != TASK_SETTLING)
			labels[label_count++] = t->label;
	}
	labels[label_count] = NULL;
	keys[s->task_count] = NULL;
}

void
supply_ask(struct pilot *p)
{
	const struct state *s = &p->daemon->state;
	cleanup_free const char **labels =
	    xcalloc(s->task_count + 1, sizeof *labels);
	cleanup_free const char **keys =
	    xcalloc(s->task_count + 1, sizeof *keys);

	collect(s, labels, keys);
	source_ask(p->source, labels, keys, answered, p);
}

/* At the end of a run: what nobody has begun goes back to a source that keeps
 * claims. Any other gives each task once, so that stays ours. */
void
supply_release(struct pilot *p)
{
	struct daemon *d = p->daemon;

	if (p->source == NULL ||
	    (source_flags(p->source) & SOURCE_KEEPS_CLAIMS) == 0)
		return;
	for (size_t i = d->state.task_count; i-- > 0;) {
		const struct task *t = d->state.tasks[i];

		if ((t->step != TASK_WAITING && t->step != TASK_OFFERED) ||
		    t->attempts > 0 ||
		    strcmp(t->source, source_kind(p->source)) != 0)
			continue;
		if (source_settle(
			p->source, t->key, OUTCOME_NONE, NULL, NULL) == 0)
			state_remove_task(&d->state, t->id);
	}
}
