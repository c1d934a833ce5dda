/* SPDX-License-Identifier: ISC */

/* What the machine has left: memory, disk, load. Reads a few small files of
 * /proc and asks one file system; nothing of it waits. */
#ifndef MACHINE_H
#define MACHINE_H

struct machine;

/* dir: on the file system of the worktrees. What cannot be had is -1. */
void machine_read(const char *dir, struct machine *ret_machine);

/* The part of the last ten seconds in which tasks stood still, "some" of them
 * or all ("full"), in whole percent, from the text of a file in /proc/pressure;
 * -1 = it does not say. */
int machine_pressure(const char *text, const char *who);

/* MemAvailable in the text of /proc/meminfo, in bytes; -1 = it is not there. */
int64_t machine_memory(const char *text);

#endif
