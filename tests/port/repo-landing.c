/* SPDX-License-Identifier: ISC */

#include "repo-landing.h"

struct repo_landing *
repo_landing_on(struct repo *repo)
{
	struct repo_landing *landing = xcalloc(1, sizeof *landing);

	landing->repo = repo;
	ck_assert_int_eq(repo_add(landing->repo), 0);
	landing->dir = repo_sh(landing->repo,
	    "git worktree add -q --detach \"$B/check\" main; "
	    "printf '%s/check' \"$B\"");
	return landing;
}

struct repo_landing *
repo_landing_new(void)
{
	return repo_landing_on(repo_new(false));
}

void
repo_landing_cleanup(struct repo_landing **landing)
{
	repo_free((*landing)->repo);
	free(*landing);
}

static void
join(char *out, size_t size, const struct git_list *list)
{
	cleanup_buf struct buf all = BUF_INIT;

	for (size_t i = 0; i < list->count; i++)
		buf_addf(&all, "%s|", list->v[i]);
	snprintf(out, size, "%s", all.data);
}

static void
on_frozen(const struct git_frozen *frozen, const struct err *err, void *arg)
{
	struct repo_landing *landing = arg;

	ck_assert((frozen == NULL) == (err != NULL));
	if (frozen != NULL) {
		landing->frozen = *frozen;
		snprintf(landing->author, sizeof landing->author, "%s|%s|%s|%s",
		    frozen->author_name, frozen->author_email,
		    frozen->author_date, frozen->committer_date);
		join(landing->messages, sizeof landing->messages,
		    &frozen->messages);
		join(landing->dirty, sizeof landing->dirty, &frozen->dirty);
		join(landing->forbidden, sizeof landing->forbidden,
		    &frozen->forbidden);
		join(landing->protected_paths, sizeof landing->protected_paths,
		    &frozen->protected_paths);
		snprintf(landing->weakens, sizeof landing->weakens, "%s",
		    frozen->weakens);
	}
	repo_answered(landing->repo, err);
}

int
repo_freeze(struct repo_landing *landing, const struct git_freeze *what)
{
	struct git_freeze all = *what;
	struct repo *repo = landing->repo;

	if (all.branch == NULL)
		all.branch = "llmc/ann";
	if (all.onto == NULL)
		all.onto = "main";
	if (all.ref == NULL)
		all.ref = "refs/llmc/queue/t1";
	repo_begin(repo);
	git_freeze(repo->git, repo->dir, &all, on_frozen, landing);
	repo_wait(repo);
	return repo->code;
}

int
repo_freeze_look(struct repo_landing *landing, const char *base,
    const char *commit, const struct git_freeze *what)
{
	struct repo *repo = landing->repo;

	repo_begin(repo);
	git_freeze_look(repo->git, base, commit, what, on_frozen, landing);
	repo_wait(repo);
	return repo->code;
}

static void
on_dropped(const struct err *err, void *arg)
{
	repo_answered(arg, err);
}

int
repo_drop(struct repo_landing *landing, const char *ref)
{
	struct repo *repo = landing->repo;

	repo_begin(repo);
	git_freeze_drop(repo->git, ref, on_dropped, repo);
	repo_wait(repo);
	return repo->code;
}

static void
on_built(
    const struct git_candidate_answer *answer, const struct err *err, void *arg)
{
	struct repo_landing *landing = arg;

	ck_assert((answer == NULL) == (err != NULL));
	if (answer != NULL) {
		landing->built = *answer;
		join(landing->paths, sizeof landing->paths, &answer->paths);
		join(landing->protected_paths, sizeof landing->protected_paths,
		    &answer->protected_paths);
	}
	repo_answered(landing->repo, err);
}

static const char *
resolve(struct repo *repo, const char *command, const char *name)
{
	cleanup_free char *text = NULL;

	if (name == NULL)
		return NULL;
	text = xasprintf("git %s %s", command, name);
	return repo_sh(repo, text);
}

int
repo_build(struct repo_landing *landing, const struct git_candidate *what)
{
	struct repo *repo = landing->repo;
	struct git_candidate all = *what;
	cleanup_free char *both = xasprintf("%s %s", what->parent, what->head);

	all.parent = resolve(repo, "rev-parse", what->parent);
	all.head = resolve(repo, "rev-parse", what->head);
	all.base = what->base != NULL ? resolve(repo, "rev-parse", what->base) :
	    what->revert              ? NULL :
					resolve(repo, "merge-base", both);
	if (all.message == NULL)
		all.message = "Land it\n";
	if (all.author_name == NULL) {
		all.author_name = "Ann";
		all.author_email = "ann@example.org";
	}
	if (all.author_date == NULL)
		all.author_date = "1600000000 +0100";
	if (all.committer_date == NULL)
		all.committer_date = "1600000100 -0200";
	repo_begin(repo);
	git_candidate_build(repo->git, landing->dir, &all, on_built, landing);
	repo_wait(repo);
	return repo->code;
}

void
repo_expect_build(struct repo_landing *landing, const char *parent,
    const char *head, enum git_candidate_result result)
{
	struct git_candidate what = { .parent = parent, .head = head };
	int r = repo_build(landing, &what);

	ck_assert_msg(r == 0, "%s", landing->repo->msg);
	ck_assert_msg(landing->built.result == result, "%d: %s",
	    landing->built.result, landing->paths);
	ck_assert_str_eq(
	    repo_sh(landing->repo, "git -C \"$B/check\" status --short"), "");
}

static void
on_checked_out(
    const struct git_checked_out *out, const struct err *err, void *arg)
{
	struct repo_landing *landing = arg;

	ck_assert((out == NULL) == (err != NULL));
	if (out != NULL) {
		join(landing->overlaid, sizeof landing->overlaid,
		    &out->overlaid);
		join(landing->modified, sizeof landing->modified,
		    &out->modified);
		landing->kept = out->kept;
	}
	repo_answered(landing->repo, err);
}

int
repo_check_out(struct repo_landing *landing, const struct git_check_tree *what)
{
	struct repo *repo = landing->repo;
	struct git_check_tree all = *what;

	all.commit = resolve(repo, "rev-parse", what->commit);
	all.judge = resolve(repo, "rev-parse", what->judge);
	repo_begin(repo);
	git_check_tree_prepare(
	    repo->git, landing->dir, &all, on_checked_out, landing);
	repo_wait(repo);
	return repo->code;
}

static void
on_kept(const struct err *err, void *arg)
{
	repo_answered(arg, err);
}

int
repo_keep(struct repo_landing *landing, const char *keep)
{
	struct repo *repo = landing->repo;

	repo_begin(repo);
	git_check_tree_keep(repo->git, landing->dir, keep, on_kept, repo);
	repo_wait(repo);
	return repo->code;
}

static void
on_compared(const struct git_list *paths, const struct err *err, void *arg)
{
	struct repo_landing *landing = arg;

	if (paths != NULL)
		join(landing->paths, sizeof landing->paths, paths);
	repo_answered(landing->repo, err);
}

int
repo_compare(struct repo_landing *landing, const char *judge,
    const char *const *protected_paths)
{
	struct repo *repo = landing->repo;

	repo_begin(repo);
	git_check_tree_compare(repo->git, landing->dir, judge, protected_paths,
	    on_compared, landing);
	repo_wait(repo);
	return repo->code;
}
