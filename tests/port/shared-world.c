/* SPDX-License-Identifier: ISC */

#include "shared-world.h"

static const char *const host_names[WORLD_HOSTS] = { "a", "b", "c", "d", "e",
	"f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s",
	"t" };

const char *
shared_world_sql(struct shared_world *world, const char *host, const char *sql)
{
	cleanup_free char *address = host == NULL ?
	    xstrdup(world->owner_address) :
	    xasprintf("postgresql://llmc_llmc_%s@127.0.0.1:%d/"
		      "llmc?passfile=%s.%s",
		host, postgres_port(), unit_path("pass"), host);

	return postgres_sql(address, sql);
}

/* --- a book ------------------------------------------------------------- */

void
shared_world_owner_runs(struct shared_world *world, const char *verb, int n)
{
	struct shared_owner_task task = world->owner;
	cleanup_json struct json_object *report = NULL;
	cleanup_free char *pass =
	    n < 0 ? NULL : xasprintf("%s.%s", unit_path("pass"), host_names[n]);

	task.verb = verb;
	task.passfile = pass;
	task.host = n < 0 ? NULL : host_names[n];
	ck_assert_msg(shared_owner_run(&task, &report, &world->err) == 0,
	    "%s: %s", verb, world->err.msg);
}

void
shared_world_begin(struct shared_world *world)
{
	*world = (struct shared_world){ 0 };
	postgres_need();
	world->loop = loop_new();
	world->database =
	    xasprintf("postgresql://127.0.0.1:%d/llmc", postgres_port());
	world->owner_address = postgres_owner();
	shared_world_sql(world, NULL, "drop schema if exists llmc cascade");
	world->owner = (struct shared_owner_task){ .database = world->database,
		.owner = world->owner_address,
		.repository = "abc" };
	shared_world_owner_runs(world, "init", -1);
	ck_assert_str_eq(shared_world_sql(world, NULL,
			     "create table llmc.test_clock(now bigint);"
			     "insert into llmc.test_clock values(1000000);"
			     "grant select on llmc.test_clock to public;"
			     "create or replace function llmc.now_ms() returns "
			     "bigint language sql stable as "
			     "'select test_clock.now from llmc.test_clock'"),
	    "");
}

void
shared_world_end(struct shared_world *world)
{
	for (int i = 0; i < WORLD_HOSTS; i++)
		shared_free(world->hosts[i]);
	loop_free(world->loop);
	free(world->database);
	free(world->owner_address);
}

void
shared_world_advance(struct shared_world *world, int64_t ms)
{
	cleanup_free char *sql =
	    xasprintf("update llmc.test_clock set now=now+%lld", (long long)ms);

	ck_assert_str_eq(shared_world_sql(world, NULL, sql), "");
}

/* --- waiting ------------------------------------------------------------ */

static void
on_state(enum shared_state state, const char *words, void *arg)
{
	struct shared_world *world = arg;

	(void)state;
	(void)words;
	loop_stop(world->loop, 0);
}

void
shared_world_wait(struct shared_world *world, int n, enum shared_state state)
{
	while (shared_state(world->hosts[n]) != state)
		loop_run(world->loop);
}

static void
on_notified(const char *word, void *arg)
{
	struct shared_world *world = arg;

	world->hints++;
	snprintf(world->hint, sizeof world->hint, "%s", word);
}

void
shared_world_connect(struct shared_world *world, int n)
{
	cleanup_free char *pass =
	    xasprintf("%s.%s", unit_path("pass"), host_names[n]);

	ck_assert_int_eq(shared_new(
			     &(struct shared_options){
				 .loop = world->loop,
				 .database = world->database,
				 .passfile = pass,
				 .host = host_names[n],
				 .repository = "abc",
				 .state = on_state,
				 .notified = on_notified,
				 .arg = world,
			     },
			     &world->hosts[n], &world->err),
	    0);
}

void
shared_world_host(struct shared_world *world, int n)
{
	shared_world_owner_runs(world, "join", n);
	shared_world_connect(world, n);
	shared_world_wait(world, n, SHARED_UP);
}

/* --- asking ------------------------------------------------------------- */

enum shared_statement
shared_world_find(const char *name)
{
	for (int i = 0; i < SHARED_STATEMENT_COUNT; i++)
		if (strcmp(shared_statements[i].name, name) == 0)
			return (enum shared_statement)i;
	ck_abort_msg("no statement %s", name);
}

static struct buf answer_text = BUF_INIT;

static int
compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A statement that writes gives its rows in any order. */
static void
on_answer(const struct shared_answer *answer, void *arg)
{
	struct shared_world *world = arg;
	const struct shared_rows *rows = &answer->of[answer->calls - 1];
	cleanup_strv char **lines = NULL;

	buf_clear(&answer_text);
	if (answer->verdict == SHARED_AWAY)
		buf_addf(&answer_text, "AWAY %s", answer->words);
	else if (answer->verdict == SHARED_REFUSED)
		buf_addf(&answer_text, "REFUSED %s", answer->words);
	for (size_t i = 0; i < rows->count; i++) {
		cleanup_buf struct buf line = BUF_INIT;

		for (size_t j = 0; j < rows->width; j++) {
			const char *cell = rows->cells[i * rows->width + j];

			buf_addf(&line, "%s%s", j > 0 ? "," : "",
			    cell != NULL ? cell : "-");
		}
		strv_add(&lines, line.data);
	}
	if (lines != NULL && world->is_write)
		qsort(lines, rows->count, sizeof *lines, compare);
	for (size_t i = 0; i < rows->count; i++)
		buf_addf(&answer_text, "%s%s", i > 0 ? ";" : "", lines[i]);
	loop_stop(world->loop, 0);
}

const char *
shared_world_ask(
    struct shared_world *world, int n, const char *statement, const char *args)
{
	enum shared_statement id = shared_world_find(statement);
	size_t count = shared_takes(id);
	struct book_value values[16] = { 0 };
	cleanup_free char *copy = xstrdup(args);
	char *rest = copy;

	for (size_t i = 0; i < count; i++) {
		const char *word = strsep(&rest, "|");

		ck_assert_msg(word != NULL, "%s: %s", statement, args);
		if (strcmp(word, "-") == 0)
			continue;
		values[i] = shared_takes_number(id, i) ?
		    BOOK_I(strtoll(word, NULL, 10)) :
		    BOOK_T(word);
	}
	world->is_write = shared_statements[id].gives != NULL;
	buf_clear(&answer_text);
	buf_adds(&answer_text, "?");
	shared_ask(world->hosts[n], &(struct shared_call){ id, values, count },
	    1, 20000, on_answer, world);
	while (strcmp(answer_text.data, "?") == 0)
		loop_run(world->loop);
	return answer_text.data;
}
