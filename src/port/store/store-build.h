/* SPDX-License-Identifier: ISC */

/*
 * A whole store made at once, out of an export or out of what is left of a
 * damaged one: built beside its place, and put there when it is complete.
 * Blocks; for child processes.
 */
#ifndef STORE_BUILD_H
#define STORE_BUILD_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct store_build;
struct store_change;
struct store_event;

/* -EEXIST if there is a store at path with anything in it; its errors if it
 * cannot be opened. An empty one is replaced. */
int store_build_begin(
    const char *path, struct store_build **ret_build, struct err *err);

/* Through the gate of store-body.h. -EINVAL, -E2BIG, -ENOENT and -EEXIST are
 * faults of this record alone, without an effect. The seq of an event is kept
 * if it is above 0, and must be free; *ret_new (may be NULL) is false if its
 * key was there already. */
int store_build_record(struct store_build *build,
    const struct store_change *record, struct err *err);
int store_build_event(struct store_build *build,
    const struct store_event *event, bool *ret_new, struct err *err);

/* Make it durable and put it in its place. The build is gone in any case. */
int store_build_finish(struct store_build *build, struct err *err);
void store_build_drop(struct store_build *build);

#endif
