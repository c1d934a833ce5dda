/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <math.h>

#include "account.h"
#include "agent.h"
#include "attempt.h"
#include "auto.h"
#include "behaviour.h"
#include "book-history.h"
#include "git-facts.h"
#include "hook-event.h"
#include "iteration.h"
#include "limit.h"
#include "oversight-floor.h"
#include "oversight-private.h"
#include "state.h"
#include "task.h"
#include "transcript-parser.h"
#include "turn.h"
#include "watched.h"

/* --- what others cost --------------------------------------------- */

#define MICROS     1e6
#define COSTS      64 /* tasks of a kind that are remembered */
#define KINDS_MAX  64
#define FILED_MAX  512 /* records that are looked at */
#define CALL_MASK  UINT64_C(0xffffffffffff) /* what JSON keeps exactly */
#define CALL_OFTEN 3

struct cost_kind {
	char *name;
	double dollars[COSTS], calls[COSTS];
	size_t count; /* ever seen */
};

/* Can what it uses be compared? */
static bool
oversight_costs_counts(const struct task *t)
{
	const struct task_attempt *attempt = &t->attempt;

	return !attempt->has_spawned && !attempt->by_mail &&
	    attempt->mail_turns == 0 && attempt->waiting_ms == 0 &&
	    attempt->waited_ms == 0;
}

static char *
kind_of(const struct task *t)
{
	const char *who =
	    t->launch.agent != NULL ? t->launch.agent : t->launch.role;

	return xasprintf("%s/%s", t->source != NULL ? t->source : "",
	    who != NULL ? who : "");
}

static struct cost_kind *
find(const struct oversight_costs *costs, const char *name)
{
	for (size_t i = 0; i < costs->count; i++)
		if (strcmp(costs->kinds[i].name, name) == 0)
			return &costs->kinds[i];
	return NULL;
}

void
oversight_costs_add(struct oversight_costs *costs, const struct task *t)
{
	cleanup_free char *name = kind_of(t);
	struct cost_kind *kind = find(costs, name);

	if (t->spent.cost <= 0 || !oversight_costs_counts(t))
		return;
	if (kind == NULL) {
		if (costs->count == KINDS_MAX)
			return;
		costs->kinds = xreallocarray(
		    costs->kinds, costs->count + 1, sizeof *costs->kinds);
		kind = &costs->kinds[costs->count++];
		kind->name = take_ptr(&name);
		kind->count = 0;
	}
	kind->calls[kind->count % COSTS] = (double)t->spent.usage.tool_calls;
	kind->dollars[kind->count++ % COSTS] = (double)t->spent.cost / MICROS;
}

static bool
on_filed(const struct task *t, int64_t filed, void *arg)
{
	(void)filed;
	if (t->outcome == OUTCOME_LANDED)
		oversight_costs_add(arg, t);
	return true;
}

void
oversight_costs_load(struct oversight_costs *costs, struct book *book)
{
	if (costs->loaded)
		return;
	oversight_costs_release(costs);
	costs->loaded = true;
	book_each_task(book,
	    &(struct book_tasks){
		.limit = FILED_MAX, .oldest_first = true, .brief = true },
	    on_filed, costs, NULL);
}

double
oversight_costs_estimate(const struct oversight_costs *costs,
    const struct task *t, int64_t *ret_calls)
{
	cleanup_free char *name = kind_of(t);
	const struct cost_kind *kind = find(costs, name);

	size_t count;
	double calls;

	*ret_calls = -1;
	if (kind == NULL || !oversight_costs_counts(t))
		return NAN;
	count = kind->count < COSTS ? kind->count : COSTS;
	calls = cost_estimate(NAN, kind->calls, count);
	if (calls > 0)
		*ret_calls = (int64_t)calls;
	return cost_estimate(NAN, kind->dollars, count);
}

