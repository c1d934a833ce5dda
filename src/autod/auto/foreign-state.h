/* SPDX-License-Identifier: ISC */

/* Another program wrote state.json: is that harmless, or has our work been lost
 * to a program that uses the same root? */
#ifndef FOREIGN_STATE_H
#define FOREIGN_STATE_H

/* A policy for persist.h; mode is a struct auto_mode. */
void foreign_state_found(void *mode);

#endif
