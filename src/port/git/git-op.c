/* SPDX-License-Identifier: ISC */

#include "base.h"

#include "child.h"
#include "git-facts.h"
#include "git-private.h"
#include "loop.h"

void
git_op_arg(struct git_op *op, const char *arg)
{
	strv_add(&op->args, arg);
}

void
git_op_no_hooks(struct git_op *op)
{
	git_op_args(op, "-c", "core.hooksPath=/dev/null", NULL);
}

void
git_op_no_attributes(struct git_op *op)
{
	git_op_env(op, "GIT_DIR=%s", op->gitdir);
	git_op_args(op, "-C", op->gitdir, NULL);
}

void
git_op_args(struct git_op *op, ...)
{
	const char *arg;
	va_list ap;

	va_start(ap, op);
	while ((arg = va_arg(ap, const char *)) != NULL)
		git_op_arg(op, arg);
	va_end(ap);
}

void
git_op_env(struct git_op *op, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	strv_take(&op->env, xvasprintf(fmt, ap));
	va_end(ap);
}

void
git_op_own_name(struct git_op *op)
{
	git_op_env(op, "GIT_AUTHOR_NAME=llmc");
	git_op_env(op, "GIT_AUTHOR_EMAIL=llmc@localhost");
	git_op_env(op, "GIT_COMMITTER_NAME=llmc");
	git_op_env(op, "GIT_COMMITTER_EMAIL=llmc@localhost");
}

/* Several commands, of which a rebase may have ten minutes. */
#define HELPER_MS     (INT64_C(60) * 60 * 1000)
#define HELPER_OUTPUT ((size_t)96 * 1024 * 1024)

static bool read_onto(struct git_op *op);

struct git_op_text {
	struct git_op_text *next;
	char *text;
};

static void
op_clear_question(struct git_op *op)
{
	strv_clear(&op->args);
	strv_clear(&op->env);
	buf_clear(&op->input);
	op->run_dir = NULL;
	op->deadline_ms = op->delay_ms = 0;
	op->stdin_fd = 0;
	op->once = op->linger = false;
}

static void
op_free(void *arg)
{
	struct git_op *op = arg;
	struct git_op_text *text;

	op->cut_off = op->child != NULL || op->again != NULL || op->lost;
	if (op->child != NULL)
		child_abandon(op->child);
	loop_timer_free(op->again);
	if (op->release != NULL)
		op->release(op);
	while ((text = op->texts) != NULL) {
		op->texts = text->next;
		free(text->text);
		free(text);
	}
	buf_release(&op->report);
	op_clear_question(op);
	buf_release(&op->input);
	free(op->dir);
	free(op->gitdir);
	free(op->common);
	free(op->onto);
	free(op->self);
}

/* Release the queues before the callback, which may ask for more or free the
 * git. */
static void
op_end(struct git_op *op)
{
	if (op->root_slot != NULL)
		git_slot_end(op->root_slot);
	git_slot_end(op->slot);
	if (op->finish != NULL)
		op->finish(op, op->err.code != 0 ? &op->err : NULL);
	else
		op->work_fn(op->err.code != 0 ? &op->err : NULL, op->arg);
	op_free(op);
}

static void op_help(struct git_op *op);

static void
op_begin_root(struct git_slot *slot, void *arg)
{
	struct git_op *op = arg;

	op->root_slot = slot;
	op_help(op);
}

static void
op_begin_both(struct git_slot *slot, void *arg)
{
	struct git_op *op = arg;

	op->slot = slot;
	git_slot(
	    git_queue(op->git, git_root(op->git)), op_begin_root, NULL, op);
}

static void
op_begin(struct git_slot *slot, void *arg)
{
	struct git_op *op = arg;

	op->slot = slot;
	op_help(op);
}

void
git_interrupt(struct git *git, const char *dir)
{
	const struct git_op *op =
	    git_slot_running(git_queue(git, dir), op_free);

	if (op != NULL && op->child != NULL)
		child_cancel(op->child);
}

/* --- in a helper ------------------------------------------------------- */