void
oversight_costs_release(struct oversight_costs *costs)
{
	for (size_t i = 0; i < costs->count; i++)
		free(costs->kinds[i].name);
	free(costs->kinds);
	*costs = (struct oversight_costs){ 0 };
}

/* --- the iteration ------------------------------------------------ */

static char *
cut(const char *text, size_t max)
{
	return xstrndup(text, text_cut(text, strlen(text), max));
}

/* --- files ----------------------------------------------------------- */

/* What a rebase brought is not the work of this turn. */
static void
add_files(struct iteration *it, const struct watched *w,
    const struct git_snapshot *snapshot)
{
	size_t count = 0;

	if (snapshot == NULL)
		return;
	it->tree = xstrdup(snapshot->tree);
	it->files_known = snapshot->compared;
	for (size_t i = 0; i < snapshot->count && count < ITERATION_FILES;
	     i++) {
		const struct git_snapshot_change *c = &snapshot->changes[i];

		if (!c->own && !watched_touched(w, c->path))
			continue;
		strv_add(&it->files, c->path);
		iteration_add_blob(it, c->path, c->blob);
		count++;
	}
}

/* --- the transcript -------------------------------------------------- */

static int64_t
count_errors(const struct transcript_parser *parser)
{
	const struct transcript_totals *totals =
	    transcript_parser_totals(parser);

	return totals->tool_errors + totals->api_errors;
}

/* What the program says of the service, or of a limit: not what the worker did,
 * and attempts are there for it. Tools of its own may say similar things. */
static bool
is_of_service(const char *text)
{
	static const char *const openings[] = { "You've ", "Claude " };

	if (text_begins(text, "API Error"))
		return true;
	for (size_t i = 0; i < nitems(openings); i++)
		if (text_begins(text, openings[i]))
			return limit_classify(NULL, text) != LIMIT_NONE;
	return false;
}

/* What waits or plans says nothing about the work. */
static unsigned
call_flags(const struct transcript_call *call)
{
	static const char *const reads[] = { "Read", "Grep", "Glob", "LS",
		NULL };
	static const char *const waits[] = { "TodoWrite", "BashOutput",
		"TaskOutput", "Sleep", "Monitor", "ExitPlanMode", "TaskCreate",
		"TaskUpdate", "TaskList", NULL };

	return (call->failed ? CALL_FAILED : 0) |
	    (strv_has(reads, call->tool) ? CALL_READS : 0) |
	    (strv_has(waits, call->tool) ||
			strstr(call->what, "sleep ") != NULL ?
		    CALL_WAITS :
		    0);
}

/* From the one with this number on. The one that was made most often is kept in
 * words. */
static void
add_calls(struct iteration *it, const struct transcript_parser *parser,
    int64_t from, int64_t to)
{
	int most = 0;

	it->calls_known = transcript_parser_totals(parser)->bytes > 0;
	for (int64_t i = from; i < to; i++) {
		const struct transcript_call *call =
		    transcript_parser_call(parser, i);
		int times = 0;

		if (call == NULL)
			continue;
		iteration_add_call(it,
		    &(struct iteration_call){
			.action = call->action & CALL_MASK,
			.answer = call->answer & CALL_MASK,
			.flags = call_flags(call) });
		for (size_t k = 0; k < it->call_count; k++)
			times +=
			    it->calls[k].action == (call->action & CALL_MASK);
		if (times <= most)
			continue;
		most = times;
		free(it->repeated);
		it->repeated = times < CALL_OFTEN ?
		    NULL :
		    xasprintf("%s %s: %d times", call->tool, call->what, times);
	}
}

/* An error among many calls that went well is a part of work, above all where
 * it only reads: most of them must have failed. */
