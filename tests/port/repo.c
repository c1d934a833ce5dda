/* SPDX-License-Identifier: ISC */

#include "repo.h"

#include <ftw.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "git-private.h"
#include "git-worktree.h"

static char *old_path;

static void
set_environment(const char *base)
{
	static const char *const people[] = { "GIT_AUTHOR_NAME", "A U Thor",
		"GIT_AUTHOR_EMAIL", "author@example.org", "GIT_COMMITTER_NAME",
		"C O Mitter", "GIT_COMMITTER_EMAIL", "committer@example.org" };

	setenv("HOME", base, 1);
	setenv("XDG_CONFIG_HOME", base, 1);
	unit_git_settings();
	setenv("B", base, 1);
	unsetenv("GIT_CONFIG_GLOBAL");
	for (size_t i = 0; i < nitems(people); i += 2)
		setenv(people[i], people[i + 1], 1);
}

static char *no_sync; /* a stand-in for sync(1) that does nothing */

/* Nothing needs to be on the disk of these tests: neither git nor sync(1) waits
 * for it. */
static void
forget_the_disk(void)
{
	cleanup_free char *path = NULL;
	const char *folder = unit_path("bin");

	setenv("GIT_TEST_FSYNC", "0", 1);
	if (no_sync != NULL)
		return;
	no_sync = file_join(folder, "sync");
	path = xasprintf("%s:%s", folder, getenv("PATH"));
	ck_assert_int_eq(file_mkdirs(folder, 0755, NULL), 0);
	ck_assert_int_eq(symlink("/bin/true", no_sync), 0);
	setenv("PATH", path, 1);
}

void
repo_use_disk(void)
{
	unlink(no_sync);
	unsetenv("GIT_TEST_FSYNC");
}

static const char *
run_in(struct repo *repo, const char *dir, const char *text)
{
	struct child_spec spec = {
		.shell = text, .cwd = dir, .deadline_ms = unit_guard_ms()
	};
	cleanup_child_result struct child_result result;
	cleanup_buf struct buf out = BUF_INIT;
	static char *kept[256];
	static size_t count;
	struct err err = { 0 };

	setenv("R", repo->root, 1);
	setenv("W", repo->dir, 1);
	ck_assert_msg(child_run(&spec, &result, &err) == 0, "%s", err.msg);
	child_output_text(&result.out, &out);
	ck_assert_msg(child_succeeded(&result), "%s\n%s%s", text, out.data,
	    result.err.head.data);
	while (out.len > 0 && out.data[out.len - 1] == '\n')
		buf_truncate(&out, out.len - 1);
	count = (count + 1) % nitems(kept);
	free(kept[count]);
	return kept[count] = buf_take(&out);
}

const char *
repo_sh(struct repo *repo, const char *text)
{
	return run_in(repo, repo->root, text);
}

static void
follow_run(struct git_op *op)
{
	git_op_need_gitdir(op);
	git_follow_run(op);
}

static void
follow_finish(struct git_op *op, const struct err *err)
{
	struct repo *repo = op->arg;

	repo->followed_code = err != NULL ? err->code : 0;
	if (err != NULL)
		snprintf(repo->msg, sizeof repo->msg, "%s", err->msg);
	loop_stop(repo->loop, 0);
}

int
repo_follow(struct repo *repo)
{
	struct git_op *op = git_op_new(
	    sizeof *op, repo->git, repo->dir, NULL, follow_run, follow_finish);

	op->arg = repo;
	git_op_begin(op, false);
	loop_run(repo->loop);
	return repo->followed_code;
}

/* The branch is where a test looks for the work. */
const char *
repo_wt(struct repo *repo, const char *text)
{
	const char *out = run_in(repo, repo->dir, text);

	if (repo->detached && repo->git != NULL)
		repo_follow(repo);
	return out;
}

static void
need_box(void)
{
	static const char *const argv[] = { "bwrap", "--unshare-user",
		"--unshare-pid", "--dev-bind", "/", "/", "true", NULL };
	struct child_spec spec = { .argv = argv,
		.deadline_ms = unit_guard_ms() };
	cleanup_child_result struct child_result result = { 0 };

	if (getenv("REPO_BOXED") != NULL &&
	    (child_run(&spec, &result, NULL) < 0 || !result.exited ||
		result.status != 0))
		unit_skip("there is no bubblewrap, or no user namespaces");
}

void
repo_attached_only(void)
{
	if (getenv("REPO_DETACHED") != NULL)
		unit_skip("it is about a worktree that is on its branch");
}

