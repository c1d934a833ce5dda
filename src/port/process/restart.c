/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <signal.h>

#include "child.h"
#include "restart.h"

#define VARIABLE "LLMC_RESTART" /* COUNT LOCK KEPT INSTANCE */
#define FD_LEAST 10 /* above those that children are given */

static void
take(int *fd)
{
	if (*fd < FD_LEAST || fcntl(*fd, F_SETFD, FD_CLOEXEC) == -1)
		*fd = 0;
}

void
restart_taken(struct restart *ret_restart)
{
	const char *value = getenv(VARIABLE);
	struct restart r = { 0 };

	if (value == NULL ||
	    sscanf(value, "%d %d %d %36s", &r.count, &r.lock, &r.kept,
		r.instance) != 4 ||
	    strlen(r.instance) != ID_UUID_SIZE - 1) {
		r = (struct restart){ 0 };
	} else {
		take(&r.lock);
		take(&r.kept);
		child_reap_inherited();
	}
	unsetenv(VARIABLE);
	*ret_restart = r;
}

int
restart_become(
    const char *program, char *const *argv, const struct restart *restart)
{
	cleanup_free char *value = xasprintf("%d %d %d %s", restart->count,
	    restart->lock, restart->kept, restart->instance);

	setenv(VARIABLE, value, 1);
	execv(program, argv);
	return -errno;
}

void
restart_hold_signals(void)
{
	static const int handled[] = { SIGHUP, SIGINT, SIGTERM, SIGUSR2 };
	sigset_t wait;

	sigemptyset(&wait);
	for (size_t i = 0; i < nitems(handled); i++)
		sigaddset(&wait, handled[i]);
	sigprocmask(SIG_BLOCK, &wait, NULL);
}

int
restart_keep(int fd)
{
	int copy = fcntl(fd, F_DUPFD, FD_LEAST);

	return copy < 0 ? 0 : copy;
}

bool
restart_is_due(pid_t pid)
{
	static const char deleted[] = " (deleted)"; /* as the kernel says */
	cleanup_free char *link = xasprintf("/proc/%d/exe", (int)pid);
	char path[PATH_MAX];
	ssize_t len = readlink(link, path, sizeof path);

	return len > (ssize_t)sizeof deleted - 1 &&
	    memcmp(path + len - (sizeof deleted - 1), deleted,
		sizeof deleted - 1) == 0;
}
