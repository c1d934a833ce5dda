/* SPDX-License-Identifier: ISC */

#include "base.h"

#include "asks.h"
#include "book-history.h"
#include "core.h"
#include "landing-record.h"
#include "people.h"
#include "settings-table.h"
#include "settings.h"
#include "state.h"

/* What has changed, also for the last time. */
static void
save_ask(struct core *core, struct ask *ask)
{
	if (ask->changed)
		book_put_ask(core->book, ask);
	ask->changed = false;
	if (ask->how == ASK_OPEN)
		return;
	state_take_ask(&core->state, ask);
	ask_free(ask);
}

void
asks_open(struct core *core, const struct ask_draft *draft)
{
	struct ask *ask = state_ask(&core->state, draft->key);
	int64_t now = clock_wall_ms();

	if (core->book == NULL)
		return;
	if (ask != NULL) {
		ask_repeat(ask, draft, now);
	} else {
		ask = ask_new(draft, core->state.ask_ids + 1, now);
		state_add_ask(&core->state, ask);
	}
	if (draft->kind == ASK_TOLD && draft->level < ESCALATION_CRITICAL)
		ask_close(ask, ASK_RESOLVED, now);
	save_ask(core, ask);
}

void
asks_move(struct core *core, const char *key, const char *to)
{
	struct ask *ask = state_ask(&core->state, key);
	struct ask *open = state_ask(&core->state, to);

	if (ask == NULL)
		return;
	if (open != NULL)
		ask_join(open, ask);
	else
		xstrset(&ask->key, to);
	book_put_ask(core->book, open != NULL ? open : ask);
}

void
asks_resolve(struct core *core, const char *key)
{
	struct ask *ask = state_ask(&core->state, key);

	if (ask == NULL)
		return;
	ask_close(ask, ASK_RESOLVED, clock_wall_ms());
	save_ask(core, ask);
}

void
asks_look(struct core *core)
{
	struct state *state = &core->state;
	const struct push_record *push = &state->landings.push;
	cleanup_free char *why = core->settings != NULL ?
	    push_record_asks(
		push, upstream_mode_of(core->settings), core->branch) :
	    NULL;
	cleanup_free char *overtaken = core->settings != NULL ?
	    landing_record_overtaken(
		&state->landings, core->settings, core->branch) :
	    NULL;
	cleanup_free struct ask_held *held =
	    xcalloc(state->landings.count + 1, sizeof *held);
	size_t count, held_count = 0;
	cleanup_free struct ask **added = NULL;

	for (size_t i = 0; i < state->landings.count; i++) {
		const struct landing_item *item = state->landings.items[i];

		if (item->step == ITEM_HELD && item->task != NULL)
			held[held_count++] =
			    (struct ask_held){ .task = item->task,
				    .words = item->words };
	}
	added = ask_follow(
	    &(struct ask_facts){ .now_ms = clock_wall_ms(),
		.workers = state->workers,
		.worker_count = state->count,
		.tasks = state->tasks,
		.task_count = state->task_count,
		.held = held,
		.held_count = held_count,
		.asks = state->asks,
		.ask_count = state->ask_count,
		.ids = state->ask_ids,
		.paused = state->paused,
		.unpushed = why,
		.red = state->landings.red_told != NULL,
		.overtaken = overtaken,
		.unchecked = core->options != NULL &&
		    core->options->auto_mode && core->settings != NULL &&
		    !settings_decided(core->settings, "auto.check_command"),
		.behind = core->settings != NULL ?
		    push_record_blocks(push, upstream_mode_of(core->settings),
			clock_wall_ms()) :
		    NULL,
		.dirty = state->source_repo_dirty_retry_after_unix > 0 ?
		    state->source_repo_dirty_reason :
		    NULL,
		.deaf_ms = state->outage_since_unix > 0 ?
		    clock_wall_ms() - state->outage_since_unix * 1000 :
		    0,
		.deaf_most_ms = tuning.login_ask,
		.goals = state->goals },
	    &count);

	for (size_t i = 0; i < count; i++)
		state_add_ask(state, added[i]);
	for (size_t i = state->ask_count; i-- > 0;)
		save_ask(core, state->asks[i]);
}

const char *const *
asks_options(const struct core *core, const char *event, const char *task,
    const char *worker)
{
	const struct state *state = &core->state;
	const struct task *t = task != NULL ? state_task(state, task) : NULL;
	const struct worker *w =
	    worker != NULL ? state_find(state, worker) : NULL;
	cleanup_free char *key = xasprintf("task/%s", task != NULL ? task : "");
	const struct ask *ask = event != NULL ? state_ask(state, event) : NULL;

	if (ask == NULL)
		ask = state_ask(state, key);
	if (ask != NULL)
		return ask->kind != ASK_TOLD ? strv_const(ask->options) : NULL;
	if (task != NULL)
		return t != NULL ? ask_task_options(t) : NULL;
	return w != NULL ? ask_worker_options(w) : NULL;
}

void
asks_remind(struct core *core)
{
	int64_t now = clock_wall_ms();

	for (size_t i = 0; core->people != NULL && i < core->state.ask_count;
	     i++) {
		struct ask *ask = core->state.asks[i];
		cleanup_buf struct buf text = BUF_INIT;

		if (!ask_is_due(ask, now))
			continue;
		ask->count++;
		ask->said_ms = now;
		book_put_ask(core->book, ask);
		buf_addf(&text, "%s; still open, answer with: ",
		    ask->words != NULL ? ask->words : ask->title);
		ask_command(ask, &text);
		people_escalate(core->people, core->settings,
		    &(struct escalation){ .level = ask->level,
			.title = ask->title,
			.text = text.data,
			.signature = ask->key,
			.worker = ask->worker,
			.task = ask->task,
			.goal = ask->goal,
			.node = ask->node,
			.options = strv_const(ask->options),
			.class = notice_name(NOTICE_WORKER) });
	}
}

enum ask_end
asks_answer(
    struct core *core, const char *id, const char *answer, const char *user)
{
	struct ask *ask = state_ask_named(&core->state, id);
	enum ask_end how;

	if (ask == NULL) {
		book_answer_ask(core->book, id, answer, user);
		return answer != NULL ? ASK_ANSWERED : ASK_DISMISSED;
	}
	ask_answer(ask, answer, user, clock_wall_ms());
	how = ask->how;
	save_ask(core, ask);
	return how;
}