static bool
is_clone(const struct repo *repo)
{
	cleanup_free char *git = file_join(repo->dir, ".git");

	return repo->may_clone && file_is_dir(git);
}

/* The worktree is that of worker ann. */
static bool
find_home(void *arg, const char *dir, struct git_home *ret_home)
{
	const struct repo *repo = arg;

	if (strcmp(dir, repo->dir) != 0)
		return false;
	*ret_home = (struct git_home){
		.worker = "ann",
		.branch = "llmc/ann",
		.detached = repo->detached,
		.clone = is_clone(repo),
		.base = repo->task_base,
	};
	return true;
}

/* The folders of git as a worker in a box has them, and nothing else of it. */
static int
find_box(void *arg, const char *dir, char ***ret_prefix, struct err *err)
{
	const struct repo *repo = arg;
	cleanup_free char *git = file_join(repo->root, ".git");
	cleanup_free char *objects = file_join(git, "objects");
	cleanup_free char *gitdir = NULL;

	if (is_clone(repo) && strcmp(dir, repo->dir) == 0)
		strv_add(ret_prefix, "env"); /* git must have one there */
	if (!repo->boxed || is_clone(repo) || strcmp(dir, repo->dir) != 0)
		return 0;
	if (git_verify(repo->root, dir, &gitdir, err) < 0)
		return err->code;
	strv_add_all(ret_prefix,
	    (const char *[]){ "bwrap", "--unshare-user", "--unshare-pid",
		"--die-with-parent", "--dev-bind", "/", "/", "--ro-bind", git,
		git, "--bind", gitdir, gitdir, "--bind", objects, objects, "--",
		NULL });
	return 0;
}

void
repo_reopen(struct repo *repo, const struct git_options *options)
{
	struct git_options all = *options;

	all.home = find_home;
	all.box = find_box;
	all.arg = repo;
	git_free(repo->git);
	repo->git = git_new(repo->loop, &all);
}

/* All but the repository itself. */
static struct repo *
new_place(void)
{
	static int number;
	struct git_options options = { 0 };
	struct repo *repo = xcalloc(1, sizeof *repo);
	cleanup_free char *name = xasprintf("r%d", ++number);
	/* Names that break code that splits at blanks or lines. */
	cleanup_free char *root = xasprintf("r%d/ma in\n\xc3\xa9", number);
	cleanup_free char *dir =
	    xasprintf("r%d/work trees/a\xc3\xa4 n\nn", number);

	repo->base = unit_path(name);
	repo->root = unit_path(root);
	repo->dir = unit_path(dir);
	ck_assert_int_eq(file_mkdirs(repo->root, 0755, NULL), 0);
	set_environment(repo->base);
	forget_the_disk();
	repo->loop = loop_new();
	options.root = repo->root;
	repo->detached = getenv("REPO_DETACHED") != NULL;
	repo->boxed = getenv("REPO_BOXED") != NULL;
	need_box();
	repo_reopen(repo, &options);
	return repo;
}

struct repo *
repo_new_empty(void)
{
	struct repo *repo = new_place();

	repo_sh(repo, "git init -q -b main .");
	return repo;
}

static const char *first_from = "", *first_to;

static int
copy_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	cleanup_free char *to =
	    xasprintf("%s%s", first_to, path + strlen(first_from));
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_fd int fd = -1;

	(void)ftw;
	if (type == FTW_D)
		return mkdir(to, 0755) == -1 && errno != EEXIST;
	fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, st->st_mode);
	return file_read(path, 1 << 20, &text, NULL) < 0 ||
	    file_write_all(fd, text.data, text.len) < 0;
}

#define FIRST                                                                 \
	"git init -q -b main . && rm .git/hooks/* && echo one >a.txt && git " \
	"add a.txt && git commit -qm first"

/* One is made for all tests of the program, by the process that starts them
 * (unit_once), and copied: to make one takes git three processes. */
static void
make_first(struct repo *repo)
{
	if (getenv("GIT_DEFAULT_HASH") != NULL) { /* not like the others */
		repo_sh(repo, FIRST);
		return;
	}
	if (!file_is_dir(first_from)) /* without a process of its own */
		unit_once();
	first_to = repo->root;
	ck_assert_int_eq(nftw(first_from, copy_one, 16, FTW_PHYS), 0);
	repo_sh(repo, "exec git update-index -q --refresh");
}

/* Not in a test: nothing can be asserted, and nothing of ours may be asked for
 * the time, whose scale (unit_hurry) is read once in a process. */
