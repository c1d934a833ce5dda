/* SPDX-License-Identifier: ISC */

/* PostgreSQL: shared by the units of this folder that use libpq. */
#ifndef POSTGRES_PRIVATE_H
#define POSTGRES_PRIVATE_H

#include <libpq-fe.h>

#include "shared-private.h"

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

/* Is it one, and without a password? No file is read and no name looked up. */
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
