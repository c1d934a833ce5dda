/* SPDX-License-Identifier: ISC */

/* What the files of llmc doctor share: the report, and the facts behind it. */
#ifndef DOCTOR_H
#define DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "state.h"

struct cli;
struct json_object;
struct settings;

enum verdict {
	VERDICT_OK,
	VERDICT_WARN,
	VERDICT_FAIL,
	VERDICT_COUNT
};

struct doctor {
	struct cli *cli;
	bool have_git; /* git answers, and the repository has a commit */
	bool have_state; /* it could be read */
	struct state state;
	struct settings *settings; /* NULL = they cannot be read */
	struct json_object *checks;
	struct json_object *repairs; /* in words */
	struct json_object *sandbox; /* doctor-box.h; NULL = not tried */
	int counts[VERDICT_COUNT];
};

/* One line of the report. fix: what to do, NULL if nothing is wrong. */
void doctor_note(struct doctor *doctor, enum verdict verdict, const char *name,
    const char *detail, const char *fix);

#endif
