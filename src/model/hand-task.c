/* SPDX-License-Identifier: ISC */

#include <stddef.h>
#include <string.h>

#include "hand-task.h"
#include "mem.h"

static const char prefix[] = "by-hand-";

char *
hand_task_name(const char *worker)
{
	return xasprintf("%s%s", prefix, worker);
}

const char *
hand_task_worker(const char *task)
{
	size_t len = strlen(prefix);

	return strncmp(task, prefix, len) == 0 ? task + len : NULL;
}
