/* SPDX-License-Identifier: ISC */

/*
 * The shared book: what the hosts of a fleet have in common, in PostgreSQL.
 * This is all that is ever asked of it, and its tables. Pure: port/shared runs
 * it.
 *
 * A host may read every table. It writes only by statements of this table,
 * which become functions with the rights of the owner (shared_function()): what
 * a statement does not do, a host cannot do. me() is the host of the connection
 * and now_ms() the time of the database; a host says neither. Nor does it say
 * how long a lease or how old a row is: that is in the statements. A host may
 * be hostile, or its password stolen: what each statement leaves to it is in
 * docs/fleet.md.
 *
 * Every statement that writes gives a row for each that it changed. No row
 * means that it was not allowed: another fence, another boot, another state.
 * All may be sent again after an unknown outcome.
 *
 * Text of a statement: $1, $2, ... are the values; every column has its table
 * in front; times in milliseconds; flags 0 and 1; JSON as text; {lease} is the
 * time of a lease (shared_text_add()).
 */
#ifndef SHARED_STATEMENTS_H
#define SHARED_STATEMENTS_H

struct buf;

/* The version of the tables that this llmc reads and writes. A book with an
 * older one needs `llmc fleet migrate`; one whose min_writer is above it
 * refuses us. */
#define SHARED_SCHEMA     1
#define SHARED_CHANNEL    "llmc" /* of LISTEN */
#define SHARED_SCHEMA_SQL "llmc" /* schema of the tables */

#define SHARED_LOST_MAX 3 /* a task whose hosts were lost so often is held */
#define SHARED_ROWS_MAX 1000 /* of a statement that lists without an end */
#define SHARED_TEXT_MAX (1024 * 1024) /* of one value */

enum shared_statement {
	/* The book itself. */
	SHARED_META, /* keys and values: schema_version, min_writer, ... */

	/* A server that has lost its last commits: another one, an older copy,
	 * or $1=1: a host has seen that. doubt, with know_server, before hello:
	 * nothing is claimed from then on. doubted: no row = the branch is not;
	 * missing: hosts that have not been here since. Each host says what it
	 * knows (open_tasks: all of mine that have not ended; restore: a claim
	 * that was lost). The lander of a branch says what that has (found),
	 * and ends the doubt for it, once no host is missing or a lease is
	 * over: trust. */
	SHARED_DOUBT,
	SHARED_KNOW_SERVER,
	SHARED_DOUBTED,
	SHARED_OPEN,
	SHARED_RESTORE,
	SHARED_FOUND,
	SHARED_TRUST,

	/* This host. hello: no row = not joined, or another daemon uses this
	 * name; with adopt in one transaction. beat: no row =
	 * lost, or another boot; it has read all changes up to read_to, and
	 * has them in its own book. leave: no row = it still holds a task. */
	SHARED_HELLO,
	SHARED_ADOPT,
	SHARED_HOLD, /* which tasks do I hold? */
	SHARED_BEAT,
	SHARED_HOST_VIEW,
	SHARED_CAN_CLEAR,
	SHARED_CAN_SET,
	SHARED_LEAVE,

	/* All hosts. The two of steal belong into one transaction, with
	 * attempts_close. */
	SHARED_HOSTS,
	SHARED_HOST_CANS, /* all words of all hosts */
	SHARED_DRAIN, /* this one */
	SHARED_STEAL_HOSTS,
	SHARED_STEAL_TASKS,

	/* Tasks, by their owner. publish again replaces what still waits. */
	SHARED_PUBLISH,
	SHARED_WANTS_CLEAR,
	SHARED_PUBLISH_WANT,
	SHARED_PUBLISH_PARENT,
	SHARED_REPRIORITISE,
	SHARED_DROP,
	SHARED_INHERIT, /* children of a task that I hold, whose owner is lost
			 */
	SHARED_REQUEUE, /* held, failed: once more, and all is forgiven */
	SHARED_DENY, /* what a lander called landed is not on the branch */

	/* Tasks, by their runner, for its branch. claim: one whose label is in
	 * use nowhere; claim_any: whatever its label; claim_one: this one.
	 * attempts_begin goes into the same transaction: a row for each task
	 * and fence, with the boot that began it. */
	SHARED_CLAIM,
	SHARED_CLAIM_ANY,
	SHARED_CLAIM_ONE,
	SHARED_ATTEMPTS_BEGIN,
	SHARED_SUBMIT,
	SHARED_FINISH,
	SHARED_GIVE_BACK,
	SHARED_ATTEMPTS_CLOSE, /* all whose task has gone on without them */

