/* SPDX-License-Identifier: ISC */

/* Which task source the settings choose: a command if there is one, else a list
 * of task files, else the folder of tasks. */
#ifndef SOURCE_CHOICE_H
#define SOURCE_CHOICE_H

#include "source.h"

struct settings;
struct workspace;

struct source_choice {
	struct source_options options; /* without loop; strings below */
	char *where, *run_dir, *log, *owner;
};

/* root_id: of the state; NULL if the source is only shown, then options.owner
 * is NULL. settings and workspace stay the caller's and must outlive the
 * choice. */
void source_choice_init(struct source_choice *choice,
    const struct settings *settings, const struct workspace *workspace,
    const char *root_id);
void source_choice_release(struct source_choice *choice);
#define cleanup_source_choice __attribute__((cleanup(source_choice_release)))

#endif
