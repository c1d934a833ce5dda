/* SPDX-License-Identifier: ISC */

/* Tokens and costs of tasks and days, from the files of conversations. */

#include "auto-world.h"
#include "account.h"
#include "book-history.h"
#include "ledger.h"
#include "state.h"

/* $4 for a million tokens of input. */
#define USED(id, tokens)                                           \
	"{\"type\":\"assistant\",\"message\":{\"id\":\"" id        \
	"\",\"model\":\"claude-opus-5-5\",\"content\":[{\"type\":" \
	"\"tool_use\"}],\"usage\":{\"input_tokens\":" tokens "}}}\n"
#define COST(dollars, tokens)                                           \
	"{\"type\":\"cost-state\",\"totalCostUSD\":" dollars            \
	",\"modelUsage\":{\"claude-opus-5-5\":{\"inputTokens\":" tokens \
	"}}}\n"

static void
append(const char *path, const char *text)
{
	ck_assert_int_eq(
	    file_append(path, text, strlen(text), 0600, false, NULL), 0);
}

static struct agent *
begin_turn(const char *settings)
{
	struct agent *agent = auto_world_begin_turn(settings, "Do it\n");

	auto_world_told("task_assigned t1; ");
	return agent;
}

static void
land(struct agent *agent, const char *file, const char *told)
{
	auto_world_work(file);
	fake_session_turn_ends(agent->session, "Done.");
	auto_world_wait(told);
}

/* The newest record of a task that was filed. */
struct filed {
	const char *id;
	int64_t cost;
	int64_t nr; /* of all that were written */
	int64_t tokens;
	enum cost_source source;
};

static bool
on_record(const struct task *task, int64_t nr, void *arg)
{
	struct filed *filed = arg;

	if (strcmp(task->id, filed->id) == 0) {
		filed->cost = task->spent.cost;
		filed->source = spent_source(&task->spent);
		filed->tokens = task->tokens;
		filed->nr = nr;
	}
	return true;
}

static struct filed
filed_task(const char *id)
{
	struct filed filed = { .id = id };

	book_each_task(auto_world.core->book, &(struct book_tasks){ 0 },
	    on_record, &filed, NULL);
	return filed;
}

/* What metrics say of the costs that are final, whatever the model. */
static int64_t
sum_of(struct json_object *models, enum cost_source source)
{
	int64_t sum = 0;

	json_object_object_foreach(models, name, of)
	{
		ck_assert_str_eq(name, "claude-opus-5-5");
		sum += json_int_or(of, cost_source_words[source], 0);
	}
	return sum;
}

static int64_t
counted(const struct state *state, enum cost_source source)
{
	struct json_object *models = NULL;

	return json_object_object_get_ex(state->counters, "cost", &models) ?
	    sum_of(models, source) :
	    0;
}

/* --- whose it is ----------------------------------------------------- */

/* The story: the cost of a task comes when its worker has the next one. */
TEST(a_late_cost_belongs_to_the_task_of_its_conversation)
{
	struct agent *agent = begin_turn(NULL);
	const char *path = unit_path("first.jsonl");
	const struct state *state = &auto_world.core->state;
	struct filed filed;

	auto_world_task("b.md", "Do more\n");
	append(path, USED("a", "1000"));
	fake_session_reads(agent->session, path);
	ck_assert_int_eq(state->tasks[0]->spent.cost, 4000);
	land(agent, "a.txt", "task_finished t1 landed; ");
	auto_world_turn_on("t2");
	ck_assert_int_eq(filed_task("t1").source, COST_ESTIMATE);
	ck_assert_int_eq(counted(state, COST_ESTIMATE), 0);
	/* Its last words, and what it cost. */
	append(path, USED("b", "500") COST("0.0055", "1500"));
	fake_session_leaves(agent->session);
	floor_world_until(filed_task("t1").nr == 2);
	filed = filed_task("t1");
	ck_assert_int_eq(filed.cost, 5500);
	ck_assert_int_eq(filed.tokens, 1500);
	ck_assert_int_eq(filed.source, COST_REPORTED);
	ck_assert_str_eq(state->tasks[0]->id, "t2");
	ck_assert_int_eq(state->tasks[0]->spent.cost, 0);
	ck_assert_int_eq(state->tasks[0]->tokens, 0);
	ck_assert_int_eq(state->today.cost, 5500);
	ck_assert_uint_eq(state->days.count, 1);
	ck_assert_int_eq(state->days.days[0].spent.cost, 5500);
	/* The estimate is not counted besides what has replaced it. */
	ck_assert_int_eq(counted(state, COST_ESTIMATE), 0);
	ck_assert_int_eq(counted(state, COST_REPORTED), 5500);
	ck_assert_int_eq(state->days.days[0].attempts, 2);
	ck_assert_int_eq(state->days.days[0].spent.usage.tool_calls, 2);
}

