/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "box.h"
#include "child.h"
#include "copy.h"
#include "id.h"
#include "identity.h"
#include "kept.h"
#include "loop.h"
#include "setup.h"

#define STAMP_MAX  4096
#define TAIL_BYTES 300 /* of the output of a failed command */

struct setup {
	struct loop *loop;
	struct loop_call *start;
	struct copy *copy;
	struct child *command_run;
	char *root, *worktree, *stamp, *command;
	char **copy_files, **box;
	int64_t timeout_ms;
	char *mark; /* what the stamp will contain */
	size_t at; /* the next of the steps */
	setup_fn *fn;
	void *arg;
};

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

	if ((spec->copy_files == NULL || spec->copy_files[0] == NULL) &&
	    *spec->command == '\0')
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
	/* It must find the worktree's repository, whatever our environment. */
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

static int
step_stamp(struct setup *setup, struct err *err)
{
	return file_replace(
	    setup->stamp, setup->mark, strlen(setup->mark), 0600, err);
}

/* 0 = done, continue with the next; 1 = setup_advance() is called when it is
 * done. */
typedef int setup_step_fn(struct setup *setup, struct err *err);

static setup_step_fn *const steps[] = { step_copy, step_command, step_stamp };

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
	loop_call_free(setup->start);
	strv_free(setup->copy_files);
	strv_free(setup->box);
	free(setup->root);
	free(setup->worktree);
	free(setup->stamp);
	free(setup->command);
	free(setup->mark);
	free(setup);
}
