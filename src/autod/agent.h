/* SPDX-License-Identifier: ISC */

/* What agent.c and its neighbours share beyond daemon.h. */
#ifndef AGENT_H
#define AGENT_H

#include "daemon.h"
#include "git-work.h"

struct buf;

/* launch.c: begin a session, when it is this worker's turn. */
void agent_launch(struct agent *agent);

/* This worker's effective value of a [defaults] key. */
int64_t agent_duration(const struct agent *agent, const char *key);

/* Something happened to the pane's process; the process is not watched any
 * more. */
void agent_pane_event(int fd, unsigned what, void *arg);
void agent_unwatch(struct agent *agent);

/* A session that was to go on with a conversation ended before it began. Not
 * the first time? Then the file may be damaged, and the next one is new. */
void agent_resume_failed(struct agent *agent);

/* Follow the transcript that the worker's record names. */
void agent_follow(struct agent *agent);

/* Is the pane's process still there? Acts on it when not. */
void agent_check_pane(struct agent *agent);

/* End the session of a turn that hangs; the next launch resumes it. */
void agent_restart(struct agent *agent);

/* finish.c: of a commit made for a worker that left its work lying. */
extern const char agent_leftover_message[];

/* fleet.c: save what the worktree has that would be lost. */
void agent_salvage(struct agent *agent, git_ref_fn *fn, void *arg);

/* tasks.c: what a worker is told at the beginning of its task. */
void agent_task_text(const struct agent *agent, struct buf *out);

/* deliver.c: the next step of a prompt on its way. */
void deliver_tick(struct agent *agent);

/* Was the pasted prompt submitted after all, its hook lost? Asks the
 * transcript, and takes it for submitted if so. */
bool deliver_confirm(struct agent *agent);

#endif
