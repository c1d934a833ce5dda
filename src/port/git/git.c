/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "buf.h"
#include "child.h"
#include "errtext.h"
#include "file.h"
#include "git-lock.h"
#include "git.h"
#include "loop.h"
#include "mem.h"
#include "strv.h"

#define GIT_DEADLINE_MS INT64_C(120000)
#define GIT_OUTPUT_MIB  32

/* Set for everybody; without '=': removed, as it would point git at another
 * repository than the directory's own or at translated words. */
static const char *const git_env[] = { "LC_ALL=C", "LANGUAGE",
	"GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0",
	"GIT_EDITOR=:", "GIT_SEQUENCE_EDITOR=:", "GIT_MERGE_AUTOEDIT=no",
	"GIT_ADVICE=0", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE",
	"GIT_COMMON_DIR", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY",
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_CONFIG",
	"GIT_CONFIG_PARAMETERS", "GIT_GRAFT_FILE", "GIT_SHALLOW_FILE",
	"GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS",
	"GIT_ICASE_PATHSPECS", "GIT_EXTERNAL_DIFF", "GIT_DIFF_OPTS",
	"GIT_REFLOG_ACTION" };

static const char *const git_config[] = { "commit.gpgSign=false",
	"log.showSignature=false", "merge.verifySignatures=false",
	"rebase.autoStash=false", "merge.autoStash=false",
	"rebase.autoSquash=false", "rebase.updateRefs=false",
	"rebase.rebaseMerges=false", "rebase.forkPoint=false",
	"submodule.recurse=false", "core.fsmonitor=false",
	"core.safecrlf=false", "diff.autoRefreshIndex=true", "gc.auto=0",
	"maintenance.auto=false", "i18n.commitEncoding=UTF-8",
	"i18n.logOutputEncoding=UTF-8" };

static const char git_no_hooks[] = "core.hooksPath=/dev/null";

struct git_turn {
	TAILQ_ENTRY(git_turn) entry;
	struct git_queue *queue;
	git_turn_fn *begin;
	git_drop_fn *drop;
	void *arg;
	bool begun;

	/* The command under way. */
	char *dir;
	char *name; /* its verb, for messages */
	char **argv, **env;
	struct buf input;
	bool has_input;
	int64_t deadline_ms;
	bool once;
	git_fn *fn;
	void *fn_arg;
	int tries;
	struct child *child;
	struct loop_timer *timer; /* next try, or the word that it cannot run */
	struct err err;
};

TAILQ_HEAD(git_turns, git_turn);

struct git_queue {
	SLIST_ENTRY(git_queue) entry;
	struct git *git;
	char *dir;
	struct git_turns turns; /* the first one has the queue */
	struct loop_call *next;
};

SLIST_HEAD(git_queues, git_queue);

struct git {
	struct loop *loop;
	char *root;
	bool run_hooks;
	int64_t deadline_ms;
	struct git_queues queues;
};

/* Forget the command; an abandoned child is dead. */
static void
turn_clear(struct git_turn *turn)
{
	if (turn->child != NULL)
		child_abandon(take_ptr(&turn->child));
	loop_timer_free(take_ptr(&turn->timer));
	free(take_ptr(&turn->dir));
	free(take_ptr(&turn->name));
	strv_clear(&turn->argv);
	strv_clear(&turn->env);
	buf_release(&turn->input);
	turn->fn = NULL;
}

static void
turn_free(struct git_turn *turn)
{
	turn_clear(turn);
	free(turn);
}

/* The caller may free everything in its callback: nothing is touched after
 * it. */
static void
turn_answer(struct git_turn *turn, struct git_answer *answer)
{
	git_fn *fn = turn->fn;
	void *arg = turn->fn_arg;
	struct err err = turn->err;

	answer->err = err.code != 0 ? &err : NULL;
	if (answer->err != NULL)
		answer->status = -1;
	turn_clear(turn);
	fn(answer, arg);
}

static void
turn_cannot_run(void *arg)
{
	struct git_answer answer = { .out = "", .complaint = "" };

	turn_answer(arg, &answer);
}

/* git's own words, which LC_ALL=C keeps from being translated, are all there
 * is to tell a held lock from other failures. */
static bool
complaint_is_lock(const char *complaint)
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

/* Advice is for a person at a shell. */
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

/* Why there is no answer to rely on; 0 = there is one. */
static int
turn_judge(struct git_turn *turn, const struct child_result *result)
{
	cleanup_buf struct buf words = BUF_INIT;

	child_result_describe(result, &words);
	if (result->start_error != 0)
		return err_set(&turn->err, result->start_error,
		    "git %s in %s %s; is git installed and in PATH?",
		    turn->name, turn->dir, words.data);
	if (result->timed_out)
		return err_set(&turn->err, -ETIMEDOUT, "git %s in %s: %s",
		    turn->name, turn->dir, words.data);
	if (!result->exited)
		return err_set(&turn->err, -EIO, "git %s in %s was %s",
		    turn->name, turn->dir, words.data);
	if (result->out.total > result->out.head.len + result->out.tail.len)
		return err_set(&turn->err, -EFBIG,
		    "git %s in %s printed more than %d MiB", turn->name,
		    turn->dir, GIT_OUTPUT_MIB);
	return 0;
}

