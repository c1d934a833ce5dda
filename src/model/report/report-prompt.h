/* SPDX-License-Identifier: ISC */

/* What the prompt of a task says about reports. Pure. */
#ifndef REPORT_PROMPT_H
#define REPORT_PROMPT_H

struct buf;

/* Append it; completion, progress: what is asked for. */
void report_prompt(struct buf *out, bool completion, bool progress);

#endif
