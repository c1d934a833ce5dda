/* SPDX-License-Identifier: ISC */

/* The view as it is now. Made from memory: nothing is asked or waited for. */
#ifndef EYES_SNAPSHOT_H
#define EYES_SNAPSHOT_H

struct eyes_floor;
struct json_object;

/* The caller owns it. */
struct json_object *eyes_snapshot(struct eyes_floor *eyes);

#endif
