/* SPDX-License-Identifier: ISC */

/*
 * Something happened: told once, here, to everybody who subscribed, at once and
 * in the order of their subscription: the log, auto.log, the followers of
 * `llmc events`, then the floors from the bottom up. A subscriber cannot fail
 * the others.
 *
 * From inside of an event, another one may be emitted (it is told to everybody
 * before the first one goes on), and anybody may subscribe (who does is told of
 * this event too, as the last) or unsubscribe (who does hears no more).
 */
#ifndef EMIT_H
#define EMIT_H

#include "event.h"

struct core;
struct emitter;

typedef void emit_fn(const struct event *event, void *arg);

struct emitter *emitter_new(void);
void emitter_free(struct emitter *emitter);

void emit(struct core *core, const struct event *event);
void emit_subscribe(struct core *core, emit_fn *fn, void *arg);
void emit_unsubscribe(struct core *core, emit_fn *fn, const void *arg);

#endif
