/* SPDX-License-Identifier: ISC */

/* llmc doctor --repair and --rebuild. */
#ifndef DOCTOR_REPAIR_H
#define DOCTOR_REPAIR_H

#include <stdbool.h>

struct doctor;

/* Both return the exit status; what was done is in doctor->repairs. */
int doctor_repair(struct doctor *doctor, bool yes);
int doctor_repair_rebuild(struct doctor *doctor, bool yes);

#endif
