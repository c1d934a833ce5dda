/* SPDX-License-Identifier: ISC */

/*
 * Reads config.toml again in a program with a loop, and only as far as it may
 * be used (root-mark.h): a pull must not change what runs. Whether git tracks
 * the file is asked without waiting.
 */
#ifndef CONFIG_READ_H
#define CONFIG_READ_H

struct buf;
struct config_read;
struct err;
struct loop;
struct workspace;

/* The text that was checked. NULL: err says why not; -EPERM and -ENOENT as from
 * root_mark_judge(). */
typedef void
config_read_fn(const struct buf *config, const struct err *err, void *arg);

struct config_read *config_read_new(struct loop *loop,
    const struct workspace *workspace, config_read_fn *fn, void *arg);
void config_read_free(struct config_read *reader);

/* Read the file as it is now; fn is called once, from here or later. A reading
 * in progress is given up for it. An empty file is looked at again for two
 * seconds: it is just being written, perhaps. */
void config_read_begin(struct config_read *reader);

#endif
