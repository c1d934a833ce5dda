/* SPDX-License-Identifier: ISC */

/* A list of Claude Code's own task files. Private to source.c. */
#ifndef SOURCE_FILES_H
#define SOURCE_FILES_H

struct source_kind;

extern const struct source_kind source_files;

#endif
