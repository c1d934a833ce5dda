/* SPDX-License-Identifier: ISC */

/*
 * llmc doctor --sandbox: the vector of a real box on a scratch repository,
 * first with a program that does nothing, then with every escape of
 * escape-table.h, inside and beside it in an unsandboxed control. Changes
 * nothing, and leaves nothing behind.
 */
#ifndef DOCTOR_BOX_H
#define DOCTOR_BOX_H

#include "schema.h"

struct doctor;

/* The mode is "worktree" or "strict"; NULL = the repository's, or "worktree" if
 * that is off. The facts go to the doctor's checks, *ret_report (owned by the
 * caller, NULL if there was no box) is the table of escapes. Exit status; a
 * failure of doctor's own is reported. */
int doctor_box_run(
    struct doctor *doctor, const char *mode, struct json_object **ret_report);

extern const struct schema doctor_box_shape; /* of the report */

#endif
