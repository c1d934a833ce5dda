/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/queue.h>

#include "account.h"
#include "agent.h"
#include "attempt.h"
#include "auto-private.h"
#include "auto.h"
#include "book-history.h"
#include "emit.h"
#include "history.h"
#include "ledger.h"
#include "loop.h"
#include "metrics.h"
#include "persist.h"
#include "review.h"
#include "settings.h"
#include "state.h"
#include "task.h"
#include "transcript.h"

static bool
is_due(const struct state *state, const struct account *account)
{
	struct spent change = spent_beyond(&account->spent, &account->filed);

	return account->task != NULL && spent_is_change(&change) &&
	    state_task(state, account->task) == NULL;
}

static void
charge(struct book *book, const struct task *task, const struct spent *change)
{
	cleanup_free char *attempt = task_attempt_id(task);

	book_charge_attempt(book, attempt, change);
}

/* For all accounts whose task's record lacks something. */
static void
refile_due(struct auto_mode *mode)
{
	struct state *state = &mode->core->state;

	for (size_t i = 0; i < state->account_count; i++) {
		struct account *account = state->accounts[i];
		struct spent change;
		struct task *task;

		if (!is_due(state, account))
			continue;
		change = spent_beyond(&account->spent, &account->filed);
		task = book_find_task(mode->core->book, account->task);
		if (task != NULL) {
			task->tokens += usage_budget_tokens(&change.usage);
			spent_add(&task->spent, &change);
			book_file_task(mode->core->book, task);
			charge(mode->core->book, task, &change);
			task_free(task);
		}
		account->filed = account->spent;
		persist_changed(mode->core);
	}
}

#define DAY_MS       (24 * 3600 * (int64_t)1000)
#define SAVE_MS      1000 /* so long the state on the disk may lag behind */
#define QUIET_MS     5000 /* after Claude's own cost, nothing follows */
#define PATIENCE_MS  60000 /* for that cost */
#define ACCOUNTS_MAX 512

/* A conversation that no worker has any more, read to its end. */
struct left {
	TAILQ_ENTRY(left) entry;
	struct ledger *ledger;
	struct transcript *transcript;
	int64_t grew_ms; /* monotonic */
};

TAILQ_HEAD(left_list, left);

struct ledger {
	struct auto_mode *mode;
	struct left_list left;
	struct loop_timer *save;
	char **unknown; /* models without a price that were reported */
};

static int64_t
today(void)
{
	return clock_wall_ms() / DAY_MS;
}

/* --- booking --------------------------------------------------------- */

static void
save(void *arg)
{
	struct ledger *ledger = arg;

	persist_changed(ledger->mode->core);
}

static void
save_soon(struct ledger *ledger)
{
	struct core *core = ledger->mode->core;

	persist_note(core);
	if (ledger->save == NULL)
		ledger->save = loop_after(core->loop, SAVE_MS, save, ledger);
	else if (!loop_timer_pending(ledger->save))
		loop_timer_restart(ledger->save, SAVE_MS);
}

/* A model without a price makes a budget in dollars count too little. */
static void
tell_unknown(struct ledger *ledger, const struct account *account)
{
	struct core *core = ledger->mode->core;
	const struct settings *s = core->settings;
	const struct usage *usage = &account->spent.usage;
	unsigned at;

	if (settings_amount(s, "budget.task_cost") == 0 &&
	    settings_amount(s, "budget.day_cost") == 0)
		return;
	for (size_t i = 0; i < usage->count; i++) {
		const char *model = usage->models[i].name;
		cleanup_free char *reason = NULL;

		if (price_find(settings_prices(s), model) != NULL ||
		    word_find(strv_const(ledger->unknown), model, &at))
			continue;
		strv_add(&ledger->unknown, model);
		reason = xasprintf(
		    "there is no price for the model %s: budgets in dollars do "
		    "not count it; add it to [prices] in .llmc/config.toml",
		    model);
		EMIT(core, EVENT_COST_UNKNOWN, .worker = account->worker,
		    .task = account->task, .reason = reason);
	}
}

