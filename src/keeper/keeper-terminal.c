/* SPDX-License-Identifier: ISC */

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "keeper-proc.h"
#include "keeper-terminal.h"

void
keeper_terminal_take(void)
{
	int fd = open("/dev/tty", O_RDWR | O_CLOEXEC);

	if (fd == -1)
		return;
	tcsetpgrp(fd, getpgrp());
	close(fd);
}

static void
continue_group(pid_t pid, void *arg)
{
	const pid_t *group = arg;

	if (getpgid(pid) == *group && keeper_proc_is_stopped(pid))
		kill(-*group, SIGCONT);
}

void
keeper_terminal_continue(pid_t group)
{
	keeper_proc_glance(group, continue_group, &group);
}
