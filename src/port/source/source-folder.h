/* SPDX-License-Identifier: ISC */

/* A folder of text files, moved from todo/ through doing/ to done/ or failed/.
 * Private to source.c. */
#ifndef SOURCE_FOLDER_H
#define SOURCE_FOLDER_H

#include "folder.h"
#include "priority.h"

struct source_kind;

extern const struct source_kind source_folder;

#endif
