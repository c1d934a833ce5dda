/* SPDX-License-Identifier: ISC */

/*
 * What the daemon knows about the assignments, for the tick (reconcile.h): from
 * the state, the events of workers and their transcripts, never from the
 * screen.
 */
#ifndef PLAN_TELEMETRY_H
#define PLAN_TELEMETRY_H

#include <stdbool.h>
#include <stdint.h>

#include "reconcile.h"

struct plan_floor;
struct plan_telemetry;

/* Subscribes to the events of the core. */
struct plan_telemetry *plan_telemetry_new(struct plan_floor *floor);
void plan_telemetry_free(struct plan_telemetry *telemetry);

/* The facts about all open assignments; valid until the next call. */
const struct reconcile_telemetry *
plan_telemetry_read(struct plan_telemetry *telemetry,
    const struct reconcile_config *config, int64_t now_ms);

#endif
