/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include "orphans.h"
#include "place.h"
#include "workplace.h"
#include "workspace.h"

char *
workplace_tmpdir(const struct workspace *workspace, int index)
{
	cleanup_free char *name = xasprintf("tmp/%d", index);

	return workspace_path(workspace, name);
}

int
workplace_make(const struct workspace *workspace,
    const struct settings *settings, const char *name, int index,
    struct workplace *ret_place, struct err *err)
{
	struct workplace made = { .tmpdir =
				      workplace_tmpdir(workspace, index) };
	int r = file_mkdirs(made.tmpdir, 0700, err);

	if (r < 0) {
		workplace_release(&made);
		return r;
	}
	place_env(
	    &(struct place){
		.worker = name, .index = index, .tmpdir = made.tmpdir },
	    settings, &made.env);
	*ret_place = made;
	return 0;
}

void
workplace_release(struct workplace *place)
{
	free(take_ptr(&place->tmpdir));
	strv_clear(&place->env);
}

int
workplace_busy_port(const struct settings *settings, int index)
{
	int first = place_port(settings, index);

	for (int port = first; port < first + PLACE_PORTS; port++) {
		cleanup_fd int fd =
		    socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		struct sockaddr_in at = { .sin_family = AF_INET,
			.sin_port = htons((uint16_t)port),
			.sin_addr.s_addr = htonl(INADDR_ANY) };
		int on = 1;

		/* Connections that have ended block no port. */
		if (fd != -1 &&
		    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) ==
			0 &&
		    bind(fd, (struct sockaddr *)&at, sizeof at) == -1 &&
		    errno == EADDRINUSE)
			return port;
	}
	return 0;
}

/* --- who listens --------------------------------------------------------- */

#define TABLE_MAX   ((size_t)16 * 1024 * 1024)
#define SOCKETS_MAX 4096 /* of one process */

/* The inodes of a process' sockets. */
static size_t
sockets_of(const char *proc, unsigned long long *list, size_t max)
{
	cleanup_free char *folder = file_join(proc, "fd");
	cleanup_dir DIR *dir = opendir(folder);
	const char *name;
	size_t count = 0;

	while (count < max && (name = dir_next(dir)) != NULL) {
		char text[64];
		ssize_t n = readlinkat(dirfd(dir), name, text, sizeof text - 1);

		text[n > 0 ? n : 0] = '\0';
		if (sscanf(text, "socket:[%llu]", &list[count]) == 1)
			count++;
	}
	return count;
}

/* Those of them that listen, by a table of the process' own network: "0:
 * 0100007F:4E34 00000000:0000 0A ... INODE". */
static void
add_listeners(const char *proc, const char *table, pid_t pid,
    const unsigned long long *sockets, size_t count, struct json_object *list)
{
	cleanup_free char *path = file_join(proc, table);
	cleanup_free char *name_file = file_join(proc, "comm");
	cleanup_buf struct buf text = BUF_INIT, name = BUF_INIT;
	char *rest, *line;

	if (file_read(path, TABLE_MAX, &text, NULL) < 0)
		return;
	file_read(name_file, 64, &name, NULL);
	buf_truncate(&name, strcspn(name.data, "\n"));
	rest = text.data;
	while ((line = strsep(&rest, "\n")) != NULL) {
		unsigned long long inode;
		unsigned port, state;
		size_t i = 0;

		if (sscanf(line,
			"%*d: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x %*s %*s "
			"%*s %*d %*d %llu",
			&port, &state, &inode) != 3 ||
		    state != 0x0a) /* TCP_LISTEN */
			continue;
		while (i < count && sockets[i] != inode)
			i++;
		if (i < count) {
			struct json_object *row = json_object_new_object();

			json_set_int(row, "port", port);
			json_set_int(row, "pid", pid);
			json_set_string(row, "program", name.data);
			json_object_array_add(list, row);
		}
	}
}

struct json_object *
workplace_listeners(const struct workspace *workspace, const char *worker)
{
	cleanup_free char *mark = orphans_mark(workspace, worker);
	cleanup_free unsigned long long *sockets =
	    xcalloc(SOCKETS_MAX, sizeof *sockets);
	struct json_object *list = json_object_new_array();
	cleanup_dir DIR *dir = opendir("/proc");
	const char *name;

	while ((name = dir_next(dir)) != NULL) {
		cleanup_free char *proc = NULL;
		int64_t pid;
		size_t count;

		if (!text_parse_int(name, 1, INT32_MAX, &pid) ||
		    !mark_is_on((pid_t)pid, mark))
			continue;
		proc = file_join("/proc", name);
		count = sockets_of(proc, sockets, SOCKETS_MAX);
		if (count == 0)
			continue;
		add_listeners(
		    proc, "net/tcp", (pid_t)pid, sockets, count, list);
		add_listeners(
		    proc, "net/tcp6", (pid_t)pid, sockets, count, list);
	}
	return list;
}
