/* SPDX-License-Identifier: ISC */

#include "hosts-world.h"

#include "hosts-private.h"
#include "loop.h"
#include "postgres-world.h"
#include "repo.h"

struct hosts_world hosts_world;

static char *
database_of_hosts(void)
{
	return xasprintf("postgresql://127.0.0.1:%d/llmc", postgres_port());
}

static void
close_hosts(void)
{
	if (floor_world.repo == NULL)
		return;
	shared_free(take_ptr(&hosts_world.other));
	hosts_floor_free(take_ptr(&hosts_world.floor));
	auto_world_end();
	free(take_ptr(&hosts_world.database));
}

/* The password of a host. */
static char *
passfile(const char *name)
{
	return xasprintf("%s/pass.%s", postgres_folder(), name);
}

static void
owner_runs(const char *verb, const char *name)
{
	cleanup_free char *database = database_of_hosts();
	cleanup_free char *owner = postgres_owner();
	cleanup_free char *pass = name != NULL ? passfile(name) : NULL;
	cleanup_json struct json_object *said = NULL;
	struct err err = { 0 };

	/* No test runs yet that could fail. */
	if (shared_owner_run(&(struct shared_owner_task){ .verb = verb,
				 .database = database,
				 .owner = owner,
				 .passfile = pass,
				 .host = name,
				 .repository = "abc" },
		&said, &err) < 0)
		fatalx("%s: %s", verb, err.msg);
}

/* One book for all tests of a program, which is empty when one begins. */
void
unit_begin(void)
{
	postgres_serve();
	if (postgres_server() == 0)
		return;
	owner_runs("init", NULL);
	owner_runs("join", "a");
	owner_runs("join", "b");
}

static void
empty_book(void)
{
	cleanup_buf struct buf sql = BUF_INIT;

	buf_adds(&sql, "truncate ");
	for (const char *const *t = shared_tables; *t != NULL; t++)
		if (strcmp(*t, "meta") != 0 && strcmp(*t, "host_role") != 0)
			buf_addf(&sql, "%s,", *t);
	buf_truncate(&sql, sql.len - 1);
	buf_adds(&sql,
	    " restart identity;alter sequence task_seq restart;"
	    "delete from meta where key not in "
	    "('schema_version','min_writer','repository','identity');"
	    "update meta set value=server_identity() where key='identity';"
	    "insert into host(host,nr,state) values('a',1,'new'),('b',2,'new')");
	hosts_world_sql(sql.data);
}

/* --- what b says -------------------------------------------------- */

struct asked {
	bool answered;
	char text[4096]; /* "cell,cell;" of the first call that gave rows */
};

static void
on_answer(const struct shared_answer *answer, void *arg)
{
	struct asked *asked = arg;
	struct buf text;

	buf_init(&text);
	asked->answered = true;
	if (answer->verdict != SHARED_DONE)
		buf_addf(&text, "not done: %s", answer->words);
	else
		for (size_t i = 0; i < answer->of[0].count; i++)
			for (size_t k = 0; k < answer->of[0].width; k++) {
				const char *cell =
				    answer->of[0]
					.cells[i * answer->of[0].width + k];

				buf_addf(&text, "%s%c",
				    cell != NULL ? cell : "-",
				    k + 1 < answer->of[0].width ? ',' : ';');
			}
	strlcpy(asked->text, text.data, sizeof asked->text);
	buf_release(&text);
}

static bool
is_answered(void *arg)
{
	return ((struct asked *)arg)->answered;
}

/* Valid until the next one. */
const char *
hosts_world_says(const struct shared_call *calls, size_t count)
{
	static struct asked asked;

	asked = (struct asked){ 0 };
	shared_ask(hosts_world.other, calls, count, 10000, on_answer, &asked);
	floor_world_wait(is_answered, &asked);
	return asked.text;
}

static bool
is_up(void *arg)
{
	(void)arg;
	return shared_state(hosts_world.other) == SHARED_UP;
}

static void
b_comes(void)
{
	cleanup_free char *pass = passfile("b");
	struct err err = { 0 };

	ck_assert_int_eq(shared_new(
			     &(struct shared_options){
				 .loop = floor_world.loop,
				 .database = hosts_world.database,
				 .passfile = pass,
				 .host = "b",
			     },
			     &hosts_world.other, &err),
	    0);
	floor_world_wait(is_up, NULL);
	ck_assert_str_ne(
	    SAYS(SHARED_HELLO, BOOK_T(B_BOOT), BOOK_T(B_BOOT), BOOK_T("1"),
		BOOK_I(1), BOOK_T(NULL), BOOK_T("main")),
	    "");
}

