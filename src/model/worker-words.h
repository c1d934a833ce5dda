/* SPDX-License-Identifier: ISC */

/* The words of the enums in worker.h, NULL terminated. For worker*.c only;
 * other code uses worker_status_name() and similar functions. */
#ifndef WORKER_WORDS_H
#define WORKER_WORDS_H

#include "worker.h"

extern const char *const worker_status_words[WORKER_STATUS_COUNT + 1];
extern const char *const accept_step_words[ACCEPT_STEP_COUNT + 1];

#endif
