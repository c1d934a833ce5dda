/* SPDX-License-Identifier: ISC */

/* llmc doctor: checks the channels to people. */
#ifndef DOCTOR_CHANNELS_H
#define DOCTOR_CHANNELS_H

struct doctor;

/* Nothing if there are none. */
void doctor_channels_check(struct doctor *doctor);

#endif
