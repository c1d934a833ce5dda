/* SPDX-License-Identifier: ISC */

/* The store for state.json (port/files/state.h): it answers immediately. */
#ifndef STORE_FILE_H
#define STORE_FILE_H

#include "store.h"

struct workspace;

struct store *store_file_new(const struct workspace *workspace);

#endif
