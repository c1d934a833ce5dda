/* SPDX-License-Identifier: ISC */

/* The files that Serena reads, in a scratch home. The edits themselves are
 * tested in test-serena-list. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buf.h"
#include "errtext.h"
#include "file.h"
#include "lock.h"
#include "mem.h"
#include "repo.h"
#include "serena.h"
#include "unit.h"

#define TEXT_MAX 65536

struct world {
	struct repo *repo;
	char *config, *project, *exclude;
	struct err err;
};

static struct world *
world_new(void)
{
	struct world *w = xcalloc(1, sizeof *w);

	w->repo = repo_new(false);
	ck_assert_int_eq(repo_add(w->repo), 0);
	w->config = file_join(w->repo->base, "serena_config.yml");
	w->project = file_join(w->repo->dir, ".serena/project.yml");
	w->exclude = file_join(w->repo->root, ".git/info/exclude");
	return w;
}

static void
world_cleanup(struct world **w)
{
	repo_free((*w)->repo);
	free((*w)->config);
	free((*w)->project);
	free((*w)->exclude);
	free(*w);
}

#define cleanup_world __attribute__((cleanup(world_cleanup)))

static void
put(const char *path, const char *text)
{
	ck_assert_int_eq(file_replace(path, text, strlen(text), 0640, NULL), 0);
}

static void
assert_text(const char *path, const char *want)
{
	cleanup_buf struct buf text = BUF_INIT;

	ck_assert_int_eq(file_read(path, TEXT_MAX, &text, NULL), 0);
	ck_assert_str_eq(text.data, want);
}

static unsigned
count_lines(const char *path, const char *word)
{
	cleanup_buf struct buf text = BUF_INIT;
	unsigned count = 0;

	ck_assert_int_eq(file_read(path, TEXT_MAX, &text, NULL), 0);
	for (const char *p = text.data; (p = strstr(p, word)) != NULL; p++)
		count++;
	return count;
}

static int
prepare(struct world *w, unsigned facts)
{
	return serena_prepare(
	    w->repo->dir, "llmc-ann", w->config, facts, &w->err);
}

TEST(test_worktree_gets_a_project_that_git_does_not_see)
{
	cleanup_world struct world *w = world_new();

	put(w->config, "gui: false\nprojects: []\n");
	ck_assert_msg(prepare(w, 0) == 0, "%s", w->err.msg);
	assert_text(w->project, "project_name: \"llmc-ann\"\n");
	ck_assert_str_eq(
	    repo_wt(w->repo, "git status --porcelain --ignored=no"), "");
	ck_assert_uint_eq(count_lines(w->config, "\n- "), 1);
	ck_assert_uint_eq(count_lines(w->exclude, "/.serena/\n"), 1);
}

TEST(test_second_time_changes_nothing)
{
	cleanup_world struct world *w = world_new();
	struct stat before[3], after;
	const char *const paths[] = { w->config, w->project, w->exclude };

	put(w->config, "projects:\n- /a\n");
	ck_assert_int_eq(prepare(w, 0), 0);
	for (size_t i = 0; i < nitems(paths); i++)
		ck_assert_int_eq(stat(paths[i], &before[i]), 0);
	ck_assert_int_eq(prepare(w, 0), 0);
	for (size_t i = 0; i < nitems(paths); i++) {
		ck_assert_int_eq(stat(paths[i], &after), 0);
		ck_assert_uint_eq(after.st_ino, before[i].st_ino);
		ck_assert_int_eq(after.st_size, before[i].st_size);
	}
}

TEST(test_without_a_list_of_serena_nothing_is_registered)
{
	cleanup_world struct world *w = world_new();
	cleanup_free char *lock = xasprintf("%s.llmc-lock", w->config);

	ck_assert_int_eq(prepare(w, 0), 0);
	ck_assert(!file_exists(w->config));
	ck_assert(!file_exists(lock));
	ck_assert(file_exists(w->project));
}

TEST(test_tracked_project_is_left_alone)
{
	cleanup_world struct world *w = world_new();

	put(w->config, "projects: []\n");
	repo_wt(w->repo,
	    "mkdir .serena; echo 'project_name: x' >.serena/project.yml; "
	    "git add .serena; git commit -qm serena");
	ck_assert_int_eq(prepare(w, SERENA_TRACKED), 0);
	assert_text(w->project, "project_name: x\n");
	ck_assert_uint_eq(count_lines(w->exclude, ".serena"), 0);
	ck_assert_uint_eq(count_lines(w->config, "\n- "), 1);
}

TEST(test_ignored_folder_needs_no_line)
{
	cleanup_world struct world *w = world_new();

	ck_assert_int_eq(prepare(w, SERENA_IGNORED), 0);
	ck_assert_uint_eq(count_lines(w->exclude, ".serena"), 0);
	ck_assert(file_exists(w->project));
}

TEST(test_another_name_is_replaced_and_the_rest_kept)
{
	cleanup_world struct world *w = world_new();

	repo_wt(w->repo, "mkdir .serena");
	put(w->project, "# mine\nlanguages: [c]\nproject_name: root\n");
	ck_assert_int_eq(prepare(w, 0), 0);
	assert_text(
	    w->project, "# mine\nlanguages: [c]\nproject_name: \"llmc-ann\"\n");
}

TEST(test_line_is_appended_to_an_unfinished_exclude_file)
{
	cleanup_world struct world *w = world_new();

	put(w->exclude, "*.o");
	ck_assert_int_eq(prepare(w, 0), 0);
	assert_text(w->exclude, "*.o\n/.serena/\n");
	repo_sh(w->repo, "rm -r .git/info");
	ck_assert_int_eq(prepare(w, 0), 0);
	assert_text(w->exclude, "/.serena/\n");
}

TEST(test_list_behind_a_link_keeps_link_and_mode)
{
	cleanup_world struct world *w = world_new();
	cleanup_free char *real = file_join(w->repo->base, "dotfile.yml");
	struct stat st;

	put(real, "projects: []\n");
	ck_assert_int_eq(symlink(real, w->config), 0);
	ck_assert_int_eq(prepare(w, 0), 0);
	ck_assert_int_eq(lstat(w->config, &st), 0);
	ck_assert(S_ISLNK(st.st_mode));
	ck_assert_int_eq(stat(real, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0640);
	ck_assert_uint_eq(count_lines(real, "\n- "), 1);
}

TEST(test_list_that_is_not_understood_is_named_and_kept)
{
	cleanup_world struct world *w = world_new();

	put(w->config, "a: 1\nprojects: {}\n");
	ck_assert_int_eq(prepare(w, 0), -EINVAL);
	ck_assert_ptr_nonnull(strstr(w->err.msg, w->config));
	ck_assert_ptr_nonnull(strstr(w->err.msg, "line 2"));
	assert_text(w->config, "a: 1\nprojects: {}\n");
	ck_assert_int_eq(
	    serena_prepare(w->repo->dir, "llmc-ann", w->config, 0, NULL),
	    -EINVAL);
}

TEST(test_link_in_the_worktree_is_not_written_through)
{
	cleanup_world struct world *w = world_new();

	repo_wt(w->repo, "mkdir \"$B/out\"; ln -s \"$B/out\" .serena");
	ck_assert_int_eq(prepare(w, 0), -EINVAL);
	repo_wt(w->repo,
	    "rm .serena; mkdir .serena; "
	    "ln -s \"$B/out/f\" .serena/project.yml");
	ck_assert_int_eq(prepare(w, 0), -EINVAL);
	ck_assert_ptr_nonnull(strstr(w->err.msg, "is a link"));
	ck_assert_str_eq(repo_sh(w->repo, "ls -A \"$B/out\""), "");
}

/* The user may have links in the repository, a worker none in its clone. */
TEST(test_link_in_a_clone_is_not_written_through)
{
	cleanup_world struct world *w = world_new();
	cleanup_free char *clone = file_join(w->repo->base, "clone");
	cleanup_free char *exclude = file_join(clone, ".git/info/exclude");
	cleanup_free char *other = file_join(w->repo->base, "other");

	put(other, "of the user\n");
	repo_sh(
	    w->repo, "git clone -q . ../clone; mkdir -p ../clone/.git/info");
	unlink(exclude);
	ck_assert_int_eq(symlink(other, exclude), 0);
	ck_assert_int_eq(
	    serena_prepare(clone, "llmc-ann", w->config, 0, &w->err), -EINVAL);
	assert_text(other, "of the user\n");
	unlink(w->exclude);
	ck_assert_int_eq(symlink(other, w->exclude), 0);
	ck_assert_int_eq(prepare(w, 0), 0);
	assert_text(other, "of the user\n/.serena/\n");
}

