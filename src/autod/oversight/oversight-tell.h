/* SPDX-License-Identifier: ISC */

/* People are told of what oversight does, with the evidence: as urgently as
 * model/escalation says, and once, whenever the daemon dies. */
#ifndef OVERSIGHT_TELL_H
#define OVERSIGHT_TELL_H

#include "ladder.h"

struct detection;
struct iteration;
struct oversight_floor;
struct watched;

/* worker: its name; text: what happened and what to type. */
void oversight_tell(const struct oversight_floor *floor,
    const struct watched *watched, const char *worker,
    const struct detection *detection, enum progress_step level,
    const char *text);

/* This worker has had these errors: tell of those that others have had lately,
 * once. */
void oversight_tell_fleet(struct oversight_floor *floor, const char *worker,
    const struct iteration *iteration);

#endif