static void
add_errors(struct watched *w, struct iteration *it, const struct agent *agent,
    const struct transcript_parser *parser)
{
	struct watched_mark *mark = &w->mark;
	const char *path = agent->worker->session.transcript;
	int64_t count = count_errors(parser);
	int64_t tools = transcript_parser_totals(parser)->tools;
	bool same = mark->errors <= count &&
	    (path == NULL) == (mark->transcript == NULL) &&
	    (path == NULL || strcmp(path, mark->transcript) == 0);

	w->open_errors += count - (same ? mark->errors : 0);
	w->open_tools +=
	    tools - (same && mark->tools <= tools ? mark->tools : 0);
	for (int64_t i = same ? mark->errors : 0;
	     i < count && 2 * w->open_errors >= w->open_tools; i++) {
		const char *text = transcript_parser_error(parser, i);

		if (text != NULL && text[0] != '\0' && !is_of_service(text))
			iteration_add_error(it, text);
	}
	add_calls(
	    it, parser, same && mark->tools <= tools ? mark->tools : 0, tools);
	it->errors_known = true;
	mark->errors = count;
	mark->tools = tools;
	xstrset(&mark->transcript, path);
}

static void
add_words(struct iteration *it, const struct task *t, const char *words,
    const struct transcript_parser *parser)
{
	cleanup_said struct said said = { 0 };
	const char *slash = t != NULL && t->key != NULL &&
		strcmp(t->source, AUTO_PLAN_SOURCE) == 0 ?
	    strchr(t->key, '/') :
	    NULL;
	cleanup_free char *goal =
	    slash != NULL ? xstrndup(t->key, (size_t)(slash - t->key)) : NULL;

	if (words == NULL && parser != NULL)
		words = transcript_parser_last_text(parser);
	if (words == NULL || words[0] == '\0')
		return;
	if (t != NULL)
		said_read(&(struct said_sources){ .text = words,
			      .goal_id = goal,
			      .node_id = slash != NULL ? slash + 1 : NULL },
		    &said);
	for (size_t i = 0; said.blockers != NULL && said.blockers[i] != NULL &&
	     i < ITERATION_BLOCKERS;
	     i++)
		strv_add(&it->blockers, said.blockers[i]);
	if (strv_count(said.blockers) == 0 && said.what == SAID_BLOCKED &&
	    said.by == SAID_BY_UPDATE)
		strv_add(&it->blockers, said.words);
	if (said.update != NULL && said.update->summary != NULL)
		words = said.update->summary;
	it->learnings = cut(words, ITERATION_TEXT_MAX);
}

/* --- what it cost ---------------------------------------------------- */

static int64_t
beyond(int64_t now, int64_t *mark)
{
	int64_t more = now > *mark ? now - *mark : 0;

	*mark += more; /* an estimate that was too high has been counted */
	return more;
}

static void
count_tokens(const struct spent *spent, int64_t tokens[ITERATION_TOKEN_KINDS])
{
	static const enum iteration_token kinds[USAGE_KINDS] = {
		[USAGE_INPUT] = ITERATION_INPUT,
		[USAGE_OUTPUT] = ITERATION_OUTPUT,
		[USAGE_CACHE_READ] = ITERATION_CACHE_READ,
		[USAGE_CACHE_WRITE_5M] = ITERATION_CACHE_WRITE,
		[USAGE_CACHE_WRITE_1H] = ITERATION_CACHE_WRITE,
	};

	for (size_t i = 0; i < spent->usage.count; i++)
		for (int k = 0; k < USAGE_KINDS; k++)
			tokens[kinds[k]] += spent->usage.models[i].tokens[k];
}

/* What is not known yet is counted when it is. */
void
iteration_add_spent(
    struct iteration *it, struct watched_mark *mark, const struct spent *spent)
{
	int64_t tokens[ITERATION_TOKEN_KINDS] = { 0 };

	if (usage_is_empty(&spent->usage))
		return;
	count_tokens(spent, tokens);
	for (int k = 0; k < ITERATION_TOKEN_KINDS; k++)
		it->tokens[k] = (it->tokens[k] > 0 ? it->tokens[k] : 0) +
		    beyond(tokens[k], &mark->tokens[k]);
	if (spent_source(spent) != COST_UNKNOWN)
		it->cost = (it->cost > 0 ? it->cost : 0) +
		    (double)beyond(spent->cost, &mark->cost) / MICROS;
}

