/* SPDX-License-Identifier: ISC */

/*
 * A copy of the book beside it (.llmc/llmc.copy.db), made every day by a child:
 * for a person whose book cannot be read any more. That it reads all of the
 * book finds damage in parts that nobody asks for.
 */
#ifndef DAILY_COPY_H
#define DAILY_COPY_H

struct core;
struct daily_copy;

#define STORE_TASK_DAMAGED 2 /* exit status of the child */

struct daily_copy *daily_copy_new(struct core *core);
/* A copy that is being made is given up. */
void daily_copy_free(struct daily_copy *copy);

/* Called at each patrol: is it time? */
void daily_copy_patrol(struct daily_copy *copy);

#endif
