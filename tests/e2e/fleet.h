/* SPDX-License-Identifier: ISC */

/*
 * A fleet for tests of the daemon: a repository, real tmux on a socket of its
 * own, an agent (the stand-in, or the real Claude Code on a stub of its API)
 * and a daemon in the background. Everything ends with fleet_end(), also after
 * a failed assertion when used as a checked fixture; should the test be killed,
 * it ends soon after.
 */
#ifndef FLEET_H
#define FLEET_H

#include "e2e.h"

/* A workspace with the stand-in as agent; no daemon yet. Returns its root. */
const char *fleet_begin(void);
/* Likewise with the real program, in a HOME of its own that `llmc trust` has
 * not been run for. */
const char *fleet_begin_real(void);
/* The path of the real program (LLMC_REAL_CLAUDE), NULL where it is not. */
const char *fleet_real_agent(void);
void fleet_up(void);
void fleet_end(void);

const char *fleet_root(void);
const char *fleet_worktree(const char *worker);

/* llmc with these arguments in the root; must succeed. */
struct e2e_run *fleet_do(const char *command, ...) __attribute__((sentinel));
/* Must fail with status 1 and these words. */
void fleet_fails(const char *words, const char *command, ...)
    __attribute__((sentinel));

/* Add a worker and wait until it is idle. */
void fleet_add(const char *worker);
/* Give it a task. */
void fleet_start(const char *worker, const char *task);
/* Wait for a status (or several, with commas); fails the test after 30 s. */
void fleet_wait(const char *worker, const char *status);

/* The worker's record in state.json. */
struct json_object *fleet_worker(const char *worker);
const char *fleet_status(const char *worker);

/* Wait until the agent was given such a prompt; fails after 30 s. */
void fleet_wait_prompt(const char *words);

/* Until its agent has written this into the conversation's file. */
void fleet_wait_written(const char *worker, const char *words);

/* Until an event waits for a daemon; fails after 30 s. */
void fleet_wait_spooled(void);

/* Where the stand-in writes down what it was told, a line of JSON each. */
const char *fleet_prompt_log(void);

/* How often the agent was given a prompt that holds these words: what the
 * stand-in wrote down, or what reached the model of the real one. */
int fleet_prompts(const char *words);

/* Pids: of the daemon, of a worker's agent. */
int fleet_daemon_pid(void);
int fleet_agent_pid(const char *worker);
/* Of the agent that has come in the place of another. */
int fleet_next_agent_pid(const char *worker, int before);
/* End a process the hard way and wait until it is gone. */
void fleet_kill(int pid);

/* Subjects of the commits on main, newest first, a line each; their number. */
const char *fleet_log(void);
int fleet_commits(void);

#endif
