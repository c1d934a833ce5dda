/* SPDX-License-Identifier: ISC */

/* What needs a person, made of the other sections of a view. Pure. */
#ifndef VIEW_NEEDS_H
#define VIEW_NEEDS_H

struct json_object;

/* Fill the section "needs": rows {what, who, words, command}, the most urgent
 * first by their keys. */
void view_needs(struct json_object *view);

#endif
