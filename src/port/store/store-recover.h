/* SPDX-License-Identifier: ISC */

/*
 * What can still be read of a damaged store, made into a new one: row by row,
 * past pages that cannot be read. Blocks; for child processes.
 */
#ifndef STORE_RECOVER_H
#define STORE_RECOVER_H

#include <stddef.h>

struct err;

struct store_recovered {
	size_t records, events; /* that were saved */
	size_t refused; /* rows that could be read, but are no records */
	size_t gaps; /* places that could not be read */
};

/* Salvage the damaged file (with its log, if that is beside it) into a new
 * store at path. The damaged one stays as it is. -EEXIST: the store at path is
 * not empty. -EUCLEAN: the list of tables is gone, nothing can be saved. */
int store_recover(const char *path, const char *damaged,
    struct store_recovered *ret, struct err *err);

#endif
