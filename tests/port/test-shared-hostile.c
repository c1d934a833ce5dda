/* SPDX-License-Identifier: ISC */

/*
 * What a host can do that is hostile, or whose password was stolen: every
 * function that its role may call, on a real server, against what two good
 * hosts have. A function without a row here fails, and what a row says is left
 * to such a host is in docs/fleet.md, in the same words.
 */
#include "shared-world.h"

#define VICTIMS     "'t1-a','t2-a','t3-a','t4-a','t5-a','t6-a'"
#define CALLS_MAX   8
#define LONG_AGE    "9000000000000"
#define UNVERSIONED 3 /* rows of the table */
#define VERSION     "_1" /* SHARED_SCHEMA */

struct attack {
	const char *function;
	const char *calls[CALLS_MAX]; /* arguments */
	const char *left; /* to it; NULL = nothing of others */
};

/* a owns all tasks, b runs and lands; c is hostile. t1-a runs on b, t2-a is
 * submitted by b, t3-a has landed, t4-a has failed, t5-a is held, t6-a runs on
 * a; wait-a waits for anybody. */
static const struct attack attacks[] = {
	/* What the book says of itself. */
	{ "me", { "" }, NULL },
	{ "now_ms", { "" }, NULL },
	{ "server_identity", { "" }, NULL },
	{ "doubt", { "1,'main'", "1,'x'", "0,'main'" },
	    "doubt the server once a day" },
	{ "know_server", { "" }, NULL },
	{ "restore",
	    { "'t1-a',9,'c1'", "'t5-a',9,'c1'", "'t4-a',9,'c1'",
		"'wait-a'," LONG_AGE ",'c1'", "'t1-a'," LONG_AGE ",'b1'" },
	    NULL },
	{ "found",
	    { "'t1-a','f','main',1,'c1','a','b','b1',1",
		"'t1-a','f','main',1,'b1','a','b','b1',2",
		"'t5-a','f','main',2,'c1','a','c','c1',1",
		"'t9-a','f','main',2,'c1','a','c','c1'," LONG_AGE,
		"'t4-a','f','main',2,'c1','a','b','b1',1",
		"'t1-a','f','main',2,'c1','a','b','b1',2",
		"'t1-a','f','x',1,'c1','a','b','b1',2" },
	    "call work landed that is not" },
	{ "trust", { "'1','main',1,'c1'", "'1','main',1,'b1'" },
	    "end a doubt before the branch was compared" },
	/* Itself. */
	{ "hello",
	    { "'b1','b1','v',1,'me@b','main'",
		"'c1','c1','v',1,'me@c','main'" },
	    "say that it has slots and words which it does not have" },
	{ "adopt", { "'c1','b1'", "'b1','b1'" }, NULL },
	{ "beat", { "'c1'," LONG_AGE ",'main'", "'b1',1,'main'" }, NULL },
	{ "host_view", { "'c1','{}'", "'b1','{}'" },
	    "show workers and goals that it does not have" },
	{ "can_clear", { "" }, NULL },
	{ "can_set", { "'gpu'", "'host:a'" }, NULL },
	{ "leave", { "'a1'", "'b1'" }, NULL },
	{ "drain", { "1", "0" }, NULL },
	{ "steal_hosts", { "" }, NULL },
	{ "steal_tasks", { "" }, NULL },
	/* Tasks. */
	{ "publish",
	    { "'t1-a',0,'','main','x','{}',0", "'t99-a',0,'','main','x','{}',0",
		"'t99-b',0,'','main','x','{}',0",
		"'t99-c',0,'','main','x','{}',0" },
	    "publish tasks of its own, which agents of other hosts then run" },
	{ "wants_clear", { "'t1-a'", "'wait-a'" }, NULL },
	{ "publish_want", { "'t1-a','moon'", "'wait-a','moon'" }, NULL },
	{ "publish_parent", { "'t1-a','t99-c'", "'t99-c','t1-a'" }, NULL },
	{ "reprioritise", { "'t1-a',99", "'t5-a',99", "'wait-a',99" }, NULL },
	{ "drop_task",
	    { "'t1-a','x'", "'t2-a','x'", "'t5-a','x'", "'wait-a','x'" },
	    NULL },
	{ "inherit", { "'t1-a','c1'", "'t1-a','b1'", "'t6-a','a1'" },
	    "take over the children of a task that it has claimed, whose own host is lost" },
	{ "requeue", { "'t4-a'", "'t5-a'", "'t3-a'" }, NULL },
	{ "deny", { "'t3-a',1", "'t1-a',1", "'t2-a',1" }, NULL },
	{ "claim", { "'b1','main'", "'c1','main'" },
	    "claim tasks that wait, do nothing, and say that they failed" },
	{ "claim_any", { "'b1','main'", "'c1','main'" }, NULL },
	{ "claim_one",
	    { "'c1','t1-a'", "'c1','t2-a'", "'c1','t3-a'", "'c1','t4-a'",
		"'c1','t5-a'", "'b1','t6-a'" },
	    NULL },
	{ "attempts_begin", { "'b1'", "'c1'" }, NULL },
	{ "submit",
	    { "'t1-a',1,'b1','f','refs/llmc/queue/t1-a/1','{}','{}'",
		"'t1-a',1,'c1','f','refs/llmc/queue/t1-a/1','{}','{}'",
		"'wait-a',1,'c1','f','refs/llmc/queue/t1-a/1','{}','{}'" },
	    "submit work for a task that it has claimed" },
	{ "finish",
	    { "'t1-a',1,'b1','done','{}','x'", "'t1-a',1,'c1','done','{}','x'",
		"'t2-a',1,'b1','failed','{}','x'",
		"'t6-a',1,'a1','dropped','{}','x'" },
	    NULL },
	{ "give_back",
	    { "'t1-a',1,'b1','x'", "'t1-a',1,'c1','x'", "'t6-a',1,'a1','x'" },
	    NULL },
	{ "attempts_close", { "" }, NULL },
	/* Landing. */
	{ "lander_take", { "'main','c1'", "'main','b1'", "'x','c1'" },
	    "take the lander's lease, and land nothing" },
	{ "lander_renew", { "'main',1,'b1','f'", "'main',1,'c1','f'" }, NULL },
	{ "lander_leave", { "'main',1,'b1'", "'main',1,'c1'" }, NULL },
	{ "land",
	    { "'t2-a','f','main',1,'b1',1", "'t1-a','f','main',2,'c1',1",
		"'t2-a','f','x',1,'c1',1", "'t5-a','f','main',2,'c1',1",
		"'t6-a','f','main',2,'c1',1", "'t4-a','f','main',2,'c1',1",
		"'wait-a','f','main',2,'c1',0" },
	    NULL },
	{ "eject",
	    { "'t2-a',1,'x',1,'c1','x'", "'t1-a',1,'main',2,'c1','x'",
		"'t2-a',1,'main',1,'b1','x'" },
	    "send submitted work back to its agent, with words of its own" },
	/* Letters. */
	{ "letter_post",
	    { "'l1','b','mail.deliver','{}'", "'l9','b','task.drop','{}'",
		"'l9','b','worker.pause','{}'", "'l9','b','answer','{}'" },
	    "write mail to agents, as an agent of its host" },
	{ "letter_done", { "'l1','done','{}'", "'l2','failed','x'" }, NULL },
	{ "letter_drop", { "'l1','x'", "'l2','x'" }, NULL },
	/* What is shown and shared. */
	{ "spend_put", { "0,'',9000000000000,9000000000000" },
	    "say that it has spent what it has not" },
	{ "quota_put", { "'5h','{}'" }, NULL },
	{ "quota_limit", { "'me','{}'" }, "say that an account is limited" },
	{ "event_add", { "'e1','{}'", "'e9','{}'" },
	    "tell of events that did not happen" },
	/* What is old. */
	{ "prune_tasks", { "" }, NULL },
	{ "prune_letters", { "" }, NULL },
	{ "prune_events", { "" }, NULL },
	{ "prune_spend", { "" }, NULL },
};

