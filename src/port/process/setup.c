/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "box.h"
#include "buf.h"
#include "child.h"
#include "clock.h"
#include "copy.h"
#include "errtext.h"
#include "file.h"
#include "git.h"
#include "id.h"
#include "identity.h"
#include "kept.h"
#include "loop.h"
#include "mem.h"
#include "serena.h"
#include "setup.h"
#include "strv.h"
#include "text.h"

#define STAMP_MAX      4096
#define TAIL_BYTES     300 /* of the output of a failed command */
#define LOCK_WAIT_MS   INT64_C(10000)
#define LOCK_PAUSE_MS  50
#define SERENA_PROJECT ".serena/project.yml"

struct setup {
	struct loop *loop;
	struct loop_call *start;
	struct loop_timer *pause;
	struct git *git;
	struct copy *copy;
	struct child *command_run;
	char *root, *worktree, *stamp, *command, *serena_name, *serena_config;
	char **copy_files, **box;
	int64_t timeout_ms;
	char *mark; /* what the stamp will contain */
	size_t at; /* the next of the steps */
	unsigned facts; /* for Serena */
	int64_t give_up_ms; /* 0 = not waiting for its lock */
	setup_fn *fn;
	void *arg;
};

static bool
is_empty(const struct setup_spec *spec)
{
	return (spec->copy_files == NULL || spec->copy_files[0] == NULL) &&
	    *spec->command == '\0' && spec->serena_name == NULL;
}

/* Settings and worktree in one line. Each text is preceded by its length, so
 * that no two lists look the same; a folder that was created again has another
 * inode or another time of birth. NULL if there is no worktree. */
static char *
make_mark(const struct setup_spec *spec)
{
	cleanup_buf struct buf all = BUF_INIT;
	struct statx st = { 0 };
	char hash[17];

	if (statx(AT_FDCWD, spec->worktree, 0, STATX_INO | STATX_BTIME, &st) ==
	    -1)
		return NULL;
	for (const char *const *f = spec->copy_files; f != NULL && *f != NULL;
	     f++)
		buf_addf(&all, "%zu:%s", strlen(*f), *f);
	buf_addf(&all, "/%zu:%s/", strlen(spec->command), spec->command);
	if (spec->serena_name != NULL)
		buf_addf(&all, "serena:%s", spec->serena_name);
	id_hash(all.data, hash, 16);
	return xasprintf("%s %x:%x:%llu %lld.%09u\n", hash, st.stx_dev_major,
	    st.stx_dev_minor, (unsigned long long)st.stx_ino,
	    (long long)st.stx_btime.tv_sec, st.stx_btime.tv_nsec);
}

bool
setup_is_due(const struct setup_spec *spec)
{
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_free char *mark = NULL;

	if (is_empty(spec))
		return false;
	if (file_read(spec->stamp, STAMP_MAX, &text, NULL) < 0)
		return true;
	mark = make_mark(spec);
	return mark == NULL || strcmp(mark, text.data) != 0;
}

static void setup_advance(void *arg);

static void
setup_finish(struct setup *setup, const struct err *err)
{
	setup->fn(err, setup->arg); /* may free it */
}

static void
copy_done(const struct err *err, void *arg)
{
	struct setup *setup = arg;

	if (err != NULL)
		setup_finish(setup, err);
	else
		setup_advance(setup);
}

static int
step_copy(struct setup *setup, struct err *err)
{
	(void)err;
	if (setup->copy_files[0] == NULL)
		return 0;
	setup->copy = copy_begin(setup->loop, setup->root, setup->worktree,
	    strv_const(setup->copy_files), copy_done, setup);
	return 1;
}

/* The end of the output on one line, which usually says what is wrong. */
static void
add_tail(struct buf *out, const struct child_output *output)
{
	cleanup_buf struct buf text = BUF_INIT, line = BUF_INIT;
	size_t skip;

	child_output_text(output, &text);
	for (size_t i = 0; i < text.len; i++) {
		char c = text.data[i];

		if (strchr(" \t\r\n", c) == NULL || c == '\0')
			buf_addc(&line, c);
		else if (line.len > 0 && line.data[line.len - 1] != ' ')
			buf_addc(&line, ' ');
	}
	skip = line.len > TAIL_BYTES ? line.len - TAIL_BYTES : 0;
	/* Not from the middle of a character. */
	while (skip > 0 && skip < line.len && (line.data[skip] & 0xc0) == 0x80)
		skip++;
	if (line.len > 0 && line.data[line.len - 1] == ' ')
		buf_truncate(&line, line.len - 1);
	if (line.len == 0)
		return;
	buf_adds(out, skip > 0 ? ": ..." : ": ");
	text_add_visible(out, line.data + skip, line.len - skip, false);
}

static void
command_done(const struct child_result *result, void *arg)
{
	struct setup *setup = arg;
	cleanup_buf struct buf words = BUF_INIT;
	struct err err = { 0 };

	setup->command_run = NULL;
	if (child_succeeded(result)) {
		setup_advance(setup);
		return;
	}
	if (result->start_error < 0) {
		err_errno(&err, result->start_error,
		    "repo.setup_command cannot be started in %s",
		    setup->worktree);
	} else {
		child_result_describe(result, &words);
		add_tail(&words, &result->out);
		err_set(&err, -ECHILD, "repo.setup_command %s", words.data);
	}
	setup_finish(setup, &err);
}

