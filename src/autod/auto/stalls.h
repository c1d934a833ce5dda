/* SPDX-License-Identifier: ISC */

/*
 * A worker with a task shows no sign of life: interrupt it and tell it to
 * continue, then restart it, then give up. Part of struct fleet_policy; mode is
 * a struct auto_mode.
 */
#ifndef STALLS_H
#define STALLS_H

#include <stdbool.h>
#include <stdint.h>

struct agent;
struct auto_mode;
struct session_life;

bool stalls_silence(
    void *mode, struct agent *agent, const struct session_life *life);
/* A tool or a turn ended; accepting a prompt is not enough. The stages go on
 * until a turn ends: an agent may run a tool and then hang as before. */
void stalls_progressed(void *mode, struct agent *agent);

/* When there was a last sign, by the monotonic clock, that work on tasks goes
 * on: a hook, growth of a transcript, a stage of the above, an operation or a
 * check that is running. 0 = none. */
int64_t stalls_sign_ms(const struct auto_mode *mode);

#endif