static void __attribute__((noreturn)) helper_end(struct git_op *op)
{
	cleanup_buf struct buf out = BUF_INIT;

	if (op->undo != NULL)
		op->undo(op);
	buf_add(&out, &op->err, sizeof op->err);
	buf_add(&out, op->ret, op->ret_size);
	buf_add(&out, op->report.data, op->report.len);
	_exit(file_write_all(STDOUT_FILENO, out.data, out.len) < 0);
}

static int
helper_main(void *arg)
{
	struct git_op *op = arg;

	op->run(op);
	helper_end(op);
}

/* What it has noted for a log, which it cannot write itself. */
static void
log_commands(const struct child_result *result)
{
	cleanup_buf struct buf text = BUF_INIT;
	char *line, *at;

	if (!log_enabled(LOG_LEVEL_DEBUG))
		return;
	child_output_text(&result->err, &text);
	at = text.data;
	while ((line = strsep(&at, "\n")) != NULL)
		if (line[0] != '\0')
			log_debug("%s", line);
}

static void
retry_helper(void *arg)
{
	struct git_op *op = arg;

	loop_timer_free(take_ptr(&op->again));
	op_help(op);
}

static void
helper_ended(const struct child_result *result, void *arg)
{
	struct git_op *op = arg;
	cleanup_buf struct buf words = BUF_INIT, out = BUF_INIT;
	size_t fixed = sizeof op->err + op->ret_size;

	op->child = NULL;
	log_commands(result);
	/* Killed by itself, as by a kernel that is out of memory: every
	 * operation can be run again, once what it has started is gone. */
	if (result->signal != 0 && !result->timed_out && !result->cancelled &&
	    !op->repeated) {
		op->repeated = true;
		op->again = loop_after(
		    git_loop(op->git), GIT_RETRY_MS, retry_helper, op);
		return;
	}
	buf_add(&out, result->out.head.data, result->out.head.len);
	buf_add(&out, result->out.tail.data, result->out.tail.len);
	if (child_succeeded(result) && out.len >= fixed &&
	    out.len == result->out.total) {
		memcpy(&op->err, out.data, sizeof op->err);
		if (op->ret_size > 0)
			memcpy(
			    op->ret, out.data + sizeof op->err, op->ret_size);
		buf_add(&op->report, out.data + fixed, out.len - fixed);
	} else {
		op->lost = true;
		child_result_describe(result, &words);
		err_set(&op->err, result->timed_out ? -ETIMEDOUT : -EIO,
		    "the git helper for %s %s", op->dir, words.data);
	}
	op_end(op);
}

static void
op_help(struct git_op *op)
{
	struct child_spec spec = { .call = helper_main,
		.call_arg = op,
		.output_max = HELPER_OUTPUT,
		.deadline_ms = HELPER_MS };

	op->verbose = log_enabled(LOG_LEVEL_DEBUG);
	if (child_spawn(git_loop(op->git), &spec, helper_ended, op, &op->child,
		&op->err) < 0) {
		op->lost = op->repeated;
		op_end(op);
	}
}

void *
git_op_new(size_t size, struct git *git, const char *dir, const char *onto,
    void (*run)(struct git_op *op),
    void (*finish)(struct git_op *op, const struct err *err))
{
	struct git_op *op = xcalloc(1, size);

	op->self = op;
	op->git = git;
	op->dir = xstrdup(dir);
	xstrset(&op->onto, onto);
	op->run = run;
	op->finish = finish;
	buf_init(&op->input);
	buf_init(&op->report);
	return op;
}

void
git_op_begin(struct git_op *op, bool both_queues)
{
	bool both = both_queues && strcmp(op->dir, git_root(op->git)) != 0;

	/* Always the worktree's queue first, so that there is no deadlock. */
	git_slot(git_queue(op->git, op->dir), both ? op_begin_both : op_begin,
	    op_free, op);
}

/* Takes the text. */
static char *
op_keep(struct git_op *op, char *text)
{
	struct git_op_text *kept = xcalloc(1, sizeof *kept);

	kept->text = text;
	kept->next = op->texts;
	op->texts = kept;
	return text;
}

