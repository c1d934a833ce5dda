/* SPDX-License-Identifier: ISC */

/*
 * What the owner of a PostgreSQL database does for a fleet: tables, functions,
 * rights and roles, each time in one transaction. Waits, so it is a program of
 * its own. Hosts are in a role without a login, llmc_DATABASE_hosts, which may
 * read all tables and call the functions of the statements, and nothing else.
 */
#include "base.h"
#include "postgres-private.h"

#define PASSWORD_BYTES 24

struct owner {
	const struct shared_owner_task *task;
	PGconn *conn;
	char *group, *group_name; /* quoted, and as it is */
	struct json_object *report;
	struct err *err;
};

/* A statement; rows may be NULL. */
static int
run(struct owner *owner, const char *text, const char *const *values, int count,
    struct shared_rows *rows)
{
	PGresult *result = libpq.execParams(
	    owner->conn, text, count, NULL, values, NULL, NULL, 0);
	ExecStatusType status = libpq.resultStatus(result);
	cleanup_buf struct buf words = BUF_INIT;
	const char *said =
	    libpq.resultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
	int r = 0;

	if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) {
		if (rows != NULL)
			postgres_rows(result, rows);
	} else {
		postgres_words(libpq.errorMessage(owner->conn), &words);
		r = err_set(
		    owner->err, -EIO, "%s", said != NULL ? said : words.data);
	}
	libpq.clear(result);
	return r;
}

