/* SPDX-License-Identifier: ISC */

/* What the user's checkout of the landing branch has uncommitted: work waits
 * for it. Asks git, and waits: never from inside a loop. */
#ifndef DIRT_H
#define DIRT_H

struct buf;
struct settings;
struct workspace;

/* Append a sentence that names the first files, and says what waits. False if
 * there is nothing to tell: the checkout is clean, the branch is not checked
 * out, or git does not answer. */
bool dirt_describe(const struct workspace *workspace,
    const struct settings *settings, struct buf *out);

#endif