static void turn_start(struct git_turn *turn);

static void
turn_retry(void *arg)
{
	struct git_turn *turn = arg;

	loop_timer_free(take_ptr(&turn->timer));
	turn_start(turn);
}

/* A lock is waited for; one that nobody holds is taken away in the end. */
static bool
turn_tries_again(struct git_turn *turn, const char *complaint)
{
	if (turn->once)
		return false;
	turn->tries++;
	return turn->tries <= GIT_TRIES ||
	    (turn->tries == GIT_TRIES + 1 &&
		git_lock_remove_dead(turn->dir, complaint));
}

static void
turn_done(const struct child_result *result, void *arg)
{
	struct git_turn *turn = arg;
	struct git_answer answer = { .status = result->status };
	cleanup_buf struct buf out = BUF_INIT, complaint = BUF_INIT;

	turn->child = NULL;
	add_complaint(&complaint, &result->err);
	if (turn_judge(turn, result) == 0 && result->status != 0) {
		answer.locked = complaint_is_lock(complaint.data);
		if (answer.locked && turn_tries_again(turn, complaint.data)) {
			turn->timer = loop_after(turn->queue->git->loop,
			    GIT_RETRY_MS, turn_retry, turn);
			return;
		}
	}
	buf_add(&out, result->out.head.data, result->out.head.len);
	buf_add(&out, result->out.tail.data, result->out.tail.len);
	trim_newlines(&out);
	answer.out = out.data;
	answer.out_len = out.len;
	answer.complaint = complaint.data;
	turn_answer(turn, &answer);
}

static int
turn_spawn(struct git_turn *turn)
{
	struct child_spec spec = {
		.argv = strv_const(turn->argv),
		.env = strv_const(turn->env),
		.input = turn->has_input ? turn->input.data : NULL,
		.input_len = turn->input.len,
		.output_max = (size_t)GIT_OUTPUT_MIB * 1024 * 1024,
		.deadline_ms = turn->deadline_ms,
	};
	cleanup_free char *own = file_join(turn->dir, ".git");

	if (!file_is_dir(turn->dir))
		return err_set(
		    &turn->err, -ENOENT, "%s does not exist", turn->dir);
	if (!file_exists(own))
		return err_set(&turn->err, -ENOENT,
		    "%s is not a working tree: it has no .git", turn->dir);
	return child_spawn(turn->queue->git->loop, &spec, turn_done, turn,
	    &turn->child, &turn->err);
}

static void
turn_start(struct git_turn *turn)
{
	int r = turn_spawn(turn);

	if (r == 0)
		return;
	if (turn->err.code == 0)
		err_errno(&turn->err, r, "git %s in %s", turn->name, turn->dir);
	/* Answers come from the loop, never from inside the question. */
	turn->timer =
	    loop_after(turn->queue->git->loop, 1, turn_cannot_run, turn);
}

/* A second fence against a search further up, where the path can be told (a
 * colon separates). */
static void
add_ceiling(char ***env, const char *dir)
{
	const char *slash = strrchr(dir, '/');

	if (slash == NULL || slash == dir || strchr(dir, ':') != NULL)
		return;
	strv_take(env,
	    xasprintf("GIT_CEILING_DIRECTORIES=%.*s", (int)(slash - dir), dir));
}

static void
turn_compose(struct git_turn *turn, const struct git_command *command)
{
	const struct git *git = turn->queue->git;

	strv_add(&turn->argv, "git");
	strv_add(&turn->argv, "-C");
	strv_add(&turn->argv, turn->dir);
	for (size_t i = 0; i < nitems(git_config); i++) {
		strv_add(&turn->argv, "-c");
		strv_add(&turn->argv, git_config[i]);
	}
	if (!git->run_hooks) {
		strv_add(&turn->argv, "-c");
		strv_add(&turn->argv, git_no_hooks);
	}
	strv_add_all(&turn->argv, command->args);
	for (size_t i = 0; i < nitems(git_env); i++)
		strv_add(&turn->env, git_env[i]);
	add_ceiling(&turn->env, turn->dir);
	strv_add_all(&turn->env, command->env);
}

void
git_turn_run(struct git_turn *turn, const struct git_command *command,
    git_fn *fn, void *arg)
{
	const struct git *git = turn->queue->git;
	const char *const *verb = command->args;

	while (verb[0] != NULL && verb[0][0] == '-' && verb[1] != NULL)
		verb++;
	turn_clear(turn);
	turn->dir =
	    xstrdup(command->dir != NULL ? command->dir : turn->queue->dir);
	turn->name = xstrdup(verb[0] != NULL ? verb[0] : "");
	turn_compose(turn, command);
	turn->has_input = command->input != NULL;
	if (turn->has_input)
		buf_add(&turn->input, command->input,
		    command->input_len > 0 ? command->input_len :
					     strlen(command->input));
	turn->deadline_ms =
	    command->deadline_ms > 0 ? command->deadline_ms : git->deadline_ms;
	turn->once = command->once;
	turn->fn = fn;
	turn->fn_arg = arg;
	turn->tries = 0;
	memset(&turn->err, 0, sizeof turn->err);
	if (command->delay_ms > 0)
		turn->timer =
		    loop_after(git->loop, command->delay_ms, turn_retry, turn);
	else
		turn_start(turn);
}