	/* Tasks, read. changes: those that I own or hold, changed at or after
	 * $1; transactions overlap, so ask again for some time before the last
	 * row. */
	SHARED_CHANGES,
	SHARED_GLANCE, /* how many changed after $1, and what else waits */
	SHARED_TASK_READ,
	SHARED_CHILDREN, /* of a task */
	SHARED_TASKS, /* all that have not ended, without their bodies */
	SHARED_TASK_COUNTS, /* of those that some host works on, or may soon */
	SHARED_NOBODY_CAN, /* of mine: no host that is up has all it wants */
	SHARED_ATTEMPTS, /* of a task */

	/* Landing. A lander is known by branch, fence, host and boot; land and
	 * eject refuse all others, and take only what was submitted, with its
	 * fence. What land and found say counts once the owner of the task has
	 * seen it on the branch; else it says deny. */
	SHARED_LANDER_TAKE,
	SHARED_LANDER_RENEW,
	SHARED_LANDER_LEAVE,
	SHARED_READY,
	SHARED_LAND,
	SHARED_EJECT,

	/* Letters: how one host asks another. */
	SHARED_LETTER_POST,
	SHARED_LETTER_TAKE, /* the open ones to me */
	SHARED_LETTER_DONE,
	SHARED_LETTER_READ, /* of mine */
	SHARED_LETTER_DROP, /* of mine, and not done yet */

	/* What a host shows to the others, or shares with them. */
	SHARED_SPEND_PUT,
	SHARED_SPEND_SUM,
	SHARED_QUOTA_PUT,
	SHARED_QUOTA_LIMIT,
	SHARED_QUOTA_READ,
	SHARED_EVENT_ADD,
	SHARED_EVENTS, /* of the others, the newest first */

	/* What ended a day ago, at most SHARED_ROWS_MAX rows each. A task whose
	 * owner or runner has not read how it ended stays for a month; so do
	 * events, and a letter that was not taken. */
	SHARED_PRUNE_TASKS,
	SHARED_PRUNE_LETTERS,
	SHARED_PRUNE_EVENTS,
	SHARED_PRUNE_SPEND, /* older than 40 days */

	SHARED_STATEMENT_COUNT
};

struct shared_row {
	const char *name; /* "claim" */
	const char *takes; /* the values: "boot text, lease bigint"; or "" */
	const char *gives; /* the columns of a row, in the same form; NULL =
			    * it only reads: no function is made of it */
	const char *text;
	/* Others are told this word when a row was changed; NULL = nobody. Only
	 * the host in the column `tells_to` of a row, unless that is NULL. */
	const char *tells, *tells_to;
};

extern const struct shared_row shared_statements[SHARED_STATEMENT_COUNT];

/* How many values it takes, and whether value n (from 0) is a number. */
size_t shared_takes(enum shared_statement id);
bool shared_takes_number(enum shared_statement id, size_t n);

/* Append a text of this file; the time of a lease is put in. */
void shared_text_add(const char *text, struct buf *out);

/* --- tables ------------------------------------------------------------- */

/* A step from one version of the tables to the next; many rows have the same
 * version. */
struct shared_ddl {
	int version;
	int min_writer; /* who is older may not write any more */
	const char *text;
};

extern const struct shared_ddl shared_ddl_rows[];
extern const size_t shared_ddl_count;

/* The names of the tables, NULL terminated: what hosts may read. */
extern const char *const shared_tables[];

/* What only the owner does. join ($1 host) gives nr; meta_put ($1 key, $2
 * value). */
extern const char shared_join_text[];
extern const char shared_meta_put_text[];

/* Append the function of a statement that writes: NAME_VERSION.
 * A book that refuses old writers has no functions of their version. */
void shared_function(enum shared_statement id, int version, struct buf *out);

/* Append what a host sends for this statement. */
void shared_call_text(enum shared_statement id, struct buf *out);

/* Append the role of a host, if the address names none:
 * llmc_DATABASE_HOST, in at most 63 bytes. */
void shared_role(const char *database, const char *host, struct buf *out);

#endif
