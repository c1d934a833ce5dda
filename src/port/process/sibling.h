/* SPDX-License-Identifier: ISC */

/* Find the other programs of llmc. */
#ifndef SIBLING_H
#define SIBLING_H

/* The path of `llmc`, `autod`, `overseer` or `keeper`: beside our own file,
 * then in libexecdir, then on PATH. In the build tree the folders of the
 * programs are siblings. The caller frees; NULL when there is none. */
char *sibling_find(const char *name);

#endif
