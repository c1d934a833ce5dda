/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>

#include "child.h"
#include "git-private.h"
#include "loop.h"

static const char index_lock[] = "index.lock";

#define CLAIM_NAME  "llmc-landing"
#define CLAIM_INDEX "llmc-landing.index"
#define CLAIM_MARK  "llmc landing 1"
#define CLAIM_MAX   (64 * 1024)
#define HEAD_MS     1000

/* The records of the file, each ended by NUL. */
enum claim_field {
	FIELD_MARK,
	FIELD_TREE,
	FIELD_GITDIR,
	FIELD_BRANCH,
	FIELD_OLD,
	FIELD_NEW,
	FIELD_PID,
	FIELD_START,
	FIELD_BOOT,
	FIELD_HEAD_INODE,
	FIELD_HEAD_MS,
	FIELD_FILES,
	FIELD_END, /* the mark again: all of it was written */
	FIELD_COUNT
};

void
git_claim_init(struct git_claim *claim)
{
	memset(claim, 0, sizeof *claim);
	claim->fd = -1;
	claim->updater.pidfd = -1;
}

static void
claim_forget(struct git_claim *claim)
{
	claim->active = false;
	free(take_ptr(&claim->tree));
	free(take_ptr(&claim->gitdir));
	free(take_ptr(&claim->branch));
	procref_release(&claim->updater);
	claim->head_inode = 0;
	claim->head_ms = 0;
	claim->files = false;
}

void
git_claim_release(struct git_claim *claim)
{
	claim_forget(claim);
	free(take_ptr(&claim->common));
	claim->fd = fd_close(claim->fd);
}

/* A process that is gone leaves a reference that refers to nothing. */
static void
parse_updater(struct git_claim *claim, const char *const *fields)
{
	int64_t pid = 0, start = 0;

	procref_release(&claim->updater);
	if (!text_parse_int(fields[FIELD_PID], 0, INT32_MAX, &pid) ||
	    !text_parse_int(fields[FIELD_START], 0, INT64_MAX, &start))
		return;
	claim->updater.pid = (pid_t)pid;
	claim->updater.start_time = (uint64_t)start;
	strlcpy(claim->updater.boot_id, fields[FIELD_BOOT],
	    sizeof claim->updater.boot_id);
}

static void
claim_parse(struct git_claim *claim, const char *text, size_t len)
{
	const char *fields[FIELD_COUNT] = { NULL };
	struct git_records records;
	int64_t inode = 0;

	git_records_init(&records, text, len);
	for (int i = 0; i < FIELD_COUNT; i++)
		if ((fields[i] = git_records_next(&records)) == NULL)
			return;
	if (strcmp(fields[FIELD_MARK], CLAIM_MARK) != 0 ||
	    strcmp(fields[FIELD_END], CLAIM_MARK) != 0)
		return;
	claim->active = true;
	xstrset(&claim->tree, fields[FIELD_TREE]);
	xstrset(&claim->gitdir, fields[FIELD_GITDIR]);
	xstrset(&claim->branch, fields[FIELD_BRANCH]);
	strlcpy(claim->old_id, fields[FIELD_OLD], sizeof claim->old_id);
	strlcpy(claim->new_id, fields[FIELD_NEW], sizeof claim->new_id);
	parse_updater(claim, fields);
	if (text_parse_int(fields[FIELD_HEAD_INODE], 0, INT64_MAX, &inode))
		claim->head_inode = (uint64_t)inode;
	(void)text_parse_int(
	    fields[FIELD_HEAD_MS], 0, INT64_MAX, &claim->head_ms);
	claim->files = strcmp(fields[FIELD_FILES], "0") != 0;
}

int
git_claim_take(struct git_claim *claim, const char *common, struct err *err)
{
	cleanup_free char *path = file_join(common, CLAIM_NAME);
	char text[CLAIM_MAX];
	ssize_t n;
	int fd;

	if (claim->fd != -1)
		return 0;
	fd = lock_try(path, err);
	if (fd < 0)
		return fd;
	claim->fd = fd;
	xstrset(&claim->common, common);
	n = pread(fd, text, sizeof text, 0);
	if (n > 0)
		claim_parse(claim, text, (size_t)n);
	return 0;
}

static void
add_field(struct buf *out, const char *text)
{
	buf_add(out, text, strlen(text) + 1);
}

static void
add_number(struct buf *out, uint64_t number)
{
	buf_addf(out, "%llu", (unsigned long long)number);
	buf_addc(out, '\0');
}

