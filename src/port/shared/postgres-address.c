/* SPDX-License-Identifier: ISC */

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
		    "here (%s); install libpq5 (apt) or libpq (dnf), or use "
		    "sqlite:/FILE",
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
		    "postgresql://SERVER/DATABASE, service=NAME or "
		    "sqlite:/FILE",
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
