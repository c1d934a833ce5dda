/* SPDX-License-Identifier: ISC */

/* The commands for finished work: accept, rebase, review; and pick. */
#ifndef LANDING_COMMANDS_H
#define LANDING_COMMANDS_H

struct fleet;
struct landings;

void landing_commands_register(struct landings *landings, struct fleet *fleet);

#endif
