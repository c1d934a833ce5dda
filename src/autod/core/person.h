/* SPDX-License-Identifier: ISC */

/* Tell a person, through the command that they named for this, of what the
 * daemon goes on with but somebody should look at. */
#ifndef PERSON_H
#define PERSON_H

struct core;

/* what: a few words; why: the details. Nothing if no command is set. */
void person_tell(const struct core *core, const char *what, const char *why);

#endif
