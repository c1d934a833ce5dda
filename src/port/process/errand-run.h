/* SPDX-License-Identifier: ISC */

/*
 * What `llmc errand FILE` does: run the command of an errand, and leave what it
 * said and how it ended in the errand's files (errand.h). It needs nobody: the
 * daemon that started it may be gone.
 */
#ifndef ERRAND_RUN_H
#define ERRAND_RUN_H

struct err;

/* FILE is the .json of the errand; standard input is its lock, and we lead a
 * process group. Returns only when nothing was begun (negative errno, no .pid);
 * else it ends with the whole group when the command has ended. */
int errand_run(const char *file, struct err *err);

#endif
