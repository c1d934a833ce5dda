/* SPDX-License-Identifier: ISC */

/* Somebody else wrote state.json: is that harmless, or has our work been lost
 * to a program that takes this root for its own? */
#ifndef FOREIGN_STATE_H
#define FOREIGN_STATE_H

/* The policy of persist.h; mode is a struct auto_mode. */
void foreign_state_found(void *mode);

#endif
