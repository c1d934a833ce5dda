/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>

#include "git-facts.h"
#include "git-private.h"

#define REF_MAX    4096
#define PACKED_MAX (256 * 1024 * 1024)
#define TRIES      3

bool
git_is_id(const char *text, size_t len)
{
	return (len == 40 || len == 64) &&
	    strspn(text, "0123456789abcdef") >= len;
}

static size_t
id_length(const char *text)
{
	size_t len = strspn(text, "0123456789abcdef");

	return len == 40 || len == 64 ? len : 0;
}

static bool
take_id(const char *text, char out[GIT_ID_SIZE])
{
	size_t len = id_length(text);

	if (len == 0)
		return false;
	memcpy(out, text, len);
	out[len] = '\0';
	return true;
}

/* Refs that all worktrees share, and no way out of the folder. */
static bool
is_ordinary(const char *common, const char *ref)
{
	cleanup_free char *tables = file_join(common, "reftable");

	return (text_begins(ref, "refs/heads/") ||
		   text_begins(ref, "refs/llmc/")) &&
	    strstr(ref, "/.") == NULL && strstr(ref, "//") == NULL &&
	    strstr(ref, "..") == NULL && strchr(ref, '\n') == NULL &&
	    !file_exists(tables);
}

/* A line of it is "<id> <ref>". */
static int
read_packed(const char *common, const char *ref, char out[GIT_ID_SIZE])
{
	cleanup_free char *path = file_join(common, "packed-refs");
	cleanup_buf struct buf text = BUF_INIT;
	size_t len = strlen(ref);
	int r = file_read(path, PACKED_MAX, &text, NULL);

	if (r < 0)
		return r == -ENOENT ? -ENOENT : -ENOTSUP;
	for (const char *at = text.data; (at = strstr(at, ref)) != NULL;
	     at += len) {
		const char *line = at;

		while (line > text.data && line[-1] != '\n')
			line--;
		if ((at[len] == '\n' || at[len] == '\0') &&
		    line[id_length(line)] == ' ' &&
		    line + id_length(line) + 1 == at)
			return take_id(line, out) ? 0 : -ENOTSUP;
	}
	return -ENOENT;
}

int
git_refs_read(const char *common, const char *ref, char out[GIT_ID_SIZE])
{
	cleanup_free char *path = file_join(common, ref);
	cleanup_buf struct buf text = BUF_INIT;
	int r;

	if (!is_ordinary(common, ref))
		return -ENOTSUP;
	r = file_read(path, REF_MAX, &text, NULL);
	if (r == 0)
		return take_id(text.data, out) ? 0 : -ENOTSUP;
	/* A folder of refs, whose name was one before. */
	if (r == -ENOENT || r == -EISDIR || r == -ENOTDIR)
		return read_packed(common, ref, out);
	return -ENOTSUP;
}

int
git_refs_head(const char *gitdir, const char *common, char out[GIT_ID_SIZE])
{
	cleanup_free char *ref = git_dirs_head(gitdir);

	if (ref != NULL)
		return git_refs_read(common, ref, out);
	git_dirs_detached(gitdir, out, GIT_ID_SIZE);
	return id_length(out) > 0 ? 0 : -ENOTSUP;
}

/* Another git may remove the folder while it is empty. */
static int
open_lock(const char *lock)
{
	cleanup_free char *folder =
	    xstrndup(lock, (size_t)(strrchr(lock, '/') - lock));
	int fd = -1;

	for (int i = 0; i < TRIES && fd == -1; i++) {
		fd = open(lock, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd == -1 && errno == EEXIST)
			return -ENOTSUP;
		if (fd == -1 && file_mkdirs(folder, 0777, NULL) < 0)
			return -ENOTSUP;
	}
	return fd == -1 ? -ENOTSUP : fd;
}

int
git_refs_write(const char *common, const char *ref, const char *id)
{
	cleanup_free char *path = file_join(common, ref);
	cleanup_free char *lock = xasprintf("%s.lock", path);
	cleanup_free char *line = xasprintf("%s\n", id);
	cleanup_fd int fd = -1;

	if (!is_ordinary(common, ref) || id_length(id) != strlen(id))
		return -ENOTSUP;
	fd = open_lock(lock);
	if (fd < 0)
		return fd;
	if (file_write_all(fd, line, strlen(line)) == 0 &&
	    rename(lock, path) == 0)
		return 0;
	unlink(lock);
	return -ENOTSUP;
}

/* A git that packs refs takes packed-refs.lock before it reads them: one that
 * read this ref before it was removed still has the lock, or has packed it. */
int
git_refs_drop(const char *common, const char *ref)
{
	cleanup_free char *path = file_join(common, ref);
	cleanup_free char *lock = xasprintf("%s.lock", path);
	cleanup_free char *packing = file_join(common, "packed-refs.lock");
	cleanup_fd int fd = -1;
	char id[GIT_ID_SIZE];
	int r;

	if (!is_ordinary(common, ref))
		return -ENOTSUP;
	fd = open_lock(lock);
	if (fd < 0)
		return fd;
	r = unlink(path) == 0 || errno == ENOENT ? 0 : -ENOTSUP;
	if (file_exists(packing) || read_packed(common, ref, id) != -ENOENT)
		r = -ENOTSUP;
	unlink(lock);
	return r;
}

void
git_refs_unlock(const char *common, const char *folder)
{
	cleanup_free char *path = file_join(common, folder);
	cleanup_dir DIR *stream = opendir(path); /* mostly there is none */
	const char *name;

	while ((name = dir_next(stream)) != NULL)
		if (text_ends(name, ".lock"))
			unlinkat(dirfd(stream), name, 0);
}

int
git_refs_tip(struct git *git, const char *branch, char out[GIT_ID_SIZE])
{
	cleanup_free char *gitdir = git_dirs_gitdir(git_root(git));
	cleanup_free char *ref = xasprintf("refs/heads/%s", branch);
	cleanup_free char *common = NULL;

	if (gitdir == NULL)
		return -EIO;
	common = git_dirs_common(gitdir);
	return git_refs_read(common, ref, out);
}