static void
queue_next(void *arg)
{
	struct git_queue *queue = arg;
	struct git_turn *turn = TAILQ_FIRST(&queue->turns);

	if (turn == NULL || turn->begun)
		return;
	turn->begun = true;
	turn->begin(turn, turn->arg);
}

void
git_turn(
    struct git_queue *queue, git_turn_fn *begin, git_drop_fn *drop, void *arg)
{
	struct git_turn *turn = xcalloc(1, sizeof *turn);

	turn->queue = queue;
	turn->begin = begin;
	turn->drop = drop;
	turn->arg = arg;
	buf_init(&turn->input);
	TAILQ_INSERT_TAIL(&queue->turns, turn, entry);
	loop_call_request(queue->next);
}

void
git_turn_end(struct git_turn *turn)
{
	struct git_queue *queue = turn->queue;

	TAILQ_REMOVE(&queue->turns, turn, entry);
	turn_free(turn);
	loop_call_request(queue->next);
}

/* --- a turn of one command -------------------------------------------- */

struct single {
	struct git_turn *turn;
	struct git_command command; /* of what is below */
	char **args, **env;
	struct buf input;
	char *dir;
	git_fn *fn;
	void *arg;
};

static void
single_free(void *arg)
{
	struct single *single = arg;

	strv_free(single->args);
	strv_free(single->env);
	buf_release(&single->input);
	free(single->dir);
	free(single);
}

static void
single_answered(const struct git_answer *answer, void *arg)
{
	struct single *single = arg;
	git_fn *fn = single->fn;
	void *fn_arg = single->arg;

	git_turn_end(single->turn);
	single_free(single);
	fn(answer, fn_arg);
}

static void
single_begin(struct git_turn *turn, void *arg)
{
	struct single *single = arg;

	single->turn = turn;
	git_turn_run(turn, &single->command, single_answered, single);
}

void
git_run(struct git_queue *queue, const struct git_command *command, git_fn *fn,
    void *arg)
{
	struct single *single = xcalloc(1, sizeof *single);

	single->args = strv_copy(command->args);
	single->env = strv_copy(command->env);
	buf_init(&single->input);
	if (command->input != NULL)
		buf_add(&single->input, command->input,
		    command->input_len > 0 ? command->input_len :
					     strlen(command->input));
	if (command->dir != NULL)
		single->dir = xstrdup(command->dir);
	single->fn = fn;
	single->arg = arg;
	single->command = *command;
	single->command.args = strv_const(single->args);
	single->command.env = strv_const(single->env);
	if (command->input != NULL)
		single->command.input = single->input.data;
	single->command.input_len = single->input.len;
	single->command.dir = single->dir;
	git_turn(queue, single_begin, single_free, single);
}

/* --- queues ----------------------------------------------------------- */

struct git_queue *
git_queue(struct git *git, const char *dir)
{
	struct git_queue *queue;

	SLIST_FOREACH (queue, &git->queues, entry)
		if (strcmp(queue->dir, dir) == 0)
			return queue;
	queue = xcalloc(1, sizeof *queue);
	queue->git = git;
	queue->dir = xstrdup(dir);
	TAILQ_INIT(&queue->turns);
	queue->next = loop_call_new(git->loop, queue_next, queue);
	SLIST_INSERT_HEAD(&git->queues, queue, entry);
	return queue;
}

struct git *
git_new(struct loop *loop, const struct git_options *options)
{
	struct git *git = xcalloc(1, sizeof *git);

	git->loop = loop;
	git->root = xstrdup(options->root);
	git->run_hooks = options->run_hooks;
	git->deadline_ms =
	    options->deadline_ms > 0 ? options->deadline_ms : GIT_DEADLINE_MS;
	SLIST_INIT(&git->queues);
	return git;
}

const char *
git_root(const struct git *git)
{
	return git->root;
}

bool
git_busy(const struct git *git)
{
	const struct git_queue *queue;

	SLIST_FOREACH (queue, &git->queues, entry)
		if (!TAILQ_EMPTY(&queue->turns))
			return true;
	return false;
}

static void
queue_free(struct git_queue *queue)
{
	struct git_turn *turn;

	while ((turn = TAILQ_FIRST(&queue->turns)) != NULL) {
		TAILQ_REMOVE(&queue->turns, turn, entry);
		if (turn->drop != NULL)
			turn->drop(turn->arg);
		turn_free(turn);
	}
	loop_call_free(queue->next);
	free(queue->dir);
	free(queue);
}

void
git_free(struct git *git)
{
	struct git_queue *queue;

	if (git == NULL)
		return;
	while ((queue = SLIST_FIRST(&git->queues)) != NULL) {
		SLIST_REMOVE_HEAD(&git->queues, entry);
		queue_free(queue);
	}
	free(git->root);
	free(git);
}