void
unit_once(void)
{
	int status = 1;
	pid_t pid;

	first_from = unit_path("first");
	set_environment(unit_scratch());
	setenv("GIT_TEST_FSYNC", "0", 1);
	pid = file_mkdirs(first_from, 0755, NULL) == 0 ? fork() : -1;
	if (pid == 0) {
		if (chdir(first_from) == 0)
			execl("/bin/sh", "sh", "-c", FIRST, NULL);
		_exit(127);
	}
	if (pid > 0 && waitpid(pid, &status, 0) == pid && status == 0)
		return;
	fputs("no first repository\n", stderr);
	exit(99);
}

struct repo *
repo_new(bool run_hooks)
{
	struct repo *repo = new_place();
	struct git_options options = { .root = repo->root,
		.run_hooks = run_hooks };

	make_first(repo);
	repo_reopen(repo, &options);
	return repo;
}

struct repo *
repo_new_lfs(void)
{
	struct repo *repo = repo_new(false);
	struct git_options options = { 0 };

	if (strcmp(repo_sh(repo, "git lfs version >/dev/null 2>&1; echo $?"),
		"0") != 0)
		unit_skip("git-lfs is not installed");
	repo->root =
	    repo_sh(repo, "mv \"$R\" \"$B/ma in\"; printf '%s/ma in' \"$B\"");
	repo->dir = repo_sh(repo, "printf '%s/a nn' \"$B\"");
	options.root = repo->root;
	repo_reopen(repo, &options);
	repo_sh(repo, "git lfs install --skip-repo >/dev/null");
	return repo;
}

void
repo_free(struct repo *repo)
{
	if (repo == NULL)
		return;
	repo_untrap(repo);
	git_free(repo->git);
	loop_free(repo->loop);
	strv_free(repo->places);
	free(repo);
}

void
repo_cleanup(struct repo **repo)
{
	repo_free(*repo);
}

static void
guard(void *arg)
{
	(void)arg;
	ck_abort_msg("no answer from git in time");
}

void
repo_wait(struct repo *repo)
{
	struct loop_timer *timer =
	    loop_after(repo->loop, unit_guard_ms(), guard, NULL);

	if (!repo->called)
		loop_run(repo->loop);
	loop_timer_free(timer);
	ck_assert(repo->called);
}

void
repo_begin(struct repo *repo)
{
	repo->called = false;
	repo->code = 0;
	repo->msg[0] = repo->text[0] = '\0';
	repo->conflict = false;
	memset(&repo->facts, 0, sizeof repo->facts);
}

void
repo_answered(struct repo *repo, const struct err *err)
{
	ck_assert_msg(!repo->called, "answered twice");
	repo->called = true;
	if (err != NULL) {
		repo->code = err->code;
		snprintf(repo->msg, sizeof repo->msg, "%s", err->msg);
	}
	loop_stop(repo->loop, 0);
}

static void
work_done(const struct err *err, void *arg)
{
	repo_answered(arg, err);
}

static void
text_done(const char *text, const struct err *err, void *arg)
{
	struct repo *repo = arg;

	ck_assert((text == NULL) == (err != NULL));
	snprintf(repo->text, sizeof repo->text, "%s", text != NULL ? text : "");
	repo_answered(repo, err);
}

static void
list_done(
    const char *const *list, size_t count, const struct err *err, void *arg)
{
	struct repo *repo = arg;
	cleanup_buf struct buf all = BUF_INIT;

	ck_assert((list == NULL) == (err != NULL));
	for (size_t i = 0; i < count; i++)
		buf_addf(&all, "%s|", list[i]);
	if (list != NULL)
		ck_assert_ptr_null(list[count]);
	snprintf(repo->text, sizeof repo->text, "%s", all.data);
	repo_answered(repo, err);
}

static void
facts_done(const struct git_facts *facts, const struct err *err, void *arg)
{
	struct repo *repo = arg;

	ck_assert((facts == NULL) == (err != NULL));
	if (facts != NULL)
		repo->facts = *facts;
	repo_answered(repo, err);
}

static void
rebase_done(bool conflict, const struct err *err, void *arg)
{
	struct repo *repo = arg;

	repo->conflict = conflict;
	repo_answered(repo, err);
}

static void
land_done(enum git_land_result result, const char *detail,
    const char *const *places, const struct err *err, void *arg)
{
	struct repo *repo = arg;

	ck_assert((result == GIT_LAND_FAILED) == (err != NULL));
	ck_assert((result == GIT_LAND_DIRTY || result == GIT_LAND_BUSY) ==
	    (places[0] != NULL));
	strv_clear(&repo->places);
	strv_add_all(&repo->places, places);
	repo->landed = result;
	snprintf(repo->text, sizeof repo->text, "%s", detail);
	repo_answered(repo, err);
}

