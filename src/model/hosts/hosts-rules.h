/* SPDX-License-Identifier: ISC */

/*
 * Rules for hosts that share tasks through one database (the shared book).
 * Owner of a task is the host whose source gave it: it has the task in its own
 * state, and settles it. Runner is the host that has claimed it. Pure; the time
 * is an argument.
 *
 * Git decides what has landed, the database decides who has a task, and its
 * clock how long. A host that cannot reach it judges its own lease by a clock
 * that nobody sets, from the moment at which it asked for it.
 */
#ifndef HOSTS_RULES_H
#define HOSTS_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "settings-table.h"

struct schema;
struct task;

#define HOSTS_LEASE_MS  tuning.host_lease
#define HOSTS_BEAT_MS   tuning.host_beat
#define HOSTS_POLL_MS   tuning.host_poll /* notifications are hints */
#define HOSTS_ANSWER_MS ((int64_t)20 * 1000) /* deadline of a request */
#define HOSTS_LOST_MAX                                        \
	3 /* hosts that were lost with it: then a person asks \
	   */
#define HOSTS_HOME_MS                                            \
	((int64_t)5000) /* then a child that no other host wants \
			 * begins at home */
#define HOSTS_AHEAD_MAX 64 /* tasks taken from a source for other hosts */

/* --- leases --------------------------------------------------------------- */

/* Is the lease ours for certain? asked_ms: when the beat was sent that was
 * answered last, 0 = none was. */
bool hosts_lease_sure(int64_t asked_ms, int64_t now_ms);
/* Until the next beat; 0 = now. */
int64_t hosts_beat_wait_ms(int64_t asked_ms, int64_t now_ms);
/* Before the database is asked again, which has not answered `tries` times;
 * dice: any number, for hosts not to come at the same time. */
int64_t hosts_away_ms(int tries, uint32_t dice);

/* --- a task that is shared ------------------------------------------------ */

/* What the shared book says of it. */
enum row_state {
	ROW_QUEUED,
	ROW_CLAIMED,
	ROW_READY, /* its work waits for the lander */
	ROW_LANDED,
	ROW_ENDED, /* "done": without a commit */
	ROW_FAILED,
	ROW_DROPPED, /* its owner does not want it any more */
	ROW_HELD, /* hosts were lost with it: a person decides */
	ROW_STATE_COUNT
};
extern const char *const row_state_words[ROW_STATE_COUNT + 1];

struct share_row {
	const char *id, *owner, *host, *boot; /* NULL = nobody's */
	enum row_state state;
	int64_t fence;
	int lost;
};

/* What this host knows of it: a row of its own book. */
enum share_step {
	SHARE_NEW, /* not there yet */
	SHARE_OUT, /* there; any host may claim it */
	SHARE_HELD, /* claimed by this host */
	SHARE_AWAY, /* claimed by another one */
	SHARE_READY, /* submitted by this host: the lander has it */
	SHARE_FINISH, /* has ended here, and the others do not know */
	SHARE_BACK, /* to be given back */
	SHARE_DROP, /* its owner, this host, does not want it any more */
	SHARE_LOST, /* was claimed, and is not any more: its work stops */
	SHARE_STEP_COUNT
};
extern const char *const share_step_words[SHARE_STEP_COUNT + 1];

struct share {
	char *id; /* in the shared book */
	char *task; /* here */
	char *owner; /* host */
	char *host; /* that has it, or had it last; NULL = this one */
	enum share_step step;
	int64_t fence; /* of our claim, or of the last that is known */
	int prio; /* as it was published */
	char *state; /* of what is to be told: "done", "failed" */
	char *result; /* the same: JSON */
	char *commit; /* that it landed as; NULL = none */
	char *head; /* of its submitted work, or of that given back */
	char *from_ref; /* of origin: the work that it goes on from, and that is
			 * not here yet; NULL = none */
	char *words; /* why it came back, or is given back */
	bool asks; /* no host can take it, and a person is asked */
	bool withheld; /* out, but its goal is paused: nobody may claim it */
	/* In memory only. */
	int64_t out_ms; /* since when it is there, clock_boot_ms() */
	bool compared; /* with a server that may have lost commits */
	bool family; /* agents that an earlier attempt has asked for are read */
	bool follows; /* its commit is fetched, before its parent is told */
};
extern const struct schema share_schema;

/* Is it the whole id of a commit? What another host says goes to no git
 * otherwise. */
bool hosts_commit_is(const char *text);

/* The id of a task in the shared book: "t17-HOST". The caller frees it. */
char *share_id(const char *host, const char *task);

enum share_news {
	SHARE_SAME,
	SHARE_IS_OUT, /* it waits for any host (again) */
	SHARE_IS_OURS, /* we have claimed it, or adopted that */
	SHARE_IS_AWAY, /* another host has it */
	SHARE_IS_LOST, /* what runs here must stop: not ours any more */
	SHARE_HAS_ENDED, /* the owner settles it */
	SHARE_IS_HELD, /* lost too often: the owner asks a person */
	SHARE_EJECTED, /* its work did not land: the runner goes on */
};

/* What a row means to this host, which knows that of it (NULL: nothing). */
enum share_news share_judge(const struct share *share,
    const struct share_row *row, const char *me, const char *boot);

/* A server that has lost commits: what this host knows is compared with what
 * it has (row NULL: nothing). */
enum share_repair {
	SHARE_FITS,
	SHARE_REPUBLISH, /* ours, and it is gone */
	SHARE_RESTORE, /* our claim of it is gone */
	SHARE_RESUBMIT, /* it was not submitted */
	SHARE_FORGET, /* there is nothing left to tell */
};
enum share_repair share_compare(const struct share *share,
    const struct share_row *row, const char *me, const char *boot);

/* A task as JSON: what a runner needs, and what its owner should know of how it
 * went. NULL = it is too long. The caller frees it. */
char *share_body(const struct task *task);
char *share_result(const struct task *task);
/* What somebody else has written; NULL = it cannot be read. */
struct task *share_read(const char *id, const char *text);

/* --- what a host has, and what a task wants ----------------------- */

/* Words are as task_want_is() says. */

struct hosts_facts {
	const char *host;
	char *const *agents; /* names of cards */
	const char *const
	    *boxes; /* modes of its sandbox, up to its strictest */
	int64_t memory; /* bytes */
	const char *const *more; /* fleet.capabilities, and tools */
};
#define HOSTS_TEAM "team" /* word of a host where agents may spawn others */
/* All words of this host: those, "host:NAME", "agent:NAME", "sandbox:MODE",
 * "memory:GB" for powers of two; NULL terminated, sorted, each once (strv). */
char **hosts_words(const struct hosts_facts *facts);

/* What the task wants of a host: its own words, and those of its sandbox and
 * of its agent. A strv, NULL = nothing. */
char **share_wants(const struct task *task);

/* Does it stay with the host that it is on? What it goes on from is there: its
 * conversation, its work, those that it has spawned. It is claimed when it is
 * published. */
bool share_stays(const struct task *task);

#endif
