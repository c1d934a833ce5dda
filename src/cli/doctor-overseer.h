/* SPDX-License-Identifier: ISC */

/* llmc doctor: can an overseer start, and is the running one well? */
#ifndef DOCTOR_OVERSEER_H
#define DOCTOR_OVERSEER_H

struct doctor;

void doctor_overseer_check(struct doctor *doctor);

#endif
