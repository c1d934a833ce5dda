/* SPDX-License-Identifier: ISC */

/*
 * Events. Each is reported once, here, to all subscribers, immediately and in
 * the order of their subscription: the log, auto.log, the clients of `llmc
 * log`, then the floors from the bottom up. A failing subscriber does not
 * affect the others.
 *
 * A subscriber may emit another event, which all subscribers get before the
 * rest of them get the first one. It may also subscribe, which adds a last
 * receiver of the current event, or unsubscribe, which takes effect at once.
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
/* EMIT(core, EVENT_TASK_ORPHANED, .task = id); */
#define EMIT(core, what, ...) \
	emit(core, &(struct event){ .kind = (what), ##__VA_ARGS__ })
void emit_subscribe(struct core *core, emit_fn *fn, void *arg);
void emit_unsubscribe(struct core *core, emit_fn *fn, const void *arg);

/* A part of the book cannot be read. arg: the core. */
void emit_damage(const char *words, void *arg);

/* --- event log ---------------------------------------------------------- */

/* Each event goes to the log, and to auto.log. */
void event_log_subscribe(struct core *core);
void event_file_subscribe(struct core *core);

#endif
