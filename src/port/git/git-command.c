/* SPDX-License-Identifier: ISC */

/* One git command: how it is started, waited for and tried again, and the lock
 * files of gits that were killed. */
#include "base.h"

#include <ctype.h>
#include <poll.h>
#include <sys/stat.h>

#include "child.h"
#include "git-private.h"
#include "procref.h"

#define LOCK_LOOK_MS 10

/* --- how it is started -------------------------------------------------- */

/* Without '=': removed, because it would point git at another repository than
 * the directory's own, change what its commands do, or have its messages
 * translated. */
const char *const git_env[] = { "LC_ALL=C", "LANGUAGE", "GIT_TERMINAL_PROMPT=0",
	"GIT_ASKPASS", "SSH_ASKPASS", "SSH_ASKPASS_REQUIRE=never",
	"GIT_OPTIONAL_LOCKS=0",
	"GIT_EDITOR=:", "GIT_SEQUENCE_EDITOR=:", "GIT_MERGE_AUTOEDIT=no",
	"GIT_ADVICE=0",
	/* What is checked and shown is what the commits have: refs/replace and
	 * info/grafts, which a worker can write, change what git reads. */
	"GIT_NO_REPLACE_OBJECTS=1", "GIT_REPLACE_REF_BASE",
	"GIT_GRAFT_FILE=/dev/null/none", "GIT_DIR", "GIT_WORK_TREE",
	"GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX",
	"GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
	"GIT_QUARANTINE_PATH", "GIT_NAMESPACE", "GIT_CONFIG",
	"GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "GIT_SHALLOW_FILE",
	"GIT_ATTR_SOURCE", "GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS",
	"GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS", "GIT_EXTERNAL_DIFF",
	"GIT_DIFF_OPTS", "GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE",
	"GIT_REFLOG_ACTION", NULL };

static const char *const git_config[] = { "commit.gpgSign=false",
	"log.showSignature=false", "merge.verifySignatures=false",
	"rebase.autoStash=false", "merge.autoStash=false",
	"rebase.autoSquash=false", "rebase.updateRefs=false",
	"rebase.rebaseMerges=false", "rebase.forkPoint=false",
	"submodule.recurse=false", "core.fsmonitor=false",
	"core.safecrlf=false", "diff.autoRefreshIndex=true", "gc.auto=0",
	"maintenance.auto=false", "worktree.useRelativePaths=false",
	"i18n.commitEncoding=UTF-8", "i18n.logOutputEncoding=UTF-8" };

static const char git_no_hooks[] = "core.hooksPath=/dev/null";

/* Also keeps git from searching further up; not for a path with a colon, which
 * would separate two. */
static void
add_ceiling(char ***env, const char *dir)
{
	const char *slash = strrchr(dir, '/');

	if (slash == NULL || slash == dir || strchr(dir, ':') != NULL)
		return;
	strv_take(env,
	    xasprintf("GIT_CEILING_DIRECTORIES=%.*s", (int)(slash - dir), dir));
}

/* In a box the resolutions that git remembers are read-only. */
static const char *const boxed_config[] = { "-c", "rerere.enabled=false",
	NULL };

static void
add_environment(const struct git *git, const char *dir, const char *gitdir,
    const char *common, const char *const *more, char ***env)
{
	strv_add_all(env, git_env);
	strv_take(env, xasprintf("GIT_DIR=%s", gitdir));
	if (strcmp(dir, git_root(git)) != 0)
		strv_take(env,
		    xasprintf("GIT_COMMON_DIR=%s",
			git_stand_is_clone(git, dir) ? gitdir : common));
	strv_take(env, xasprintf("GIT_WORK_TREE=%s", dir));
	add_ceiling(env, dir);
	if (git_runs_hooks(git) && !git_stand_is_clone(git, dir))
		git_dirs_add_hooks(gitdir, dir, git_root(git), env);
	strv_add_all(env, more);
}

static int
no_box(const char *dir, struct err *err)
{
	return err_set(err, -EUCLEAN,
	    "%s is a worker's own clone, and git runs there in its sandbox "
	    "only",
	    dir);
}

/* The directory is looked at before every try: it is a worker's, who may have
 * put something else there. */
