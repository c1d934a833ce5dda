/* SPDX-License-Identifier: ISC */

/* Messages for people, without buffers of stdio. */
#ifndef KEEPER_SAY_H
#define KEEPER_SAY_H

/* "keeper: ..." and a newline, to standard error. */
void keeper_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
