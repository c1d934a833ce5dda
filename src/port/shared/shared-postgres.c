/* SPDX-License-Identifier: ISC */

/*
 * The shared book in PostgreSQL: libpq on the loop, in pipeline mode. An ask is
 * one sync, and so one transaction. Answers come in the order of the asks, so a
 * connection that fails, or one answer that does not come in time, ends all of
 * them with an unknown outcome; then a new connection is made.
 */
#include "base.h"
#include "child.h"
#include "loop.h"
#include "postgres-private.h"

#include <sys/ioctl.h>
#include <sys/socket.h>

#define INT8_OID 20
#define TEXT_OID 25
/* Bytes that may come before a result is complete. */
#define FLOOD ((size_t)64 * 1024 * 1024)

enum unit_kind {
	UNIT_OPEN, /* the checks after a connection */
	UNIT_WAIT, /* an ask */
	UNIT_HINT
};

/* What was sent up to a sync. */
struct unit {
	TAILQ_ENTRY(unit) entry;
	enum unit_kind kind;
	struct shared_wait *wait;
	char state[6]; /* SQLSTATE of the first error; "" = none */
	struct err err;
};
TAILQ_HEAD(units, unit);

struct postgres_book {
	struct shared base;
	struct child *resolver;
	PGconn *conn;
	bool is_open; /* connected: the pipeline may be used */
	struct loop_watch *watch;
	int watched_fd;
	unsigned watched;
	struct loop_timer *timer; /* until it is up */
	struct units units; /* whose results are to come */
	size_t unit_count;
	size_t opened; /* results of UNIT_OPEN that have come */
	size_t flood;
	size_t turn; /* the server that is tried first */
	struct loop_call *end; /* do what `ending` says */
	enum {
		END_NONE,
		END_AWAY,
		END_BARRED
	} ending;
	struct err ending_err;
};

static void on_socket(int fd, unsigned what, void *arg);

/* --- the end of a connection -------------------------------------------- */

static void
drop(struct shared *shared)
{
	struct postgres_book *book = (struct postgres_book *)shared;
	struct unit *unit;

	if (book->resolver != NULL)
		child_abandon(take_ptr(&book->resolver));
	loop_timer_free(take_ptr(&book->timer));
	loop_watch_free(take_ptr(&book->watch));
	while ((unit = TAILQ_FIRST(&book->units)) != NULL) {
		TAILQ_REMOVE(&book->units, unit, entry);
		free(unit);
	}
	if (book->conn != NULL) {
		/* A server that does not read must not hold up the farewell. */
		if (libpq.socket(book->conn) >= 0)
			shutdown(libpq.socket(book->conn), SHUT_RDWR);
		libpq.finish(take_ptr(&book->conn));
	}
	book->is_open = false;
	book->ending = END_NONE;
	book->unit_count = book->opened = book->flood = 0;
	book->watched = 0;
}

static void
on_end(void *arg)
{
	struct postgres_book *book = arg;
	struct err err = book->ending_err;

	if (book->ending == END_BARRED)
		shared_bar(&book->base, err.msg);
	else if (book->ending == END_AWAY)
		shared_went(&book->base, err.msg);
}

/* After this pass: nothing is freed under the feet of a caller. But libpq may
 * have closed its socket, and what is opened until then, such as the pipe of a
 * child, gets its number: as long as that is watched, the loop would not notice
 * that it is another one. */
static void
fail(struct postgres_book *book, bool barred, const char *words)
{
	loop_watch_free(take_ptr(&book->watch));
	if (book->ending != END_NONE)
		return;
	book->ending = barred ? END_BARRED : END_AWAY;
	err_set(&book->ending_err, -EIO, "%s", words);
	loop_call_request(book->end);
}

static void
fail_with_libpq(struct postgres_book *book)
{
	cleanup_buf struct buf words = BUF_INIT;

	postgres_words(libpq.errorMessage(book->conn), &words);
	fail(book, false,
	    words.len > 0 ? words.data : "the server closed the connection");
}

static void
on_late(void *arg)
{
	struct postgres_book *book = arg;

	loop_timer_free(take_ptr(&book->timer));
	fail(book, false,
	    book->resolver != NULL ?
		"the name of the server could not be looked up in time" :
		"the server of the shared book does not answer");
}