TEST(test_list_that_another_daemon_edits_is_waited_for)
{
	cleanup_world struct world *w = world_new();
	cleanup_free char *path = xasprintf("%s.llmc-lock", w->config);
	int lock;

	put(w->config, "projects: []\n");
	lock = lock_try(path, NULL);
	ck_assert_int_ge(lock, 0);
	ck_assert_int_eq(prepare(w, 0), -EAGAIN);
	assert_text(w->config, "projects: []\n");
	fd_close(lock);
	ck_assert_int_eq(prepare(w, 0), 0);
}

/* Processes that add different paths at the same time. */
TEST(test_no_daemon_loses_the_entry_of_another)
{
	enum {
		WRITERS = 6,
		EACH = 8
	};
	cleanup_world struct world *w = world_new();
	pid_t pids[WRITERS];
	int status;

	put(w->config, "projects: []\n");
	for (int i = 0; i < WRITERS; i++) {
		pids[i] = fork();
		ck_assert_int_ge(pids[i], 0);
		if (pids[i] != 0)
			continue;
		for (int n = 0; n < EACH; n++) {
			cleanup_free char *dir = xasprintf("/w/%d-%d", i, n);
			int r;

			do
				r = serena_prepare(
				    dir, "x", w->config, SERENA_TRACKED, NULL);
			while (r == -EAGAIN);
			if (r < 0)
				_exit(1);
		}
		_exit(0);
	}
	for (int i = 0; i < WRITERS; i++) {
		ck_assert_int_eq(waitpid(pids[i], &status, 0), pids[i]);
		ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
	ck_assert_uint_eq(count_lines(w->config, "\n- /w/"), WRITERS * EACH);
}
