/* SPDX-License-Identifier: ISC */

/* What the files of llmc status share. */
#ifndef STATUS_H
#define STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "state.h"

struct cli;
struct settings;

struct status {
	struct cli *cli;
	struct state state;
	struct settings *settings;
	int64_t now;
	bool overseen; /* an overseer runs */
	bool plain; /* a daemon without auto mode runs */
};

/* A heading, with a blank line before it unless it is the first. */
void status_section(struct cli *cli, const char *title);

#endif
