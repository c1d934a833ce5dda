/* SPDX-License-Identifier: ISC */

/* The methods for the messages to people: people.list, people.ack. The outbox
 * is shared by processes; llmc escalations needs no daemon for it. */
#ifndef PEOPLE_COMMANDS_H
#define PEOPLE_COMMANDS_H

struct core;

void people_commands_register(struct core *core);

#endif
