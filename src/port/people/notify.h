/* SPDX-License-Identifier: ISC */

/* Notifications to the service manager that may have started us: the protocol
 * of sd_notify(3). */
#ifndef NOTIFY_H
#define NOTIFY_H

/* Send "READY=1", "STATUS=...", "WATCHDOG=1", "STOPPING=1" to NOTIFY_SOCKET
 * (path, or abstract with '@'); nothing when that is not set. Never blocks. */
void notify_service(const char *state);
/* How often WATCHDOG=1 is wanted, in ms: half of WATCHDOG_USEC when
 * WATCHDOG_PID is ours or not set; 0 = not at all. */
int64_t notify_watchdog_ms(void);

#endif
