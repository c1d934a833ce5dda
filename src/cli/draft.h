/* SPDX-License-Identifier: ISC */

/*
 * A text that a person writes for a worker: typed on the command line, piped
 * in, or written in an editor. A text from an editor stays in a file until it
 * has been delivered, so that it is not lost if it is refused.
 */
#ifndef DRAFT_H
#define DRAFT_H

#include "buf.h"

struct cli;

struct draft {
	struct buf text;
	char *file; /* of the editor, NULL = none */
};

#define DRAFT_INIT             \
	{                      \
		BUF_INIT, NULL \
	}

/* Fill the draft: `typed` as it is, "-" from standard input, NULL in the
 * editor ($VISUAL, $EDITOR, vi), which shows the lines of `below` (may be
 * NULL) under a line that ends the text. `kind` is a word for the file's name.
 * CLI_OK, or the failure (no terminal, an empty text too) is reported. */
int draft_fill(struct cli *cli, const char *typed, const char *kind,
    const char *below, struct draft *draft);

/* The same in the editor, which begins with this text. Without a terminal, it
 * must be one that the environment names; otherwise the person is told of the
 * option that names a file. */
int draft_edit(struct cli *cli, const char *text, const char *kind,
    const char *option, struct draft *draft);
/* The editor once more, with the text as it is. */
int draft_again(struct cli *cli, struct draft *draft);

/* A NUL byte would cut the text off: CLI_OK, or the failure is reported. what:
 * where the text comes from. The others call it. */
int draft_check(struct cli *cli, const struct draft *draft, const char *what);

/* The bytes of a file, or of standard input ("-"). */
int draft_read(struct cli *cli, const char *path, struct draft *draft);

/* Release it. status CLI_OK: it was delivered, and its file is removed;
 * otherwise the person is told where it is. Returns status. */
int draft_end(struct cli *cli, struct draft *draft, int status);

#endif