static int run_format(struct owner *owner, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static int
run_format(struct owner *owner, const char *format, ...)
{
	cleanup_buf struct buf text = BUF_INIT;
	va_list list;

	va_start(list, format);
	buf_vaddf(&text, format, list);
	va_end(list);
	return run(owner, text.data, NULL, 0, NULL);
}

static int
put_meta(struct owner *owner, const char *key, const char *value)
{
	const char *const values[] = { key, value };

	return run(owner, shared_meta_put_text, values, 2, NULL);
}

/* --- tables, functions, rights ------------------------------------------ */

/* The functions of writers that are too old for the tables go. */
static int
drop_old_functions(struct owner *owner, int64_t min_writer)
{
	struct shared_rows rows = { 0 };
	cleanup_free char *text = xasprintf(
	    "select pg_proc.oid::regprocedure::text as name from pg_proc "
	    "where pronamespace='" SHARED_SCHEMA_SQL "'::regnamespace and "
	    "proname ~ '_[0-9]+$' and substring(proname from "
	    "'_([0-9]+)$')::int<%lld",
	    (long long)min_writer);
	int r = run(owner, text, NULL, 0, &rows);

	for (size_t i = 0; i < rows.count && r == 0; i++)
		r = run_format(
		    owner, "drop function %s", shared_text(&rows, i, "name"));
	shared_rows_release(&rows);
	return r;
}

/* New ones are nobody's at first. */
static int
grant(struct owner *owner)
{
	static const char *const forms[] = {
		"revoke all on all functions in schema " SHARED_SCHEMA_SQL
		" from public",
		"revoke all on all tables in schema " SHARED_SCHEMA_SQL
		" from public",
		"grant usage on schema " SHARED_SCHEMA_SQL " to %s",
		"grant select on all tables in schema " SHARED_SCHEMA_SQL
		" to %s",
		"grant execute on all functions in schema " SHARED_SCHEMA_SQL
		" to %s",
	};
	int r = 0;

	for (size_t i = 0; i < nitems(forms) && r == 0; i++) {
		const char *at = strstr(forms[i], "%s");

		r = at == NULL ?
		    run(owner, forms[i], NULL, 0, NULL) :
		    run_format(owner, "%.*s%s", (int)(at - forms[i]), forms[i],
			owner->group);
	}
	return r;
}

static int
make_tables(struct owner *owner, int64_t from)
{
	const struct shared_owner_task *task = owner->task;
	int64_t version = from, min_writer = 0;
	char number[24];
	int r = 0;

	for (size_t i = 0; i < task->step_count && r == 0; i++) {
		const struct shared_ddl *step = &task->steps[i];
		cleanup_buf struct buf text = BUF_INIT;

		if (step->version <= from || step->engine == SHARED_SQLITE)
			continue;
		version = step->version;
		min_writer = step->min_writer;
		shared_text_for(SHARED_POSTGRES, step->text, &text);
		r = run(owner, text.data, NULL, 0, NULL);
	}
	json_set_int(owner->report, "schemaVersion", version);
	if (r < 0 || version == from)
		return r;
	for (int i = 0; i < SHARED_STATEMENT_COUNT && r == 0; i++) {
		cleanup_buf struct buf text = BUF_INIT;

		if (shared_statements[i].gives == NULL)
			continue;
		shared_function((enum shared_statement)i, (int)version, &text);
		r = run(owner, text.data, NULL, 0, NULL);
		if (r < 0)
			err_prefix(owner->err, "%s", shared_statements[i].name);
	}
	if (r == 0)
		r = drop_old_functions(owner, min_writer);
	if (r == 0)
		r = grant(owner);
	snprintf(number, sizeof number, "%lld", (long long)version);
	if (r == 0)
		r = put_meta(owner, "schema_version", number);
	snprintf(number, sizeof number, "%lld", (long long)min_writer);
	if (r == 0)
		r = put_meta(owner, "min_writer", number);
	/* All hosts look at the tables again. */
	return r == 0 ?
	    run(owner, "notify " SHARED_CHANNEL ", 'schema'", NULL, 0, NULL) :
	    r;
}

static int
init(struct owner *owner)
{
	struct shared_rows there = { 0 };
	const char *const name[] = { owner->group_name };
	int r = run(owner, "create schema if not exists " SHARED_SCHEMA_SQL,
	    NULL, 0, NULL);

	if (r == 0)
		r = run(owner, "select 1 from pg_roles where rolname=$1", name,
		    1, &there);
	if (r == 0 && there.count == 0)
		r = run_format(owner, "create role %s nologin", owner->group);
	shared_rows_release(&there);
	if (r == 0)
		r = make_tables(owner, 0);
	if (r == 0 && owner->task->repository != NULL)
		r = put_meta(owner, "repository", owner->task->repository);
	return r;
}

/* --- a host -------------------------------------------------------------- */

/* A new password, in a file that the host reads; the server gets a hash. */
static int
set_password(struct owner *owner, const char *role, const char *quoted)
{
	const struct shared_owner_task *task = owner->task;
	unsigned char bytes[PASSWORD_BYTES];
	char password[2 * PASSWORD_BYTES + 1];
	cleanup_buf struct buf line = BUF_INIT;
	char *hash, *literal;
	int r;

	arc4random_buf(bytes, sizeof bytes);
	for (size_t i = 0; i < sizeof bytes; i++)
		snprintf(password + 2 * i, 3, "%02x", bytes[i]);
	hash = libpq.encryptPasswordConn(
	    owner->conn, password, role, "scram-sha-256");
	literal = hash != NULL ?
	    libpq.escapeLiteral(owner->conn, hash, strlen(hash)) :
	    NULL;
	libpq.freemem(hash);
	if (literal == NULL)
		return err_set(
		    owner->err, -EIO, "%s", libpq.errorMessage(owner->conn));
	r = run_format(owner, "alter role %s password %s", quoted, literal);
	libpq.freemem(literal);
	if (r < 0)
		return r;
	buf_adds(&line, "*:*:*:");
	for (const char *c = role; *c != '\0'; c++)
		buf_addf(
		    &line, "%s%c", *c == ':' || *c == '\\' ? "\\" : "", *c);
	buf_addf(&line, ":%s\n", password);
	r = file_replace(task->passfile, line.data, line.len, 0600, owner->err);
	if (r == 0)
		json_set_string(owner->report, "passfile", task->passfile);
	return r;
}

static int
join(struct owner *owner)
{
	const struct shared_owner_task *task = owner->task;
	struct postgres_address address = { 0 };
	struct shared_rows rows = { 0 };
	const char *role, *values[2];
	char *quoted;
	bool is_new;
	int r = postgres_address_read(
	    task->database, task->host, &address, owner->err);

	if (r < 0)
		return r;
	role = postgres_address_get(&address, "user");
	if (role == NULL)
		role = libpq.user(owner->conn);
	quoted = libpq.escapeIdentifier(owner->conn, role, strlen(role));
	values[0] = role;
	values[1] = task->host;
	r = run(
	    owner, "select 1 from pg_roles where rolname=$1", values, 1, &rows);
	is_new = rows.count == 0;
	shared_rows_release(&rows);
	if (r == 0 && is_new)
		r = run_format(owner, "create role %s login", quoted);
	if (r == 0)
		r = run_format(owner, "grant %s to %s", owner->group, quoted);
	if (r == 0)
		r = run(owner,
		    "insert into host_role(role,host) values($1,$2) on "
		    "conflict(role) do update set host=excluded.host",
		    values, 2, NULL);
	if (r == 0)
		r = run(owner, shared_join_text, values + 1, 1, &rows);
	if (r == 0 && rows.count == 1)
		json_set_int(owner->report, "nr", shared_int(&rows, 0, "nr"));
	shared_rows_release(&rows);
	/* A role that was there before has its own way in: a certificate, a
	 * password. */
	if (r == 0 && task->passfile != NULL && *task->passfile != '\0' &&
	    (is_new || strncmp(role, "llmc_", 5) == 0) &&
	    !file_exists(task->passfile))
		r = set_password(owner, role, quoted);
	json_set_string(owner->report, "role", role);
	libpq.freemem(quoted);
	postgres_address_release(&address);
	return r;
}

/* --- check ---------------------------------------------------------------- */

/* As the host: may it all be asked, and how far away is the server? */
static int
check(struct owner *owner)
{
	struct shared_rows rows = { 0 };
	const char *host = owner->task->host;
	int64_t begin, now;
	int r = run(owner,
	    "select me() as me,now_ms() as now,server_identity() as identity,"
	    "current_setting('max_connections') as most,"
	    "current_setting('server_version') as version,"
	    "(select count(*) from pg_stat_activity) as used,"
	    "(select count(*) from pg_proc where "
	    "pronamespace='llmc'::regnamespace and "
	    "has_function_privilege(pg_proc.oid,'execute')) as functions",
	    NULL, 0, &rows);
	const char *me = r == 0 ? shared_text(&rows, 0, "me") : NULL;

	if (r == 0 && (me == NULL || strcmp(me, host) != 0))
		r = err_set(owner->err, -EPERM,
		    "the role %s belongs to %s, not to %s; type: llmc fleet "
		    "join",
		    libpq.user(owner->conn), me != NULL ? me : "no host", host);
	if (r == 0) {
		json_set_string(owner->report, "host", me);
		json_set_string(owner->report, "role", libpq.user(owner->conn));
		json_set_string(
		    owner->report, "server", shared_text(&rows, 0, "version"));
		json_set_string(owner->report, "identity",
		    shared_text(&rows, 0, "identity"));
		json_set_int(
		    owner->report, "connections", shared_int(&rows, 0, "used"));
		json_set_int(owner->report, "connectionsMax",
		    shared_int(&rows, 0, "most"));
		json_set_bool(
		    owner->report, "tls", libpq.sslInUse(owner->conn));
		json_set_int(owner->report, "clockMs",
		    shared_int(&rows, 0, "now") - clock_wall_ms());
	}
	shared_rows_release(&rows);
	begin = clock_mono_us();
	if (r == 0)
		r = run(owner, "select 1", NULL, 0, NULL);
	now = clock_mono_us();
	json_set_int(owner->report, "roundTripUs", now - begin);
	return r;
}

/* --- the door ------------------------------------------------------------- */

static int
connect_to(struct owner *owner, const char *where, bool as_host)
{
	struct postgres_address address = { 0 };
	int r = postgres_address_read(
	    where, as_host ? owner->task->host : NULL, &address, owner->err);

	if (r < 0)
		return r;
	postgres_address_set(&address, "connect_timeout", "10");
	postgres_address_set(&address, "application_name", "llmc fleet");
	postgres_address_set(&address, "options",
	    "-c search_path=" SHARED_SCHEMA_SQL
	    " -c statement_timeout=60000 -c lock_timeout=20000");
	if (as_host && owner->task->passfile != NULL &&
	    file_exists(owner->task->passfile)) {
		r = postgres_passfile_check(owner->task->passfile, owner->err);
		postgres_address_set(
		    &address, "passfile", owner->task->passfile);
	}
	if (r == 0) {
		owner->conn =
		    libpq.connectdbParams((const char *const *)address.words,
			(const char *const *)address.values, 0);
		if (libpq.status(owner->conn) != CONNECTION_OK) {
			cleanup_buf struct buf words = BUF_INIT;

			postgres_words(libpq.errorMessage(owner->conn), &words);
			r = err_set(owner->err, -EIO, "%s; %s", words.data,
			    as_host ? "to let this host in, type: llmc fleet "
				      "join" :
				      "this needs the rights of the "
				      "database's owner: --owner URL");
		}
	}
	postgres_address_release(&address);
	return r;
}

static void
quiet(void *arg, const char *message)
{
	(void)arg;
	(void)message;
}

static int
act(struct owner *owner)
{
	const char *verb = owner->task->verb;
	struct shared_rows meta = { 0 };
	struct shared_rows there = { 0 };
	int64_t version = 0;
	int r = run(owner,
	    "select 1 from pg_class where relname='meta' and relnamespace=("
	    "select oid from pg_namespace where nspname='" SHARED_SCHEMA_SQL
	    "')",
	    NULL, 0, &there);

	if (r == 0 && there.count > 0)
		r = run(
		    owner, shared_statements[SHARED_META].text, NULL, 0, &meta);
	shared_rows_release(&there);
	for (size_t i = 0; i < meta.count; i++)
		if (strcmp(shared_text(&meta, i, "key"), "schema_version") == 0)
			version = shared_int(&meta, i, "value");
	if (r == 0 && version == 0 && strcmp(verb, "init") != 0)
		r = err_set(owner->err, -ENOENT,
		    "there is no shared book in this database; make it with: "
		    "llmc fleet init");
	else if (r == 0 && version > 0 && strcmp(verb, "migrate") != 0)
		r = shared_check_meta(
		    &meta, owner->task->repository, owner->err);
	shared_rows_release(&meta);
	if (r < 0)
		return r;
	json_set_int(owner->report, "schemaVersion", version);
	return strcmp(verb, "check") == 0 ? check(owner) :
	    strcmp(verb, "join") == 0     ? join(owner) :
	    strcmp(verb, "migrate") == 0  ? make_tables(owner, version) :
	    version == 0                  ? init(owner) :
					    0;
}

int
shared_postgres_owner(const struct shared_owner_task *task,
    struct json_object *report, struct err *err)
{
	struct owner owner = { .task = task, .report = report, .err = err };
	bool as_host = strcmp(task->verb, "check") == 0;
	int r =
	    connect_to(&owner, as_host ? task->database : task->owner, as_host);

	if (r == 0) {
		cleanup_free char *group =
		    xasprintf("llmc_%s_hosts", libpq.db(owner.conn));

		libpq.setNoticeProcessor(owner.conn, quiet, NULL);
		group[strnlen(group, 63)] = '\0';
		owner.group_name = group;
		owner.group =
		    libpq.escapeIdentifier(owner.conn, group, strlen(group));
		r = run(&owner, "begin", NULL, 0, NULL);
		if (r == 0)
			r = act(&owner);
		if (r == 0)
			r = run(&owner, "commit", NULL, 0, NULL);
		libpq.freemem(owner.group);
	}
	libpq.finish(owner.conn);
	return r;
}
