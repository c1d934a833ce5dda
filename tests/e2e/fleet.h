/* SPDX-License-Identifier: ISC */

/*
 * A fleet for tests of the daemon: a repository, real tmux on its own socket,
 * an agent (the fake one, or the real Claude Code with a stub of its API) and a
 * daemon in the background. fleet_end() ends everything, also after a failed
 * assertion if used as a checked fixture; if the test is killed, everything
 * ends soon after.
 */
#ifndef FLEET_H
#define FLEET_H

#include "e2e.h"

/* A workspace with the fake agent; no daemon yet. $FLEET is the
 * scratch folder, for scripts of agents too: a box has a TMPDIR of its own.
 */
void fleet_begin(void);
/* The next one is a clone of the repository that this makes, with the settings
 * that `llmc init --yes` proposes. */
void fleet_clone_of(const char *(*make)(void));
/* The same with the real program, in a HOME of its own without `llmc doctor
 * trust`. */
const char *fleet_begin_real(void);
/* The same with the fake agent, and a stub of the API for real ones of other
 * kinds; its address. */
const char *fleet_begin_stubbed(void);
#define FLEET_API_KEY "dummy-key-for-tests-0123456789"
/* Only what the real program needs to talk to a stub of its API; its path. */
const char *fleet_real_env(void);
/* The path of the real program (LLMC_REAL_CLAUDE), NULL if not available. */
const char *fleet_real_agent(void);
/* Workers have such a sandbox, in which they can write to the scratch folder.
 */
void fleet_box(const char *mode);
/* All waits are so many times as long: for slow agents. */
extern int fleet_patience;
void fleet_up(void);
void fleet_end(void);

const char *fleet_root(void);
const char *fleet_worktree(const char *worker);
const char *fleet_file(const char *name); /* in .llmc */

/* Run llmc with these arguments in the root; it must succeed. */
struct e2e_run *fleet_do(const char *command, ...) __attribute__((sentinel));
/* It must fail with status 1 and these words. */
void fleet_fails(const char *words, const char *command, ...)
    __attribute__((sentinel));

/* Add a worker and wait until it is idle. */
void fleet_add(const char *worker);
/* Give it a task. */
void fleet_start(const char *worker, const char *task);
/* Wait for a status (or several, separated by commas). */
void fleet_wait(const char *worker, const char *status);

/* The worker's record in the state. */
struct json_object *fleet_worker(const char *worker);
const char *fleet_status(const char *worker);
/* Its transcript so far. */
const char *fleet_conversation(const char *worker);

/* Wait until the agent got a prompt with these words. */
void fleet_wait_prompt(const char *words);

/* Wait until its agent has written this to the conversation's file. */
void fleet_wait_written(const char *worker, const char *words);

/* Wait until an event is in the spool. */
void fleet_wait_spooled(void);

/* Where the fake agent logs its prompts, one JSON object per line. */
const char *fleet_prompt_log(void);

/* Five numbers: the tokens that every answer of the stub claims (stub.h); made
 * by the test. */
const char *fleet_usage_file(void);
/* Headers that every answer of the stub has, and "fail: STATUS UNTIL TEXT";
 * made by the test. */
const char *fleet_headers_file(void);

/* The stub answers prompts with these words with these steps, and not with
 * those in the prompt; of several such rules, the last one counts. */
void fleet_answer(const char *words, const char *steps);

/* How often the agent got a prompt with these words: according to the log of
 * the fake agent, or to what reached the model of the real one. */
int fleet_prompts(const char *words);

/* The pids of the daemon and of a worker's agent. */
int fleet_daemon_pid(void);
int fleet_agent_pid(const char *worker);
/* The pid of the agent that replaced another one. */
int fleet_next_agent_pid(const char *worker, int before);
/* Kill a process with SIGKILL and wait until it is gone. */
void fleet_kill(int pid);

/* Subjects of the commits on main, newest first, one per line; their number. */
const char *fleet_log(void);
int fleet_commits(void);

#endif
