/* SPDX-License-Identifier: ISC */

/*
 * Private namespaces and privileges for a test, for failures that need them: a
 * full disk, modes that bind root too, reused process ids. Check runs each test
 * in its own process, so nothing of this outlives the test. If the machine does
 * not allow it, the functions return the reason.
 */
#ifndef ENCLAVE_H
#define ENCLAVE_H

#include "unit.h"

/* Mount a file system of this many KiB over the folder, which keeps its files.
 * NULL = done, else the reason. Programs started before do not see it. */
const char *enclave_small_disk(const char *dir, unsigned kib);
void enclave_release_disk(const char *dir);

/* The same with a disk that can be frozen: then whoever writes to it hangs in
 * the kernel, and no signal helps. It is thawed when the test ends, whatever
 * happens. */
const char *enclave_freezing_disk(const char *dir);
void enclave_freeze(const char *dir);
void enclave_thaw(const char *dir);

/* Programs started from now on must obey file modes, even as root. NULL = done,
 * else the reason. */
const char *enclave_obey_modes(void);

/* Run it as the first process of a process id namespace; everything it starts
 * ends with it. NULL = it has run, and its assertions held. */
const char *enclave_run(void (*body)(void));
/* Inside: start a sleeping process with the id of one that was killed; false if
 * the id is taken. */
bool enclave_take_pid(pid_t pid);

#endif