char *
git_op_text(struct git_op *op, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	return op_keep(op, text);
}

char *
git_op_copy(struct git_op *op, const char *text)
{
	return text != NULL ? git_op_text(op, "%s", text) : NULL;
}

void
git_op_tell(struct git_op *op, char letter, const char *text)
{
	buf_addc(&op->report, letter);
	buf_add(&op->report, text, strlen(text) + 1);
}

void
git_op_tell_all(struct git_op *op, char letter, const struct git_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		git_op_tell(op, letter, list->v[i]);
}

void
git_op_told(const struct git_op *op, char letter, struct git_list *ret_list)
{
	struct git_records records;
	const char *record;

	git_records_init(&records, op->report.data, op->report.len);
	while ((record = git_records_next(&records)) != NULL)
		if (record[0] == letter)
			git_list_add(ret_list, record + 1);
	git_list_add(ret_list, NULL);
	ret_list->count--;
}

static void
list_finish(struct git_op *op, const struct err *err)
{
	const struct git_op_list *self = op->self;
	cleanup_git_list struct git_list list = { 0 };

	git_op_told(op, GIT_OP_LIST, &list);
	self->fn(err == NULL ? list.v : NULL, list.count, err, op->arg);
}

void
git_op_list(struct git *git, const char *dir, const char *onto,
    const char *name, void (*run)(struct git_op *op), git_list_fn *fn,
    void *arg)
{
	struct git_op_list *list =
	    git_op_new(sizeof *list, git, dir, onto, run, list_finish);

	list->name = git_op_copy(&list->op, name);
	list->fn = fn;
	list->op.arg = arg;
	git_op_begin(&list->op, false);
}

void
git_op_die_of(struct git_op *op)
{
	helper_end(op);
}

void
git_op_die(struct git_op *op, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	err_set(&op->err, code, "%s", xvasprintf(fmt, ap));
	va_end(ap);
	helper_end(op);
}

struct err
git_op_complaint(struct git_op *op)
{
	const struct git_answer *answer = &op->answer;
	struct err err = { 0 };

	if (answer->err != NULL)
		return *answer->err;
	if (answer->complaint[0] == '\0')
		err_set(&err, -EIO,
		    "git %s in %s failed without a message (status %d)",
		    op->verb, op->dir, answer->status);
	else
		err_set(&err, answer->locked ? -EBUSY : -EIO, "git %s: %s",
		    op->verb, answer->complaint);
	return err;
}

void
git_op_die_as(struct git_op *op)
{
	op->err = git_op_complaint(op);
	helper_end(op);
}

static int
helper_run(struct git_op *op, va_list ap)
{
	const char *arg;
	struct git_command command = {
		.input_len = op->input.len,
		.dir = op->run_dir != NULL ? op->run_dir : op->dir,
		.stdin_fd = op->stdin_fd,
		.deadline_ms = op->deadline_ms,
		.once = op->once,
		.linger = op->linger,
		.delay_ms = op->delay_ms,
	};
	struct buf out = BUF_INIT, complaint = BUF_INIT;
	bool tolerant = op->tolerant;

	while ((arg = va_arg(ap, const char *)) != NULL)
		git_op_arg(op, arg);
	command.args = strv_const(op->args);
	command.env = strv_const(op->env);
	if (op->input.len > 0)
		command.input = op->input.data;
	op->verb = git_op_text(op, "%s", git_verb(command.args));
	if (op->verbose)
		dprintf(
		    STDERR_FILENO, "run git %s in %s\n", op->verb, command.dir);
	git_wait(
	    op->git, &command, &out, &complaint, &op->answer, &op->answer_err);
	op_keep(op, buf_take(&out));
	op_keep(op, buf_take(&complaint));
	op_clear_question(op);
	op->tolerant = false;
	if (op->answer.err != NULL && !tolerant)
		git_op_die_as(op);
	return op->answer.status;
}

int
git_op_try(struct git_op *op, ...)
{
	va_list ap;
	int status;

	va_start(ap, op);
	status = helper_run(op, ap);
	va_end(ap);
	return status;
}