static int
step_command(struct setup *setup, struct err *err)
{
	cleanup_free char *whose = identity_command(setup->root);
	/* It must find the worktree's repository, whoever started us. */
	const char *const env[] = { "GIT_DIR", "GIT_WORK_TREE",
		"GIT_INDEX_FILE", whose, NULL };
	cleanup_free char *command =
	    box_shell(strv_const(setup->box), setup->command);
	cleanup_strv char **argv = kept_shell(command, 0);
	struct child_spec spec = { .argv = strv_const(argv),
		.cwd = setup->worktree,
		.env = env,
		.deadline_ms = setup->timeout_ms,
		.merge_stderr = true };
	int r;

	if (*setup->command == '\0')
		return 0;
	r = child_spawn(
	    setup->loop, &spec, command_done, setup, &setup->command_run, err);
	if (r < 0)
		return err_prefix(err, "repo.setup_command");
	return 1;
}

static void
git_failed(struct setup *setup, const struct git_answer *answer)
{
	struct err err = { 0 };

	if (answer->err != NULL)
		err = *answer->err;
	else
		err_set(&err, -EIO, "%s", answer->complaint);
	err_prefix(&err, "repo.serena: git");
	setup_finish(setup, &err);
}

static void
tracked_answered(const struct git_answer *answer, void *arg)
{
	struct setup *setup = arg;

	if (answer->status != 0) {
		git_failed(setup, answer);
		return;
	}
	if (answer->out_len > 0)
		setup->facts |= SERENA_TRACKED;
	setup_advance(setup);
}

static int
step_tracked(struct setup *setup, struct err *err)
{
	static const char *const args[] = { "ls-files", "--", SERENA_PROJECT,
		NULL };
	struct git_command command = { .args = args };
	struct git_options options = { .root = setup->root };

	(void)err;
	if (setup->serena_name == NULL)
		return 0;
	setup->git = git_new(setup->loop, &options);
	git_run(git_queue(setup->git, setup->worktree), &command,
	    tracked_answered, setup);
	return 1;
}

static void
ignored_answered(const struct git_answer *answer, void *arg)
{
	struct setup *setup = arg;

	if (answer->status != 0 && answer->status != 1) {
		git_failed(setup, answer);
		return;
	}
	if (answer->status == 0)
		setup->facts |= SERENA_IGNORED;
	setup_advance(setup);
}

static int
step_ignored(struct setup *setup, struct err *err)
{
	static const char *const args[] = { "check-ignore", "-q", "--",
		SERENA_PROJECT, NULL };
	struct git_command command = { .args = args };

	(void)err;
	if (setup->serena_name == NULL)
		return 0;
	git_run(git_queue(setup->git, setup->worktree), &command,
	    ignored_answered, setup);
	return 1;
}

static int
step_serena(struct setup *setup, struct err *err)
{
	int64_t now = clock_mono_ms();
	int r;

	if (setup->serena_name == NULL)
		return 0;
	r = serena_prepare(setup->worktree, setup->serena_name,
	    setup->serena_config, setup->facts, err);
	if (setup->give_up_ms == 0)
		setup->give_up_ms = now + LOCK_WAIT_MS;
	if (r == -EAGAIN && now < setup->give_up_ms) {
		setup->at--;
		loop_timer_free(setup->pause);
		setup->pause = loop_after(
		    setup->loop, LOCK_PAUSE_MS, setup_advance, setup);
		return 1;
	}
	return r < 0 ? err_prefix(err, "repo.serena") : 0;
}

static int
step_stamp(struct setup *setup, struct err *err)
{
	return file_replace(
	    setup->stamp, setup->mark, strlen(setup->mark), 0600, err);
}

/* 0 = done, continue with the next; 1 = setup_advance() is called when it is
 * done. */
typedef int setup_step_fn(struct setup *setup, struct err *err);

static setup_step_fn *const steps[] = { step_copy, step_command, step_tracked,
	step_ignored, step_serena, step_stamp };

static void
setup_advance(void *arg)
{
	struct setup *setup = arg;
	struct err err = { 0 };
	int r = 0;

	if (setup->mark == NULL)
		r = err_set(
		    &err, -ENOENT, "there is no worktree %s", setup->worktree);
	while (r == 0 && setup->at < nitems(steps))
		r = steps[setup->at++](setup, &err);
	if (r <= 0)
		setup_finish(setup, r < 0 ? &err : NULL);
}

static char *
copy_or_null(const char *s)
{
	return s != NULL ? xstrdup(s) : NULL;
}

struct setup *
setup_begin(
    struct loop *loop, const struct setup_spec *spec, setup_fn *fn, void *arg)
{
	struct setup *setup = xcalloc(1, sizeof *setup);

	setup->copy_files = strv_copy(spec->copy_files);
	if (spec->box != NULL)
		setup->box = strv_copy(spec->box);
	setup->loop = loop;
	setup->root = xstrdup(spec->root);
	setup->worktree = xstrdup(spec->worktree);
	setup->stamp = xstrdup(spec->stamp);
	setup->command = xstrdup(spec->command);
	setup->serena_name = copy_or_null(spec->serena_name);
	setup->serena_config = copy_or_null(spec->serena_config);
	setup->timeout_ms = spec->timeout_ms;
	setup->fn = fn;
	setup->arg = arg;
	/* Now: a worktree that is created again meanwhile is due again. */
	setup->mark = make_mark(spec);
	setup->start = loop_call_new(loop, setup_advance, setup);
	loop_call_request(setup->start);
	return setup;
}

void
setup_free(struct setup *setup)
{
	if (setup == NULL)
		return;
	copy_free(setup->copy);
	if (setup->command_run != NULL)
		child_abandon(setup->command_run);
	git_free(setup->git);
	loop_timer_free(setup->pause);
	loop_call_free(setup->start);
	strv_free(setup->copy_files);
	strv_free(setup->box);
	free(setup->root);
	free(setup->worktree);
	free(setup->stamp);
	free(setup->command);
	free(setup->serena_name);
	free(setup->serena_config);
	free(setup->mark);
	free(setup);
}
