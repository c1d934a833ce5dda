/* SPDX-License-Identifier: ISC */

/* The store for state.json (port/files/state.h): it answers immediately. */
#ifndef STATE_STORE_FILE_H
#define STATE_STORE_FILE_H

#include "state-store.h"

struct workspace;

struct state_store *state_store_file_new(const struct workspace *workspace);

#endif