const char *
git_op_must(struct git_op *op, ...)
{
	va_list ap;
	int status;

	va_start(ap, op);
	status = helper_run(op, ap);
	va_end(ap);
	if (status != 0)
		git_op_die_as(op);
	return op->answer.out;
}

bool
git_op_is_ancestor(struct git_op *op, const char *id, const char *of)
{
	int status =
	    git_op_try(op, "merge-base", "--is-ancestor", id, of, NULL);

	if (status > 1)
		git_op_die_as(op);
	return status == 0;
}

void
git_op_need_gitdir(struct git_op *op)
{
	if (git_stand_find(
		op->git, op->dir, &op->gitdir, &op->common, &op->err) < 0)
		helper_end(op);
}

int
git_op_try_status(struct git_op *op, struct git_records *ret_records)
{
	int status = git_op_try(op, "status", "--porcelain=v2", "-z",
	    "--branch", "--untracked-files=all", "--ignore-submodules=dirty",
	    "--no-renames", "--no-ahead-behind", NULL);

	git_records_init(ret_records, op->answer.out, op->answer.out_len);
	return status;
}

void
git_op_status(struct git_op *op, struct git_records *ret_records)
{
	if (git_op_try_status(op, ret_records) != 0)
		git_op_die_as(op);
}

static int
no_onto(struct git_op *op)
{
	if (op->head_id[0] == '\0')
		return err_set(&op->err, -ENOENT,
		    "%s has no commit on %s yet; type: git commit "
		    "--allow-empty -m start",
		    git_root(op->git), op->onto);
	if (op->onto[0] == '\0')
		return err_set(&op->err, -ENOENT,
		    "no branch is set that work lands on; type: llmc config "
		    "set repo.default_branch BRANCH, and restart the daemon");
	return err_set(&op->err, -ENOENT,
	    "there is no branch or commit %s in %s", op->onto,
	    git_root(op->git));
}

/* Of a clone: its own HEAD, and onto of the repository. */
int
git_op_look_onto(struct git_op *op)
{
	const char *const names[] = {
		git_op_text(op, "refs/heads/%s^{commit}", op->onto),
		git_op_text(op, "%s^{commit}", op->onto), "HEAD^{commit}", NULL
	};
	bool of_clone =
	    op->run_dir == NULL && git_stand_is_clone(op->git, op->dir);
	char ids[3][GIT_ID_SIZE] = { "" };

	if (read_onto(op))
		return 0;
	if (of_clone)
		op->run_dir = git_root(op->git);
	if (!of_clone || !read_onto(op)) {
		git_op_find_ids(op, names, ids);
		memcpy(op->onto_id, ids[ids[0][0] == '\0'], GIT_ID_SIZE);
		memcpy(op->head_id, ids[2], GIT_ID_SIZE);
		if (op->onto_id[0] == '\0')
			return no_onto(op);
	}
	op->run_dir = NULL;
	if (of_clone)
		git_op_find_ids(op, names + 2, &op->head_id);
	return 0;
}

void
git_op_need_onto(struct git_op *op)
{
	if (git_op_look_onto(op) < 0)
		helper_end(op);
}

/* git is asked where the root itself is a worktree of another tree, and where
 * refs are no files. */
void
git_op_trees(struct git_op *op, struct git_trees *trees)
{
	const char *root = git_root(op->git);
	cleanup_free char *gitdir = git_dirs_gitdir(root);
	cleanup_free char *common =
	    gitdir != NULL ? git_dirs_common(gitdir) : NULL;

	git_verify_sweep(root);
	if (text_is(common, gitdir) &&
	    git_dirs_trees(root, true, trees, NULL) == 0)
		return;
	op->run_dir = git_root(op->git);
	git_op_must(op, "worktree", "list", "--porcelain", "-z", NULL);
	git_trees_parse(trees, op->answer.out, op->answer.out_len);
}

void
git_op_unregister(struct git_op *op, const char *path)
{
	op->run_dir = git_root(op->git);
	git_op_must(
	    op, "worktree", "remove", "--force", "--force", "--", path, NULL);
}

