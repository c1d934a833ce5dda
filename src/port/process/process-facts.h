/* SPDX-License-Identifier: ISC */

/* What the kernel says of this process, for metrics. */
#ifndef PROCESS_FACTS_H
#define PROCESS_FACTS_H

struct metrics_process;

/* What cannot be read stays 0; start_s is not touched. */
void process_facts_read(struct metrics_process *facts);

#endif
