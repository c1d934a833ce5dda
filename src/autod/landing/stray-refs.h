/* SPDX-License-Identifier: ISC */

/* Refs of items that are in the queue no more: a daemon was killed before it
 * removed them. */
#ifndef STRAY_REFS_H
#define STRAY_REFS_H

struct queue;

/* When a daemon begins, before items are added: find and remove them. */
void stray_refs_drop(struct queue *queue);

#endif