int
git_environment(const struct git *git, const char *dir, const char *const *more,
    char ***ret_env, struct err *err)
{
	cleanup_free char *gitdir = NULL, *common = NULL;
	int r = git_verify_common(git_root(git), dir, &gitdir, &common, err);

	if (r == 0 && git_stand_is_clone(git, dir))
		r = no_box(dir, err);
	if (r == 0)
		add_environment(git, dir, gitdir, common, more, ret_env);
	return r;
}

void
git_arguments(const struct git *git, const char *dir, const char *const *args,
    char ***ret_argv)
{
	strv_add(ret_argv, "git");
	strv_add(ret_argv, "-C");
	strv_add(ret_argv, dir);
	for (size_t i = 0; i < nitems(git_config); i++) {
		strv_add(ret_argv, "-c");
		strv_add(ret_argv, git_config[i]);
	}
	if (!git_runs_hooks(git)) {
		strv_add(ret_argv, "-c");
		strv_add(ret_argv, git_no_hooks);
	}
	strv_add_all(ret_argv, args);
}

/* Is there a later edit of the same variable? */
static bool
is_overridden(const char *const *edits)
{
	size_t len = strcspn(edits[0], "=");

	for (size_t i = 1; edits[i] != NULL; i++)
		if (strcspn(edits[i], "=") == len &&
		    strncmp(edits[0], edits[i], len) == 0)
			return true;
	return false;
}

/* Those that list all worktrees read what workers have in the place of their
 * HEADs. */
static void
sweep(const struct git *git, const char *verb)
{
	static const char *const verbs[] = { "branch", "checkout", "worktree" };

	for (size_t i = 0; i < nitems(verbs); i++)
		if (strcmp(verb, verbs[i]) == 0)
			git_verify_sweep(git_root(git));
}

/* Arguments and environment, also for a worker's tree: -EUCLEAN if it must not
 * run there (it is not the worker's, or HEAD is on another branch). In a box
 * its environment is that of the box, with the same edits. */
static int
git_start_prepare(const struct git *git, const char *dir,
    const char *const *args, const char *const *more, char ***ret_argv,
    char ***ret_env, struct err *err)
{
	cleanup_free char *gitdir = NULL, *common = NULL;
	cleanup_strv char **argv = NULL, **env = NULL, **own = NULL;
	int r;

	sweep(git, git_verb(args));
	r = git_stand_find(git, dir, &gitdir, &common, err);
	if (r == 0)
		r = git_stand_check(git, dir, gitdir, common, args, err);
	if (r == 0)
		r = git_box(git, dir, &argv, err);
	if (r == 0 && argv == NULL && git_stand_is_clone(git, dir))
		r = no_box(dir, err);
	if (r < 0)
		return r;
	add_environment(git, dir, gitdir, common, more, &env);
	if (argv != NULL) {
		const char *const *edits = strv_const(env);

		/* The box may have an environment of its own, so the edits
		 * are made in it: first those that remove, as env wants it. */
		strv_add(&argv, "env");
		for (size_t i = 0; edits[i] != NULL; i++)
			if (strchr(edits[i], '=') == NULL &&
			    !is_overridden(edits + i)) {
				strv_add(&argv, "-u");
				strv_add(&argv, edits[i]);
			}
		for (size_t i = 0; edits[i] != NULL; i++)
			if (strchr(edits[i], '=') != NULL &&
			    !is_overridden(edits + i))
				strv_add(&argv, edits[i]);
		strv_add_all(&own, boxed_config);
		if (git_stand_is_clone(git, dir)) {
			strv_add(&own, "-c");
			strv_add(&own, git_no_hooks);
		}
	}
	strv_add_all(&own, args);
	git_arguments(git, dir, strv_const(own), &argv);
	*ret_argv = take_ptr(&argv);
	*ret_env = take_ptr(&env);
	return 0;
}

/* --- lock files of gits that were killed -------------------------------- */

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
	    !text_begins(name.data, "git"))
		return false;
	n = readlink(cwd, where, sizeof where - 1);
	if (n < 0)
		return errno == EACCES && may_be(pid, owner);
	where[n] = '\0';
	return strncmp(where, dir, len) == 0 &&
	    (where[len] == '\0' || (below && where[len] == '/'));
}

