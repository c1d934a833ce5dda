/* SPDX-License-Identifier: ISC */

/*
 * Functions that must not be used in this project, because each is easy to
 * misuse. The build includes this file before every source, so a use does not
 * compile. fork, kill and waitpid are allowed in one file each; tests/layers.sh
 * checks those.
 */
#ifndef BANNED_H
#define BANNED_H

/* The system's declarations must come before the poison. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* glibc defines these as macros for clang. */
#undef sprintf
#undef vsprintf

#pragma GCC poison strcpy strcat strncpy strncat strtok sprintf vsprintf
#pragma GCC poison gets tmpnam mktemp tempnam
#pragma GCC poison localtime gmtime ctime asctime
#pragma GCC poison system popen sleep usleep
#pragma GCC poison atoi atol atoll

#endif
