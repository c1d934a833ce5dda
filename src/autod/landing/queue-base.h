/* SPDX-License-Identifier: ISC */

/* The tip of the landing branch, on which the queue builds. */
#ifndef QUEUE_BASE_H
#define QUEUE_BASE_H

#include <stdint.h>

struct landing_item;
struct queue;

/* Read it; then the queue looks again. */
void queue_base_ask(struct queue *queue);
/* Remember the tree and date of a commit that may be the tip. */
void queue_base_know(
    struct queue *queue, const char *commit, const char *tree, int64_t date);
/* It may have moved: read it again. */
void queue_base_changed(struct queue *queue);

/* The commit of the branch that is known to have the very tree of the item's
 * work, NULL = none. */
const char *
queue_base_same(const struct queue *queue, const struct landing_item *item);

#endif
