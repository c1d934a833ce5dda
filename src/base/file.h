/* SPDX-License-Identifier: ISC */

/*
 * Files and folders as a whole: read with a size limit, replace atomically,
 * make directories, lock, remove a tree. To be told of changes see watch.h.
 */
#ifndef FILE_H
#define FILE_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct buf;
struct err;
struct stat;

/*
 * Below a folder named .llmc, which is ours, no part of a path may be a
 * symbolic link: what another process puts there does not lead us elsewhere.
 * Links above it are the user's. All functions here keep this, with -ELOOP.
 */

/* open(2) of a regular file, close-on-exec, without waiting for a fifo.
 * Negative errno; -EINVAL or -EISDIR if it is something else. */
int file_open(const char *path, int flags, mode_t mode);
/* May a file be opened there by another: is it a regular one, or is there none?
 * 0, or what file_open() would return. */
int file_check(const char *path);
/* Does what it returned say that something else is in the place of a file? */
bool file_is_misplaced(int code);
/* Words for what these functions return. Not to be freed. */
const char *file_strerror(int code);

/* Append the whole file to buf. -EFBIG if it is longer than max bytes, -EISDIR,
 * -ENOENT, ...; buf is unchanged on failure. Never blocks on a fifo: anything
 * but a regular file is -EINVAL. */
int file_read(const char *path, size_t max, struct buf *buf, struct err *err);

/* The same from a descriptor of any kind, up to its end. Negative errno; what
 * was read so far is in buf then. */
int file_read_fd(int fd, size_t max, struct buf *buf);

/* Replace or create a file: temporary file in the same directory, fsync,
 * rename, fsync of the directory. A reader sees either the old or the new
 * bytes, even after a power cut. Follows a symbolic link at path, but not below
 * .llmc. An existing file keeps its permission bits; a new one gets exactly
 * mode, regardless of the umask. On failure nothing is left over and the old
 * file is untouched, except when the fsync of the directory fails: then the new
 * bytes are in place, but may not survive a power cut. Anything but a regular
 * file is -EINVAL or -EISDIR. */
int file_replace(const char *path, const void *bytes, size_t len, mode_t mode,
    struct err *err);
/* The same without waiting for the disk: for what can be made again. A reader
 * sees either the old or the new bytes, except after a power cut: then the file
 * may be the old one, the new one, empty or cut short. */
int file_replace_soon(const char *path, const void *bytes, size_t len,
    mode_t mode, struct err *err);
/* Remove what a writer that was killed in file_replace() has left of its new
 * file. Only for who alone writes that file. */
void file_replace_tidy(const char *path);

/* mkdir -p. An existing file is -ENOTDIR. */
int file_mkdirs(const char *path, mode_t mode, struct err *err);

/* Append with one write(2) of the whole record on O_APPEND, then fdatasync if
 * requested. If an earlier crash left an incomplete record (no newline at the
 * end), terminate it first. -ENOSPC if only a part could be written: the
 * incomplete part stays. A new file gets mode, minus the umask; anything but a
 * regular file is -EINVAL or -EISDIR. */
int file_append(const char *path, const void *bytes, size_t len, mode_t mode,
    bool sync, struct err *err);

/* Create the file if there is none, and let only its owner read it: for output
 * that a shell appends. *ret_size (may be NULL): the bytes in it. */
int file_make_private(const char *path, off_t *ret_size, struct err *err);

/* The next name in a folder but "." and ".."; NULL at its end, and if there is
 * no folder. */
const char *dir_next(DIR *dir);
void dir_cleanup(DIR **dir);
#define cleanup_dir __attribute__((cleanup(dir_cleanup)))

/* Are these two looks at one file that has not changed in between? */
bool file_is_same(const struct stat *a, const struct stat *b);

bool file_exists(const char *path); /* of any type, even a dangling link */
bool file_is_dir(const char *path);

/* "dir/name" without a double slash; the caller frees it. An absolute name is
 * returned as it is. */
char *file_join(const char *dir, const char *name);

/* write(2) until everything is written; handles EINTR and short writes.
 * Negative errno on failure. */
int file_write_all(int fd, const void *bytes, size_t len);

/*
 * Locks between processes: open-file-description locks on a file that is never
 * removed. A lock lasts as long as the descriptor, so a dead process leaves no
 * stale lock, and no pid is needed. The file may contain text for people (who
 * holds it), which is not part of the lock.
 */

/* Take the lock without waiting. Returns a descriptor (close-on-exec), -EAGAIN
 * if another process holds the lock, or another negative errno. close(2)
 * releases it. The file is created with mode 0600 and never removed. */
int lock_try(const char *path, struct err *err);

/* Does the descriptor, which another program in this process has opened, hold
 * the lock at path, or take it now? Negative errno. */
int lock_inherit(int fd, const char *path);

/* Is the file at path still the one that the descriptor has locked? Also true
 * if that cannot be found out. */
bool lock_is_at(int fd, const char *path);

/* Does any process hold it? Does not take it. Returns 1, 0 or negative
 * errno. */
int lock_is_held(const char *path);

/*
 * Remove a folder with all that is in it, while another process may write
 * there: every folder is held open, and no symbolic link is followed below the
 * path that the caller gives, even if a folder becomes a link meanwhile. Other
 * file systems that are mounted there, and what is deeper than
 * REMOVE_TREE_DEPTH folders, stay. It does not return before that is done: only
 * for few and small files.
 */

#define REMOVE_TREE_DEPTH 128 /* a descriptor for each */

/* Remove a folder, a file, or a link itself. What cannot be removed does not
 * keep the rest: negative errno of the first. 0 if there is nothing. */
int remove_tree(const char *path);

/* The same for a path below a folder, whose own folders may be links, too:
 * -ENOTDIR or -ELOOP if one is no folder, and nothing is removed. */
int remove_tree_below(const char *folder, const char *path);

#endif