static void
ledger_book(
    struct ledger *ledger, struct account *account, struct spent *change)
{
	struct state *state = &ledger->mode->core->state;
	int64_t tokens = usage_budget_tokens(&change->usage);
	struct core *core;
	struct task *t;

	counters_tokens(&state->counters, &change->usage);
	counters_cost(&state->counters, &account->report.usage,
	    settings_prices(ledger->mode->core->settings), COST_REPORTED,
	    change->cost - change->estimated);
	if (!usage_is_empty(&change->usage) || account->day == 0)
		account->day = today();
	daybook_add(&state->days, account->day,
	    account->task != NULL ? DAYBOOK_TASK : DAYBOOK_HAND, change);
	if (worker_is_auto(account->worker) && account->day == today())
		budget_spend(&state->today, account->day, tokens, change->cost);
	core = ledger->mode->core;
	t = state_task(&core->state, account->task);
	if (t != NULL) {
		t->tokens += tokens;
		spent_add(&t->spent, change);
	}
	if (t != NULL || account->task == NULL)
		account->filed = account->spent;
	else
		refile_due(ledger->mode);
	if (change->unpriced > 0)
		tell_unknown(ledger, account);
	save_soon(ledger);
}

/* What no worker spent, and of which only the cost is known. */
static void
book_cost(
    struct ledger *ledger, int64_t day, enum daybook_kind kind, int64_t cost)
{
	struct state *state = &ledger->mode->core->state;
	const struct spent change = { .cost = cost };

	if (cost <= 0)
		return;
	counters_cost(
	    &state->counters, &change.usage, NULL, COST_REPORTED, cost);
	daybook_add(&state->days, day, kind, &change);
	if (day == today())
		budget_spend(&state->today, day, 0, cost);
	save_soon(ledger);
	pause_at_budgets(ledger->mode, NULL);
}

void
ledger_planned(struct ledger *ledger, int64_t cost)
{
	book_cost(ledger, today(), DAYBOOK_PLANNER, cost);
}

/* Returns true if something was booked. */
static bool
update(struct ledger *ledger, struct account *account,
    const struct transcript_parser *parser)
{
	const struct transcript_totals *totals =
	    transcript_parser_totals(parser);
	struct spent change;

	if (!account_update(account, &totals->usage, &totals->report,
		settings_prices(ledger->mode->core->settings), &change))
		return false;
	ledger_book(ledger, account, &change);
	return true;
}

/* --- conversations of workers ---------------------------------------- */

static struct account *
account_of(struct ledger *ledger, const struct worker *w)
{
	struct state *state = &ledger->mode->core->state;
	const struct session_record *s = &w->session;
	struct account *account =
	    state_auto_account(state, s->transcript, s->history_ms);
	/* A review is paid for by the task that it is about. */
	cleanup_free char *reviewed = NULL;
	const char *commit = NULL;
	const struct task *t;

	if (account != NULL)
		return account;
	account = account_new(s->transcript, s->history_ms, w->name);
	t = state_task(state, w->task);
	reviewed = t != NULL ? review_task(t, &commit) : NULL;
	xstrset(&account->task, reviewed != NULL ? reviewed : w->task);
	state_auto_add_account(state, account);
	return account;
}

/* Every task begins a new conversation: with the prompt that was submitted, it
 * is known whose it is. */
void
ledger_prompted(struct ledger *ledger, const struct agent *agent)
{
	const char *path = agent->worker->session.transcript;
	struct task *task =
	    state_task(&agent->core->state, agent->worker->task);
	size_t count =
	    task != NULL ? json_object_array_length(task->history) : 0;

	if (path == NULL)
		return;
	account_of(ledger, agent->worker);
	/* For who wants to know how it went: llmc replay. */
	for (size_t i = 0; i < count; i++)
		if (strcmp(json_string_or(
			       json_object_array_get_idx(task->history, i),
			       "detail", ""),
			path) == 0)
			return;
	if (task != NULL)
		task_note(task, "conversation", path, clock_wall_ms());
}

