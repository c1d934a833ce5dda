/* SPDX-License-Identifier: ISC */

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "errtext.h"
#include "file.h"
#include "git-stump.h"
#include "git-start.h"
#include "git.h"
#include "mem.h"
#include "strv.h"

/* For a big file, and the user's filters. */
#define STUMP_DEADLINE_MS (INT64_C(10) * 60 * 1000)

struct git_stump {
	struct child *child; /* NULL = it has ended */
	int fd; /* the file */
	off_t at; /* so far they are the same */
	bool differs;
	bool longer; /* the version goes on behind the end of the file */
	git_stump_fn *fn;
	void *arg;
};

/* The next piece of the version. */
static void
stump_said(const char *bytes, size_t len, void *arg)
{
	struct git_stump *stump = arg;
	char piece[4096];
	ssize_t n;

	while (len > 0 && !stump->differs && !stump->longer) {
		n = pread(stump->fd, piece,
		    len < sizeof piece ? len : sizeof piece, stump->at);
		stump->longer = n == 0;
		stump->differs =
		    n == -1 || memcmp(piece, bytes, (size_t)n) != 0;
		if (n <= 0)
			break;
		stump->at += n;
		bytes += n;
		len -= (size_t)n;
	}
	if (stump->child != NULL && (stump->differs || stump->longer))
		child_cancel(stump->child);
}

static void
stump_ended(const struct child_result *result, void *arg)
{
	struct git_stump *stump = arg;

	(void)result; /* it may have been told to end */
	stump->child = NULL;
	stump->fn(stump->longer && !stump->differs, stump->arg);
}

int
git_stump_new(struct git *git, const char *tree, const char *path,
    const char *id, git_stump_fn *fn, void *arg, struct git_stump **ret_stump,
    struct err *err)
{
	cleanup_free char *full = file_join(tree, path);
	cleanup_free char *option = xasprintf("--path=%s", path);
	const char *const args[] = { "cat-file", "--filters", option, id,
		NULL };
	cleanup_strv char **argv = NULL, **env = NULL;
	struct child_spec spec = { .said = stump_said,
		.deadline_ms = STUMP_DEADLINE_MS };
	struct git_stump *stump;
	int r = git_environment(git, tree, NULL, &env, err);

	if (r < 0)
		return r;
	stump = xcalloc(1, sizeof *stump);
	stump->fn = fn;
	stump->arg = arg;
	stump->fd = open(full, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	stump->differs = stump->fd == -1;
	git_arguments(git, tree, args, &argv);
	spec.argv = strv_const(argv);
	spec.env = strv_const(env);
	r = child_spawn(
	    git_loop(git), &spec, stump_ended, stump, &stump->child, err);
	if (r < 0) {
		git_stump_free(stump);
		return r;
	}
	*ret_stump = stump;
	return 0;
}

void
git_stump_free(struct git_stump *stump)
{
	if (stump == NULL)
		return;
	if (stump->child != NULL)
		child_abandon(stump->child);
	fd_close(stump->fd);
	free(stump);
}
