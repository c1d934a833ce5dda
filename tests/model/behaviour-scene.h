/* SPDX-License-Identifier: ISC */

/* A history for the detectors, written in short: ' stands for " in JSON. One
 * at a time; scene_begin() forgets the last one. */
#ifndef BEHAVIOUR_SCENE_H
#define BEHAVIOUR_SCENE_H

#include "unit.h"

struct json_object;

/* With the default thresholds, and these merged over them (NULL = none). */
void scene_begin(const char *thresholds);

/* The next iteration, as in printf; it must be valid. */
void scene_add(const char *json, ...) __attribute__((format(printf, 1, 2)));

/* The same `count` times. */
void scene_repeat(int count, const char *json);

/* What is found now: "stuck high, deviation medium", or "". */
const char *scene_found(void);

/* The detection of a type; the test ends if there is none. The scene owns it.
 */
struct json_object *scene_detection(const char *type);

#endif