static void
unfollow(struct ledger *ledger, struct left *left)
{
	TAILQ_REMOVE(&ledger->left, left, entry);
	transcript_free(left->transcript);
	free(left);
}

void
ledger_used(
    void *arg, struct agent *agent, const struct transcript_parser *parser)
{
	struct auto_mode *mode = arg;
	const char *path = agent->worker->session.transcript;
	struct left *left, *next;

	if (path == NULL)
		return; /* it was reset, and its file is still read */
	/* It was left and goes on: its session reads it now. */
	for (left = TAILQ_FIRST(&mode->ledger->left); left != NULL;
	     left = next) {
		next = TAILQ_NEXT(left, entry);
		if (strcmp(transcript_path(left->transcript), path) == 0)
			unfollow(mode->ledger, left);
	}
	if (update(
		mode->ledger, account_of(mode->ledger, agent->worker), parser))
		pause_at_budgets(mode, agent);
}

void
ledger_assigned(struct ledger *ledger, const struct event *event)
{
	struct state *state = &ledger->mode->core->state;
	const struct task *t = state_task(state, event->task);

	if (t != NULL && t->from == NULL)
		daybook_day(&state->days, today())->attempts++;
}

/* --- conversations that were left ------------------------------------ */

static void
on_left_growth(const struct transcript_parser *parser, void *arg)
{
	struct left *left = arg;
	struct auto_mode *mode = left->ledger->mode;
	struct account *account = state_auto_account(&mode->core->state,
	    transcript_path(left->transcript),
	    transcript_from_ms(left->transcript));

	left->grew_ms = clock_mono_ms();
	if (account != NULL && update(left->ledger, account, parser))
		pause_at_budgets(mode, NULL);
}

static void
follow(struct ledger *ledger, struct transcript *transcript)
{
	struct left *left = xcalloc(1, sizeof *left);

	left->ledger = ledger;
	left->transcript = transcript;
	left->grew_ms = clock_mono_ms();
	transcript_hand_over(transcript, on_left_growth, left);
	TAILQ_INSERT_TAIL(&ledger->left, left, entry);
}

/* Its file may have grown since it was read last, and Claude Code writes the
 * cost when the conversation ends. */
void
ledger_left(void *arg, struct agent *agent, struct transcript *transcript)
{
	struct auto_mode *mode = arg;
	struct account *account = state_auto_account(&mode->core->state,
	    transcript_path(transcript), transcript_from_ms(transcript));

	(void)agent;
	if (account != NULL && !mode->core->stopping)
		follow(mode->ledger, transcript);
	else
		transcript_free(transcript);
}

static const struct worker *
current_worker(const struct state *state, const struct account *account)
{
	for (size_t i = 0; i < state->count; i++) {
		const struct session_record *s = &state->workers[i]->session;

		if (text_is(s->transcript, account->transcript))
			return state->workers[i];
	}
	return NULL;
}

/* The overseer writes them down, while no daemon runs. */
static void
book_repairs(struct ledger *ledger)
{
	struct core *core = ledger->mode->core;
	int64_t before = core->state.repairs_ms;
	struct history history = { 0 };

	if (history_load(core->workspace, &history, NULL) < 0)
		return;
	for (size_t i = 0; i < history.count; i++) {
		const struct spiral_event *event = &history.events[i];

		if (event->kind != SPIRAL_REMEDY || event->at_ms <= before)
			continue;
		core->state.repairs_ms = event->at_ms;
		/* A repair of the overseer, which ended then, has cost this
		 * much: for repairs that were not booked. It counts in the
		 * day's budget, and the report has a row for it. */
		book_cost(
		    ledger, event->at_ms / DAY_MS, DAYBOOK_REPAIR, event->cost);
	}
	history_release(&history);
}

