/* SPDX-License-Identifier: ISC */

/*
 * Notifications: to the service manager that may have started us (the protocol
 * of sd_notify(3)), and to the user's own program when a person is needed.
 */
#ifndef NOTIFY_H
#define NOTIFY_H

#include <stdint.h>

struct json_object;
struct loop;

/* Send "READY=1", "STATUS=...", "WATCHDOG=1", "STOPPING=1" to NOTIFY_SOCKET
 * (path, or abstract with '@'); nothing when that is not set. Never blocks. */
void notify_service(const char *state);
/* How often WATCHDOG=1 is wanted, in ms: half of WATCHDOG_USEC when
 * WATCHDOG_PID is ours or not set; 0 = not at all. */
int64_t notify_watchdog_ms(void);

/* Run the user's command with the message as JSON on its standard input, in the
 * background, with a deadline. Its result is only logged (debug). An empty
 * command does nothing. */
void notify_person(struct loop *loop, const char *command,
    struct json_object *message, int64_t deadline_ms);

#endif
