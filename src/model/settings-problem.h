/* SPDX-License-Identifier: ISC */

/* The list of what is wrong in a config file; settings.h has its form. */
#ifndef SETTINGS_PROBLEM_H
#define SETTINGS_PROBLEM_H

#include <stdbool.h>

struct settings_problems;

/* The text is copied. */
void settings_problem_add(struct settings_problems *problems, bool fatal,
    unsigned line, const char *text);

#endif
