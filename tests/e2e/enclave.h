/* SPDX-License-Identifier: ISC */

/*
 * Namespaces and privileges of a test's own, for failures that need them: a
 * disk that is full, modes that bind root too, process ids that are used again.
 * Check runs each test in a process of its own, so that nothing of this
 * outlives the test. Where the machine does not allow it, the answer says why.
 */
#ifndef ENCLAVE_H
#define ENCLAVE_H

#include <stdbool.h>
#include <sys/types.h>

/* A file system of so many KiB over the folder, which keeps its files. NULL =
 * done, else why not. What was started before does not see it. */
const char *enclave_small_disk(const char *dir, unsigned kib);
void enclave_release_disk(const char *dir);

/* What is started from now on writes only where file modes allow it, whoever
 * it is. NULL = done, else why not. */
const char *enclave_obey_modes(void);

/* Run it as the first process of a process id namespace; whatever it starts
 * ends with it. NULL = it has run, and its assertions held. */
const char *enclave_run(void (*body)(void));
/* Within: a sleeping process with the very id of one that was killed; false
 * when it is taken. */
bool enclave_take_pid(pid_t pid);

#endif