TEST(a_correction_is_written_once)
{
	struct agent *agent = begin_turn(NULL);
	const char *path = unit_path("once.jsonl");

	append(path, USED("a", "1000"));
	fake_session_reads(agent->session, path);
	land(agent, "a.txt", "task_finished t1 landed; ");
	auto_world_wait_done();
	append(path, COST("0.0055", "1000"));
	fake_session_leaves(agent->session);
	floor_world_until(filed_task("t1").nr == 2);
	ck_assert_int_eq(filed_task("t1").cost, 5500);
	auto_world_patrol();
	floor_world_settle();
	ck_assert_int_eq(filed_task("t1").nr, 2);
	ck_assert_int_eq(filed_task("t1").cost, 5500);
	ck_assert_int_eq(filed_task("t1").source, COST_REPORTED);
}

/* How often this process has the file open. */
static int
times_open(const char *path)
{
	char target[4096];
	int count = 0;

	for (int fd = 0; fd < 256; fd++) {
		cleanup_free char *link = xasprintf("/proc/self/fd/%d", fd);
		ssize_t n = readlink(link, target, sizeof target);

		count += n == (ssize_t)strlen(path) &&
		    memcmp(target, path, (size_t)n) == 0;
	}
	return count;
}

/* It was left, for example since its agent died, and then resumed. */
TEST(a_conversation_that_goes_on_is_read_by_its_session_only)
{
	struct agent *agent = begin_turn(NULL);
	const char *path = unit_path("on.jsonl");

	append(path, USED("a", "1000"));
	fake_session_reads(agent->session, path);
	fake_session_leaves(agent->session);
	floor_world_settle();
	ck_assert_int_eq(times_open(path), 1);
	append(path, USED("b", "500"));
	fake_session_reads(agent->session, path); /* a fake, which closes it */
	ck_assert_int_eq(times_open(path), 0);
	ck_assert_int_eq(auto_world.core->state.today.cost, 6000);
}

TEST(a_new_daemon_reads_what_the_old_one_did_not)
{
	struct agent *agent = begin_turn(NULL);
	const char *path = unit_path("down.jsonl");

	append(path, USED("a", "1000"));
	fake_session_reads(agent->session, path);
	land(agent, "a.txt", "task_finished t1 landed; ");
	auto_world_wait_done();
	auto_world_stop();
	append(path, COST("0.005", "1000"));
	auto_world_reopen();
	auto_world_live();
	floor_world_until(filed_task("t1").nr == 2);
	ck_assert_int_eq(filed_task("t1").cost, 5000);
	ck_assert_int_eq(auto_world.core->state.days.days[0].spent.cost, 5000);
	/* And another one adds nothing. */
	auto_world_restart();
	auto_world_live();
	floor_world_settle();
	auto_world_patrol();
	ck_assert_int_eq(filed_task("t1").nr, 2);
	ck_assert_int_eq(auto_world.core->state.days.days[0].spent.cost, 5000);
}