void
ledger_begin(struct ledger *ledger)
{
	struct core *core = ledger->mode->core;

	book_repairs(ledger);
	for (size_t i = 0; i < core->state.account_count; i++) {
		const struct account *account = core->state.accounts[i];
		const struct worker *w = current_worker(&core->state, account);

		/* A session that is adopted has its own. */
		if (w == NULL || w->session.pane == NULL)
			follow(ledger,
			    transcript_new(core->loop, account->transcript,
				account->from_ms, NULL, NULL));
	}
	refile_due(ledger->mode);
}

static bool
is_followed(const struct ledger *ledger, const struct account *account)
{
	const struct left *left;

	TAILQ_FOREACH (left, &ledger->left, entry)
		if (strcmp(transcript_path(left->transcript),
			account->transcript) == 0)
			return true;
	return false;
}

/* Will a task go on in it? */
static bool
is_task_in(const struct state *state, const struct account *account)
{
	for (size_t i = 0; i < state->task_count; i++)
		if (state->tasks[i]->transcript != NULL &&
		    strcmp(state->tasks[i]->transcript, account->transcript) ==
			0)
			return true;
	return false;
}

static bool
is_needed(const struct ledger *ledger, const struct account *account)
{
	const struct state *state = &ledger->mode->core->state;
	struct spent change = spent_beyond(&account->spent, &account->filed);

	return current_worker(state, account) != NULL ||
	    is_task_in(state, account) || is_followed(ledger, account) ||
	    spent_is_change(&change);
}

/* What is still an estimate stays one. */
static void
forget(struct ledger *ledger, struct account *account)
{
	struct state *state = &ledger->mode->core->state;
	struct usage rest =
	    usage_beyond(&account->spent.usage, &account->report.usage);

	counters_cost(&state->counters, &rest,
	    settings_prices(ledger->mode->core->settings), COST_ESTIMATE,
	    account->spent.estimated);
	state_auto_remove_account(state, account);
}

void
ledger_patrol(struct ledger *ledger)
{
	int64_t now = clock_mono_ms();
	struct left *left, *next;
	struct state *state;
	size_t before;

	for (left = TAILQ_FIRST(&ledger->left); left != NULL; left = next) {
		bool has_report = transcript_parser_totals(
		    transcript_parser_of(left->transcript))
				      ->report.given;

		next = TAILQ_NEXT(left, entry);
		if (now - left->grew_ms > (has_report ? QUIET_MS : PATIENCE_MS))
			unfollow(ledger, left);
	}
	/* Without a bound, corrections that cannot be written would pile up.
	 * The account of a conversation that goes on must stay: without it,
	 * all of it would be booked again. */
	state = &ledger->mode->core->state;
	before = state->account_count;
	for (size_t i = state->account_count; i-- > 0;)
		if (!is_needed(ledger, state->accounts[i]))
			forget(ledger, state->accounts[i]);
	for (size_t i = 0;
	     i < state->account_count && state->account_count > ACCOUNTS_MAX;)
		if (current_worker(state, state->accounts[i]) == NULL)
			forget(ledger, state->accounts[i]);
		else
			i++;
	if (state->account_count != before)
		persist_note(ledger->mode->core);
	refile_due(ledger->mode);
}

struct ledger *
ledger_new(struct auto_mode *mode)
{
	struct ledger *ledger = xcalloc(1, sizeof *ledger);

	ledger->mode = mode;
	TAILQ_INIT(&ledger->left);
	return ledger;
}

void
ledger_free(struct ledger *ledger)
{
	struct left *left;

	if (ledger == NULL)
		return;
	while ((left = TAILQ_FIRST(&ledger->left)) != NULL)
		unfollow(ledger, left);
	loop_timer_free(ledger->save);
	strv_free(ledger->unknown);
	free(ledger);
}
