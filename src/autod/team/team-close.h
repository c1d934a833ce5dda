/* SPDX-License-Identifier: ISC */

/* Mail that reaches nobody: its recipient has ended, or does not confirm it. */
#ifndef TEAM_CLOSE_H
#define TEAM_CLOSE_H

struct mail_pace;
struct team_floor;

/* Close mail of recipients that have ended, and tell the senders of
 * instructions that were to be confirmed; tell people of mail that is not
 * confirmed. Only while the book is open. */
void team_close_look(struct team_floor *floor, const struct mail_pace *pace);

#endif
