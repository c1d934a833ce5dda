/* SPDX-License-Identifier: ISC */

/* The first bytes of the file, read before SQLite sees it. */
#ifndef STORE_HEADER_H
#define STORE_HEADER_H

struct err;

/* 0; -ENOENT without words if there is no file; -EUCLEAN: not a whole database;
 * -EINVAL: not a store of llmc, or not a file. */
int store_header_check(const char *path, struct err *err);

#endif
