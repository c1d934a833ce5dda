/* SPDX-License-Identifier: ISC */

/* The output of failed checks, kept for the worker that gets it, in
 * .llmc/checks/failed-<tree>.log. */
#ifndef CHECK_OUTPUT_H
#define CHECK_OUTPUT_H

struct buf;
struct core;

/* how: "exited with status 1". The first line of the file. */
void check_output_keep(const struct core *core, const char *tree,
    const char *how, const char *output);
/* Append what is kept to how and output; nothing if it is lost. */
void check_output_read(const struct core *core, const char *tree,
    struct buf *how, struct buf *output);
/* Remove the outputs whose tree has no failure in the book any more. */
void check_output_trim(const struct core *core);

#endif
