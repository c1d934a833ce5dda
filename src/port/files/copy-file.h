/* SPDX-License-Identifier: ISC */

/* Copies one file or link, piece by piece. Private to copy*.c. */
#ifndef COPY_FILE_H
#define COPY_FILE_H

#include <sys/types.h>

struct copy_file;

/* Open the folder `path` below top ("": top itself) without following a link.
 * -ELOOP or -ENOTDIR when there is one on the way. */
int copy_file_open_dir(int top, const char *path);

/* Begin to copy the file `path` below `from` to the same place below `to`;
 * missing folders are created like those in `from`. 1: continue with
 * copy_file_step(); 0: nothing is left to do, because it was a link, is the
 * same already, is gone, or is of a kind that is not copied. */
int copy_file_begin(int from, int to, const char *path, struct copy_file **ret);

/* The next piece. 1 = there is more, 0 = done. */
int copy_file_step(struct copy_file *file);

/* Removes an unfinished copy. NULL is allowed. */
void copy_file_free(struct copy_file *file);

#endif
