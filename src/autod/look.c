/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "book-care.h"
#include "book-history.h"
#include "book.h"
#include "buf.h"
#include "clock.h"
#include "config.h"
#include "errtext.h"
#include "file.h"
#include "json.h"
#include "lock.h"
#include "look-private.h"
#include "look.h"
#include "mem.h"
#include "remove-tree.h"
#include "root-id.h"
#include "settings.h"
#include "state-book.h"
#include "state-upgrade.h"
#include "state.h"
#include "workspace.h"

#define PARAMS_MAX ((size_t)16 * 1024 * 1024) /* with a view in them */

static int
print(struct json_object *json)
{
	cleanup_buf struct buf text = BUF_INIT;

	json_print(json, true, &text);
	return file_write_all(STDOUT_FILENO, text.data, text.len) < 0 ? 1 : 0;
}

static int
fail(const struct err *err)
{
	fprintf(stderr, "autod: %s\n", err->msg);
	return 1;
}

/* There is no state: was there one? Settings that are wrong must not hide
 * it. */
static bool
is_lost(const struct workspace *workspace, struct err *err)
{
	cleanup_free char *worktrees = NULL;
	struct settings *settings = NULL;
	struct settings_problems problems = { 0 };

	if (config_load_with(workspace, NULL, &settings, &problems, NULL) == 0)
		settings_problems_release(&problems);
	worktrees = workspace_resolve(workspace,
	    settings != NULL ? settings_string(settings, "repo.worktree_dir") :
			       ".worktrees");
	settings_free(settings);
	return root_id_is_lost(workspace, worktrees, err);
}

int
look_read_state(
    const struct workspace *workspace, struct state *state, struct err *err)
{
	cleanup_free char *path = workspace_path(workspace, WORKSPACE_BOOK);
	cleanup_free char *recovered = NULL;
	struct book *book = NULL;
	int r = book_look(path, &book, err);

	if (r == 0)
		r = state_book_load(book, clock_wall_ms(), state, err);
	if (r == -ENOENT)
		r = state_upgrade_read(
		    workspace, clock_wall_ms(), state, &recovered, err);
	if (r == -ENOENT && is_lost(workspace, err))
		r = -ENODATA;
	book_close(book);
	return r;
}

static int
look_state(const struct workspace *workspace, struct json_object **ret_result,
    struct err *err)
{
	struct state state;
	int r;

	state_init(&state);
	r = look_read_state(workspace, &state, err);
	if (r == 0)
		*ret_result = state_to_json(&state);
	else if (r == -ENOENT)
		*ret_result = json_object_new_object();
	state_release(&state);
	return r == -ENOENT ? 0 : r;
}

static int
find_tables(struct book *book, struct err *err)
{
	int64_t count = 0;
	int r = book_get_int(book,
	    "SELECT count(*) FROM sqlite_schema AS s WHERE s.name = 'alive'",
	    NULL, 0, &count, err);

	return r == 0 && count == 0 ? -ENOENT : r;
}

/* While there are files of the version before, and no daemon has put a state
 * into the book, one that has what is in the files: *ret_dir is to be
 * removed. */
static int
open_history(const struct workspace *workspace, struct book **ret_book,
    char **ret_dir, struct err *err)
{
	cleanup_free char *path = workspace_path(workspace, WORKSPACE_BOOK);
	cleanup_free char *file = NULL;
	char dir[] = "/tmp/llmc-look-XXXXXX";
	int r = book_look(path, ret_book, err);

	if (r == 0)
		r = book_history_has_files(workspace) ?
		    state_book_find(*ret_book, err) :
		    find_tables(*ret_book, err);
	if (r != -ENOENT)
		return r;
	if (!state_upgrade_has_files(workspace) &&
	    !book_history_has_files(workspace) && is_lost(workspace, err))
		return -ENODATA;
	book_close(take_ptr(ret_book));
	if (mkdtemp(dir) == NULL)
		return err_errno(err, -errno, "%s", dir);
	*ret_dir = xstrdup(dir);
	file = file_join(dir, WORKSPACE_BOOK);
	r = book_open(file, ret_book, err);
	if (r == 0)
		r = book_history_open(*ret_book, err);
	if (r == 0)
		r = book_history_import(*ret_book, workspace, err);
	return r;
}

