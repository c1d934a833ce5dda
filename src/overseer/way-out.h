/* SPDX-License-Identifier: ISC */

/*
 * The last way out: a second SIGINT or SIGTERM ends the overseer within two
 * seconds whatever it is doing, even if it hangs in a system call. The kernel's
 * timers see to it, not the loop.
 */
#ifndef WAY_OUT_H
#define WAY_OUT_H

/* After the loop's own handlers, which are called first. */
void way_out_open(void);
/* The daemon gets SIGKILL then; -1 = there is none. */
void way_out_daemon(int pidfd);

#endif