/* On its task; by hand, in this conversation. NULL = not known. */
static const struct spent *
spent_of(const struct agent *agent)
{
	const struct task *t = auto_task(agent);
	const struct session_record *s = &agent->worker->session;
	const struct account *account = t != NULL || s->transcript == NULL ?
	    NULL :
	    state_auto_account(
		&agent->core->state, s->transcript, s->history_ms);

	if (t != NULL)
		return &t->spent;
	return account != NULL ? &account->spent : NULL;
}

bool
iteration_is_counted(const struct watched_mark *mark, const struct agent *agent)
{
	const struct spent *spent = spent_of(agent);
	const char *path = agent->worker->session.transcript;
	int64_t tokens[ITERATION_TOKEN_KINDS] = { 0 };

	if (spent == NULL || !text_is(path, mark->transcript) ||
	    mark->tokens[ITERATION_OUTPUT] == 0)
		return false;
	count_tokens(spent, tokens);
	for (int k = 0; k < ITERATION_TOKEN_KINDS; k++)
		if (tokens[k] > mark->tokens[k])
			return false;
	return true;
}

/* The program writes its transcript a moment later than it tells of the end of
 * a turn. */
void
iteration_catch_up(struct watched *w, const struct agent *agent)
{
	const struct spent *spent = spent_of(agent);
	const char *path = agent->worker->session.transcript;
	const struct transcript_parser *parser =
	    session_transcript(agent->session);

	if (parser != NULL && text_is(path, w->mark.transcript) &&
	    (count_errors(parser) > w->mark.errors ||
		transcript_parser_totals(parser)->tools > w->mark.tools))
		add_errors(w, w->open, agent, parser);
	if (spent != NULL)
		iteration_add_spent(w->open, &w->mark, spent);
}

/* By hand, each conversation is counted from its begin. */
static void
begin_counting(struct watched_mark *mark, const struct agent *agent)
{
	const char *path = agent->worker->session.transcript;

	if (auto_task(agent) != NULL || text_is(path, mark->transcript))
		return;
	mark->cost = 0;
	memset(mark->tokens, 0, sizeof mark->tokens);
}

struct iteration *
iteration_make(struct watched *w, const struct agent *agent,
    const struct iteration_facts *facts)
{
	const struct task *t = auto_task(agent);
	const char *text = t != NULL ? t->text : agent->worker->prompt;
	const struct spent *spent = spent_of(agent);
	const struct transcript_parser *parser =
	    session_transcript(agent->session);
	struct iteration *it = iteration_new(w->count + 1);

	it->duration_ms = facts->duration_ms;
	it->part = facts->part;
	it->waits = t != NULL && !oversight_costs_counts(t);
	it->max_iterations = facts->expected;
	it->completion = facts->completion;
	it->estimated_cost = facts->estimated_cost;
	it->estimated_calls = facts->estimated_calls;
	add_files(it, w, facts->snapshot);
	begin_counting(&w->mark, agent);
	w->open_errors = w->open_tools = 0;
	if (parser != NULL)
		add_errors(w, it, agent, parser);
	if (facts->error != NULL)
		it->status = xstrdup("failed");
	add_words(it, t, facts->last_words, parser);
	if (text != NULL)
		it->objective = cut(text, ITERATION_TEXT_MAX);
	if (spent != NULL)
		iteration_add_spent(it, &w->mark, spent);
	if (t != NULL) {
		char *const *scope = t->launch.scope_paths;

		w->mark.attempt = t->attempts;
		it->attempt = t->attempts;
		for (size_t i = 0; scope != NULL && scope[i] != NULL; i++)
			if (i < ITERATION_FILES)
				strv_add(&it->scope, scope[i]);
	}
	return it;
}
