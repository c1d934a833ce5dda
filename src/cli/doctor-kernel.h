/* SPDX-License-Identifier: ISC */

/* llmc doctor --sandbox: what this machine, and this repository, have for a
 * sandbox. */
#ifndef DOCTOR_KERNEL_H
#define DOCTOR_KERNEL_H

struct doctor;

void doctor_kernel_check(struct doctor *doctor);

#endif
