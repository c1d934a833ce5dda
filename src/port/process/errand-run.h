/* SPDX-License-Identifier: ISC */

/*
 * What `llmc errand FILE` does: run the command of an errand, and write its
 * output and exit status to the errand's files (errand.h). It works alone: the
 * daemon that started it may be gone.
 */
#ifndef ERRAND_RUN_H
#define ERRAND_RUN_H

struct err;

/* FILE is the .json of the errand; standard input is its lock, and we lead a
 * process group. Returns only if nothing was begun (negative errno, no .pid);
 * otherwise it ends together with the whole group when the command has ended.
 */
int errand_run(const char *file, struct err *err);

#endif
