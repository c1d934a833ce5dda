/* SPDX-License-Identifier: ISC */

/* PostgreSQL, but for the connection of a host: libpq and addresses, and what
 * the owner of a database does. Most of it waits. */

#include "base.h"
#include "postgres-private.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <netdb.h>
#include <sys/stat.h>

#define ADDRESSES_MAX 16

struct libpq libpq;

static int
load(struct err *err)
{
	static const struct {
		const char *name;
		size_t at;
	} functions[] = {
#define X(name) { "PQ" #name, offsetof(struct libpq, name) },
		LIBPQ_FUNCTIONS(X)
#undef X
	};
	static void *library;

	if (library != NULL)
		return 0;
	library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
	if (library == NULL)
		return err_set(err, -EINVAL,
		    "fleet.database: PostgreSQL needs libpq, which is not "
		    "here (%s); install libpq5 (apt) or libpq (dnf)",
		    dlerror());
	for (size_t i = 0; i < nitems(functions); i++) {
		void *found = dlsym(library, functions[i].name);

		if (found == NULL) {
			dlclose(take_ptr(&library));
			return err_set(err, -EINVAL,
			    "fleet.database: libpq has no %s; llmc needs the "
			    "one of PostgreSQL 14 or newer",
			    functions[i].name);
		}
		memcpy((char *)&libpq + functions[i].at, &found, sizeof(found));
	}
	return 0;
}

int
postgres_address_check(const char *database, struct err *err)
{
	static const char *const secrets[] = { "password", "sslpassword" };
	PQconninfoOption *options, *option;
	char *words = NULL;
	int r;

	if (strncmp(database, "postgresql://", 13) != 0 &&
	    strncmp(database, "postgres://", 11) != 0 &&
	    strchr(database, '=') == NULL)
		return err_set(err, -EINVAL,
		    "fleet.database: %s: expected "
		    "postgresql://SERVER/DATABASE or service=NAME",
		    database);
	r = load(err);
	if (r < 0)
		return r;
	options = libpq.conninfoParse(database, &words);
	if (options == NULL) {
		cleanup_buf struct buf line = BUF_INIT;

		postgres_words(words != NULL ? words : "", &line);
		libpq.freemem(words);
		return err_set(err, -EINVAL, "fleet.database: %s", line.data);
	}
	for (option = options; option->keyword != NULL; option++)
		for (size_t i = 0; i < nitems(secrets); i++)
			if (option->val != NULL &&
			    strcmp(option->keyword, secrets[i]) == 0)
				r = err_set(err, -EINVAL,
				    "fleet.database: the address has a "
				    "password in it, which others can read; "
				    "put it in a file with mode 600 "
				    "(fleet.passfile), or use service=NAME");
	libpq.conninfoFree(options);
	return r;
}

void
postgres_address_release(struct postgres_address *address)
{
	for (size_t i = 0; i < address->count; i++) {
		free(address->words[i]);
		free(address->values[i]);
	}
	*address = (struct postgres_address){ 0 };
}

const char *
postgres_address_get(const struct postgres_address *address, const char *word)
{
	for (size_t i = 0; i < address->count; i++)
		if (strcmp(address->words[i], word) == 0)
			return address->values[i];
	return NULL;
}

void
postgres_address_set(
    struct postgres_address *address, const char *word, const char *value)
{
	for (size_t i = 0; i < address->count; i++)
		if (strcmp(address->words[i], word) == 0) {
			xstrset(&address->values[i], value);
			return;
		}
	if (address->count + 1 == nitems(address->words))
		fatalx("too many words in the address of a server");
	address->words[address->count] = xstrdup(word);
	address->values[address->count++] = xstrdup(value);
}

void
postgres_address_rotate(struct postgres_address *address, size_t by)
{
	static const char *const lists[] = { "host", "hostaddr", "port" };

	for (size_t i = 0; i < nitems(lists); i++) {
		const char *list = postgres_address_get(address, lists[i]);
		cleanup_free char *turned = NULL;
		size_t count = 1;
		const char *at = list;

		for (const char *c = list; c != NULL && *c != '\0'; c++)
			count += *c == ',';
		for (size_t n = by % count; n > 0; n--)
			at = strchr(at, ',') + 1;
		if (at == list)
			continue;
		turned = xasprintf("%s,%.*s", at, (int)(at - list - 1), list);
		postgres_address_set(address, lists[i], turned);
	}
}

void
postgres_address_write(const struct postgres_address *address, struct buf *out)
{
	for (size_t i = 0; i < address->count; i++) {
		buf_addf(out, "%s=%s", address->words[i], address->values[i]);
		buf_addc(out, '\0');
	}
}

void
postgres_address_parse(
    const char *bytes, size_t len, struct postgres_address *ret)
{
	const char *end = bytes + len;

	*ret = (struct postgres_address){ 0 };
	while (bytes < end && memchr(bytes, '\0', (size_t)(end - bytes))) {
		const char *equals = strchr(bytes, '=');

		if (equals != NULL && ret->count + 4 < nitems(ret->words)) {
			cleanup_free char *word =
			    xstrndup(bytes, (size_t)(equals - bytes));

			postgres_address_set(ret, word, equals + 1);
		}
		bytes += strlen(bytes) + 1;
	}
}