void
git_op_need_identity(struct git_op *op)
{
	if (git_op_try(op, "var", "GIT_COMMITTER_IDENT", NULL) != 0)
		git_op_die(op, -ENOKEY,
		    "git has no author for its commits; type: git config "
		    "--global user.name \"Your Name\" && git config --global "
		    "user.email you@example.org");
}

void
git_op_find_ids(
    struct git_op *op, const char *const *names, char (*ids)[GIT_ID_SIZE])
{
	size_t count = 0;
	const char *line;

	for (; names[count] != NULL; count++) {
		if (strchr(names[count], '\n') != NULL)
			git_op_die(op, -EINVAL,
			    "a git name cannot contain a line break");
		buf_adds(&op->input, names[count]);
		buf_addc(&op->input, '\n');
	}
	line = git_op_must(op, "cat-file", "--batch-check=%(objectname)", NULL);
	memset(ids, 0, count * sizeof *ids);
	for (size_t i = 0; i < count; i++) {
		size_t len = strcspn(line, "\n");

		/* If there is no such object, git prints the name and a
		 * message. */
		if (git_is_id(line, len))
			memcpy(ids[i], line, len);
		line += len;
		if (*line == '\n')
			line++;
	}
}

void
git_op_branch_tip(struct git_op *op, const char *branch, char id[GIT_ID_SIZE])
{
	int r = git_refs_tip(op->git, branch, id);

	if (r == 0)
		return;
	id[0] = '\0';
	if (r == -ENOENT)
		return;
	op->run_dir = git_root(op->git);
	git_op_find_ids(op,
	    (const char *[]){
		git_op_text(op, "refs/heads/%s^{commit}", branch), NULL },
	    (char(*)[GIT_ID_SIZE])id);
}

#define NO_SUCH_NAME "llmc-no-such-ref"

char *
git_op_ref(const struct git_op *op, const char *ref)
{
	char id[GIT_ID_SIZE];

	if (!git_stand_is_clone(op->git, op->dir))
		return xstrdup(ref);
	return xstrdup(
	    git_refs_read(op->common, ref, id) == 0 ? id : NO_SUCH_NAME);
}

char *
git_op_known_branch(const struct git_op *op, const char *branch)
{
	cleanup_free char *ref = xasprintf("refs/heads/%s", branch);
	cleanup_free char *name = git_op_ref(op, ref);

	return xasprintf("%s^{commit}", name);
}

/* Where onto is a branch, and HEAD an ordinary one, no git is needed. */
static bool
read_onto(struct git_op *op)
{
	const char *dir = op->run_dir != NULL ? op->run_dir : op->dir;
	cleanup_free char *gitdir = NULL, *common = NULL;
	cleanup_free char *ref = xasprintf("refs/heads/%s", op->onto);
	char onto[GIT_ID_SIZE], head[GIT_ID_SIZE] = "";
	int r;

	if (git_stand_find(op->git, dir, &gitdir, &common, NULL) < 0)
		return false;
	r = git_refs_head(gitdir, common, head);
	if (git_stand_is_clone(op->git, dir)) {
		git_dirs_detached(gitdir, head, sizeof head);
		r = head[0] != '\0' ? 0 : -ENOTSUP;
	}
	if ((r < 0 && r != -ENOENT) || git_refs_read(common, ref, onto) < 0)
		return false;
	memcpy(op->onto_id, onto, GIT_ID_SIZE);
	memcpy(op->head_id, head, GIT_ID_SIZE);
	return true;
}

void
git_op_not_base(struct git_op *op)
{
	cleanup_free char *not = NULL;
	struct git_home home;

	if (!git_home(op->git, op->dir, &home) || home.base == NULL ||
	    !git_is_id(home.base, strlen(home.base)))
		return;
	not = xasprintf("^%s", home.base);
	git_op_args(op, "--ignore-missing", not, NULL);
}

bool
git_op_place_is_free(const char *path)
{
	cleanup_dir DIR *stream = opendir(path);

	return stream == NULL ? errno == ENOENT : dir_next(stream) == NULL;
}