/* In place: the lock is on this very file. */
int
git_claim_write(struct git_claim *claim, struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT;
	ssize_t n;

	add_field(&text, CLAIM_MARK);
	add_field(&text, claim->tree);
	add_field(&text, claim->gitdir);
	add_field(&text, claim->branch);
	add_field(&text, claim->old_id);
	add_field(&text, claim->new_id);
	add_number(&text, (uint64_t)claim->updater.pid);
	add_number(&text, claim->updater.start_time);
	add_field(&text, claim->updater.boot_id);
	add_number(&text, claim->head_inode);
	add_number(&text, (uint64_t)claim->head_ms);
	add_number(&text, claim->files);
	add_field(&text, CLAIM_MARK);
	claim->active = true;
	n = pwrite(claim->fd, text.data, text.len, 0);
	if (n == (ssize_t)text.len)
		return 0;
	return err_errno(err, n == -1 ? -errno : -ENOSPC, "%s/%s",
	    claim->common, CLAIM_NAME);
}

void
git_claim_clear(struct git_claim *claim)
{
	if (claim->fd != -1 && claim->active)
		(void)!ftruncate(claim->fd, 0);
	claim_forget(claim);
}

int
git_claim_note_updater(struct git_claim *claim, pid_t pid, struct err *err)
{
	procref_set(&claim->updater, pid);
	claim->head_inode = 0;
	return git_claim_write(claim, err);
}

int
git_claim_note_files(struct git_claim *claim, struct err *err)
{
	int r;

	claim->files = true;
	r = git_claim_write(claim, err);
	if (r == 0 && fdatasync(claim->fd) == -1)
		r = err_errno(err, -errno, "%s/%s", claim->common, CLAIM_NAME);
	return r;
}

static char *
lock_path(const struct git_claim *claim, const char *name)
{
	return file_join(claim->gitdir, name);
}

int
git_claim_note_head(struct git_claim *claim, struct err *err)
{
	cleanup_free char *path = lock_path(claim, "HEAD.lock");
	struct stat st;

	if (lstat(path, &st) == -1)
		return err_errno(err, -errno, "%s", path);
	claim->head_inode = st.st_ino;
	claim->head_ms = clock_file_ms(&st.st_mtim);
	return git_claim_write(claim, err);
}

/* It appears with its mark in it or not at all. Some file systems have no hard
 * links. */
static int
appear(const char *from, const char *path)
{
	int r;

	if (link(from, path) == 0) {
		unlink(from);
		return 0;
	}
	if (errno == EEXIST)
		return -EEXIST;
	r = renameat2(AT_FDCWD, from, AT_FDCWD, path, RENAME_NOREPLACE);
	return r == -1 ? -errno : 0;
}

int
git_claim_lock(struct git_claim *claim, const char *name, struct err *err)
{
	cleanup_free char *path = lock_path(claim, name);
	cleanup_free char *temporary = xasprintf("%s.llmc", path);
	cleanup_fd int fd = -1;
	bool is_index = strcmp(name, index_lock) == 0;
	int r;

	if (is_index && claim->holds_index)
		return 0;
	unlink(temporary); /* of one that was killed */
	fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd == -1)
		return err_errno(err, -errno, "%s", temporary);
	r = file_write_all(fd, CLAIM_MARK "\n", sizeof CLAIM_MARK);
	if (r == 0)
		r = appear(temporary, path);
	if (r == 0) {
		claim->holds_index = claim->holds_index || is_index;
		return 0;
	}
	unlink(temporary);
	return err_errno(err, r, "%s", path);
}

static bool
is_marked(const char *path)
{
	cleanup_buf struct buf text = BUF_INIT;

	return file_read(path, 4096, &text, NULL) == 0 &&
	    strcmp(text.data, CLAIM_MARK "\n") == 0;
}

void
git_claim_unlock(struct git_claim *claim, const char *name)
{
	cleanup_free char *path = lock_path(claim, name);
	cleanup_free char *temporary = xasprintf("%s.llmc", path);

	unlink(temporary);
	if (is_marked(path))
		unlink(path);
	if (strcmp(name, index_lock) == 0)
		claim->holds_index = false;
}

static bool
is_older_than_boot(const struct stat *st)
{
	struct sysinfo info;

	return sysinfo(&info) == 0 &&
	    clock_file_ms(&st->st_mtim) <
	    clock_wall_ms() - (info.uptime + 1) * 1000;
}

