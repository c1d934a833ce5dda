/* SPDX-License-Identifier: ISC */

/* Mail that people are told of, by their channels. */
#ifndef TEAM_PEOPLE_H
#define TEAM_PEOPLE_H

struct mail;
struct team_floor;

/* It is for a person, or for the overseer and of no known subject. Told
 * once. */
void team_people_got(struct team_floor *floor, const struct mail *mail);
/* It was given to its recipient again and again, and is not confirmed. */
void team_people_ignored(struct team_floor *floor, const struct mail *mail);

/* The store is open. What came in the last day is told if the last daemon died
 * before it was: people are told once of each piece. */
void team_people_opened(struct team_floor *floor);

#endif