/* --- the way to a connection -------------------------------------------- */

static void
watch(struct postgres_book *book, unsigned what)
{
	int fd = libpq.socket(book->conn);

	if (book->watch != NULL && fd == book->watched_fd &&
	    what == book->watched)
		return;
	loop_watch_free(take_ptr(&book->watch));
	if (fd >= 0)
		book->watch =
		    loop_watch_new(book->base.loop, fd, what, on_socket, book);
	book->watched_fd = fd;
	book->watched = what;
	if (book->watch == NULL)
		fail(book, false, "the connection cannot be watched");
}

static void
flush(struct postgres_book *book)
{
	int rc = libpq.flush(book->conn);

	if (rc < 0)
		fail_with_libpq(book);
	else
		watch(book, LOOP_READ | (rc > 0 ? LOOP_WRITE : 0));
}

/* One sync after what was sent; 0 = it could not be sent. */
static struct unit *
add_unit(struct postgres_book *book, enum unit_kind kind, int sent)
{
	struct unit *unit;

	if (sent == 0 || libpq.pipelineSync(book->conn) == 0) {
		fail_with_libpq(book);
		return NULL;
	}
	unit = xcalloc(1, sizeof *unit);
	unit->kind = kind;
	TAILQ_INSERT_TAIL(&book->units, unit, entry);
	book->unit_count++;
	flush(book);
	return unit;
}

static int
query(struct postgres_book *book, const char *text)
{
	return libpq.sendQueryParams(
	    book->conn, text, 0, NULL, NULL, NULL, NULL, 0);
}

static void
quiet(void *arg, const char *message)
{
	(void)arg;
	log_debug("PostgreSQL: %s", message);
}

/* Connected. Who are we there, and may we write? */
static void
open_pipeline(struct postgres_book *book)
{
	int sent;

	if (libpq.setnonblocking(book->conn, 1) != 0 ||
	    libpq.enterPipelineMode(book->conn) != 1) {
		fail_with_libpq(book);
		return;
	}
	book->is_open = true;
	sent = query(book, shared_statements[SHARED_META].text) &&
	    query(book,
		"select me() as me,session_user::text as role,"
		"server_identity() as identity") &&
	    query(book, "listen " SHARED_CHANNEL);
	add_unit(book, UNIT_OPEN, sent);
}

/* The server has said no, and not only that it is busy. */
static bool
is_refusal(const PGconn *conn, const char *words)
{
	static const char *const passing[] = { "starting up", "shutting down",
		"recovery", "not yet accepting", "too many",
		"remaining connection slots", "read-only", "terminating" };

	if (libpq.connectionNeedsPassword(conn))
		return true;
	for (size_t i = 0; i < nitems(passing); i++)
		if (strstr(words, passing[i]) != NULL)
			return false;
	return strstr(words, "FATAL:") != NULL ||
	    strstr(words, "certificate") != NULL ||
	    strstr(words, "does not support SSL") != NULL;
}

static void
poll_connection(struct postgres_book *book)
{
	cleanup_buf struct buf words = BUF_INIT;

	/* It may go on with another server, and another socket. */
	loop_watch_free(take_ptr(&book->watch));
	switch (libpq.connectPoll(book->conn)) {
	case PGRES_POLLING_OK:
		open_pipeline(book);
		break;
	case PGRES_POLLING_READING:
		watch(book, LOOP_READ);
		break;
	case PGRES_POLLING_WRITING:
		watch(book, LOOP_WRITE);
		break;
	default:
		postgres_words(libpq.errorMessage(book->conn), &words);
		if (libpq.connectionNeedsPassword(book->conn))
			buf_adds(&words, "; type: llmc fleet join");
		else if (strstr(words.data, "password authentication") != NULL)
			buf_adds(&words,
			    "; another machine has joined under this name, or "
			    "the password is wrong: give this one another name "
			    "with llmc config set fleet.host NAME, or type: "
			    "llmc fleet join");
		fail(book, is_refusal(book->conn, words.data), words.data);
	}
}