TEST(a_daemon_that_died_doubles_nothing)
{
	struct agent *agent = begin_turn(NULL);
	const char *path = unit_path("died.jsonl");

	append(path, USED("a", "1000"));
	fake_session_reads(agent->session, path);
	persist_changed(auto_world.core);
	floor_world_settle();
	append(path, USED("b", "500")); /* not saved */
	fake_session_reads(agent->session, path);
	auto_world_reopen();
	auto_world_live();
	agent = auto_world_turn(1);
	fake_session_reads(agent->session, path);
	ck_assert_int_eq(auto_world.core->state.tasks[0]->spent.cost, 6000);
	ck_assert_int_eq(auto_world.core->state.tasks[0]->tokens, 1500);
	ck_assert_int_eq(auto_world.core->state.days.days[0].spent.cost, 6000);
	ck_assert_int_eq(auto_world.core->state.today.cost, 6000);
}

static bool
is_forgotten(void *arg)
{
	(void)arg;
	ledger_patrol(auto_world.mode->ledger);
	return auto_world.core->state.account_count == 0;
}

/* Those that have said all are forgotten soon, and nothing else with them. */
TEST(accounts_do_not_pile_up)
{
	static const char *const names[] = { "p0.jsonl", "p1.jsonl",
		"p2.jsonl" };
	struct agent *agent = begin_turn(NULL);

	for (size_t i = 0; i < nitems(names); i++) {
		const char *path = unit_path(names[i]);

		append(path, USED("a", "1000") COST("0.004", "1000"));
		fake_session_reads(agent->session, path);
		fake_session_leaves(agent->session);
	}
	ck_assert_uint_eq(auto_world.core->state.account_count, nitems(names));
	ck_assert_int_eq(auto_world.core->state.tasks[0]->spent.cost, 12000);
	floor_world_wait(is_forgotten, &auto_world);
	ck_assert_int_eq(auto_world.core->state.tasks[0]->spent.cost, 12000);
	ck_assert_int_eq(auto_world.core->state.days.days[0].spent.cost, 12000);
}

/* Without a report the cost is an estimate for good. */
TEST(an_estimate_is_counted_when_nothing_can_replace_it)
{
	struct agent *agent = begin_turn(NULL);
	struct state *state = &auto_world.core->state;
	const char *path = unit_path("unreported.jsonl");
	struct account *account = account_new(path, 0, "auto-1");

	(void)agent;
	usage_add(&account->spent.usage, "claude-opus-5-5", USAGE_INPUT, 1000);
	account->spent.cost = account->spent.estimated = 4000;
	account->filed = account->spent;
	state_auto_add_account(state, account);
	ck_assert_int_eq(counted(state, COST_ESTIMATE), 0);
	floor_world_wait(is_forgotten, &auto_world);
	ck_assert_int_eq(counted(state, COST_ESTIMATE), 4000);
	ck_assert_int_eq(counted(state, COST_REPORTED), 0);
}

/* When there are too many, the oldest go, never the one in use. */
TEST(the_account_of_a_worker_stays)
{
	struct agent *agent = begin_turn(NULL);
	struct state *state = &auto_world.core->state;
	const char *path = unit_path("stays.jsonl");

	for (int i = 0; i < 600; i++) {
		cleanup_free char *other = xasprintf("/other/%d", i);
		struct account *account = account_new(other, 0, "auto-1");

		account->spent.cost = 1; /* not filed yet */
		state_auto_add_account(state, account);
	}
	append(path, USED("a", "1000"));
	fake_session_reads(agent->session, path);
	ledger_patrol(auto_world.mode->ledger);
	ck_assert_uint_lt(state->account_count, 600);
	ck_assert_ptr_null(state_auto_account(state, "/other/0", 0));
	ck_assert_ptr_nonnull(state_auto_account(state, "/other/599", 0));
	append(path, USED("b", "500"));
	fake_session_reads(agent->session, path);
	ck_assert_int_eq(state->tasks[0]->tokens, 1500);
}

