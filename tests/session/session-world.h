/* SPDX-License-Identifier: ISC */

/*
 * One session of a worker "adam" for tests: a fake tmux, a process in place of
 * the agent, virtual time, and a trace of everything that the owner is called
 * for.
 */
#ifndef SESSION_WORLD_H
#define SESSION_WORLD_H

#include "unit.h"
#include "fake-tmux.h"
#include "session.h"
#include "workspace.h"

/* The conversation that the agent says it has. */
#define WORLD_TOLD_ID "3f2504e0-4f89-11d3-9a0c-0305e82c3301"

#define WORLD_START_MS 60000 /* its start_timeout */

extern struct world {
	struct loop *loop;
	struct fake_tmux *tmux;
	struct workspace workspace;
	struct settings *settings;
	struct session_host host;
	struct session_record record;
	struct session *session;
	pid_t agent; /* 0 = none */
	char *transcript; /* path of a file that does not exist yet */

	/* The owner. */
	struct buf told; /* events, separated by blanks */
	int changes; /* number of calls of changed() */
	bool typing; /* may_type() */
	bool disk_full; /* effects that wait for the record are held */
	struct server_call *call; /* of the turn that ended last */
	int ended; /* calls of world_on_end() */
	int hooks; /* number of hooks sent */
	bool toolless; /* world_starts() does not report tools */
} w;

/* In virtual time, without a session. */
void world_begin(void);
void world_begin_as(const char *role); /* not a worker */
/* Frees the session and ends the agent. */
void world_end(void);

/* Let time pass. */
void world_run(int64_t ms);
/* The same in real time, until the phase is reached; fails the test if that
 * takes too long. */
void world_until(enum session_phase phase);

/* A process for the next session. stubborn: it ignores SIGTERM. */
void world_agent(bool stubborn);
/* Let it exit by itself, and wait until that can be seen. */
void world_agent_exits(void);

/* Launch a session with an agent that does nothing yet; then wait until it is
 * up. */
void world_launch(bool resume);
void world_up(void);

/* Send a hook of the session's generation, data as JSON text. call may be NULL.
 * Returns the result of session_hook(). */
bool world_hook(const char *event, const char *data, struct server_call *call);
/* The same with a given generation and id. */
bool world_hook_of(
    const char *event, const char *data, uint64_t generation, const char *id);
/* SessionStart, with the id and the transcript of the world. */
void world_starts(const char *source);
/* UserPromptSubmit. */
void world_submits(const char *text);
/* Append a line to the transcript. */
void world_writes(const char *text);

/* For session_end(): counts in w->ended. */
void world_on_end(void *world);

/* Compare and clear. */
void world_expect(const char *told);
void world_expect_tmux(const char *trace);

#endif
