/* SPDX-License-Identifier: ISC */

#include "unit.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#ifdef HAVE_LIBPQ
#include <libpq-fe.h>
#endif

#include "postgres-world.h"

static struct {
	pid_t pid;
	const char *why; /* there is none */
	char folder[64];
	int port;
} server = { .why = "llmc was built without libpq" };

pid_t
postgres_server(void)
{
	return server.pid;
}

void
postgres_need(void)
{
	if (server.pid == 0)
		unit_skip(server.why);
}

const char *
postgres_folder(void)
{
	return server.folder;
}

int
postgres_port(void)
{
	return server.port;
}

char *
postgres_owner(void)
{
	return xasprintf("postgresql://owner@/llmc?host=%s&port=%d",
	    server.folder, server.port);
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
	char port[8];
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
	while (
	    poll(&(struct pollfd){ .fd = end, .events = POLLIN }, 1, 200) <= 0)
		if (waitpid(pid, NULL, WNOHANG) == pid)
			break; /* it does not start here */
	do { /* one that begins may not hear it */
		kill(pid, SIGCONT);
		kill(pid, SIGQUIT);
		poll(NULL, 0, 100);
	} while (waitpid(pid, NULL, WNOHANG) == 0);
	remove_tree(server.folder);
	_exit(0);
}

void
postgres_serve(void)
{
	static int end[2], tell[2]; /* end[1] stays open in all tests */
	struct err err = { 0 };
	cleanup_child_result struct child_result found;
	cleanup_free char *script =
	    xasprintf("%s/contrib/fleet/postgres.sh", getenv("LLMC_SOURCE"));
	cleanup_free char *owner = NULL;
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
	owner = postgres_owner();
	while (kill(pid, 0) == 0)
		if (strcmp(postgres_sql(owner, "select 1"), "1") == 0) {
			server.pid = pid;
			return;
		} else {
			poll(NULL, 0, 10); /* for another program */
		}
}

const char *
postgres_sql(const char *address, const char *sql)
{
	static struct buf text = BUF_INIT;
	PGconn *conn = PQconnectdb(address);
	PGresult *result = PQexec(conn, "set client_min_messages=error");
	ExecStatusType status;

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

static void
must(PGconn *conn, const char *sql)
{
	PGresult *result = PQexec(conn, sql);

	ck_assert_msg(PQresultStatus(result) == PGRES_COMMAND_OK, "%s",
	    PQerrorMessage(conn));
	PQclear(result);
}

void *
postgres_hold(const char *address, const char *sql)
{
	PGconn *conn = PQconnectdb(address);

	must(conn, sql);
	return conn;
}

void
postgres_let_go(void *conn, const char *sql)
{
	must(conn, sql);
	PQfinish(conn);
}
#else
void
postgres_serve(void)
{
}

const char *
postgres_sql(const char *address, const char *sql)
{
	(void)address;
	(void)sql;
	return "";
}

void *
postgres_hold(const char *address, const char *sql)
{
	(void)address;
	(void)sql;
	return NULL;
}

void
postgres_let_go(void *conn, const char *sql)
{
	(void)conn;
	(void)sql;
}
#endif
