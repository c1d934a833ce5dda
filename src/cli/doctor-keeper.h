/* SPDX-License-Identifier: ISC */

/* llmc doctor: what kind of keeper this machine gives to agents. */
#ifndef DOCTOR_KEEPER_H
#define DOCTOR_KEEPER_H

struct doctor;

void doctor_keeper_check(struct doctor *doctor);

#endif
