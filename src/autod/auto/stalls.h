/* SPDX-License-Identifier: ISC */

/*
 * A worker with a task that gives no sign of life: interrupted and told to go
 * on, then restarted, then given up. Of struct fleet_policy; mode is a struct
 * auto_mode.
 */
#ifndef STALLS_H
#define STALLS_H

#include <stdbool.h>

struct agent;
struct session_life;

bool stalls_silence(
    void *mode, struct agent *agent, const struct session_life *life);
/* A tool or a turn ended; that it took a prompt is not enough. */
void stalls_progressed(void *mode, struct agent *agent);

#endif
