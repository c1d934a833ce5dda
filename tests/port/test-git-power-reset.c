/* SPDX-License-Identifier: ISC */

/*
 * The power fails while a worktree is set back. What the worker had is either
 * still there, or it is whole where it was saved, after each write and at its
 * worst (disk-replay.h). The same for a worker whose work is in the queue and
 * that is released for another task.
 */

#include "repo.h"
#include "disk-replay.h"
#include "git-freeze.h"
#include "git-worktree.h"

#define QUEUE_REF "refs/llmc/queue/t1"

/* --- what is recorded: this program, run by itself --------------------- */

static const char *
in_tree(void)
{
	return getenv("W");
}

static void
over(struct repo *repo, const struct err *err)
{
	if (err != NULL)
		fprintf(stderr, "%s\n", err->msg);
	else if (mkdir(getenv("POWER_TOLD"), 0755) == -1)
		perror("told");
	repo->code = err != NULL ? err->code : 0;
	loop_stop(repo->loop, 0);
}

static void
on_reset(const struct git_salvaged *saved, const struct err *err, void *arg)
{
	(void)saved;
	over(arg, err);
}

static void
reset(struct repo *repo, const char *head)
{
	struct git_reset what = {
		.keep = { .worker = "ann",
		    .branch = "llmc/ann",
		    .onto = "main",
		    .stamp = "s1" },
		.onto = "main",
		.head = head,
	};

	git_reset(repo->git, in_tree(), &what, on_reset, repo);
}

static void
on_synced(const struct err *err, void *arg)
{
	struct repo *repo = arg;

	if (err != NULL)
		over(repo, err);
	else
		reset(repo, repo->text);
}

static void
on_frozen(const struct git_frozen *frozen, const struct err *err, void *arg)
{
	struct repo *repo = arg;

	if (err != NULL) {
		over(repo, err);
		return;
	}
	snprintf(repo->text, sizeof repo->text, "%s", frozen->commit);
	git_freeze_sync(repo->git, on_synced, repo);
}

static void
run_and_exit(const char *what)
{
	struct git_options options = { .root = getenv("R") };
	struct git_freeze freeze = {
		.branch = "llmc/ann", .onto = "main", .ref = QUEUE_REF
	};
	struct repo repo = { .loop = loop_new() };

	repo.git = git_new(repo.loop, &options);
	if (strcmp(what, "release") == 0)
		git_freeze(repo.git, in_tree(), &freeze, on_frozen, &repo);
	else
		reset(&repo, NULL);
	loop_run(repo.loop);
	git_free(repo.git);
	loop_free(repo.loop);
	exit(repo.code == 0 ? 0 : 1);
}

/* --- after the power cut ----------------------------------------------- */

/* rev-list finds what is missing, cat-file what is damaged. */
#define WHOLE(name)                                                      \
	"git rev-list --objects " name " >\"$B/objects\" && cut -c -40 " \
	"\"$B/objects\" | git cat-file --batch >/dev/null"
#define SAVED "refs/llmc/salvage/ann/s1"

static const struct {
	const char *what;
	const char *before; /* in the worktree, recorded */
	const char *holds; /* after each cut */
	const char *told; /* after each that it was told before */
} rows[] = {
	{ "reset", "sync",
	    "test \"$(cat \"$W/u\" \"$W/a.txt\")\" = \"$(printf "
	    "'u\\none\\nmine')\" || { " WHOLE(SAVED) " && "
						     "test \"$(git show " SAVED
						     ":u " SAVED
						     ":a.txt)\" = \"$(printf "
						     "'u\\none\\nmine')\"; }",
	    "git show " SAVED ":u" },
	{ "release", "git add .; git commit -qm w1", "true",
	    WHOLE(QUEUE_REF) " && test \"$(git log -1 --format=%s " QUEUE_REF
			     ")\" = w1" },
};

START_TEST(what_a_worker_had_is_whole)
{
	size_t row = (size_t)_i / DISK_LOSS_COUNT;
	enum disk_loss loss = (enum disk_loss)(_i % DISK_LOSS_COUNT);
	cleanup_repo struct repo *repo = repo_new(false);
	cleanup_free char *told = xasprintf("%s/told", repo->base);
	cleanup_free char *run = xasprintf(
	    "export LD_LIBRARY_PATH=\"${DISKRECORD%%/*}\" "
	    "LD_PRELOAD=\"${DISKRECORD##*/}\"; %s; POWER_RUN=%s \"$POWER_SELF\"",
	    rows[row].before, rows[row].what);
	size_t count, states = 0;
	struct disk *disk;

	repo_use_disk();
	ck_assert_msg(repo_add(repo) == 0, "%s", repo->msg);
	repo_wt(repo, "echo u >u; echo mine >>a.txt");
	setenv("DISKRECORD_LOG", unit_path("disk.log"), 1);
	setenv("DISKRECORD_ROOT", repo->base, 1);
	setenv("POWER_TOLD", told, 1);
	setenv("ASAN_OPTIONS", "verify_asan_link_order=0:detect_leaks=0", 1);
	disk = disk_new(repo->base);
	repo_wt(repo, run);
	unsetenv("ASAN_OPTIONS");
	count = disk_load(disk, unit_path("disk.log"));
	ck_assert(disk_has_made(disk, count, told));
	for (size_t i = 0; i <= count; i++) {
		cleanup_free char *look = xasprintf(
		    "{ { %s; } && { %s; }; } >\"$B/why\" 2>&1 && echo yes || :",
		    rows[row].holds,
		    disk_has_made(disk, i, told) ? rows[row].told : "true");

		if (!disk_build(disk, i, loss) && i < count)
			continue;
		states++;
		ck_assert_msg(strcmp(repo_sh(repo, look), "yes") == 0,
		    "%s, %s, loss %d: %s", rows[row].what,
		    disk_describe(disk, i), (int)loss,
		    repo_sh(repo, "cat \"$B/why\""));
	}
	printf("# %zu records, %zu states\n", count, states);
	fflush(stdout);
	disk_free(disk);
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s = suite_create("git-power-reset");
	TCase *power = tcase_create("power");

	if (getenv("POWER_RUN") != NULL)
		run_and_exit(getenv("POWER_RUN"));
	unit_set_timeout(power, 200);
	tcase_add_loop_test(power, what_a_worker_had_is_whole, 0,
	    nitems(rows) * DISK_LOSS_COUNT);
	suite_add_tcase(s, power);
	return s;
}
