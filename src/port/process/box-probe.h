/* SPDX-License-Identifier: ISC */

/*
 * Whether a box can be made: what files tell, and bubblewrap that is run with
 * the real arguments and a program that does nothing, because not all is in a
 * file.
 */
#ifndef BOX_PROBE_H
#define BOX_PROBE_H

struct box_probe;
struct err;
struct loop;

/* Why no box can be made on this machine, in words, or 0: bwrap is missing,
 * user namespaces are turned off. Looks at files only. */
int box_check(struct err *err);

/* The bwrap program: LLMC_BWRAP, or the first on PATH. The caller frees; NULL
 * if there is none. */
char *box_find_bwrap(void);

/* err NULL = it works. Otherwise what is wrong and what to do. */
typedef void box_probe_fn(const struct err *err, void *arg);

/* Try this prefix of box_prepare(). fn is called once, from the loop, unless
 * the probe is freed before. */
int box_probe_start(struct loop *loop, const char *const *prefix,
    box_probe_fn *fn, void *arg, struct box_probe **ret_probe, struct err *err);
void box_probe_free(struct box_probe *probe);

/* The same for a plain box of no worker, and wait: for command lines only. */
int box_probe_run(struct err *err);

#endif
