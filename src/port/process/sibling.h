/* SPDX-License-Identifier: ISC */

/* Find the other programs of llmc. */
#ifndef SIBLING_H
#define SIBLING_H

/* The path of `llmc`, `autod`, `overseer` or `keeper`: beside our own file,
 * then in libexecdir, then on PATH. In the build tree the folders of the
 * programs are siblings. The caller frees; NULL when there is none. */
char *sibling_find(const char *name);

/* The path of any program: a name is searched in the absolute folders of PATH,
 * a path is taken as it is. The caller frees; NULL when it is no program. */
char *sibling_program(const char *name);

#endif
