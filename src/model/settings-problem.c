/* SPDX-License-Identifier: ISC */

#include <stdlib.h>

#include "mem.h"
#include "settings-problem.h"
#include "settings.h"

void
settings_problem_add(struct settings_problems *problems, bool fatal,
    unsigned line, const char *text)
{
	struct settings_problem *p;

	problems->list = xreallocarray(
	    problems->list, problems->count + 1, sizeof *problems->list);
	p = &problems->list[problems->count++];
	p->fatal = fatal;
	p->line = line;
	p->text = xstrdup(text);
	problems->fatal |= fatal;
}

void
settings_problems_release(struct settings_problems *problems)
{
	for (size_t i = 0; i < problems->count; i++)
		free(problems->list[i].text);
	free(problems->list);
	*problems = (struct settings_problems){ 0 };
}