static int
finished(struct repo *repo)
{
	repo_wait(repo);
	return repo->code;
}

int
repo_add(struct repo *repo)
{
	repo_begin(repo);
	git_worktree_add(
	    repo->git, repo->dir, "llmc/ann", "main", work_done, repo);
	return finished(repo);
}

int
repo_facts(struct repo *repo)
{
	repo_begin(repo);
	git_facts_read(repo->git, repo->dir, "main", facts_done, repo);
	return finished(repo);
}

int
repo_conflicts(struct repo *repo)
{
	repo_begin(repo);
	git_facts_conflicts(repo->git, repo->dir, list_done, repo);
	return finished(repo);
}

static void
salvage_done(const struct git_salvaged *saved, const struct err *err, void *arg)
{
	struct repo *repo = arg;

	snprintf(repo->clean, sizeof repo->clean, "%s",
	    saved != NULL ? saved->clean : "");
	text_done(saved != NULL ? saved->ref : NULL, err, arg);
}

bool
repo_obey_modes(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct data[2] = { 0 };
	static const unsigned caps[] = { CAP_DAC_OVERRIDE,
		CAP_DAC_READ_SEARCH };

	if (geteuid() != 0)
		return true;
	if (syscall(SYS_capget, &header, data) == -1)
		return false;
	for (size_t i = 0; i < nitems(caps); i++) {
		if (prctl(PR_CAPBSET_DROP, caps[i], 0, 0, 0) == -1)
			return false;
		data[0].effective &= ~(1u << caps[i]);
		data[0].permitted &= ~(1u << caps[i]);
		data[0].inheritable &= ~(1u << caps[i]);
	}
	return syscall(SYS_capset, &header, data) == 0;
}

int
repo_salvage(struct repo *repo, const char *stamp)
{
	struct git_salvage what = { .worker = "ann",
		.branch = "llmc/ann",
		.onto = "main",
		.stamp = stamp,
		.leave = repo->leave };

	repo_begin(repo);
	git_salvage(repo->git, repo->dir, &what, salvage_done, repo);
	return finished(repo);
}

/* With a stamp of its own for each operation. */
static struct git_salvage
keep_of(struct repo *repo)
{
	snprintf(repo->stamp, sizeof repo->stamp, "r%d", ++repo->stamps);
	return (struct git_salvage){ .worker = "ann",
		.branch = "llmc/ann",
		.onto = "main",
		.stamp = repo->stamp,
		.keep_as = repo->keep_as };
}

int
repo_reset(struct repo *repo)
{
	return repo_reset_clean(repo, NULL, NULL);
}

int
repo_reset_clean(struct repo *repo, const char *head, const char *same)
{
	struct git_reset what = { .keep = keep_of(repo),
		.onto = "main",
		.head = head,
		.same = same };

	repo_begin(repo);
	git_reset(repo->git, repo->dir, &what, salvage_done, repo);
	return finished(repo);
}

int
repo_unlock(struct repo *repo)
{
	repo_begin(repo);
	git_worktree_unlock(repo->git, repo->dir, "llmc/ann", work_done, repo);
	return finished(repo);
}

int
repo_remove(struct repo *repo)
{
	struct git_salvage what = keep_of(repo);

	repo_begin(repo);
	git_remove(repo->git, repo->dir, &what, salvage_done, repo);
	return finished(repo);
}

int
repo_leftovers(struct repo *repo, const char *message)
{
	repo_begin(repo);
	git_salvage_commit(
	    repo->git, repo->dir, "main", message, work_done, repo);
	return finished(repo);
}

int
repo_rebase(struct repo *repo)
{
	struct git_salvage keep = keep_of(repo);

	repo_begin(repo);
	git_rebase(repo->git, repo->dir, "main", &keep, rebase_done, repo);
	return finished(repo);
}

int
repo_abort(struct repo *repo)
{
	struct git_salvage keep = keep_of(repo);

	repo_begin(repo);
	git_rebase_abort(repo->git, repo->dir, &keep, salvage_done, repo);
	return finished(repo);
}

int
repo_forks(struct repo *repo)
{
	repo_begin(repo);
	git_facts_forks(repo->git, repo->dir, "main", list_done, repo);
	return finished(repo);
}

