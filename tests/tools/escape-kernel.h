/* SPDX-License-Identifier: ISC */

/*
 * What the scripts of escape-table.h try with system calls: does the kernel
 * answer a call, in each ABI of the machine, and what can be done to the first
 * process of a box. The arguments of calls are wrong, so that nothing happens:
 * an answer is any error but those of a filter.
 */
#ifndef ESCAPE_KERNEL_H
#define ESCAPE_KERNEL_H

/* All return 0 if it worked, otherwise negative errno. */

/* abi: "i386" for that of 32-bit programs; "x32"; NULL = the machine's own. */
int escape_kernel_call(const char *name, const char *abi);

/* Trace the process with this number. */
int escape_kernel_trace(const char *pid, const char *unused);

/* End the outer bwrap of this box while the box goes on, then write the word
 * into the file that it was: rule process 1 by ptrace(2), take its eventfd,
 * have it execute something else, and say that the program has ended. */
int escape_kernel_leave(const char *word, const char *unused);

#endif