/* --- reading ------------------------------------------------------------ */

/* libpq reads the service file only on the way to a connection, which is closed
 * before it has begun; with an address it looks no name up. What is as libpq
 * has it without the file is left out: it has a value for every word, and ours
 * are stricter. */
static int
read_service(const char *service, struct postgres_address *to, struct err *err)
{
	const char *const words[] = { "service", "hostaddr", NULL };
	const char *const values[] = { service, "127.0.0.1", NULL };
	PGconn *conn = libpq.connectStartParams(words, values, 0);
	PQconninfoOption *options = libpq.conninfo(conn), *option;
	PQconninfoOption *defaults = libpq.conndefaults(), *other;
	int r = 0;

	for (option = options; option != NULL && option->keyword != NULL;
	     option++) {
		for (other = defaults; other != NULL && other->keyword != NULL;
		     other++)
			if (strcmp(other->keyword, option->keyword) == 0)
				break;
		if (option->val != NULL && *option->val != '\0' &&
		    (other == NULL || other->val == NULL ||
			strcmp(other->val, option->val) != 0) &&
		    strcmp(option->keyword, "hostaddr") != 0 &&
		    strcmp(option->keyword, "service") != 0 &&
		    to->count + 16 < nitems(to->words))
			postgres_address_set(to, option->keyword, option->val);
	}
	libpq.conninfoFree(defaults);
	if (postgres_address_get(to, "dbname") == NULL) {
		cleanup_buf struct buf line = BUF_INIT;

		postgres_words(libpq.errorMessage(conn), &line);
		r = err_set(err, -EINVAL, "service=%s: %s", service, line.data);
	}
	libpq.conninfoFree(options);
	libpq.finish(conn);
	return r;
}

static bool
is_loopback(const struct sockaddr *address)
{
	const struct sockaddr_in *four = (const void *)address;
	const struct sockaddr_in6 *six = (const void *)address;

	return address->sa_family == AF_INET ?
	    ntohl(four->sin_addr.s_addr) >> 24 == 127 :
	    address->sa_family == AF_INET6 &&
		IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
}

/* Lists of hosts, addresses and ports of the same length, for all addresses of
 * all hosts. *near: none is on another machine. */
static int
resolve(struct postgres_address *address, bool *near, struct err *err)
{
	const char *hosts = postgres_address_get(address, "host");
	const char *ports = postgres_address_get(address, "port");
	cleanup_free char *host_list = xstrdup(hosts != NULL ? hosts : "");
	cleanup_free char *port_list =
	    xstrdup(ports != NULL && *ports != '\0' ? ports : "5432");
	cleanup_buf struct buf names = BUF_INIT, numbers = BUF_INIT,
			       doors = BUF_INIT;
	char *host_at = host_list, *port_at = port_list, *host;
	const char *port = "5432";
	struct err why = { 0 };
	size_t found = 0;

	*near = true;
	while ((host = strsep(&host_at, ",")) != NULL) {
		const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
		struct addrinfo *list = NULL, *one;
		const char *own_port = strsep(&port_at, ",");
		int rc;

		if (own_port != NULL && *own_port != '\0')
			port = own_port;
		if (*host == '\0' || *host == '/' || *host == '@') {
			buf_addf(&names, "%s%s", found > 0 ? "," : "", host);
			buf_addf(&numbers, "%s", found > 0 ? "," : "");
			buf_addf(&doors, "%s%s", found > 0 ? "," : "", port);
			found++;
			continue;
		}
		rc = getaddrinfo(host, port, &hints, &list);
		if (rc != 0)
			err_set(&why, -EHOSTUNREACH, "%s: %s", host,
			    gai_strerror(rc));
		for (one = list;
		     rc == 0 && one != NULL && found < ADDRESSES_MAX;
		     one = one->ai_next) {
			char number[NI_MAXHOST];

			if (getnameinfo(one->ai_addr, one->ai_addrlen, number,
				sizeof number, NULL, 0, NI_NUMERICHOST) != 0)
				continue;
			buf_addf(&names, "%s%s", found > 0 ? "," : "", host);
			buf_addf(
			    &numbers, "%s%s", found > 0 ? "," : "", number);
			buf_addf(&doors, "%s%s", found > 0 ? "," : "", port);
			*near &= is_loopback(one->ai_addr);
			found++;
		}
		if (list != NULL)
			freeaddrinfo(list);
	}
	if (found == 0)
		return err_set(err, -EHOSTUNREACH, "%s",
		    why.code != 0 ? why.msg : "the server has no address");
	postgres_address_set(address, "host", names.data);
	postgres_address_set(address, "hostaddr", numbers.data);
	postgres_address_set(address, "port", doors.data);
	return 0;
}

