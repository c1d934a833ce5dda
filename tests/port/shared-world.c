/* SPDX-License-Identifier: ISC */

#include "shared-world.h"

#include <netinet/in.h>
#include <sys/socket.h>

#ifdef HAVE_LIBPQ
#include <libpq-fe.h>
#endif

static const char *const host_names[WORLD_HOSTS] = { "a", "b", "c", "d", "e",
	"f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s",
	"t" };

/* --- the server --------------------------------------------------------- */

static struct {
	pid_t pid;
	const char *why; /* there is none */
	char folder[64];
	int port;
} server = { .why = "llmc was built without libpq" };

pid_t
shared_world_server(const char **ret_why)
{
	if (ret_why != NULL)
		*ret_why = server.why;
	return server.pid;
}

const char *
shared_world_folder(void)
{
	return server.folder;
}

int
shared_world_port(void)
{
	return server.port;
}

#ifdef HAVE_LIBPQ
static int
free_port(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof address;
	cleanup_fd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (bind(fd, (struct sockaddr *)&address, sizeof address) == -1 ||
	    getsockname(fd, (struct sockaddr *)&address, &len) == -1)
		return 0;
	return ntohs(address.sin_port);
}

/* The parent of the server, until nobody has the other end of the pipe any
 * more: the tests have ended, or were killed. */
static void
look_after(int end, int tell)
{
	char port[8], byte;
	pid_t pid;

	setsid();
	pid = fork();

	snprintf(port, sizeof port, "%d", server.port);
	if (pid == 0) {
		cleanup_free char *script = xasprintf(
		    "%s/contrib/fleet/postgres.sh", getenv("LLMC_SOURCE"));

		setsid();
		execl(
		    "/bin/sh", "sh", script, "run", server.folder, port, NULL);
		_exit(127);
	}
	file_write_all(tell, &pid, sizeof pid);
	close(tell);
	while (read(end, &byte, 1) == -1 && errno == EINTR)
		;
	kill(pid, SIGCONT);
	kill(pid, SIGQUIT);
	waitpid(pid, NULL, 0);
	remove_tree(server.folder);
	_exit(0);
}

void
shared_world_serve(void)
{
	static int end[2], tell[2]; /* end[1] stays open in all tests */
	struct err err = { 0 };
	cleanup_child_result struct child_result found;
	cleanup_free char *script =
	    xasprintf("%s/contrib/fleet/postgres.sh", getenv("LLMC_SOURCE"));
	struct shared_world world = { .engine = SHARED_POSTGRES };
	pid_t pid;

	child_result_init(&found);
	server.why = "no PostgreSQL server on this machine";
	if (child_run(
		&(struct child_spec){ .argv = (const char *const[]){ "/bin/sh",
					  script, "find", NULL } },
		&found, &err) < 0 ||
	    !child_succeeded(&found))
		return;
	server.why = "PostgreSQL does not start here";
	snprintf(server.folder, sizeof server.folder, "/tmp/llmc-pg-XXXXXX");
	server.port = free_port();
	if (server.port == 0 || mkdtemp(server.folder) == NULL ||
	    pipe2(end, O_CLOEXEC) == -1 || pipe2(tell, O_CLOEXEC) == -1)
		return;
	setenv("LLMC_POSTGRES_OPTIONS",
	    "-c fsync=off -c max_connections=150 -c shared_buffers=32MB", 1);
	if (fork() == 0) {
		close(end[1]);
		close(tell[0]);
		look_after(end[0], tell[1]);
	}
	close(end[0]);
	close(tell[1]);
	if (read(tell[0], &pid, sizeof pid) != sizeof pid)
		return;
	close(tell[0]);
	for (int i = 0; i < 3000; i++) {
		if (strcmp(shared_world_sql(&world, NULL, "select 1"), "1") ==
		    0) {
			server.pid = pid;
			return;
		}
		poll(NULL, 0, 10);
	}
}

const char *
shared_world_sql(struct shared_world *world, const char *host, const char *sql)
{
	static struct buf text = BUF_INIT;
	cleanup_free char *address = host == NULL ?
	    xasprintf("postgresql://owner@/llmc?host=%s&port=%d", server.folder,
		server.port) :
	    xasprintf("postgresql://llmc_llmc_%s@127.0.0.1:%d/"
		      "llmc?passfile=%s.%s",
		host, server.port, unit_path("pass"), host);
	PGconn *conn = PQconnectdb(address);
	PGresult *result = PQexec(conn, "set client_min_messages=error");
	ExecStatusType status;

	(void)world;
	PQclear(result);
	result = PQexec(conn, sql);
	status = PQresultStatus(result);
	buf_clear(&text);
	if (status == PGRES_TUPLES_OK && PQntuples(result) > 0)
		buf_adds(&text, PQgetvalue(result, 0, 0));
	else if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
		buf_addf(&text, "ERROR %s", PQerrorMessage(conn));
	PQclear(result);
	PQfinish(conn);
	return text.data;
}
#else
void
shared_world_serve(void)
{
}

const char *
shared_world_sql(struct shared_world *world, const char *host, const char *sql)
{
	(void)world;
	(void)host;
	(void)sql;
	return "";
}
#endif

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
shared_world_begin(struct shared_world *world, enum shared_engine engine)
{
	*world = (struct shared_world){ .engine = engine };
	if (engine == SHARED_POSTGRES && server.pid == 0)
		unit_skip(server.why);
	world->loop = loop_new();
	if (engine == SHARED_POSTGRES) {
		world->database =
		    xasprintf("postgresql://127.0.0.1:%d/llmc", server.port);
		world->owner_address =
		    xasprintf("postgresql://owner@/llmc?host=%s&port=%d",
			server.folder, server.port);
		shared_world_sql(
		    world, NULL, "drop schema if exists llmc cascade");
	} else {
		clock_virtual_begin(1000, WORLD_NOW);
		world->database =
		    xasprintf("sqlite:%s", unit_path("shared.db"));
	}
	world->owner = (struct shared_owner_task){ .database = world->database,
		.owner = world->owner_address,
		.repository = "abc" };
	shared_world_owner_runs(world, "init", -1);
	if (engine == SHARED_POSTGRES)
		ck_assert_str_eq(
		    shared_world_sql(world, NULL,
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
	if (world->engine == SHARED_SQLITE)
		clock_virtual_end();
}

void
shared_world_advance(struct shared_world *world, int64_t ms)
{
	cleanup_free char *sql =
	    xasprintf("update llmc.test_clock set now=now+%lld", (long long)ms);

	if (world->engine == SHARED_SQLITE)
		clock_virtual_advance(ms);
	else
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
