/* SPDX-License-Identifier: ISC */

/* The agents that an agent can ask for, as a part of its prompt. Pure. */
#ifndef FLEET_TABLE_H
#define FLEET_TABLE_H

struct buf;
struct settings;

/* Append a line for each card, in the order of the file; nothing if there are
 * none. For agents that may start others. */
void fleet_table_add(const struct settings *settings, struct buf *out);

#endif
