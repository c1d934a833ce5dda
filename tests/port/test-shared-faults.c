/* SPDX-License-Identifier: ISC */

/* The connection to a shared book in PostgreSQL that is slow, wrong, away or
 * does not let us in: nothing waits for it. */
#include "shared-world.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "postgres-private.h"

#define SPEED 20 /* of the clocks, so that deadlines are short */
/* 100 ms of the machine: it is below 10, but a busy machine must not fail the
 * test, and what waits for a server waits for seconds. */
#define LAG (100 * SPEED)

void
unit_begin(void)
{
	unit_hurry(SPEED); /* before the clock is read */
	postgres_serve();
}

static void
begin(struct shared_world *world)
{
	shared_world_begin(world);
	shared_world_host(world, 0);
	loop_lag_reset(world->loop);
}

static void
has_words(const struct shared_world *world, const char *words)
{
	ck_assert_msg(strstr(shared_words(world->hosts[0]), words) != NULL,
	    "%s", shared_words(world->hosts[0]));
}

/* The server process of host a. */
static pid_t
backend(struct shared_world *world)
{
	return (pid_t)strtol(
	    shared_world_sql(world, NULL,
		"select pid from pg_stat_activity where "
		"application_name='llmc a' order by backend_start desc"),
	    NULL, 10);
}

TEST(server_that_stands_still_delays_nothing_and_is_left)
{
	ended_by(shared_world_end) struct shared_world world;
	pid_t pid;

	begin(&world);
	pid = backend(&world);
	ck_assert_int_eq(kill(pid, SIGSTOP), 0);
	ck_assert_str_eq(shared_world_ask(&world, 0, "host_cans", ""),
	    "AWAY the server of the shared book does not answer");
	ck_assert_int_le(loop_lag_ms(world.loop), LAG);
	shared_world_wait(&world, 0, SHARED_UP);
	ck_assert_str_eq(shared_world_ask(&world, 0, "host_cans", ""), "");
	kill(pid, SIGCONT);
}

TEST(server_that_is_killed_is_found_again)
{
	ended_by(shared_world_end) struct shared_world world;

	begin(&world);
	kill(backend(&world), SIGKILL);
	shared_world_wait(&world, 0, SHARED_CONNECTING);
	ck_assert_int_eq(
	    strncmp(shared_world_ask(&world, 0, "host_cans", ""), "AWAY", 4),
	    0);
	ck_assert_int_le(loop_lag_ms(world.loop), LAG);
	shared_world_wait(&world, 0, SHARED_UP);
	ck_assert_str_eq(shared_world_ask(&world, 0, "host_cans", ""), "");
}

/* Connections are taken by the kernel, and nobody says anything. */
TEST(server_that_says_nothing_delays_nothing)
{
	ended_by(shared_world_end) struct shared_world world;
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof address;
	cleanup_fd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	begin(&world);
	ck_assert_int_eq(
	    bind(fd, (struct sockaddr *)&address, sizeof address), 0);
	ck_assert_int_eq(listen(fd, 1), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&address, &len), 0);
	free(world.database);
	world.database = xasprintf(
	    "postgresql://127.0.0.1:%d/llmc", ntohs(address.sin_port));
	shared_free(world.hosts[0]);
	shared_world_connect(&world, 0);
	while (*shared_words(world.hosts[0]) == '\0')
		loop_run(world.loop);
	has_words(&world, "does not answer");
	ck_assert_int_le(loop_lag_ms(world.loop), LAG);
	/* With another one in the list, that one is found. */
	free(world.database);
	world.database =
	    xasprintf("postgresql://127.0.0.1:%d,127.0.0.1:%d/llmc",
		ntohs(address.sin_port), postgres_port());
	shared_free(world.hosts[0]);
	shared_world_connect(&world, 0);
	shared_world_wait(&world, 0, SHARED_UP);
}

static bool hangs;

/* In place of the C library's, in this program: a name server that is away, and
 * one that knows *.llmc.test here, and far.llmc.test on another machine. */