int
postgres_address_read(const char *database, const char *host,
    struct postgres_address *ret, struct err *err)
{
	/* Cut cables are noticed on both sides; a hung statement ends. What the
	 * address says itself comes first. */
	static const char *const defaults[][2] = {
		{ "client_encoding", "UTF8" },
		{ "gssencmode", "disable" },
		{ "target_session_attrs", "read-write" },
		{ "keepalives", "1" },
		{ "keepalives_idle", "15" },
		{ "keepalives_interval", "5" },
		{ "keepalives_count", "3" },
		{ "tcp_user_timeout", "20000" },
	};
	struct postgres_address address = { 0 };
	PQconninfoOption *options, *option;
	const char *service = NULL;
	bool near = true;
	int r = postgres_address_check(database, err);

	if (r < 0)
		return r;
	options = libpq.conninfoParse(database, NULL);
	for (option = options; option->keyword != NULL; option++)
		if (strcmp(option->keyword, "service") == 0)
			service = option->val;
	if (service != NULL)
		r = read_service(service, &address, err);
	for (option = options; r == 0 && option->keyword != NULL; option++)
		if (option->val != NULL && option->val != service &&
		    address.count + 12 < nitems(address.words))
			postgres_address_set(
			    &address, option->keyword, option->val);
	libpq.conninfoFree(options);
	if (r == 0 && postgres_address_get(&address, "dbname") == NULL)
		r = err_set(err, -EINVAL,
		    "fleet.database: %s: the name of the database is missing",
		    database);
	if (r == 0 && host != NULL &&
	    postgres_address_get(&address, "user") == NULL) {
		cleanup_buf struct buf role = BUF_INIT;

		shared_role(
		    postgres_address_get(&address, "dbname"), host, &role);
		postgres_address_set(&address, "user", role.data);
	}
	if (r == 0)
		r = resolve(&address, &near, err);
	if (r < 0) {
		postgres_address_release(&address);
		return r;
	}
	for (size_t i = 0; i < nitems(defaults); i++)
		if (postgres_address_get(&address, defaults[i][0]) == NULL)
			postgres_address_set(
			    &address, defaults[i][0], defaults[i][1]);
	if (postgres_address_get(&address, "sslmode") == NULL)
		postgres_address_set(
		    &address, "sslmode", near ? "prefer" : "verify-full");
	*ret = address;
	return 0;
}

int
postgres_passfile_check(const char *path, struct err *err)
{
	struct stat file;

	if (path == NULL || *path == '\0' || stat(path, &file) == -1)
		return 0;
	if (!S_ISREG(file.st_mode) || (file.st_mode & 077) != 0)
		return err_set(err, -EPERM,
		    "%s: others may read the password; type: chmod 600 %s",
		    path, path);
	return 0;
}

/* With several servers there is a line for each, with more below it. */
void
postgres_words(const char *message, struct buf *out)
{
	static const char *const more[] = { "\t",
		"DETAIL:", "HINT:", "password retrieved" };
	const char *best = message;

	for (const char *line = message; *line != '\0';
	     line += strcspn(line, "\n"), line += *line == '\n') {
		bool is_more = *line == '\n';

		for (size_t i = 0; i < nitems(more); i++)
			is_more |= strncmp(line, more[i], strlen(more[i])) == 0;
		if (!is_more)
			best = line;
	}
	text_add_words(out, best, text_cut(best, strcspn(best, "\n"), 400));
}

void
postgres_rows(const PGresult *result, struct shared_rows *ret)
{
	size_t count = (size_t)libpq.ntuples(result);
	size_t width = (size_t)libpq.nfields(result);

	*ret = (struct shared_rows){ .count = count,
		.width = width,
		.names = xcalloc(width + 1, sizeof *ret->names),
		.cells = xcalloc(count * width + 1, sizeof *ret->cells) };
	for (size_t i = 0; i < width; i++)
		ret->names[i] = xstrdup(libpq.fname(result, (int)i));
	for (size_t i = 0; i < count * width; i++)
		if (!libpq.getisnull(
			result, (int)(i / width), (int)(i % width)))
			ret->cells[i] = xstrdup(libpq.getvalue(
			    result, (int)(i / width), (int)(i % width)));
}

/* --- the owner ----------------------------------------------------------- */

/*
 * What the owner of a PostgreSQL database does for a fleet: tables, functions,
 * rights and roles, each time in one transaction. Waits, so it is a program of
 * its own. Hosts are in a role without a login, llmc_DATABASE_hosts, which may
 * read all tables and call the functions of the statements, and nothing else.
 */

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

		if (step->version <= from)
			continue;
		version = step->version;
		min_writer = step->min_writer;
		shared_text_add(step->text, &text);
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
		r = run_format(
		    owner, "create role %s login connection limit 10", quoted);
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
	    (task->renews || !file_exists(task->passfile)))
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

static bool
is_let_in_by_join(const PGconn *conn, const char *words)
{
	return libpq.connectionNeedsPassword(conn) ||
	    strstr(words, "FATAL:") != NULL;
}

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
			r = err_set(owner->err, -EIO, "%s%s", words.data,
			    as_host &&
				    is_let_in_by_join(owner->conn, words.data) ?
				"; to let this host in, type: llmc fleet "
				"join" :
				!as_host && owner->task->owner == NULL ?
				"; this needs the rights of the "
				"database's owner: --owner URL" :
				"");
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