static int
look_history(const struct workspace *workspace, look_fn *fn,
    struct json_object **ret_result, struct err *err)
{
	cleanup_json struct json_object *params = NULL;
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_free char *dir = NULL;
	struct book *book = NULL;
	int r = file_read_fd(STDIN_FILENO, PARAMS_MAX, &text);

	if (r < 0)
		return err_errno(err, r, "standard input");
	r = json_parse(text.data, text.len, PARAMS_MAX, &params, err);
	if (r == 0)
		r = open_history(workspace, &book, &dir, err);
	if (r == 0) {
		*ret_result = fn(book, workspace, params, err);
		r = *ret_result != NULL ? 0 : -EIO;
	}
	book_close(book);
	if (dir != NULL)
		remove_tree(dir);
	return r;
}

int
look_run(const struct workspace *workspace, const char *name)
{
	static const struct {
		const char *name;
		look_fn *fn;
	} looks[] = {
		{ "asks", look_asks },
		{ "attempts", look_attempts },
		{ "goals", look_goals },
		{ "metrics", look_metrics },
		{ "report", look_report },
		{ "tally", look_tally },
		{ "tasks", look_tasks },
		{ "turns", look_turns },
		{ "view", look_view },
	};
	cleanup_json struct json_object *result = NULL;
	struct err err = { 0 };
	int r = err_set(&err, -EINVAL, "--look: there is no %s", name);

	if (strcmp(name, "state") == 0)
		r = look_state(workspace, &result, &err);
	for (size_t i = 0; i < nitems(looks); i++)
		if (strcmp(looks[i].name, name) == 0)
			r = look_history(workspace, looks[i].fn, &result, &err);
	return r < 0 ? fail(&err) : print(result);
}

/* What llmc could not read, it could not keep for a person either. */
static int
keep_unreadable(struct book *book, char **ret_kept, struct err *err)
{
	struct state old;
	int64_t rows = 0;
	int r;

	state_init(&old);
	r = state_book_load(book, clock_wall_ms(), &old, NULL);
	state_release(&old);
	/* Without an id there is no state, but there may be its workers. */
	if (r == -ENOENT)
		r = book_get_int(book,
		    "SELECT (SELECT count(*) FROM worker) + "
		    "(SELECT count(*) FROM task)",
		    NULL, 0, &rows, NULL);
	return r == 0 && rows == 0 ?
	    0 :
	    book_keep(book, clock_wall_ms(), ret_kept, err);
}

static int
write_state(const struct workspace *workspace, const struct state *state,
    struct book_recovered *found, struct err *err)
{
	cleanup_free char *path = workspace_path(workspace, WORKSPACE_BOOK);
	struct state_book *rows = NULL;
	struct book *book = NULL;
	int r = book_open_or_recover(path, clock_wall_ms(), &book, found, err);

	if (r == 0)
		r = state_book_new(book, &rows, err);
	if (r == 0)
		r = book_history_open(book, err);
	if (r == 0 && found->aside == NULL)
		r = keep_unreadable(book, &found->aside, err);
	if (r == 0) {
		state_book_clear(rows);
		state_book_put(rows, state);
		r = book_history_import(book, workspace, err);
	}
	if (r == 0)
		r = book_commit(book, err);
	state_book_free(rows);
	book_close(book);
	if (r == 0)
		r = root_id_keep(workspace, state->root_id, err);
	if (r == 0)
		state_upgrade_move(workspace);
	if (r == 0)
		book_history_imported(workspace);
	return r;
}

int
look_rebuild(const struct workspace *workspace)
{
	cleanup_free char *path = workspace_path(workspace, "state.lock");
	cleanup_json struct json_object *result = json_object_new_object();
	cleanup_buf struct buf text = BUF_INIT;
	struct book_recovered found = { 0 };
	struct state state;
	struct err err = { 0 };
	cleanup_fd int lock = lock_try(path, &err);
	int r;

	if (lock < 0)
		return fail(&err);
	r = file_read_fd(STDIN_FILENO, STATE_SIZE_MAX, &text);
	if (r < 0)
		err_errno(&err, r, "standard input");
	else
		r = state_parse(
		    text.data, text.len, clock_wall_ms(), &state, &err);
	if (r < 0)
		return fail(&err);
	r = write_state(workspace, &state, &found, &err);
	json_set_string(result, "aside", found.aside);
	state_release(&state);
	book_recovered_release(&found);
	return r < 0 ? fail(&err) : print(result);
}
