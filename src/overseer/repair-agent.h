/* SPDX-License-Identifier: ISC */

/* The agent of a repair: its session, and what the end of its turn means. */
#ifndef REPAIR_AGENT_H
#define REPAIR_AGENT_H

#include "identity.h"
#include "operation.h"
#include "session.h"

struct json_object;
struct loop_timer;
struct overseer;
struct repair;
struct server;
struct server_call;
struct transcript;

struct repair_agent {
	struct session_host host;
	struct session_record record; /* never saved: it ends with us */
	struct session *session; /* NULL = none */
	struct server *server; /* where its hooks report */
	char *socket;
	struct identity_files files; /* read to know who calls there */
	int64_t pane; /* pid of its pane, as overseer.json tells; 0 = none */
	bool looking; /* at what it left, at the end of a turn */
	struct server_call *call; /* the Stop that waits for that, or NULL */
	struct loop_timer *wait;
	bool working; /* its step goes on */
	bool asked_to_tidy;
	bool asked_to_tell; /* what it found */
	int deaths; /* of sessions */
	int failures; /* of turns */
	int limits; /* usage limits that were waited for */
	uint64_t receipts;
	struct transcript **told; /* of its sessions that are over, owned */
	size_t told_count;
};

/* End a session that an earlier overseer may have left; nobody waits for
 * that. */
void repair_agent_sweep(struct overseer *o);

/* Steps of the repair: launch it, and let it work until it is done. */
operation_fn repair_agent_work;
operation_fn repair_agent_cancel;
/* End its session. */
operation_fn repair_agent_end;

/* What its sessions have cost by now, in millionths of a dollar: as Claude Code
 * says, or an estimate. */
int64_t repair_agent_cost(const struct repair *r);
/* It works no more; its session may still be there. */
void repair_agent_rest(struct repair *r);
/* A person is needed: write the file that says so. */
void repair_agent_write_manual(const struct repair *r, const char *words);
/* Its pane, for overseer.json; NULL = none. The caller owns it. */
struct json_object *repair_agent_pane(const struct repair *r);
/* At once, without waiting for anything. */
void repair_agent_kill(struct repair *r);
void repair_agent_release(struct repair *r);

#endif
