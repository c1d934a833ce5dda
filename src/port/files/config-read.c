/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>

#include "buf.h"
#include "child.h"
#include "config-read.h"
#include "errtext.h"
#include "file.h"
#include "git-ask.h"
#include "loop.h"
#include "mem.h"
#include "root-mark.h"
#include "toml.h"
#include "workspace.h"

/* A lock that stays for longer was left by a git that died. */
#define LOCK_MS    200
#define LOCK_LOOKS 150
/* An editor empties a file before it writes it. */
#define EMPTY_LOOKS 10

struct config_read {
	struct loop *loop;
	const struct workspace *workspace;
	config_read_fn *fn;
	void *arg;
	struct buf text;
	struct child *child; /* git; NULL = is not asked */
	struct loop_timer *again;
	int looks; /* that found git's lock */
	int empty; /* looks that found an empty file */
};

static void read_file(struct config_read *reader);

struct config_read *
config_read_new(struct loop *loop, const struct workspace *workspace,
    config_read_fn *fn, void *arg)
{
	struct config_read *reader = xcalloc(1, sizeof *reader);

	reader->loop = loop;
	reader->workspace = workspace;
	reader->fn = fn;
	reader->arg = arg;
	buf_init(&reader->text);
	return reader;
}

static void
give_up(struct config_read *reader)
{
	if (reader->child != NULL)
		child_abandon(take_ptr(&reader->child));
	loop_timer_free(take_ptr(&reader->again));
}

void
config_read_free(struct config_read *reader)
{
	if (reader == NULL)
		return;
	give_up(reader);
	buf_release(&reader->text);
	free(reader);
}

/* 0 = accepted. */
static void
finish(struct config_read *reader, int r, const struct err *err)
{
	reader->fn(
	    r < 0 ? NULL : &reader->text, r < 0 ? err : NULL, reader->arg);
}

static void
on_answer(const struct child_result *result, void *arg)
{
	struct config_read *reader = arg;
	struct err err = { 0 };
	int r = 0;

	reader->child = NULL;
	if (child_succeeded(result) && reader->text.len > 0)
		r = root_mark_refuse_tracked(reader->workspace, &err);
	finish(reader, r, &err);
}

static void
on_again(void *arg)
{
	struct config_read *reader = arg;

	loop_timer_free(take_ptr(&reader->again));
	read_file(reader);
}

/* A pull writes its files first and then what is tracked, under a lock. */
static void
ask(struct config_read *reader)
{
	const struct workspace *ws = reader->workspace;
	cleanup_free char *lock = file_join(ws->git_dir, "index.lock");
	struct err err = { 0 };

	if (file_exists(lock) && reader->looks++ < LOCK_LOOKS)
		reader->again =
		    loop_after(reader->loop, LOCK_MS, on_again, reader);
	else if (git_ask_later(reader->loop, ws->root, root_mark_question,
		     on_answer, reader, &reader->child, &err) < 0)
		finish(reader, err.code, &err);
}

static void
read_file(struct config_read *reader)
{
	cleanup_free char *file =
	    workspace_path(reader->workspace, "config.toml");
	struct err err = { 0 };
	int r;

	buf_clear(&reader->text);
	r = file_read(file, TOML_SIZE_MAX, &reader->text, &err);
	if (r == 0 && reader->text.len == 0 && reader->empty++ < EMPTY_LOOKS) {
		reader->again =
		    loop_after(reader->loop, LOCK_MS, on_again, reader);
		return;
	}
	if (r == -ENOENT)
		r = 0; /* all defaults */
	if (r == 0)
		r = root_mark_judge(reader->workspace, &reader->text, &err);
	if (r == -EAGAIN)
		ask(reader);
	else
		finish(reader, r, &err);
}

void
config_read_begin(struct config_read *reader)
{
	give_up(reader);
	reader->looks = reader->empty = 0;
	read_file(reader);
}
