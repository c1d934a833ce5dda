/* SPDX-License-Identifier: ISC */

/* llmc doctor: where the tasks of auto mode come from. */
#ifndef DOCTOR_AUTO_H
#define DOCTOR_AUTO_H

struct doctor;

void doctor_auto_check(struct doctor *doctor);

#endif
