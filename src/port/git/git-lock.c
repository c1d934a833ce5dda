/* SPDX-License-Identifier: ISC */

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buf.h"
#include "clock.h"
#include "file.h"
#include "git-dirs.h"
#include "git-lock.h"
#include "mem.h"

#define FRESH_MS 2000
#define LINK_MAX 4096

/* "Unable to create '/r/.git/worktrees/w/index.lock': File exists." The caller
 * frees. */
static char *
complained_of(const char *complaint)
{
	static const char before[] = "Unable to create '";
	static const char after[] = ".lock': File exists";
	const char *at = strstr(complaint, before), *end;

	if (at == NULL)
		return NULL;
	at += strlen(before);
	end = strstr(at, after);
	return end == NULL ? NULL :
			     xstrndup(at, (size_t)(end - at) + strlen(".lock"));
}

/* Is it directly in the git directory of this linked worktree? */
static bool
is_own(const char *dir, const char *lock)
{
	const char *slash = strrchr(lock, '/');
	cleanup_free char *path = file_join(dir, ".git");
	cleanup_free char *gitdir = NULL, *folder = NULL;
	struct stat own, other;

	if (slash == NULL || file_is_dir(path))
		return false;
	gitdir = git_dirs_gitdir(dir);
	folder = xstrndup(lock, (size_t)(slash - lock));
	return gitdir != NULL && stat(gitdir, &own) == 0 &&
	    stat(folder, &other) == 0 && own.st_dev == other.st_dev &&
	    own.st_ino == other.st_ino;
}

/* May this process, into which we may not look, have made a file of `owner`?
 * Only a process of the same user, or any (NULL). */
static bool
may_be(const char *pid, const uid_t *owner)
{
	cleanup_free char *path = xasprintf("/proc/%s", pid);
	struct stat st;

	return owner == NULL || (stat(path, &st) == 0 && st.st_uid == *owner);
}

static bool
is_git_in(const char *pid, const char *dir, bool below, const uid_t *owner)
{
	cleanup_free char *comm = xasprintf("/proc/%s/comm", pid);
	cleanup_free char *cwd = xasprintf("/proc/%s/cwd", pid);
	cleanup_buf struct buf name = BUF_INIT;
	size_t len = strlen(dir);
	char where[LINK_MAX];
	ssize_t n;

	if (file_read(comm, 64, &name, NULL) < 0 ||
	    strncmp(name.data, "git", 3) != 0)
		return false;
	n = readlink(cwd, where, sizeof where - 1);
	if (n < 0)
		return errno == EACCES && may_be(pid, owner);
	where[n] = '\0';
	return strncmp(where, dir, len) == 0 &&
	    (where[len] == '\0' || (below && where[len] == '/'));
}

static bool
git_runs_in(const char *dir, bool below, const uid_t *owner)
{
	cleanup_free char *real = realpath(dir, NULL);
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	bool found = proc == NULL || real == NULL;

	while (!found && (entry = readdir(proc)) != NULL)
		found = isdigit((unsigned char)entry->d_name[0]) &&
		    is_git_in(entry->d_name, real, below, owner);
	if (proc != NULL)
		closedir(proc);
	return found;
}

bool
git_lock_remove_dead(const char *dir, const char *complaint)
{
	cleanup_free char *lock = complained_of(complaint);
	struct stat st;

	if (lock == NULL || !is_own(dir, lock) || stat(lock, &st) == -1)
		return false;
	if (clock_wall_ms() - clock_file_ms(&st.st_mtim) < FRESH_MS ||
	    git_runs_in(dir, true, &st.st_uid))
		return false;
	return unlink(lock) == 0;
}

bool
git_lock_runs_at(const char *dir)
{
	return git_runs_in(dir, false, NULL);
}
