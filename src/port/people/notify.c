/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/socket.h>
#include <sys/un.h>

#include "notify.h"

/* The length of the address, 0 if it is not valid. */
static socklen_t
notify_address(const char *name, struct sockaddr_un *address)
{
	size_t len = strlen(name);

	if ((name[0] != '/' && name[0] != '@') || len < 2 ||
	    len >= sizeof address->sun_path)
		return 0;
	memset(address, 0, sizeof *address);
	address->sun_family = AF_UNIX;
	memcpy(address->sun_path, name, len);
	if (name[0] == '@') /* abstract: without a NUL at its end */
		address->sun_path[0] = '\0';
	else
		len++;
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
}

void
notify_service(const char *state)
{
	const char *name = getenv("NOTIFY_SOCKET");
	cleanup_fd int fd = -1;
	struct sockaddr_un address;
	socklen_t len;

	if (name == NULL)
		return;
	len = notify_address(name, &address);
	if (len == 0) {
		log_debug("NOTIFY_SOCKET is not an address: %s", name);
		return;
	}
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd == -1 ||
	    sendto(fd, state, strlen(state), MSG_DONTWAIT | MSG_NOSIGNAL,
		(const struct sockaddr *)&address, len) == -1)
		log_debug("cannot notify the service manager");
}

int64_t
notify_watchdog_ms(void)
{
	const char *usec = getenv("WATCHDOG_USEC");
	const char *pid = getenv("WATCHDOG_PID");
	int64_t us, whose;

	if (usec == NULL || !text_parse_int(usec, 1, INT64_MAX, &us))
		return 0;
	if (pid != NULL &&
	    (!text_parse_int(pid, 1, INT64_MAX, &whose) || whose != getpid()))
		return 0;
	return us < 2000 ? 1 : us / 2000;
}
