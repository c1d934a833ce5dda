/* SPDX-License-Identifier: ISC */

/*
 * A PostgreSQL server for all tests of a program. Where there is none, or llmc
 * was built without libpq, the tests that need it are skipped.
 */
#ifndef POSTGRES_WORLD_H
#define POSTGRES_WORLD_H

#include <sys/types.h>

/* For unit_begin(): start it. It ends with the program, however that ends. */
void postgres_serve(void);
/* Its process; 0: there is none. */
pid_t postgres_server(void);
/* Skip this test if there is none. */
void postgres_need(void);

/* Its folder, which is also its socket's; others may not enter it. */
const char *postgres_folder(void);
int postgres_port(void);
/* The address of the owner of the database llmc. The caller frees. */
char *postgres_owner(void);

/* The first cell that a statement gives, or "ERROR words". Valid until the next
 * one. */
const char *postgres_sql(const char *address, const char *sql);

/* The statements run on a connection that stays open, until others have run on
 * it, too. */
void *postgres_hold(const char *address, const char *sql);
void postgres_let_go(void *conn, const char *sql);

#endif
