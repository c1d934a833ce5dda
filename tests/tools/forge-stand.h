/* SPDX-License-Identifier: ISC */

/* The stub of a forge (stub-forge.c) in a test: started, told what to do, and
 * asked what has reached it. It ends with the test program. */
#ifndef FORGE_STAND_H
#define FORGE_STAND_H

#include "unit.h"

struct json_object;

/* Start one; its URL, valid until the next one. LLMC_STUB_FORGE names the
 * program. */
const char *forge_stand(const char *dialect);

/* POST /control/WHAT with this JSON; the answer is valid until the program
 * ends. */
struct json_object *forge_tell(const char *what, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* GET /control/WHAT: "log" or "state"; valid likewise. */
struct json_object *forge_look(const char *what);

/* How many requests had this method and this in their path? */
int forge_count(const char *method, const char *path);
/* Wait until there are so many. */
void forge_wait(const char *method, const char *path, int count);

#endif
