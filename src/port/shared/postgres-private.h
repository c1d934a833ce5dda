/* SPDX-License-Identifier: ISC */

/* PostgreSQL: shared by the units of this folder that use libpq. */
#ifndef POSTGRES_PRIVATE_H
#define POSTGRES_PRIVATE_H

#include <libpq-fe.h>

#include "shared-private.h"

/*
 * What is used of libpq. It is loaded when a fleet in PostgreSQL is first
 * named: with it come two dozen libraries, which a daemon of one host does not
 * pay for and a machine without a fleet need not have.
 */
/* clang-format off */
#define LIBPQ_FUNCTIONS(X) \
	X(backendPID) X(clear) X(conndefaults) X(connectPoll) \
	X(connectStartParams) X(connectdbParams) X(connectionNeedsPassword) \
	X(conninfo) X(conninfoFree) X(conninfoParse) X(consumeInput) X(db) \
	X(encryptPasswordConn) X(enterPipelineMode) X(errorMessage) \
	X(escapeIdentifier) X(escapeLiteral) X(execParams) X(finish) \
	X(flush) X(fname) X(freemem) X(getResult) X(getisnull) X(getvalue) \
	X(isBusy) X(nfields) X(notifies) X(ntuples) X(pipelineSync) \
	X(resultErrorField) X(resultStatus) X(sendQueryParams) \
	X(setNoticeProcessor) X(setnonblocking) X(socket) X(sslInUse) \
	X(status) X(user)
/* clang-format on */

struct libpq {
/* A name that is declared. NOLINTNEXTLINE(bugprone-macro-parentheses) */
#define X(name) __typeof__(PQ##name) *name;
	LIBPQ_FUNCTIONS(X)
#undef X
};
extern struct libpq libpq;

#define POSTGRES_CONNECT_MS (15 * 1000) /* with the look-up of the name */

/*
 * An address as libpq wants it, with every default that is ours: words and
 * values, NULL terminated. Looking up names and reading service files waits, so
 * for the daemon it is done in a child.
 */
struct postgres_address {
	char *words[32], *values[32];
	size_t count;
};

/* Is it one, and without a password? Loads libpq; no other file is read and no
 * name looked up. Before any use of libpq. */
int postgres_address_check(const char *database, struct err *err);

/* host NULL: the user is the one of the address, or of this process; otherwise,
 * if the address names none, the role of that host. Released by the caller. */
int postgres_address_read(const char *database, const char *host,
    struct postgres_address *ret, struct err *err);
void postgres_address_release(struct postgres_address *address);
const char *postgres_address_get(
    const struct postgres_address *address, const char *word); /* NULL = none */
void postgres_address_set(
    struct postgres_address *address, const char *word, const char *value);

/* Begin with another of its servers: the first one may be one that lets nobody
 * know that it is not there. */
void postgres_address_rotate(struct postgres_address *address, size_t by);

/* Between processes: "word=value" with NULs after them. */
void
postgres_address_write(const struct postgres_address *address, struct buf *out);
void postgres_address_parse(
    const char *bytes, size_t len, struct postgres_address *ret);

/* What can be wrong with the file of passwords; "" and a missing one are
 * right. */
int postgres_passfile_check(const char *path, struct err *err);

/* The message of libpq on one line: about the last server if there are
 * several. */
void postgres_words(const char *message, struct buf *out);

void postgres_rows(const PGresult *result, struct shared_rows *ret);

#endif