/* No process from before the last boot lives, and what a landing of that time
 * wrote into its locks may be lost. */
static bool
is_of_before(const struct git_claim *claim, const char *path)
{
	struct stat own, st;

	return fstat(claim->fd, &own) == 0 && lstat(path, &st) == 0 &&
	    is_older_than_boot(&own) && is_older_than_boot(&st);
}

/* Only the landing of new_id writes that id there. */
static bool
branch_lock_is_ours(const struct git_claim *claim, const char *path)
{
	cleanup_buf struct buf text = BUF_INIT;
	size_t len = strlen(claim->new_id);

	return file_read(path, 4096, &text, NULL) == 0 && text.len > len &&
	    strncmp(text.data, claim->new_id, len) == 0;
}

/* It takes the branch's first, and HEAD's right behind it. */
static bool
head_lock_is_ours(
    const struct git_claim *claim, const char *path, const char *branch)
{
	struct stat st, before;

	if (lstat(path, &st) == -1)
		return false;
	if (claim->head_inode != 0)
		return st.st_ino == claim->head_inode &&
		    clock_file_ms(&st.st_mtim) == claim->head_ms;
	return branch_lock_is_ours(claim, branch) &&
	    lstat(branch, &before) == 0 && st.st_size == 0 &&
	    clock_file_ms(&st.st_mtim) - clock_file_ms(&before.st_mtim) <
	    HEAD_MS;
}

bool
git_claim_sweep(struct git_claim *claim)
{
	cleanup_free char *head = lock_path(claim, "HEAD.lock");
	cleanup_free char *name =
	    xasprintf("refs/heads/%s.lock", claim->branch);
	cleanup_free char *branch = file_join(claim->common, name);
	cleanup_free char *index = lock_path(claim, index_lock);

	if (claim->updater.pid != 0 && procref_alive(&claim->updater))
		return false;
	if (head_lock_is_ours(claim, head, branch) || is_marked(head) ||
	    is_of_before(claim, head))
		unlink(head);
	if (branch_lock_is_ours(claim, branch) || is_of_before(claim, branch))
		unlink(branch);
	git_claim_unlock(claim, "HEAD.lock");
	git_claim_remove_index(claim);
	if (claim->holds_index)
		return true;
	if (is_of_before(claim, index))
		unlink(index);
	git_claim_unlock(claim, index_lock);
	return true;
}

void
git_claim_end_updater(const struct git_claim *claim)
{
	if (claim->updater.pid != 0)
		(void)procref_signal_group(&claim->updater, SIGTERM);
}

char *
git_claim_index(const struct git_claim *claim)
{
	return file_join(claim->gitdir, CLAIM_INDEX);
}

void
git_claim_remove_index(const struct git_claim *claim)
{
	static const char *const suffixes[] = { "", ".lock" };

	for (size_t i = 0; i < nitems(suffixes); i++) {
		cleanup_free char *path = xasprintf(
		    "%s/" CLAIM_INDEX "%s", claim->gitdir, suffixes[i]);

		unlink(path);
	}
}

/* --- a branch held for a move ------------------------------------------- */

/* For the hooks of the user, and a slow disk. */
#define HOLD_DEADLINE_MS (INT64_C(15) * 60 * 1000)

/* For each of our words: the user's git waits as long for the index. A hook
 * that takes longer is ended; before the branch has moved, that is a refusal.
 */
#define WORD_MS  10000
#define ABORT_MS 2000

struct git_hold {
	struct loop *loop; /* runs while we wait for an answer */
	struct child *child; /* NULL = it has ended */
	int fd; /* its standard input */
	struct buf orders; /* up to prepare */
	struct buf said;
	bool preparing; /* that is our last word */
	bool prepared;
	struct loop_timer *limit; /* for its answer */
	bool late;
	struct buf complaint;
};

static void
hold_said(const char *bytes, size_t len, void *arg)
{
	struct git_hold *hold = arg;

	buf_add(&hold->said, bytes, len);
	/* A late one lets go at the end of its input, which it has reached. */
	if (hold->preparing && !hold->late &&
	    strstr(hold->said.data, "prepare: ok\n") != NULL) {
		hold->prepared = true;
		loop_stop(hold->loop, 0);
	}
}