int
repo_squash(struct repo *repo, const char *message)
{
	repo_begin(repo);
	git_squash(
	    repo->git, repo->dir, "ann", "main", message, text_done, repo);
	return finished(repo);
}

enum git_land_result
repo_land(struct repo *repo, const char *onto, const char *id, bool overlap)
{
	/* It is often the answer of the previous operation. */
	cleanup_free char *name = xstrdup(id);

	repo_begin(repo);
	git_land(repo->git, "main", onto, name, repo->keep, overlap, land_done,
	    repo);
	finished(repo);
	return repo->landed;
}

int
repo_settle(struct repo *repo)
{
	repo_begin(repo);
	git_land_settle(repo->git, work_done, repo);
	return finished(repo);
}

static const char trap_text[] =
    "#!/bin/sh\n"
    "n=$(($(cat \"$TRAP/count\") + 1))\n"
    "echo $n >\"$TRAP/count\"\n"
    "PATH=$TRAP_PATH\n"
    "if [ $n -eq $TRAP_NTH ]; then\n"
    "	case $TRAP_MODE in\n"
    "	before) ;;\n"
    "	after) case \"$*\" in\n"
    "		*--stdin*) git \"$@\" ;;\n"
    "		*) git \"$@\" >/dev/null 2>&1 ;;\n"
    "		esac ;;\n"
    "	hang) exec tail --pid=$PPID -f /dev/null ;;\n"
    "	orphan-before) kill -KILL $TRAP_DAEMON $PPID; "
    "exec git \"$@\" ;;\n"
    "	orphan-after) git \"$@\"; "
    "kill -KILL $TRAP_DAEMON $PPID; exit ;;\n"
    "	esac\n"
    "	kill -KILL $$\n"
    "fi\n"
    "exec git \"$@\"\n";

void
repo_trap(struct repo *repo, int nth, const char *mode)
{
	cleanup_free char *folder = file_join(repo->base, "trap");
	cleanup_free char *program = file_join(folder, "git");
	cleanup_free char *count = file_join(folder, "count");
	cleanup_free char *number = xasprintf("%d", nth), *path = NULL;

	repo_untrap(repo);
	old_path = xstrdup(getenv("PATH"));
	path = xasprintf("%s:%s", folder, old_path);
	ck_assert_int_eq(file_mkdirs(folder, 0755, NULL), 0);
	ck_assert_int_eq(
	    file_replace(program, trap_text, sizeof trap_text - 1, 0755, NULL),
	    0);
	ck_assert_int_eq(chmod(program, 0755), 0);
	ck_assert_int_eq(file_replace(count, "0\n", 2, 0644, NULL), 0);
	setenv("TRAP", folder, 1);
	setenv("TRAP_PATH", old_path, 1);
	setenv("TRAP_NTH", number, 1);
	setenv("TRAP_MODE", mode, 1);
	setenv("PATH", path, 1);
}

void
repo_trap_us(void)
{
	cleanup_free char *pid = xasprintf("%d", (int)getpid());

	setenv("TRAP_DAEMON", pid, 1);
}

int
repo_trap_count(struct repo *repo)
{
	cleanup_free char *path = file_join(repo->base, "trap/count");
	cleanup_buf struct buf text = BUF_INIT;
	int64_t count;

	ck_assert_int_eq(file_read(path, 64, &text, NULL), 0);
	buf_truncate(&text, strcspn(text.data, "\n"));
	ck_assert(text_parse_int(text.data, 0, 1000000, &count));
	return (int)count;
}

void
repo_meanwhile(struct repo *repo, const char *pattern, const char *does)
{
	cleanup_free char *text = xasprintf(
	    "cat >\"$B/trap/git\" <<'E'\n#!/bin/sh\nPATH=$TRAP_PATH\n"
	    "case \"$*\" in %s) [ -e \"$B/once\" ] || { >\"$B/once\"; "
	    "(unset GIT_DIR GIT_WORK_TREE; cd \"$R\"; %s); };; esac\n"
	    "exec git \"$@\"\nE\n",
	    pattern, does);

	repo_trap(repo, 0, "");
	repo_sh(repo, text);
}

void
repo_untrap(struct repo *repo)
{
	(void)repo;
	if (old_path == NULL)
		return;
	setenv("PATH", old_path, 1);
	free(take_ptr(&old_path));
}

struct repo *
repo_with_tree(void)
{
	struct repo *repo = repo_new(false);

	ck_assert_msg(repo_add(repo) == 0, "%s", repo->msg);
	return repo;
}
