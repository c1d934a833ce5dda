/* SPDX-License-Identifier: ISC */

/* What the agent of a repair is told: what is known of the failure, and what
 * was tried before. */
#ifndef REPAIR_PROMPT_H
#define REPAIR_PROMPT_H

struct repair;

void repair_prompt_write(struct repair *r); /* into r->prompt */

#endif