/* --- copies ---------------------------------------------------------- */

TEST(a_copied_history_is_not_paid_again)
{
	struct agent *agent = begin_turn(NULL);
	const char *first = unit_path("first.jsonl");
	const char *copy = unit_path("copy.jsonl");

	append(first, USED("a", "1000"));
	fake_session_reads(agent->session, first);
	fake_session_leaves(agent->session);
	append(copy, USED("a", "1000"));
	append(copy,
	    "{\"type\":\"assistant\",\"timestamp\":"
	    "\"2099-01-01T00:00:00.000Z\",\"message\":{\"id\":\"n\","
	    "\"model\":\"claude-opus-5-5\",\"usage\":{"
	    "\"input_tokens\":500}}}\n" COST("0.9", "99999"));
	agent->worker->session.history_ms = clock_wall_ms();
	fake_session_reads(agent->session, copy);
	ck_assert_int_eq(auto_world.core->state.tasks[0]->spent.cost, 6000);
	ck_assert_int_eq(auto_world.core->state.tasks[0]->tokens, 1500);
}

/* --- budgets --------------------------------------------------------- */

TEST(a_budget_in_dollars_counts_the_estimate)
{
	struct agent *agent = begin_turn("[budget]\nday_cost = 0.01\n");
	const char *path = unit_path("budget.jsonl");

	append(path, USED("a", "2499"));
	fake_session_reads(agent->session, path);
	floor_world_settle();
	ck_assert_int_eq(agent->worker->status, WORKER_WORKING);
	append(path, USED("b", "1"));
	fake_session_reads(agent->session, path);
	floor_world_settle();
	ck_assert_int_eq(agent->worker->status, WORKER_PAUSED);
	ck_assert_ptr_nonnull(
	    strstr(auto_world.core->state.paused, "budget.day_cost"));
}

static void
set_day_cost(const char *from, const char *to)
{
	cleanup_free char *script = xasprintf(
	    "sed -i 's/^day_cost = %s$/day_cost = %s/' .llmc/config.toml", from,
	    to);

	floor_world_sh(script);
	floor_world_accept();
	ck_assert_ptr_null(
	    floor_world_answer(floor_world_ask("daemon.reload", "{}")));
	floor_world_settle();
}

/* Whether it is raised or lowered, without waiting for the next patrol. */
TEST(a_changed_budget_counts_at_once)
{
	struct agent *agent = begin_turn("[budget]\nday_cost = 0.02\n");
	const char *path = unit_path("budget.jsonl");

	append(path, USED("a", "2500"));
	fake_session_reads(agent->session, path);
	floor_world_settle();
	ck_assert_int_eq(agent->worker->status, WORKER_WORKING);
	set_day_cost("0.02", "0.01");
	ck_assert_int_eq(agent->worker->status, WORKER_PAUSED);
	ck_assert_ptr_nonnull(
	    strstr(auto_world.core->state.paused, "budget.day_cost"));
	set_day_cost("0.01", "5.00");
	ck_assert_ptr_null(auto_world.core->state.paused);
	ck_assert_int_ne(agent->worker->status, WORKER_PAUSED);
}

TEST(a_price_that_is_missing_is_told_once)
{
	struct agent *agent = begin_turn("[budget]\nday_cost = 0.01\n");

	fake_session_uses(agent->session, 1000000); /* of no model */
	auto_world_told("cost_unknown t1; ");
	fake_session_uses(agent->session, 2000000);
	auto_world_told("");
	ck_assert_int_eq(agent->worker->status, WORKER_WORKING);
	ck_assert_int_eq(spent_source(&auto_world.core->state.tasks[0]->spent),
	    COST_UNKNOWN);
}

TEST(without_a_budget_in_dollars_nobody_is_bothered)
{
	struct agent *agent = begin_turn(NULL);

	fake_session_uses(agent->session, 1000000);
	auto_world_told("");
}
