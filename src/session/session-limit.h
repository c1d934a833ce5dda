/* SPDX-License-Identifier: ISC */

/* A turn that failed because of a limit or an outage: when to go on. */
#ifndef SESSION_LIMIT_H
#define SESSION_LIMIT_H

#include "limit.h"

/* The wall clock time to look again: the end of the minute that the message
 * names, in its own zone, or after a pause that grows with the tries (limit.h).
 */
int64_t
session_limit_look_ms(enum limit_class class, const char *text, int tries);

#endif
