/* SPDX-License-Identifier: ISC */

/*
 * The power fails during a landing. A worker's commit and its landing are
 * recorded, every write and every sync of every process (diskrecord.c); then
 * the repository is built as it is when the power fails after each of them, at
 * its worst (disk-replay.h). The branch must be whole each time, a landing that
 * was reported must be there, and the next landing must end as if nothing had
 * happened.
 */

#include "disk-replay.h"
#include "repo.h"

/* --- the landing that is recorded: this program, run by itself --------- */

static void
on_landed(enum git_land_result result, const char *detail,
    const char *const *places, const struct err *err, void *arg)
{
	struct repo *repo = arg;

	(void)places;
	if (result != GIT_LANDED)
		fprintf(stderr, "%s%s\n", detail, err != NULL ? err->msg : "");
	else if (mkdir(getenv("POWER_TOLD"), 0755) == -1)
		perror("told");
	repo->landed = result;
	loop_stop(repo->loop, 0);
}

static void
land_and_exit(void)
{
	struct git_options options = { .root = getenv("R") };
	struct repo repo = { .loop = loop_new() };

	repo.git = git_new(repo.loop, &options);
	git_land(repo.git, "main", "onto", "id", NULL, true, on_landed, &repo);
	loop_run(repo.loop);
	git_free(repo.git);
	loop_free(repo.loop);
	exit(repo.landed == GIT_LANDED ? 0 : 1);
}

/* --- after the power cut ---------------------------------------------- */

/* rev-list finds what is missing, cat-file what is damaged. */
#define WHOLE(name)                                                      \
	"git rev-list --objects " name " >\"$B/objects\" && cut -c -40 " \
	"\"$B/objects\" | git cat-file --batch >/dev/null"

#define SHOW                                                     \
	"cat a.txt; ls d/new.txt old.txt 2>/dev/null; "          \
	"git status --short; find .git -name '*.lock' -o -name " \
	"'llmc*index'; git log --format=%s main"

struct cut {
	struct repo *repo;
	struct disk *disk;
	const char *told;
	size_t count;
	enum disk_loss loss;
};

static bool
is_whole(const struct cut *cut, const char *script)
{
	cleanup_free char *text =
	    xasprintf("{ %s; } >\"$B/why\" 2>&1 && echo yes || :", script);

	return strcmp(repo_sh(cut->repo, text), "yes") == 0;
}

static void
assert_cut(const struct cut *cut, bool holds, const char *what)
{
	ck_assert_msg(holds, "%s, loss %d: %s: %s %s",
	    disk_describe(cut->disk, cut->count), (int)cut->loss, what,
	    cut->repo->text, cut->repo->msg);
}

/* The user's own edits, and nothing of a landing where there is none. */
#define USER "cat user.txt mine.txt; git diff --name-only -- user.txt"

static void
look(const struct cut *cut)
{
	struct repo *repo = cut->repo;
	bool told = disk_has_made(cut->disk, cut->count, cut->told);
	bool work = is_whole(cut, WHOLE("id"));

	assert_cut(cut, is_whole(cut, WHOLE("main")), "main is not whole");
	if (told)
		assert_cut(cut,
		    is_whole(cut, "git merge-base --is-ancestor id main"),
		    "a landing is gone that was reported");
	assert_cut(cut, repo_settle(repo) == 0, "it cannot be settled");
	assert_cut(cut,
	    strcmp(repo_sh(repo, USER), "u\nedit\nmine\nuser.txt") == 0,
	    "the user's files are not as they were");
	if (!work)
		return; /* the worker's commit was not on disk yet */
	assert_cut(cut, repo_land(repo, "onto", "id", true) == GIT_LANDED,
	    "it does not land again");
	ck_assert_msg(
	    strcmp(repo_sh(repo, SHOW),
		"one\ntwo\nd/new.txt\n M user.txt\n?? mine.txt\nw1\nsecond\n"
		"first") == 0,
	    "%s, loss %d: %s", disk_describe(cut->disk, cut->count),
	    (int)cut->loss, repo_sh(repo, SHOW));
}

/* A repository, and the records of a landing in it. */
static void
recorded(struct cut *cut)
{
	struct repo *repo = repo_new(false);
	cleanup_free char *told = xasprintf("%s/told", repo->base);

	cut->repo = repo;
	repo_use_disk();
	repo_sh(repo,
	    "echo old >old.txt; echo u >user.txt; git add .; "
	    "git commit -qm second; git tag onto; echo edit >>user.txt; "
	    "echo mine >mine.txt");
	ck_assert_msg(repo_add(repo) == 0, "%s", repo->msg);
	setenv("DISKRECORD_LOG", unit_path("disk.log"), 1);
	setenv("DISKRECORD_ROOT", repo->base, 1);
	setenv("POWER_TOLD", told, 1);
	setenv("ASAN_OPTIONS", "verify_asan_link_order=0:detect_leaks=0", 1);
	cut->told = repo_sh(repo, "printf %s \"$POWER_TOLD\"");
	cut->disk = disk_new(repo->base);
	repo_wt(repo,
	    "export LD_LIBRARY_PATH=\"${DISKRECORD%/*}\" "
	    "LD_PRELOAD=\"${DISKRECORD##*/}\"; echo two >>a.txt; mkdir d; "
	    "echo new >d/new.txt; git rm -q old.txt; git add .; "
	    "git commit -qm w1; git tag id; POWER_LAND=1 \"$POWER_SELF\"");
	unsetenv("ASAN_OPTIONS");
}

START_TEST(whatever_is_on_disk_the_next_landing_is_right)
{
	struct cut cut = { .loss = (enum disk_loss)_i };
	size_t count, states = 0;

	recorded(&cut);
	count = disk_load(cut.disk, unit_path("disk.log"));
	ck_assert(disk_has_made(cut.disk, count, cut.told));
	for (cut.count = 0; cut.count <= count; cut.count++)
		if (disk_build(cut.disk, cut.count, cut.loss) ||
		    cut.count == count) {
			look(&cut);
			states++;
		}
	printf("# %zu records, %zu states\n", count, states);
	fflush(stdout);
	disk_free(cut.disk);
	repo_free(cut.repo);
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s = suite_create("git-power");
	TCase *power = tcase_create("power");

	if (getenv("POWER_LAND") != NULL)
		land_and_exit();
	unit_set_timeout(power, 200);
	tcase_add_loop_test(power,
	    whatever_is_on_disk_the_next_landing_is_right, 0, DISK_LOSS_COUNT);
	suite_add_tcase(s, power);
	return s;
}