static int
look_up(void *arg)
{
	const struct postgres_book *book = arg;
	cleanup_buf struct buf out = BUF_INIT;
	struct postgres_address address = { 0 };
	struct err err = { 0 };
	int r = postgres_address_read(
	    book->base.database, book->base.host, &address, &err);

	if (r == 0)
		postgres_address_write(&address, &out);
	else
		fprintf(stderr, "%s\n", err.msg);
	postgres_address_release(&address);
	return r == 0 && file_write_all(STDOUT_FILENO, out.data, out.len) == 0 ?
	    0 :
	    1;
}

static void
on_looked_up(const struct child_result *result, void *arg)
{
	struct postgres_book *book = arg;
	struct postgres_address address = { 0 };
	cleanup_free char *name = xasprintf("llmc %s", book->base.host);
	cleanup_buf struct buf said = BUF_INIT, words = BUF_INIT;

	book->resolver = NULL;
	if (!child_succeeded(result)) {
		child_output_text(&result->err, &said);
		postgres_words(said.data, &words);
		fail(book, false,
		    words.len > 0 ? words.data :
				    "the name of the server could not be "
				    "looked up");
		return;
	}
	postgres_address_parse(
	    result->out.head.data, result->out.head.len, &address);
	postgres_address_set(&address, "application_name", name);
	postgres_address_set(&address, "options",
	    "-c search_path=" SHARED_SCHEMA_SQL
	    " -c statement_timeout=30000 -c lock_timeout=10000"
	    " -c idle_in_transaction_session_timeout=30000"
	    " -c tcp_keepalives_idle=15 -c tcp_keepalives_interval=5"
	    " -c tcp_keepalives_count=3 -c tcp_user_timeout=20000");
	postgres_address_rotate(&address, book->turn++);
	if (book->base.passfile != NULL && file_exists(book->base.passfile))
		postgres_address_set(&address, "passfile", book->base.passfile);
	book->conn =
	    libpq.connectStartParams((const char *const *)address.words,
		(const char *const *)address.values, 0);
	postgres_address_release(&address);
	if (book->conn == NULL)
		fail(book, false, "out of memory");
	else if (libpq.status(book->conn) == CONNECTION_BAD)
		fail_with_libpq(book);
	else {
		libpq.setNoticeProcessor(book->conn, quiet, NULL);
		watch(book, LOOP_WRITE);
	}
}

static void
begin(struct shared *shared)
{
	struct postgres_book *book = (struct postgres_book *)shared;
	const struct child_spec spec = { .call = look_up,
		.call_arg = book,
		.deadline_ms = 2 * POSTGRES_CONNECT_MS,
		.grace_ms = 100 };
	struct err err = { 0 };

	if (postgres_passfile_check(shared->passfile, &err) < 0) {
		shared_bar(shared, err.msg);
		return;
	}
	book->timer =
	    loop_after(shared->loop, POSTGRES_CONNECT_MS, on_late, book);
	if (child_spawn(shared->loop, &spec, on_looked_up, book,
		&book->resolver, &err) < 0)
		fail(book, false, err.msg);
}

/* --- asks --------------------------------------------------------------- */

static int
send_call(struct postgres_book *book, const struct shared_wait *wait, size_t n)
{
	enum shared_statement id = wait->calls[n].id;
	size_t count = wait->calls[n].count;
	cleanup_buf struct buf text = BUF_INIT;
	const char *values[16] = { NULL };
	char numbers[16][24];
	Oid types[16];

	shared_call_text(id, &text);
	for (size_t i = 0; i < count; i++) {
		const struct book_value *value = &wait->calls[n].values[i];

		types[i] = shared_takes_number(id, i) ? INT8_OID : TEXT_OID;
		if (value->type == BOOK_INT) {
			snprintf(numbers[i], sizeof numbers[i], "%lld",
			    (long long)value->number);
			values[i] = numbers[i];
		} else if (value->type == BOOK_TEXT) {
			values[i] = value->text;
		}
	}
	return libpq.sendQueryParams(
	    book->conn, text.data, (int)count, types, values, NULL, NULL, 0);
}

