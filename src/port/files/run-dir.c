/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "id.h"
#include "remove-tree.h"
#include "run-dir.h"
#include "workspace.h"

#define SOCKET "sock"
#define SPOOL  "spool"
#define WAIT   ".wait"

static bool
fits(const char *dir)
{
	return strlen(dir) + sizeof "/" SOCKET <=
	    sizeof((struct sockaddr_un *)NULL)->sun_path;
}

char *
run_dir_path(const struct workspace *workspace, const char *name)
{
	cleanup_free char *relative = xasprintf("run/%s", name);

	return workspace_path(workspace, relative);
}

char *
run_dir_spool(const struct workspace *workspace, const char *name)
{
	cleanup_free char *relative = xasprintf("run/%s/" SPOOL, name);

	return workspace_path(workspace, relative);
}

static char *
outside_dir(const struct workspace *workspace, const char *name)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	cleanup_free char *file = NULL, *dir = NULL;
	char hash[17];

	id_hash(workspace->root, hash, 16);
	file = xasprintf("llmc-%u-%s-%s", (unsigned)getuid(), hash, name);
	if (runtime != NULL && *runtime == '/') {
		dir = file_join(runtime, file);
		if (fits(dir) && file_is_dir(runtime))
			return take_ptr(&dir);
	}
	return file_join("/tmp", file);
}

char *
run_dir_socket_dir(const struct workspace *workspace, const char *name)
{
	cleanup_free char *dir = run_dir_path(workspace, name);

	return fits(dir) ? take_ptr(&dir) : outside_dir(workspace, name);
}

char *
run_dir_socket(const struct workspace *workspace, const char *name)
{
	cleanup_free char *dir = run_dir_socket_dir(workspace, name);

	return file_join(dir, SOCKET);
}

char *
run_dir_socket_outside(const struct workspace *workspace, const char *name)
{
	cleanup_free char *dir = outside_dir(workspace, name);

	return file_join(dir, SOCKET);
}

/* The parent exists. A folder that exists is used only if no other user can
 * change it. */
static int
make_private(const char *dir, struct err *err)
{
	struct stat st;

	if (mkdir(dir, 0700) == -1 && errno != EEXIST)
		return err_errno(err, -errno, "cannot create %s", dir);
	if (lstat(dir, &st) == -1)
		return err_errno(err, -errno, "%s", dir);
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid())
		return err_set(err, -EPERM,
		    "%s is not a folder of this user; remove it", dir);
	if ((st.st_mode & 07777) != 0700 && chmod(dir, 0700) == -1)
		return err_errno(err, -errno, "%s", dir);
	return 0;
}

int
run_dir_make(
    const struct workspace *workspace, const char *name, struct err *err)
{
	cleanup_free char *all = workspace_path(workspace, "run");
	cleanup_free char *dir = run_dir_path(workspace, name);
	cleanup_free char *spool = run_dir_spool(workspace, name);
	cleanup_free char *socket_dir = run_dir_socket_dir(workspace, name);
	int r = make_private(all, err);

	if (r == 0)
		r = make_private(dir, err);
	if (r == 0)
		r = make_private(spool, err);
	if (r == 0 && strcmp(socket_dir, dir) != 0)
		r = make_private(socket_dir, err);
	return r;
}

int
run_dir_make_outside(const char *socket, struct err *err)
{
	cleanup_free char *dir = xstrdup(socket);

	*strrchr(dir, '/') = '\0';
	return make_private(dir, err);
}

void
run_dir_wait(const struct workspace *workspace, const char *name, bool wait)
{
	cleanup_free char *socket = run_dir_socket(workspace, name);
	cleanup_free char *file = xasprintf("%s" WAIT, socket);
	int fd;

	if (!wait) {
		unlink(file);
		return;
	}
	fd = file_open(file, O_WRONLY | O_CREAT | O_NOFOLLOW, 0600);
	if (fd < 0)
		log_debug("%s: %s", file, file_strerror(fd));
	else
		close(fd);
}

bool
run_dir_waits(const char *socket)
{
	cleanup_free char *file = xasprintf("%s" WAIT, socket);

	return access(file, F_OK) == 0;
}

void
run_dir_remove(const struct workspace *workspace, const char *name)
{
	cleanup_free char *dir = run_dir_path(workspace, name);
	cleanup_free char *outside = outside_dir(workspace, name);

	remove_tree(dir);
	remove_tree(outside);
}
