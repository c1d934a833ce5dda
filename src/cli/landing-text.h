/* SPDX-License-Identifier: ISC */

/* The landing queue for people: the answer of landing.list as text. */
#ifndef LANDING_TEXT_H
#define LANDING_TEXT_H

struct cli;
struct json_object;

/* Append to cli->text. */
void landing_text_add(struct cli *cli, struct json_object *list);
/* Its member push, not NULL. */
void landing_text_push(struct cli *cli, struct json_object *push);

#endif
