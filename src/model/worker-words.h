/* SPDX-License-Identifier: ISC */

/* The words of the enums in worker.h, each list ended by NULL. For worker*.c
 * only; others ask worker_status_name() and its like. */
#ifndef WORKER_WORDS_H
#define WORKER_WORDS_H

#include "worker.h"

extern const char *const worker_status_words[WORKER_STATUS_COUNT + 1];
extern const char *const accept_step_words[ACCEPT_STEP_COUNT + 1];

#endif
