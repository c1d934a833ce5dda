/* SPDX-License-Identifier: ISC */

/*
 * Whole files: read with a bound, replace atomically, make directories.
 * Watching a file is watch.h, following a growing one is tail.h.
 */
#ifndef FILE_H
#define FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct buf;
struct err;
struct stat;

/* Append the whole file to buf. -EFBIG when it is longer than max bytes,
 * -EISDIR, -ENOENT, ...; buf is unchanged on failure. Never blocks on a fifo:
 * anything but a regular file is -EINVAL. */
int file_read(const char *path, size_t max, struct buf *buf, struct err *err);

/* Replace or create: unique temporary name in the same directory, fsync of
 * the file, rename, fsync of the directory. A reader sees the old or the new
 * bytes, after a power cut too. Follows a symbolic link at path. An existing
 * file keeps its permission bits, a new one gets mode (umask or not). On
 * failure nothing is left behind and the old file is untouched, except when
 * the directory's fsync fails: then the new bytes are there, but may not
 * survive a power cut. Anything but a regular file is -EINVAL or -EISDIR. */
int file_replace(const char *path, const void *bytes, size_t len, mode_t mode,
    struct err *err);
/* The same, and which file that is: asked of the file itself, as another may
 * have come in its place by now. */
int file_replace_told(const char *path, const void *bytes, size_t len,
    mode_t mode, struct stat *ret_stat, struct err *err);

/* mkdir -p; existing directories are fine, an existing file is -ENOTDIR. */
int file_mkdirs(const char *path, mode_t mode, struct err *err);

/* One write(2) of the whole record on O_APPEND, then fdatasync when asked. A
 * torn record of an earlier crash (no newline at the end) is closed with one
 * first. -ENOSPC when only a part could be written: that part stays, torn. A
 * new file gets mode, less the umask; anything but a regular file is -EINVAL
 * or -EISDIR. */
int file_append(const char *path, const void *bytes, size_t len, mode_t mode,
    bool sync, struct err *err);

bool file_exists(const char *path); /* anything at all, also a dead link */
bool file_is_dir(const char *path);

/* "dir/name", with no doubled slash; the caller frees. An absolute name is
 * returned as it is. */
char *file_join(const char *dir, const char *name);

/* write(2) until all is written or an error comes; EINTR and short writes are
 * taken care of. Negative errno. */
int file_write_all(int fd, const void *bytes, size_t len);

#endif