int
getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
    struct addrinfo **ret)
{
	int (*real)(const char *, const char *, const struct addrinfo *,
	    struct addrinfo **);

	while (hangs)
		pause();
	*(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
	if (name != NULL && strstr(name, ".llmc.test") != NULL)
		name = strcmp(name, "far.llmc.test") == 0 ? "192.0.2.1" :
							    "127.0.0.1";
	return real(name, service, hints, ret);
}

TEST(name_that_cannot_be_looked_up_delays_nothing)
{
	ended_by(shared_world_end) struct shared_world world;

	begin(&world);
	shared_free(world.hosts[0]);
	hangs = true;
	shared_world_connect(&world, 0);
	while (*shared_words(world.hosts[0]) == '\0')
		loop_run(world.loop);
	has_words(&world, "looked up in time");
	ck_assert_int_le(loop_lag_ms(world.loop), LAG);
	hangs = false;
	shared_world_wait(&world, 0, SHARED_UP);
}

static void
count(const struct shared_answer *answer, void *arg)
{
	int *counts = arg;

	counts[answer->verdict]++;
}

TEST(more_asks_than_may_wait_are_away_at_once)
{
	ended_by(shared_world_end) struct shared_world world;
	int counts[3] = { 0 };

	begin(&world);
	for (int i = 0; i < SHARED_ASKS_MAX + 10; i++)
		shared_ask(world.hosts[0], &SHARED_CALL0(SHARED_EVENTS), 1,
		    60000, count, counts);
	ck_assert_int_eq(counts[SHARED_AWAY], 0); /* never from inside */
	shared_world_ask(&world, 0, "host_cans", "");
	while (counts[SHARED_DONE] < SHARED_ASKS_MAX)
		shared_world_ask(&world, 0, "host_cans", "");
	ck_assert_int_eq(counts[SHARED_AWAY], 10);
}

/* --- who may come in ------------------------------------------------------ */

/* What the owner has done, what is said about it, and how it is undone. */
static const struct {
	const char *sql, *words, *undo;
} barred[] = {
	{ "update llmc.meta set value='99' where key='min_writer'",
	    "install a newer llmc on this host",
	    "update llmc.meta set value='1' where key='min_writer'" },
	{ "update llmc.meta set value='0' where key='schema_version'",
	    "llmc fleet migrate",
	    "update llmc.meta set value='1' where key='schema_version'" },
	{ "update llmc.meta set value='0123' where key='repository'",
	    "belongs to another repository",
	    "update llmc.meta set value='abc' where key='repository'" },
	{ "update llmc.host_role set host='b'",
	    "belongs to the host b, not to a; type: llmc fleet join",
	    "update llmc.host_role set host='a'" },
	{ "update llmc.host_role set role='b'", "belongs to no host",
	    "update llmc.host_role set role='llmc_llmc_a'" },
	{ "revoke llmc_llmc_hosts from llmc_llmc_a", "llmc fleet join",
	    "grant llmc_llmc_hosts to llmc_llmc_a" },
	{ "alter schema llmc rename to other", "llmc fleet init",
	    "alter schema other rename to llmc" },
	{ "alter role llmc_llmc_a nologin", "not permitted to log in",
	    "alter role llmc_llmc_a login" },
	{ "alter role llmc_llmc_a password 'other'",
	    "for user \"llmc_llmc_a\"; another machine has joined", "" },
	{ "", "chmod 600", "" },
};

TEST(host_that_may_not_come_in_is_told_why)
{
	ended_by(shared_world_end) struct shared_world world;
	cleanup_free char *pass = xasprintf("%s.a", unit_path("pass"));

	begin(&world);
	for (size_t i = 0; i < nitems(barred); i++) {
		shared_free(world.hosts[0]);
		shared_world_sql(&world, NULL, barred[i].sql);
		if (*barred[i].sql == '\0')
			chmod(pass, 0640);
		shared_world_connect(&world, 0);
		shared_world_wait(&world, 0, SHARED_BARRED);
		has_words(&world, barred[i].words);
		shared_world_sql(&world, NULL, barred[i].undo);
	}
	/* What they are told to type helps. */
	ck_assert_int_eq(chmod(pass, 0600), 0);
	shared_free(world.hosts[0]);
	world.owner.renews = true;
	shared_world_host(&world, 0);
}

TEST(who_has_named_the_owner_is_not_told_to)
{
	ended_by(shared_world_end) struct shared_world world;
	cleanup_json struct json_object *report = NULL;
	cleanup_free char *owner = NULL;
	struct shared_owner_task task;
	struct err err = { 0 };

	begin(&world);
	owner = xasprintf("postgresql://owner@/nobody?host=%s&port=%d",
	    postgres_folder(), postgres_port());
	task = world.owner;
	task.verb = "init";
	task.owner = owner;
	ck_assert_int_eq(shared_owner_run(&task, &report, &err), -EIO);
	ck_assert_ptr_nonnull(strstr(err.msg, "\"nobody\" does not exist"));
	ck_assert_ptr_null(strstr(err.msg, "--owner"));
	/* Nor to join, where no server is. */
	task.verb = "check";
	task.host = "a";
	task.database = "postgresql://127.0.0.1:1/llmc";
	ck_assert_int_eq(shared_owner_run(&task, &report, &err), -EIO);
	ck_assert_ptr_nonnull(strstr(err.msg, "refused"));
	ck_assert_ptr_null(strstr(err.msg, "fleet join"));
}

static const struct {
	const char *database, *words;
} wrong[] = {
	{ "postgresql://a:secret@db/llmc", "has a password in it" },
	{ "host=db dbname=llmc password=x", "has a password in it" },
	{ "mysql://db/llmc", "expected postgresql://SERVER/DATABASE" },
	{ "postgresql://db/llmc?colour=red", "colour" },
	{ "sqlite:/shared.db", "expected postgresql://SERVER/DATABASE" },
};

TEST_ROWS(wrong_address_is_refused_with_words, nitems(wrong))
{
	struct loop *loop = loop_new();
	struct shared *shared = NULL;
	struct err err = { 0 };

	ck_assert_int_eq(shared_new(&(struct shared_options){ .loop = loop,
					.database = wrong[_i].database,
					.host = "a" },
			     &shared, &err),
	    -EINVAL);
	ck_assert_msg(strstr(err.msg, wrong[_i].words) != NULL, "%s", err.msg);
	ck_assert_ptr_null(strstr(err.msg, "secret"));
	loop_free(loop);
}

/* --- TLS ------------------------------------------------------------------ */

static const struct {
	const char *words; /* "" = let in */
	bool plain; /* the server speaks no TLS */
	const char *host, *ca; /* NULL = as the service file says */
} tls[] = {
	{ "", false, "db", "ca" },
	{ "does not match host name", false, "other", "ca" },
	{ "certificate verify failed", false, "db", "other" },
	{ "does not support SSL", true, "db", "ca" },
	{ "", false, NULL, NULL },
};

/* Authorities of our own, and a certificate for db.llmc.test by the first. */
static const char make_certificates[] =
    "set -e; cd \"$1\"; command -v openssl >/dev/null || exit 77; new='-newkey "
    "ec -pkeyopt ec_paramgen_curve:P-256 -nodes'; for ca in ca other; do "
    "openssl req -x509 $new -keyout $ca.key -out $ca.crt -subj /CN=$ca -days "
    "2; done; openssl req $new -keyout server.key -out server.csr -subj "
    "/CN=db.llmc.test; echo subjectAltName=DNS:db.llmc.test >ext; openssl x509 "
    "-req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -out "
    "server.crt -days 2 -extfile ext; chmod 600 server.key; cp server.crt "
    "server.key \"$2/data\"; chown --reference=\"$2/data\" "
    "\"$2/data/server.crt\" \"$2/data/server.key\"; printf "
    "'[fleet]\\nhost=db.llmc.test\\nport=%s\\ndbname=llmc\\nsslmode=verify-full"
    "\\nsslrootcert=%s/ca.crt\\npassfile=%s/own.pass\\n' \"$3\" \"$1\" \"$1\" "
    ">service";

static void
set_tls(struct shared_world *world, bool on)
{
	ck_assert_str_eq(
	    shared_world_sql(world, NULL,
		on ? "alter system set ssl=on" : "alter system set ssl=off"),
	    "");
	ck_assert_str_eq(
	    shared_world_sql(world, NULL, "select pg_reload_conf()"), "t");
	/* The server reads it in its own time. */
	while (strcmp(shared_world_sql(world, NULL, "show ssl"),
		   on ? "on" : "off") != 0)
		poll(NULL, 0, 5);
}

TEST_ROWS(certificate_of_the_server_must_be_for_its_name, nitems(tls))
{
	ended_by(shared_world_end) struct shared_world world;
	cleanup_child_result struct child_result made;
	cleanup_free char *pass = xasprintf("%s.a", unit_path("pass"));
	struct err err = { 0 };
	char port[8];

	begin(&world);
	snprintf(port, sizeof port, "%d", postgres_port());
	child_result_init(&made);
	ck_assert_int_eq(child_run(
			     &(struct child_spec){
				 .argv = (const char *const[]){ "/bin/sh", "-c",
				     make_certificates, "sh", unit_scratch(),
				     postgres_folder(), port, NULL } },
			     &made, &err),
	    0);
	if (made.status == 77)
		unit_skip("openssl is not installed");
	ck_assert_msg(
	    child_succeeded(&made), "%d %s", made.status, made.err.head.data);
	setenv("PGSERVICEFILE", unit_path("service"), 1);
	if (tls[_i].host == NULL)
		ck_assert_int_eq(rename(pass, unit_path("own.pass")), 0);
	set_tls(&world, !tls[_i].plain);
	shared_free(world.hosts[0]);
	free(world.database);
	world.database = tls[_i].host == NULL ?
	    xstrdup("service=fleet") :
	    xasprintf("postgresql://%s.llmc.test:%d/llmc?sslmode=verify-full&"
		      "sslrootcert=%s/%s.crt",
		tls[_i].host, postgres_port(), unit_scratch(), tls[_i].ca);
	shared_world_connect(&world, 0);
	shared_world_wait(
	    &world, 0, *tls[_i].words == '\0' ? SHARED_UP : SHARED_BARRED);
	if (*tls[_i].words != '\0')
		has_words(&world, tls[_i].words);
	else
		ck_assert_str_eq(
		    shared_world_sql(&world, NULL,
			"select ssl::text from pg_stat_ssl join "
			"pg_stat_activity using(pid) where "
			"application_name='llmc a' order by backend_start "
			"desc"),
		    "true");
	set_tls(&world, false);
}

/* What is not said is demanded of a server on another machine. */
TEST(server_on_another_machine_must_prove_its_name)
{
	static const char *const rows[][2] = {
		{ "postgresql://far.llmc.test/llmc", "verify-full" },
		{ "postgresql://db.llmc.test,far.llmc.test/llmc",
		    "verify-full" },
		{ "postgresql://db.llmc.test/llmc", "prefer" },
		{ "postgresql://far.llmc.test/llmc?sslmode=require",
		    "require" },
		{ "service=far", "verify-full" },
	};
	static const char service[] = "[far]\nhost=far.llmc.test\ndbname=x\n";

	ck_assert_int_eq(file_replace(unit_path("service"), service,
			     strlen(service), 0600, NULL),
	    0);
	setenv("PGSERVICEFILE", unit_path("service"), 1);

	for (size_t i = 0; i < nitems(rows); i++) {
		struct postgres_address address = { 0 };
		struct err err = { 0 };

		ck_assert_int_eq(
		    postgres_address_read(rows[i][0], "a", &address, &err), 0);
		ck_assert_str_eq(
		    postgres_address_get(&address, "sslmode"), rows[i][1]);
		ck_assert_str_eq(
		    postgres_address_get(&address, "target_session_attrs"),
		    "read-write");
		ck_assert_int_eq(
		    strncmp(postgres_address_get(&address, "user"), "llmc_", 5),
		    0);
		postgres_address_release(&address);
	}
}
