/* SPDX-License-Identifier: ISC */

/*
 * Does a git configuration that a worker can write have only settings that run
 * no program and name no other file? Everything that is not known is not. Pure.
 * Private to the git-*.c files.
 */
#ifndef GIT_CONFIG_PLAIN_H
#define GIT_CONFIG_PLAIN_H

#include <stdbool.h>

/* text: the contents of the file. A file that git would read differently, such
 * as one with a continued line, is not plain. */
bool git_config_is_plain(const char *text);

#endif
