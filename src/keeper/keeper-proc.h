/* SPDX-License-Identifier: ISC */

/* What /proc says about processes, read into static memory. */
#ifndef KEEPER_PROC_H
#define KEEPER_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Read a small file; the text is terminated. Its length, or negative errno. */
ssize_t keeper_proc_read(const char *path, char *text, size_t size);

/* When the process started, in clock ticks (field 22); 0 if it is gone. */
uint64_t keeper_proc_start_time(pid_t pid);

/* Was it stopped by a signal? */
bool keeper_proc_is_stopped(pid_t pid);

/* Call fn with each child of the process. Returns how many there were, or
 * negative errno if /proc cannot be read. */
int
keeper_proc_children(pid_t parent, void (*fn)(pid_t pid, void *arg), void *arg);

/* The same for those who look all the time and may miss one: /proc is searched
 * only if the kernel has no list of children. */
int
keeper_proc_glance(pid_t parent, void (*fn)(pid_t pid, void *arg), void *arg);

#endif
