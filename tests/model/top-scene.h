/* SPDX-License-Identifier: ISC */

/* Views for tests of llmc top. Each belongs to the caller. */
#ifndef TOP_SCENE_H
#define TOP_SCENE_H

#include "unit.h"

struct dice;
struct json_object;

#define SCENE_NOW_MS INT64_C(1768546680000) /* 2026-01-16 06:58:00 UTC */

/* A night with four workers, of which two need somebody. */
struct json_object *scene_night(void);

/* So many workers, each with a task. */
struct json_object *scene_fleet(int count);

/* Rows with texts and numbers of all kinds in all sections. */
struct json_object *scene_random(struct dice *dice);

#endif
