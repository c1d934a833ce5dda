/* SPDX-License-Identifier: ISC */

/*
 * Tells a person what the daemon goes on with, or ends for, but somebody should
 * know. An event whose row names a class of notices is told by itself: emit()
 * is all that its code has to do. person_tell() is for what is no event.
 *
 * Under an overseer, failures and the end of the run are the overseer's to
 * tell: it may repair them.
 */
#ifndef PERSON_H
#define PERSON_H

#include "notice.h"

struct core;
struct escalation;

/* Subscribe to the events of the core. */
void person_subscribe(struct core *core);

/* An intervention, with all that is known of it, to the channels that take its
 * level; and by the command as a notice of this class (NOTICE_NONE: not). */
void person_escalate(
    struct core *core, const struct escalation *what, enum notice_class class);

/* Nothing if the user did not choose the class (people.notify_on). */
void person_tell(struct core *core, const struct notice *notice);

#endif
