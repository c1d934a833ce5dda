/* SPDX-License-Identifier: ISC */

/*
 * llmc probe KIND ...: what the scripts of `llmc doctor --sandbox` (see
 * escape-table.h) cannot do with a shell: use a socket or a key. Never sends
 * anything to another machine.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "commands.h"
#include "file.h"
#include "mem.h"
#include "schema.h"
#include "text.h"

/* Connect, and send the word (NULL = nothing). Negative errno. */
static int
reach(int type, const void *address, size_t len, const char *word)
{
	const struct sockaddr *to = address;
	cleanup_fd int fd = socket(to->sa_family, type | SOCK_CLOEXEC, 0);

	if (fd == -1 || connect(fd, to, (socklen_t)len) == -1)
		return -errno;
	return word == NULL ? 0 : file_write_all(fd, word, strlen(word));
}

/* Any length of path is fine: its folder is named by a descriptor. */
static int
probe_unix(const char *path, const char *word)
{
	const char *slash = strrchr(path, '/');
	cleanup_free char *dir = slash == NULL ?
	    xstrdup(".") :
	    xstrndup(path, (size_t)(slash - path) + 1);
	cleanup_fd int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if (fd == -1)
		return -errno;
	snprintf(address.sun_path, sizeof address.sun_path,
	    "/proc/self/fd/%d/%s", fd, slash == NULL ? path : slash + 1);
	return reach(SOCK_STREAM, &address, sizeof address, word);
}

static int
probe_abstract(const char *name, const char *word)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t len = strlen(name);

	if (len >= sizeof address.sun_path)
		return -ENAMETOOLONG;
	memcpy(address.sun_path + 1, name, len);
	return reach(SOCK_STREAM, &address,
	    offsetof(struct sockaddr_un, sun_path) + 1 + len, word);
}

static int
probe_port(int type, const char *port, const char *word)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_addr = { htonl(INADDR_LOOPBACK) } };
	int64_t number;

	if (!text_parse_int(port, 1, UINT16_MAX, &number))
		return -EINVAL;
	address.sin_port = htons((uint16_t)number);
	return reach(type, &address, sizeof address, word);
}

static int
probe_tcp(const char *port, const char *word)
{
	return probe_port(SOCK_STREAM, port, word);
}

static int
probe_udp(const char *port, const char *word)
{
	return probe_port(SOCK_DGRAM, port, word);
}

/* Connecting a datagram socket looks for a route, and sends nothing. */
static int
probe_route(const char *host, const char *word)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_port = htons(53) };

	(void)word;
	if (inet_pton(AF_INET, host, &address.sin_addr) != 1)
		return -EINVAL;
	return reach(SOCK_DGRAM, &address, sizeof address, NULL);
}

/* Print a key of the kernel, by its number. A keyring that holds it, if one is
 * named, is linked to the session's first. */
static int
probe_key(const char *key, const char *ring)
{
	char text[256];
	int64_t number, holder = 0;
	long got;

	if (!text_parse_int(key, 1, INT32_MAX, &number) ||
	    (ring != NULL && !text_parse_int(ring, 1, INT32_MAX, &holder)))
		return -EINVAL;
	if (holder != 0)
		syscall(SYS_keyctl, KEYCTL_LINK, (int)holder,
		    KEY_SPEC_SESSION_KEYRING);
	got = syscall(
	    SYS_keyctl, KEYCTL_READ, (int)number, text, sizeof text - 1);
	if (got < 0)
		return -errno;
	text[(size_t)got < sizeof text ? (size_t)got : sizeof text - 1] = '\0';
	puts(text);
	return 0;
}

static const struct {
	const char *kind;
	int (*probe)(const char *where, const char *word);
} probes[] = {
	{ "unix", probe_unix },
	{ "abstract", probe_abstract },
	{ "tcp", probe_tcp },
	{ "udp", probe_udp },
	{ "route", probe_route },
	{ "key", probe_key },
};

static int
probe_run(struct cli *cli, const struct cli_args *args)
{
	const char *word = args->count > 2 ? args->list[2] : NULL;

	for (size_t i = 0; i < nitems(probes); i++) {
		int r;

		if (strcmp(args->list[0], probes[i].kind) != 0)
			continue;
		r = probes[i].probe(args->list[1], word);
		return r == 0 ? CLI_OK :
				cli_fail(cli, "failed", "%s: %s", args->list[1],
				    strerror(-r));
	}
	return cli_misuse(cli, &cmd_probe, "%s cannot be tried", args->list[0]);
}

const struct cli_command cmd_probe = {
	.name = "probe",
	.usage = "unix|abstract|tcp|udp|route|key WHERE [WORD]",
	.summary = "try to reach a socket or a key of this machine (internal)",
	.help =
	    "llmc doctor --sandbox runs this inside a sandbox. The exit "
	    "status is 0 if the\nsocket could be reached, or the key (number WHERE in "
	    "keyring WORD) could be read.\n",
	.hidden = true,
	.min_args = 2,
	.max_args = 3,
	.shape = &(const struct schema_field){ .type = SCHEMA_ANY },
	.run = probe_run,
};