/* What the book says of a task: "state host fence". */
const char *
hosts_world_row(const char *task)
{
	static char text[1024];
	char cells[24][256] = { { 0 } };
	const char *s = SAYS(SHARED_TASK_READ, BOOK_T(task));

	for (size_t i = 0; i < nitems(cells) && *s != '\0'; i++) {
		size_t len = strcspn(s, ",;");

		if (i == 13 && *s == '{') /* the body has commas */
			len = (size_t)(strstr(s, "},") - s) + 1;
		snprintf(cells[i], sizeof cells[i], "%.*s", (int)len, s);
		s += len + 1;
	}
	snprintf(text, sizeof text, "%s %s %s", cells[4], cells[5], cells[7]);
	return text;
}

/* The host looks at once, not only when its time has come. */
void
hosts_world_polls(void)
{
	hosts_world.floor->poll = hosts_world.floor->claim = true;
	hosts_look(hosts_world.floor);
}

void
hosts_world_wait_row(const char *task, const char *want)
{
	for (int i = 0; (i < 400 || !unit_is_late()) &&
	     strcmp(hosts_world_row(task), want) != 0;
	     i++)
		hosts_world_polls();
	ck_assert_str_eq(hosts_world_row(task), want);
}

void
hosts_world_wait_letter(const char *id, const char *want)
{
	for (int i = 0; i < 2000 &&
	     strstr(SAYS(SHARED_LETTER_READ, BOOK_T(id)), want) == NULL;
	     i++)
		hosts_world_polls();
	ck_assert_ptr_nonnull(
	    strstr(SAYS(SHARED_LETTER_READ, BOOK_T(id)), want));
}

void
hosts_world_sql(const char *text)
{
	cleanup_free char *owner = postgres_owner();
	cleanup_free char *sql = xasprintf("set search_path=llmc;%s", text);

	ck_assert_str_eq(postgres_sql(owner, sql), "");
}

/* --- the world ---------------------------------------------------- */

void
hosts_world_begin(const char *more)
{
	cleanup_free char *settings = NULL, *pass = NULL;

	postgres_need();
	empty_book();
	hosts_world.database = database_of_hosts();
	pass = passfile("a");
	settings = xasprintf("%s[fleet]\ndatabase = \"%s\"\nhost = \"a\"\n"
			     "passfile = \"%s\"\n",
	    more != NULL ? more : "", hosts_world.database, pass);
	auto_world_begin(settings);
	floor_world_sh("git init -q --bare \"$B/origin\"; git remote add "
		       "origin \"$B/origin\"; git push -q origin main");
	hosts_world.floor = hosts_floor_new(auto_world.mode);
	unit_at_end(close_hosts);
	b_comes();
}

static bool
is_a_up(void *arg)
{
	return ((struct hosts_world *)arg)->floor->up;
}

void
hosts_world_live(void)
{
	auto_world_live();
	floor_world_wait(is_a_up, &hosts_world);
}

void
hosts_world_run(void)
{
	hosts_world_begin(NULL);
	hosts_world_live();
}

void
hosts_world_reopen(void)
{
	hosts_floor_free(take_ptr(&hosts_world.floor));
	buf_clear(&auto_world.told);
	auto_world_reopen();
	hosts_world.floor = hosts_floor_new(auto_world.mode);
}

/* auto-1 commits a change, and its turn ends. */
void
hosts_world_work_ends(struct agent *agent, const char *file)
{
	auto_world_work(file);
	fake_session_turn_ends(agent->session, "Done.");
}

const char *
hosts_world_push(const char *task)
{
	static char id[64];
	cleanup_free char *text = xasprintf(
	    "test -d \"$B/p\" || git clone -qb main \"$B/origin\" \"$B/p\"; cd "
	    "\"$B/p\"; git pull -q; git -c user.name=b -c user.email=b@b commit "
	    "-q --allow-empty -m 'by b' -m 'Llmc-Task: %s\nLlmc-Attempt: "
	    "1/b/boot'; git push -q origin HEAD:main; git rev-parse HEAD",
	    task);

	snprintf(id, sizeof id, "%s", floor_world_sh(text));
	return id;
}