static void
hold_ended(const struct child_result *result, void *arg)
{
	struct git_hold *hold = arg;
	struct buf *out = &hold->complaint;

	hold->child = NULL;
	child_output_text(&result->err, out);
	while (out->len > 0 && out->data[out->len - 1] == '\n')
		buf_truncate(out, out->len - 1);
	if (hold->late)
		buf_addf(out, "it did not %s within %d s",
		    hold->preparing ? "lock the branch" : "end",
		    WORD_MS / 1000);
	else if (!result->exited && out->len == 0)
		child_result_describe(result, out);
	else if (out->len == 0)
		buf_adds(out, "it ended too early");
	loop_stop(hold->loop, 0);
}

static int
hold_spawn(struct git_hold *hold, struct git *git,
    const struct git_hold_spec *spec, struct err *err)
{
	const char *const args[] = { "update-ref", "-m", spec->reason,
		"--stdin", NULL };
	cleanup_strv char **argv = NULL, **env = NULL;
	struct child_spec child = { .said = hold_said,
		.deadline_ms = HOLD_DEADLINE_MS };
	int fds[2], r;

	r = git_environment(git, spec->dir, spec->env, &env, err);
	if (r < 0)
		return r;
	git_arguments(git, spec->dir, args, &argv);
	if (pipe2(fds, O_CLOEXEC) == -1)
		return err_errno(err, -errno, "pipe");
	child.argv = strv_const(argv);
	child.env = strv_const(env);
	child.stdin_fd = fds[0];
	r = child_spawn(
	    hold->loop, &child, hold_ended, hold, &hold->child, err);
	close(fds[0]);
	hold->fd = fds[1];
	return r;
}

int
git_hold_new(struct git *git, const struct git_hold_spec *spec,
    struct git_hold **ret_hold, struct err *err)
{
	struct git_hold *hold = xcalloc(1, sizeof *hold);
	int r;

	hold->loop = loop_new();
	hold->fd = -1;
	buf_init(&hold->orders);
	buf_init(&hold->said);
	buf_init(&hold->complaint);
	buf_addf(&hold->orders, "start\nupdate refs/heads/%s %s %s\nprepare\n",
	    spec->branch, spec->new_id, spec->old_id);
	r = hold_spawn(hold, git, spec, err);
	if (r < 0) {
		git_hold_free(hold);
		return r;
	}
	*ret_hold = hold;
	return 0;
}

pid_t
git_hold_pid(const struct git_hold *hold)
{
	return hold->child != NULL ? child_pid(hold->child) : 0;
}

/* The end of its input lets it clean up; the second time it is cancelled. */
static void
hold_too_late(void *arg)
{
	struct git_hold *hold = arg;

	hold->fd = fd_close(hold->fd);
	if (hold->late) {
		child_cancel(hold->child);
		return;
	}
	hold->late = true;
	loop_timer_restart(hold->limit, ABORT_MS);
}

/* What it does not read any more it tells by its end. */
static void
hold_say(struct git_hold *hold, const char *words, size_t len)
{
	if (hold->child == NULL)
		return;
	(void)file_write_all(hold->fd, words, len);
	if (!hold->preparing)
		hold->fd = fd_close(hold->fd);
	hold->limit = loop_after(hold->loop, WORD_MS, hold_too_late, hold);
	loop_run(hold->loop);
	loop_timer_free(take_ptr(&hold->limit));
}

bool
git_hold_prepare(struct git_hold *hold)
{
	hold->preparing = true;
	hold_say(hold, hold->orders.data, hold->orders.len);
	hold->preparing = false;
	return hold->prepared;
}

/* At the end of its input it exits with 0, whether it has moved the branch or
 * not: only its word counts. */
bool
git_hold_commit(struct git_hold *hold)
{
	static const char commit[] = "commit\n";

	hold_say(hold, commit, strlen(commit));
	return strstr(hold->said.data, "commit: ok\n") != NULL;
}

void
git_hold_abort(struct git_hold *hold)
{
	hold_say(hold, "", 0);
}

const char *
git_hold_complaint(const struct git_hold *hold)
{
	return hold->complaint.data;
}

bool
git_hold_is_locked(const struct git_hold *hold)
{
	return git_complaint_is_lock(hold->complaint.data);
}

void
git_hold_free(struct git_hold *hold)
{
	if (hold == NULL)
		return;
	fd_close(hold->fd);
	if (hold->child != NULL)
		child_release(hold->child);
	loop_free(hold->loop);
	buf_release(&hold->orders);
	buf_release(&hold->said);
	buf_release(&hold->complaint);
	free(hold);
}