void
unit_begin(void)
{
	postgres_serve();
}

static void
says(struct shared_world *world, int n, const char *statement, const char *args)
{
	const char *rows = shared_world_ask(world, n, statement, args);

	ck_assert_msg(*rows != '\0' && strncmp(rows, "REFUSED", 7) != 0,
	    "%s %s: %s", statement, args, rows);
}

static void
owner_says(struct shared_world *world, const char *sql)
{
	const char *words = shared_world_sql(world, NULL, sql);

	ck_assert_msg(strncmp(words, "ERROR", 5) != 0, "%s", words);
}

static void
task(struct shared_world *world, int runner, const char *id)
{
	cleanup_free char *publish = xasprintf("%s|1|-|main|x|{}|0", id);
	cleanup_free char *claim = xasprintf("%c1|%s", 'a' + runner, id);

	says(world, 0, "publish", publish);
	says(world, runner, "claim_one", claim);
}

static void
begin(struct shared_world *world)
{
	static const char *const hellos[] = { "a1|-|v|9|-|main",
		"b1|-|v|9|-|main", "c1|-|v|9|-|main" };

	shared_world_begin(world);
	for (int i = 0; i < 3; i++) {
		shared_world_host(world, i);
		says(world, i, "hello", hellos[i]);
	}
	task(world, 1, "t1-a");
	task(world, 1, "t2-a");
	task(world, 1, "t3-a");
	task(world, 1, "t4-a");
	task(world, 1, "t5-a");
	task(world, 0, "t6-a");
	says(world, 0, "attempts_begin", "a1");
	says(world, 1, "attempts_begin", "b1");
	says(world, 0, "publish_want", "t1-a|gpu");
	says(world, 1, "lander_take", "main|b1");
	says(world, 1, "submit", "t2-a|1|b1|c0de|refs/llmc/queue/t2-a/1|{}|-");
	says(world, 1, "submit", "t3-a|1|b1|c0de|refs/llmc/queue/t3-a/1|{}|-");
	says(world, 1, "land", "t3-a|f00d|main|1|b1|1");
	says(world, 1, "finish", "t4-a|1|b1|failed|{}|-");
	says(world, 1, "finish", "t5-a|1|b1|held|{}|-");
	says(world, 0, "attempts_close", "");
	says(world, 0, "publish", "wait-a|1|-|main|x|{}|0");
	says(world, 0, "letter_post", "l1|b|mail.deliver|{}");
	says(world, 1, "letter_post", "l2|a|mail.deliver|{}");
	says(world, 0, "spend_put", "0|me|10|20");
	says(world, 0, "quota_limit", "me|{\"left_ms\":1}");
	says(world, 0, "event_add", "e1|{}");
	/* It has doubted today. */
	owner_says(world, "insert into llmc.meta values('doubt c','1000000')");
}

