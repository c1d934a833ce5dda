/* SPDX-License-Identifier: ISC */

/* llmc status: auto mode. */
#ifndef STATUS_AUTO_H
#define STATUS_AUTO_H

struct schema;
struct status;

/* Prints nothing where auto mode was never used. The shape is that of the
 * member "auto" of the JSON. */
void status_auto_show(struct status *status);
extern const struct schema status_auto_shape;

#endif