bool
git_op_is_empty(const struct git_op *op)
{
	cleanup_dir DIR *stream = opendir(op->dir);
	const char *name;

	do
		name = dir_next(stream);
	while (name != NULL && strcmp(name, ".git") == 0);
	return stream != NULL && name == NULL;
}

char *
git_op_rebased_branch(const char *gitdir)
{
	static const char *const names[] = { "rebase-merge/head-name",
		"rebase-apply/head-name" };

	for (size_t i = 0; i < nitems(names); i++) {
		cleanup_free char *path = file_join(gitdir, names[i]);
		cleanup_buf struct buf text = BUF_INIT;

		if (file_read(path, 4096, &text, NULL) < 0)
			continue;
		buf_truncate(&text, strcspn(text.data, "\n"));
		if (strncmp(text.data, "refs/heads/", 11) == 0)
			return buf_take(&text);
	}
	return NULL;
}

bool
git_op_has(const struct git_op *op, const char *name)
{
	cleanup_free char *path = file_join(op->gitdir, name);

	return file_exists(path);
}

bool
git_op_rebasing(const struct git_op *op)
{
	return git_op_has(op, "rebase-merge") || git_op_has(op, "rebase-apply");
}

/* A handful of small files. */
void
git_op_forget_rebase(const struct git_op *op)
{
	static const char *const names[] = { "rebase-merge", "rebase-apply" };
	static const char *const notes[] = { "CHERRY_PICK_HEAD",
		"REBASE_HEAD" };

	for (size_t i = 0; i < nitems(names); i++) {
		cleanup_free char *path = file_join(op->gitdir, names[i]);

		remove_tree(path);
	}
	for (size_t i = 0; i < nitems(notes); i++) {
		cleanup_free char *path = file_join(op->gitdir, notes[i]);

		unlink(path);
	}
}

/* --- an operation of one command ---------------------------------------- */

struct command_op {
	struct git_op op;
	struct {
		int status;
		bool locked;
		size_t len;
	} out; /* output and complaints follow in the report */
	git_fn *fn;
	git_drop_fn *drop;
};

static void
command_run(struct git_op *op)
{
	struct command_op *self = op->self;
	const struct git_answer *answer = &op->answer;

	op->tolerant = true;
	self->out.status = git_op_try(op, NULL);
	self->out.locked = answer->locked;
	self->out.len = answer->out_len;
	buf_add(&op->report, answer->out, answer->out_len);
	buf_addc(&op->report, '\0');
	buf_adds(&op->report, answer->complaint);
	if (answer->err != NULL)
		op->err = *answer->err;
}

static void
command_finish(struct git_op *op, const struct err *err)
{
	struct command_op *self = op->self;
	struct git_answer answer = {
		.status = -1, .out = "", .complaint = "", .err = err
	};

	if (op->report.len > self->out.len) {
		answer.status = self->out.status;
		answer.locked = self->out.locked;
		answer.out = op->report.data;
		answer.out_len = self->out.len;
		answer.complaint = op->report.data + self->out.len + 1;
	}
	self->drop = NULL;
	self->fn(&answer, op->arg);
}

static void
command_release(struct git_op *op)
{
	const struct command_op *self = op->self;

	if (self->drop != NULL)
		self->drop(op->arg);
}

void
git_run(struct git_queue *queue, const struct git_command *command, git_fn *fn,
    void *arg)
{
	struct command_op *self = git_op_new(sizeof *self, queue->git,
	    queue->dir, NULL, command_run, command_finish);
	struct git_op *op = &self->op;

	self->fn = fn;
	self->drop = command->drop;
	op->args = strv_copy(command->args);
	op->env = strv_copy(command->env);
	if (command->input != NULL)
		buf_add(&op->input, command->input,
		    command->input_len > 0 ? command->input_len :
					     strlen(command->input));
	op->run_dir = git_op_copy(op, command->dir);
	op->deadline_ms = command->deadline_ms;
	op->once = command->once;
	op->delay_ms = command->delay_ms;
	op->arg = arg;
	op->release = command_release;
	op->ret = &self->out;
	op->ret_size = sizeof self->out;
	git_op_begin(op, false);
}