/* All that others have. */
static const char *
others(struct shared_world *world, const char *but)
{
	cleanup_free char *sql = xasprintf(
	    "select string_agg(x,chr(10) order by x) from ("
	    "select 'task '||t::text as x from llmc.task t where "
	    "t.task in (" VICTIMS ") and t.task not in (%s) union all "
	    "select 'wait '||t.owner||t.prio||t.lost from llmc.task t where "
	    "t.task='wait-a' union all "
	    "select 'forged '||t.task from llmc.task t where t.owner<>'c' and "
	    "t.task not in (" VICTIMS ",'wait-a') union all "
	    "select 'want '||t::text from llmc.task_want t where "
	    "t.task not like '%%-c' union all "
	    "select 'attempt '||t::text from llmc.attempt t where "
	    "t.host<>'c' and t.task not in (%s) union all "
	    "select 'host '||t::text from llmc.host t where t.host<>'c' "
	    "union all "
	    "select 'lander '||t::text from llmc.lander t where t.host<>'c' "
	    "union all "
	    "select 'letter '||t::text from llmc.letter t where "
	    "t.from_host<>'c' union all "
	    "select 'acts '||t::text from llmc.letter t where "
	    "t.method<>'mail.deliver' or (t.from_host='c' and t.id<>'l9') "
	    "union all "
	    "select 'spend '||t::text from llmc.spend t where t.host<>'c' "
	    "union all "
	    "select 'quota '||t::text from llmc.quota t where t.host<>'c' "
	    "union all "
	    "select 'event '||t::text from llmc.event t where t.host<>'c' "
	    "union all "
	    "select 'meta '||t::text from llmc.meta t where "
	    "t.key not like 'trust %%') as all_of",
	    but, but);

	return shared_world_sql(world, NULL, sql);
}

/* All calls of a row in one connection; only one that is no call of it, as the
 * table is wrong, fails. */
static void
attack(struct shared_world *world, const char *but)
{
	cleanup_free char *before = xstrdup(others(world, but));

	for (size_t i = 0; i < nitems(attacks); i++) {
		const struct attack *row = &attacks[i];
		cleanup_buf struct buf sql = BUF_INIT;
		const char *words;

		buf_adds(&sql, "do $$ begin ");
		for (size_t n = 0; n < CALLS_MAX && row->calls[n] != NULL; n++)
			buf_addf(&sql,
			    "begin perform * from llmc.%s%s(%s); exception "
			    "when undefined_function then raise; when others "
			    "then null; end; ",
			    row->function, i < UNVERSIONED ? "" : VERSION,
			    row->calls[n]);
		buf_adds(&sql, "end $$");
		words = shared_world_sql(world, "c", sql.data);
		ck_assert_msg(*words == '\0', "%s: %s", row->function, words);
		words = others(world, but);
		ck_assert_msg(strcmp(words, before) == 0, "%s:\n%s\nwas\n%s",
		    row->function, words, before);
	}
}

