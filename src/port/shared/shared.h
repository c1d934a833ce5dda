/* SPDX-License-Identifier: ISC */

/*
 * The shared book (model/hosts/shared-statements): one connection of this host
 * to it, on the loop. autod alone links this.
 *
 * fleet.database says where it is: "postgresql://server/database" (or the
 * keyword form, "service=..."). The connection is made, checked and made again
 * by itself; nothing here waits. Passwords are in fleet.passfile or in a
 * service file, never in the address.
 */
#ifndef SHARED_H
#define SHARED_H

#include "book.h"
#include "shared-statements.h"

struct loop;
struct shared;
struct workspace;

enum shared_state {
	SHARED_CONNECTING, /* also while it is away: tried again by itself */
	SHARED_UP,
	SHARED_BARRED /* it answers, but not to us: words say what to do;
		       * tried again, rarely */
};

struct shared_options {
	struct loop *loop;
	const char *database; /* fleet.database */
	const char *passfile; /* NULL or "" = none */
	const char *host; /* our name: fleet.host */
	const char *repository; /* id of its first commit; another one than in
				 * the book is refused. NULL = not checked */
	/* The state has changed, or the words for it. Called from the loop. */
	void (*state)(enum shared_state state, const char *words, void *arg);
	/* A hint that something has changed for us, which may come late, twice
	 * or never: look every 30 s in any case. word is shared_row.tells, or
	 * "all" where it cannot be told. Must not free the connection. */
	void (*notified)(const char *word, void *arg);
	void *arg;
};

/* Append the name of this host: as fleet.host says, else the machine's, up to
 * the first dot. */
void shared_host_name(const char *setting, struct buf *out);

/* The id that this clone joined with, for shared_options.repository: kept by
 * llmc fleet join, as git takes long to find it in a large history. The caller
 * frees; NULL = it has not joined. */
#define SHARED_REPOSITORY_FILE "fleet.repository" /* in .llmc */
char *shared_repository(const struct workspace *workspace);

/* -EINVAL with words: the address is wrong, has a password in it, or this
 * llmc was built without PostgreSQL. Connecting begins at once. */
int shared_new(
    const struct shared_options *options, struct shared **ret, struct err *err);
/* Nobody is called any more. NULL is ignored. */
void shared_free(struct shared *shared);

enum shared_state shared_state(const struct shared *shared);
const char *shared_words(const struct shared *shared); /* "" = none */

/* Which server this is, and which of its histories; valid until the next
 * connection. "" = not known. If it is another one than before, what was
 * committed last may be missing: compare with the branch. */
const char *shared_identity(const struct shared *shared);

/* --- asking ------------------------------------------------------------- */

struct shared_call {
	enum shared_statement id;
	const struct book_value *values; /* as many as it takes */
	size_t count;
};

/* SHARED_CALL(SHARED_BEAT, BOOK_T(boot), BOOK_I(300000), BOOK_I(0)) */
#define SHARED_CALL(statement, ...) \
	((struct shared_call){ (statement), BOOK_VALUES(__VA_ARGS__) })
#define SHARED_CALL0(statement) ((struct shared_call){ (statement), NULL, 0 })

/* The rows of one call, as text. */
struct shared_rows {
	size_t count;
	size_t width; /* columns */
	char **names; /* of the columns */
	char **cells; /* count * width; NULL is null */
};

struct shared_answer {
	enum {
		SHARED_DONE, /* all calls, committed */
		SHARED_AWAY, /* unknown: it may have happened, or not */
		SHARED_REFUSED /* did not happen, and will not: words */
	} verdict;
	const char *words; /* unless it is done */
	const struct shared_rows *of; /* of each call */
	size_t calls;
};

typedef void shared_fn(const struct shared_answer *answer, void *arg);

/* At most so many asks wait, of so many bytes in all. */
#define SHARED_ASKS_MAX  256
#define SHARED_CALLS_MAX 64 /* of one ask */
#define SHARED_BYTES_MAX ((size_t)8 * 1024 * 1024)
#define SHARED_CELL_MAX  ((size_t)1024 * 1024) /* of one value */

/* Run the calls as one transaction. fn is called once, from the loop, at the
 * latest after deadline_ms: never from inside this function. Asks are sent in
 * their order, and only while the book is up: otherwise the answer is
 * SHARED_AWAY. Values are copied. */
void shared_ask(struct shared *shared, const struct shared_call *calls,
    size_t count, int64_t deadline_ms, shared_fn *fn, void *arg);

/* Nobody with this arg is called any more; what was asked still happens. */
void shared_forget(struct shared *shared, const void *arg);

/* A cell of row n. A column that the statement does not have is fatal. */
const char *
shared_text(const struct shared_rows *rows, size_t n, const char *column);
int64_t shared_int(const struct shared_rows *rows, size_t n,
    const char *column); /* null is 0 */

/* --- the owner ---------------------------------------------------------- */

/* For a program of its own (`autod --fleet`), which may wait: the tables are
 * made or changed, and hosts let in, by the owner of the database. */
struct shared_owner_task {
	const char *verb; /* "init", "migrate", "join", "check" */
	const char *database; /* fleet.database */
	const char *owner; /* address with the rights of the owner; NULL = the
			    * same */
	const char *passfile; /* of the host; join writes the password there */
	bool renews; /* also if the file is there: it is not the user's */
	const char *host; /* join */
	const char *repository; /* init */
	/* The steps; tests have more. NULL = shared_ddl_rows. */
	const struct shared_ddl *steps;
	size_t step_count;
};

/* *ret: what was found or done, for people and programs. */
int shared_owner_run(const struct shared_owner_task *task,
    struct json_object **ret, struct err *err);

#endif
