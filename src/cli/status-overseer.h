/* SPDX-License-Identifier: ISC */

/* llmc status: the overseer. */
#ifndef STATUS_OVERSEER_H
#define STATUS_OVERSEER_H

struct overseer_files;
struct schema;
struct status;

/* Likewise; its member of the JSON is "overseer". */
void status_overseer_show(
    struct status *status, const struct overseer_files *overseer);
extern const struct schema status_overseer_shape;

#endif
