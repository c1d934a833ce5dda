/* SPDX-License-Identifier: ISC */

/* llmc doctor --sandbox: what this machine, and this repository, have for a
 * sandbox. */
#ifndef DOCTOR_KERNEL_H
#define DOCTOR_KERNEL_H

#include <stdbool.h>

struct doctor;

/* True if a box with the host's network is closed to abstract unix sockets. */
bool doctor_kernel_check(struct doctor *doctor);

#endif
