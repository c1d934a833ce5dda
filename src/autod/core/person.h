/* SPDX-License-Identifier: ISC */

/*
 * The one way from the daemon to a person. An ask is what needs one, a message
 * is what a channel carries; both are rows of the book. An event whose row
 * names a class of notices is sent by itself: emit() is all that its code has
 * to do.
 *
 * Under an overseer, failures and the end of the run are the overseer's to
 * tell: it may repair them.
 */
#ifndef PERSON_H
#define PERSON_H

#include "child.h"
#include "courier.h"
#include "notice.h"

struct core;
struct escalation;
struct json_object;

/* Subscribe to the events of the core. */
void person_subscribe(struct core *core);

/* For what is no event: tell it, and open an ask if nothing in the state stands
 * for it. */
void person_tell(struct core *core, const struct notice *notice);

/* An intervention, with all that is known of it, to the channels that take its
 * level. */
void person_escalate(struct core *core, const struct escalation *what);

/* Answer an ask, as the members ask, text, yes and no say, by running llmc
 * answer: what an answer does depends on what is asked, and llmc knows. */
int person_answer(struct core *core, struct json_object *params, child_fn *fn,
    void *arg, struct child **ret_child, struct err *err);

/* ask.end and ask.seen. */
void person_register(struct core *core);

/*
 * The messages: a row each, with how far each channel is with it. What is sent
 * is committed first; what the overseer has sent while there was no daemon is
 * filed here.
 */

/* For people_new(). */
struct courier_store messages_store(struct core *core);

/* Send what an earlier daemon could not. */
void messages_begin(struct core *core);
/* File what the overseer has sent since. */
void messages_file(struct core *core);

#endif
