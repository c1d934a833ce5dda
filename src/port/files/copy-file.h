/* SPDX-License-Identifier: ISC */

/* One file or link copied piece by piece. For the files of copy. */
#ifndef COPY_FILE_H
#define COPY_FILE_H

#include <sys/types.h>

struct copy_file;

/* Open the folder `path` below top ("": top itself) without following a link.
 * -ELOOP or -ENOTDIR when there is one on the way. */
int copy_file_open_dir(int top, const char *path);

/* Begin to copy the file `path` below `from` to the same place below `to`, the
 * folders in front of it made as they are there. 1 with what copy_file_step()
 * goes on with; 0 when there is nothing left to do: it was a link, is the same
 * already, is gone, or is nothing to copy. */
int copy_file_begin(int from, int to, const char *path, struct copy_file **ret);

/* The next piece. 1 = there is more, 0 = done. */
int copy_file_step(struct copy_file *file);

/* What was begun and not done leaves nothing behind. NULL is fine. */
void copy_file_free(struct copy_file *file);

#endif
