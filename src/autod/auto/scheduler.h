/* SPDX-License-Identifier: ISC */

/* Who is free, what is given out, and when all is done. */
#ifndef SCHEDULER_H
#define SCHEDULER_H

struct auto_mode;

void scheduler_init(struct auto_mode *mode);
/* Something changed: look at the end of this pass who is free. */
void scheduler_look(struct auto_mode *mode);

#endif
