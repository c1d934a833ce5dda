/* SPDX-License-Identifier: ISC */

/* What the files of llmc status share. */
#ifndef STATUS_H
#define STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "state.h"

struct cli;
struct oversight;
struct settings;
struct shape;

struct status {
	struct cli *cli;
	struct state state;
	struct settings *settings;
	int64_t now;
	bool overseen; /* an overseer runs */
};

/* A heading, with a blank line before it unless it is the first. */
void status_section(struct cli *cli, const char *title);

/* status-auto.c: auto mode, where there is any: the section, and the member
 * "auto" of the JSON, which has that shape. */
void status_auto_show(struct status *status);
extern const struct shape status_auto_shape;

/* status-overseer.c: likewise the overseer, and "overseer". */
void
status_overseer_show(struct status *status, const struct oversight *oversight);
extern const struct shape status_overseer_shape;

#endif
