/* SPDX-License-Identifier: ISC */

/*
 * The same failure on one task after another comes from outside of them: a git
 * hook that refuses every commit, say. Then no more tasks are given out until a
 * person says so (llmc resume) or the hooks of the repository change, instead
 * of failing all that wait. What hooks there are is watched, too: whoever works
 * without a sandbox can set them for everybody.
 */
#ifndef ALIKE_H
#define ALIKE_H

#include <stdbool.h>

struct alike;
struct auto_mode;
struct task;

struct alike *alike_new(struct auto_mode *mode);
void alike_free(struct alike *alike);

/* An attempt at the task failed. True: like those at others before, so it must
 * not count; nothing is given out any more. */
bool
alike_failed(struct alike *alike, const struct task *task, const char *reason);
/* A task has landed, or a person has resumed: count anew. */
void alike_forget(struct alike *alike);
/* Is that why no task is given out? */
bool alike_stops(const struct auto_mode *mode);

/* Look at the hooks of the repository. True: they have changed. */
bool alike_look(struct alike *alike);

#endif
