/* SPDX-License-Identifier: ISC */

/* Claude Code has lost its login or trust: who else works goes on, but when
 * nobody does, waiting is of no use. */
#ifndef LOGIN_H
#define LOGIN_H

struct auto_mode;

/* A worker has changed. Does one wait for a login, and no other have a task?
 * Then raise the failure. */
void login_look(struct auto_mode *mode);

#endif
