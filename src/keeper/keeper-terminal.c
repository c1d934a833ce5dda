/* SPDX-License-Identifier: ISC */

#include <fcntl.h>
#include <unistd.h>

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

void
keeper_terminal_leave(void)
{
	setsid();
}