static void
send_waits(struct shared *shared)
{
	struct postgres_book *book = (struct postgres_book *)shared;
	struct shared_wait *wait = NULL;

	TAILQ_FOREACH (wait, &shared->waits, entry) {
		struct unit *unit;
		int sent = 1;

		if (wait->is_sent)
			continue;
		if (book->ending != END_NONE)
			return;
		for (size_t i = 0; i < wait->count && sent; i++)
			sent = send_call(book, wait, i);
		wait->is_sent = true; /* some of it, perhaps */
		unit = add_unit(book, UNIT_WAIT, sent);
		if (unit != NULL)
			unit->wait = wait;
	}
}

/* In a transaction of its own, which nobody waits for: within others it would
 * have all commits of the server stand in line. */
static void
hint(struct shared *shared, const char *word, const char *host)
{
	struct postgres_book *book = (struct postgres_book *)shared;
	cleanup_free char *text =
	    host != NULL ? xasprintf("%s %s", word, host) : xstrdup(word);
	const char *const values[] = { text };
	const Oid types[] = { TEXT_OID };

	if (!book->is_open || book->ending != END_NONE ||
	    book->unit_count > SHARED_ASKS_MAX)
		return;
	add_unit(book, UNIT_HINT,
	    libpq.sendQueryParams(book->conn,
		"select set_config('synchronous_commit','off',true),"
		"pg_notify('" SHARED_CHANNEL "',$1)",
		1, types, values, NULL, NULL, 0));
}

/* --- results ------------------------------------------------------------ */

/* Who we are there: of UNIT_OPEN. */
static void
opened(struct postgres_book *book, const PGresult *result)
{
	struct shared_rows rows = { 0 };
	struct err err = { 0 };
	const char *me;

	postgres_rows(result, &rows);
	if (book->opened == 0) {
		if (shared_check_meta(&rows, book->base.repository, &err) < 0)
			fail(book, true, err.msg);
	} else if (book->opened == 1 && rows.count == 1) {
		me = shared_text(&rows, 0, "me");
		if (me == NULL || strcmp(me, book->base.host) != 0) {
			err_set(&err, -EPERM,
			    "the role %s belongs to %s%s, not to %s; type: "
			    "llmc fleet join",
			    shared_text(&rows, 0, "role"),
			    me != NULL ? "the host " : "no host",
			    me != NULL ? me : "", book->base.host);
			fail(book, true, err.msg);
		}
		if (shared_text(&rows, 0, "identity") != NULL)
			snprintf(book->base.identity,
			    sizeof book->base.identity, "%s",
			    shared_text(&rows, 0, "identity"));
	}
	book->opened++;
	shared_rows_release(&rows);
}

static void
take_error(struct unit *unit, const PGresult *result)
{
	const char *state = libpq.resultErrorField(result, PG_DIAG_SQLSTATE);
	const char *words =
	    libpq.resultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
	cleanup_buf struct buf line = BUF_INIT;

	if (unit->err.code != 0)
		return;
	snprintf(
	    unit->state, sizeof unit->state, "%s", state != NULL ? state : "");
	if (words != NULL)
		postgres_words(words, &line);
	err_set(&unit->err, -EIO, "%s",
	    line.len > 0 ? line.data : "the server refused the statement");
}

static bool
is_state(const struct unit *unit, const char *prefix)
{
	return strncmp(unit->state, prefix, strlen(prefix)) == 0;
}

