/* SPDX-License-Identifier: ISC */

/* The landing queue for people: the answer of landing.list as text. */
#ifndef CMD_LANDING_H
#define CMD_LANDING_H

struct cli;
struct json_object;

/* Its member push, not NULL. */
void landing_text_push(struct cli *cli, struct json_object *push);

#endif
