/* SPDX-License-Identifier: ISC */

/* What only the daemon knows of its workers and of itself. */
#ifndef EYES_LIVE_H
#define EYES_LIVE_H

struct eyes_floor;
struct json_object;

/* Fill members of "head" and of the rows of "workers". */
void eyes_live_fill(struct eyes_floor *eyes, struct json_object *view);

#endif
