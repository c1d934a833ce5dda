/* SPDX-License-Identifier: ISC */

/*
 * A worker with a task shows no sign of life: interrupt it and tell it to
 * continue, then restart it, then give up. Part of struct fleet_policy; mode is
 * a struct auto_mode.
 */
#ifndef STALLS_H
#define STALLS_H

#include <stdbool.h>

struct agent;
struct session_life;

bool stalls_silence(
    void *mode, struct agent *agent, const struct session_life *life);
/* A tool or a turn ended; accepting a prompt is not enough. */
void stalls_progressed(void *mode, struct agent *agent);

#endif