static bool
git_runs_in(const char *dir, const uid_t *owner)
{
	cleanup_free char *real = realpath(dir, NULL);
	cleanup_dir DIR *proc = opendir("/proc");
	const char *name;
	bool found = proc == NULL || real == NULL;

	while (!found && (name = dir_next(proc)) != NULL)
		found = isdigit((unsigned char)name[0]) &&
		    is_git_in(name, real, true, owner);
	return found;
}

/* A ref of llmc: nobody else moves those, and a git that packs refs has the
 * lock of each for a moment only. */
static bool
is_of_our_refs(const char *lock)
{
	return strstr(lock, "/refs/llmc/") != NULL;
}

bool
git_lock_remove_dead(const char *dir, const char *complaint)
{
	cleanup_free char *lock = complained_of(complaint);
	struct stat st;

	if (lock == NULL || stat(lock, &st) == -1 ||
	    clock_wall_ms() - clock_file_ms(&st.st_mtim) < FRESH_MS)
		return false;
	if (!is_of_our_refs(lock) &&
	    (!is_own(dir, lock) || git_runs_in(dir, &st.st_uid)))
		return false;
	return unlink(lock) == 0;
}

/* The processes of the list that are still there; *ret_busy: one of them, or a
 * child of one, runs or waits for a disk. */
static size_t
git_lock_count(struct procref *gits, size_t count, bool *ret_busy)
{
	cleanup_dir DIR *proc = opendir("/proc");
	const char *name;
	size_t alive = 0;

	*ret_busy = false;
	for (size_t i = 0; i < count; i++)
		alive += procref_alive(&gits[i]);
	while (alive > 0 && !*ret_busy && (name = dir_next(proc)) != NULL) {
		cleanup_free char *path = xasprintf("/proc/%s/stat", name);
		cleanup_buf struct buf text = BUF_INIT;
		const char *end;
		char state;
		int parent;

		if (!isdigit((unsigned char)name[0]) ||
		    file_read(path, 4096, &text, NULL) < 0 ||
		    (end = strrchr(text.data, ')')) == NULL ||
		    sscanf(end, ") %c %d", &state, &parent) != 2 ||
		    (state != 'R' && state != 'D'))
			continue;
		for (size_t i = 0; i < count; i++)
			*ret_busy = *ret_busy || parent == gits[i].pid ||
			    strtol(name, NULL, 10) == gits[i].pid;
	}
	return alive;
}

void
git_lock_wait_quiet(const char *dir, int64_t quiet_ms, int64_t most_ms)
{
	cleanup_free char *real = realpath(dir, NULL);
	cleanup_dir DIR *proc = opendir("/proc");
	struct procref *gits = NULL;
	const char *name;
	size_t count = 0;
	int64_t idle_ms = 0;
	bool busy;

	while (proc != NULL && real != NULL && (name = dir_next(proc)) != NULL)
		if (isdigit((unsigned char)name[0]) &&
		    is_git_in(name, real, false, NULL)) {
			gits = xreallocarray(gits, count + 1, sizeof *gits);
			gits[count] = (struct procref)PROCREF_INIT;
			if (procref_set(&gits[count],
				(pid_t)strtol(name, NULL, 10)) == 0)
				count++;
		}
	for (int64_t ms = 0; ms < most_ms && idle_ms < quiet_ms &&
	     git_lock_count(gits, count, &busy) > 0;
	     ms += LOCK_LOOK_MS) {
		idle_ms = busy ? 0 : idle_ms + LOCK_LOOK_MS;
		git_pause(LOCK_LOOK_MS);
	}
	for (size_t i = 0; i < count; i++)
		procref_release(&gits[i]);
	free(gits);
}

/* --- running ------------------------------------------------------ */

#define GIT_OUTPUT_MIB 32

/* git's message, which LC_ALL=C keeps from being translated, is the only way to
 * tell a held lock from other failures. */
bool
git_complaint_is_lock(const char *complaint)
{
	return strstr(complaint, ".lock': File exists") != NULL ||
	    /* A worktree that is being made has an empty one for a moment. */
	    (strstr(complaint, "failed to read ") != NULL &&
		strstr(complaint, "/commondir: ") != NULL) ||
	    (strstr(complaint, "could not lock config file") != NULL &&
		strstr(complaint, "File exists") != NULL);
}

static void
trim_newlines(struct buf *text)
{
	size_t len = text->len;

	while (len > 0 && text->data[len - 1] == '\n')
		len--;
	buf_truncate(text, len);
}