TEST(hostile_host_changes_nothing_that_others_have)
{
	ended_by(shared_world_end) struct shared_world world;

	begin(&world);
	attack(&world, "''");
	/* Good hosts go on as if it were not there. */
	says(&world, 1, "finish", "t1-a|1|b1|done|{}|-");
	says(&world, 1, "land", "t2-a|f00d|main|1|b1|1");
}

/* The worst that it can be: it is the lander, and the server is doubted. What
 * was submitted it may call landed or send back, and nothing else. */
TEST(hostile_lander_reaches_only_what_was_submitted)
{
	ended_by(shared_world_end) struct shared_world world;

	begin(&world);
	says(&world, 1, "lander_leave", "main|1|b1");
	says(&world, 2, "lander_take", "main|c1");
	owner_says(&world, "insert into llmc.meta values('doubt','1')");
	attack(&world, "'t2-a'");
	/* Its owner looks at the branch, and says that it is not there. */
	says(&world, 2, "lander_take", "main|c1");
	says(&world, 1, "submit", "t1-a|1|b1|c0de|refs/llmc/queue/t1-a/1|{}|-");
	shared_world_sql(&world, "c",
	    "select * from llmc.land_1('t1-a','f','main',(select fence from "
	    "llmc.lander where branch='main'),'c1',1)");
	ck_assert_str_eq(
	    shared_world_ask(&world, 0, "deny", "t1-a|1"), "t1-a,1,a,b,ready");
}

/* A lease is as long as the server says, and a lost one is over. */
TEST(hostile_host_has_no_longer_lease_than_others)
{
	ended_by(shared_world_end) struct shared_world world;

	begin(&world);
	says(&world, 1, "lander_leave", "main|1|b1");
	says(&world, 2, "lander_take", "main|c1");
	shared_world_advance(&world, 300001);
	says(&world, 1, "beat", "b1|0|main");
	says(&world, 0, "beat", "a1|0|main");
	ck_assert_str_eq(shared_world_ask(&world, 0, "steal_hosts", ""), "c,3");
	says(&world, 1, "lander_take", "main|b1");
}

TEST(hostile_host_fills_no_box_and_no_cell)
{
	ended_by(shared_world_end) struct shared_world world;

	begin(&world);
	ck_assert_str_eq(
	    shared_world_sql(&world, "c",
		"select count(*) from generate_series(1,2000) as n,lateral "
		"llmc.letter_post_1('x'||n,'b','mail.deliver','{}')"),
	    "300");
	ck_assert_ptr_nonnull(strstr(
	    shared_world_sql(&world, "c",
		"select * from llmc.host_view_1('c1',repeat('x',2000000))"),
	    "too long"));
}

TEST(every_function_of_a_host_is_in_the_table_and_the_manual)
{
	ended_by(shared_world_end) struct shared_world world;
	cleanup_free char *path =
	    xasprintf("%s/docs/fleet.md", getenv("LLMC_SOURCE"));
	cleanup_buf struct buf manual = BUF_INIT, words = BUF_INIT;
	cleanup_free char *granted = NULL;
	char *rest, *name;
	size_t count = 0;

	shared_world_begin(&world);
	shared_world_host(&world, 2);
	granted = xstrdup(shared_world_sql(&world, NULL,
	    "select string_agg(regexp_replace(proname,'_1$',''),' ') from "
	    "pg_proc where pronamespace='llmc'::regnamespace and "
	    "has_function_privilege('llmc_llmc_c',pg_proc.oid,'execute')"));
	for (rest = granted; (name = strsep(&rest, " ")) != NULL; count++) {
		size_t i = 0;

		while (i < nitems(attacks) &&
		    strcmp(attacks[i].function, name) != 0)
			i++;
		ck_assert_msg(i < nitems(attacks),
		    "%s has no row in the table of attacks", name);
	}
	ck_assert_uint_eq(count, nitems(attacks));
	ck_assert_int_eq(file_read(path, 1 << 20, &manual, NULL), 0);
	/* However its lines are broken. */
	for (size_t at = 0; at < manual.len; at++)
		if (manual.data[at] != '\n' && manual.data[at] != ' ')
			buf_addc(&words, manual.data[at]);
		else if (words.len > 0 && words.data[words.len - 1] != ' ')
			buf_addc(&words, ' ');
	for (size_t i = 0; i < nitems(attacks); i++)
		ck_assert_msg(attacks[i].left == NULL ||
			strstr(words.data, attacks[i].left) != NULL,
		    "docs/fleet.md does not say: %s", attacks[i].left);
}
