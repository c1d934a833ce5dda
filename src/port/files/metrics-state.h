/* SPDX-License-Identifier: ISC */

/* What the state gives to metrics (metrics-text.h): everything that a daemon
 * does not have to be asked for. */
#ifndef METRICS_STATE_H
#define METRICS_STATE_H

struct metrics;
struct settings;
struct state;

/* Fill it; counters are borrowed from the state. */
void metrics_state_fill(const struct state *state,
    const struct settings *settings, int64_t now_ms, struct metrics *metrics);

#endif
