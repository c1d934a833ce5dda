/* SPDX-License-Identifier: ISC */

/*
 * Functions that do not compile in this project, because each has hurt
 * somebody. The build includes this file ahead of every source. fork, kill and
 * waitpid have one right place each, so a test (tests/layers.sh) looks after
 * those.
 */
#ifndef BANNED_H
#define BANNED_H

/* The system's own declarations must come before the poison. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* glibc makes macros of these for clang. */
#undef sprintf
#undef vsprintf

#pragma GCC poison strcpy strcat strncpy strncat strtok sprintf vsprintf
#pragma GCC poison gets tmpnam mktemp tempnam
#pragma GCC poison localtime gmtime ctime asctime
#pragma GCC poison system popen sleep usleep
#pragma GCC poison atoi atol atoll

#endif
