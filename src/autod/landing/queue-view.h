/* SPDX-License-Identifier: ISC */

/* The landing queue for people: landing.list. */
#ifndef QUEUE_VIEW_H
#define QUEUE_VIEW_H

struct json_object;
struct landings;
struct server_call;

/* Answer the call. The tip of the branch is read first if nobody knows it. */
void queue_view_answer(struct landings *landings, struct server_call *call);

/* The same, with what is known now. The caller owns it. */
struct json_object *queue_view(struct landings *landings);

#endif