/* Leave out advice, which is for a person at a shell. */
static void
add_complaint(struct buf *out, const struct child_output *output)
{
	cleanup_buf struct buf all = BUF_INIT;
	const char *line, *end;

	child_output_text(output, &all);
	for (line = all.data; *line != '\0'; line = end) {
		end = line + strcspn(line, "\n");
		if (*end == '\n')
			end++;
		if (strncmp(line, "hint:", 5) != 0)
			buf_add(out, line, (size_t)(end - line));
	}
	trim_newlines(out);
}

/* Why the answer cannot be used; 0 = it can. */
static int
judge(const char *name, const char *dir, const struct child_result *result,
    struct err *err)
{
	cleanup_buf struct buf words = BUF_INIT;

	child_result_describe(result, &words);
	if (result->start_error != 0)
		return err_set(err, result->start_error,
		    "git %s in %s %s; is git installed and in PATH?", name, dir,
		    words.data);
	if (result->timed_out)
		return err_set(
		    err, -ETIMEDOUT, "git %s in %s: %s", name, dir, words.data);
	if (!result->exited)
		return err_set(
		    err, -EIO, "git %s in %s was %s", name, dir, words.data);
	if (result->out.total > result->out.head.len + result->out.tail.len)
		return err_set(err, -EFBIG,
		    "git %s in %s printed more than %d MiB", name, dir,
		    GIT_OUTPUT_MIB);
	return 0;
}

static void
add_output(struct buf *out, const struct child_result *result)
{
	buf_add(out, result->out.head.data, result->out.head.len);
	buf_add(out, result->out.tail.data, result->out.tail.len);
	trim_newlines(out);
}

/* Wait for a lock; in the end, remove a stale one. */
static bool
should_retry(int *tries, bool once, const char *dir, const char *complaint)
{
	if (once)
		return false;
	++*tries;
	return *tries <= GIT_TRIES ||
	    (*tries == GIT_TRIES + 1 && git_lock_remove_dead(dir, complaint));
}

/* One try: its exit status, -1 with err. */
static int
wait_once(const struct git *git, const struct git_command *command,
    struct buf *out, struct buf *complaint, struct err *err)
{
	const char *verb = git_verb(command->args);
	cleanup_strv char **argv = NULL, **env = NULL;
	cleanup_child_result struct child_result result;
	struct child_spec spec = {
		.input = command->input,
		.input_len = command->input_len,
		.stdin_fd = command->stdin_fd,
		.output_max = (size_t)GIT_OUTPUT_MIB * 1024 * 1024,
		.deadline_ms = command->deadline_ms > 0 ?
		    command->deadline_ms :
		    git_deadline(git, verb),
		.in_group = !command->linger,
	};
	int r = git_start_prepare(
	    git, command->dir, command->args, command->env, &argv, &env, err);

	child_result_init(&result);
	if (r < 0 && err->code == 0)
		err_errno(err, r, "git %s in %s", verb, command->dir);
	if (r < 0)
		return -1;
	spec.argv = strv_const(argv);
	spec.env = strv_const(env);
	r = child_run(&spec, &result, err);
	if (r < 0 && result.start_error == 0)
		return -1;
	add_complaint(complaint, &result.err);
	add_output(out, &result);
	return judge(verb, command->dir, &result, err) < 0 ? -1 : result.status;
}

void
git_pause(int64_t ms)
{
	poll(NULL, 0, (int)clock_kernel_ms(ms));
}

void
git_wait(const struct git *git, const struct git_command *command,
    struct buf *out, struct buf *complaint, struct git_answer *ret_answer,
    struct err *err)
{
	int status, tries = 0;
	bool locked;

	git_pause(command->delay_ms);
	for (;;) {
		buf_clear(out);
		buf_clear(complaint);
		status = wait_once(git, command, out, complaint, err);
		locked = status > 0 && git_complaint_is_lock(complaint->data);
		if (!locked ||
		    !should_retry(
			&tries, command->once, command->dir, complaint->data))
			break;
		git_pause(GIT_RETRY_MS);
	}
	*ret_answer = (struct git_answer){ .status = status,
		.out = out->data,
		.out_len = out->len,
		.complaint = complaint->data,
		.locked = locked,
		.err = status < 0 ? err : NULL };
}