/* All of it has come, and is committed unless there was an error. */
static void
unit_done(struct postgres_book *book, struct unit *unit)
{
	struct shared_wait *wait = unit->wait;
	bool failed = unit->err.code != 0;

	if (unit->kind == UNIT_OPEN && failed) {
		if (is_state(unit, "42P01") || is_state(unit, "42883") ||
		    is_state(unit, "3F"))
			fail(book, true,
			    "there is no shared book in this database, or this "
			    "host has not joined; type: llmc fleet init, llmc "
			    "fleet join");
		else
			fail(book, is_state(unit, "42"), unit->err.msg);
	} else if (unit->kind == UNIT_OPEN && book->ending == END_NONE) {
		loop_timer_free(take_ptr(&book->timer));
		shared_set_state(&book->base, SHARED_UP, NULL);
	}
	if (unit->kind != UNIT_WAIT)
		return;
	if (!failed) {
		shared_answer_wait(&book->base, wait, SHARED_DONE, NULL);
	} else if (is_state(unit, "42883") || is_state(unit, "0A000")) {
		/* Our functions are gone: see what the tables are now. */
		fail(book, false, unit->err.msg);
	} else if (is_state(unit, "22") || is_state(unit, "23") ||
	    is_state(unit, "42") || is_state(unit, "54")) {
		shared_answer_wait(
		    &book->base, wait, SHARED_REFUSED, unit->err.msg);
	} else {
		shared_answer_wait(
		    &book->base, wait, SHARED_AWAY, unit->err.msg);
		if (is_state(unit, "25006") || is_state(unit, "57"))
			fail(book, false, unit->err.msg);
	}
}

static void
take_result(struct postgres_book *book, PGresult *result)
{
	struct unit *unit = TAILQ_FIRST(&book->units);
	struct shared_wait *wait = unit->wait;

	book->flood = 0;
	switch (libpq.resultStatus(result)) {
	case PGRES_PIPELINE_SYNC:
		TAILQ_REMOVE(&book->units, unit, entry);
		book->unit_count--;
		unit_done(book, unit);
		free(unit);
		break;
	case PGRES_TUPLES_OK:
	case PGRES_COMMAND_OK:
		if (unit->kind == UNIT_OPEN)
			opened(book, result);
		else if (unit->kind == UNIT_WAIT && wait->at < wait->count)
			postgres_rows(result, &wait->rows[wait->at++]);
		break;
	default:
		take_error(unit, result);
	}
}

static void
take_hints(struct postgres_book *book)
{
	PGnotify *notify;

	while ((notify = libpq.notifies(book->conn)) != NULL) {
		char *host = strchr(notify->extra, ' ');

		if (host != NULL)
			*host++ = '\0';
		if (strcmp(notify->extra, "schema") == 0)
			fail(book, false,
			    "the tables of the shared book have changed");
		else if (notify->be_pid != libpq.backendPID(book->conn))
			shared_hinted(&book->base, notify->extra, host);
		libpq.freemem(notify);
	}
}

static void
on_socket(int fd, unsigned what, void *arg)
{
	struct postgres_book *book = arg;
	PGresult *result;
	int waiting = 0, nothing = 0;

	if (book->ending != END_NONE)
		return;
	if (!book->is_open) {
		poll_connection(book);
		return;
	}
	if (what & LOOP_READ) {
		if (ioctl(fd, FIONREAD, &waiting) == 0 && waiting > 0)
			book->flood += (size_t)waiting;
		if (libpq.consumeInput(book->conn) == 0) {
			fail_with_libpq(book);
			return;
		}
		if (book->flood > FLOOD) {
			fail(book, false, "the server's answer is too long");
			return;
		}
	}
	/* Between the results of two statements there is a NULL. */
	while (book->ending == END_NONE && !TAILQ_EMPTY(&book->units) &&
	    !libpq.isBusy(book->conn) && nothing < 2) {
		result = libpq.getResult(book->conn);
		nothing = result == NULL ? nothing + 1 : 0;
		if (result != NULL)
			take_result(book, result);
		libpq.clear(result);
	}
	if (book->ending == END_NONE)
		take_hints(book);
	if (book->ending == END_NONE)
		flush(book);
}

/* --- life --------------------------------------------------------------- */

static void
end(struct shared *shared)
{
	loop_call_free(((struct postgres_book *)shared)->end);
}

static const struct shared_engine_ops ops = {
	.begin = begin,
	.send = send_waits,
	.drop = drop,
	.end = end,
	.hint = hint,
};

int
shared_postgres_new(
    const struct shared_options *options, struct shared **ret, struct err *err)
{
	struct postgres_book *book;
	int r = postgres_address_check(options->database, err);

	if (r < 0)
		return r;
	book = xcalloc(1, sizeof *book);
	shared_init(&book->base, &ops, options);
	TAILQ_INIT(&book->units);
	book->end = loop_call_new(options->loop, on_end, book);
	*ret = &book->base;
	return 0;
}
