/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "book-history.h"
#include "book.h"
#include "check-book.h"
#include "config.h"
#include "show.h"
#include "autod-private.h"
#include "workspace.h"
#include "settings.h"
#include "source.h"
#include "state-book.h"
#include "state.h"
#include "view-state.h"
#include "view.h"
#include "worker.h"

/* --- the state and the book ---------------------------------------------- */

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
	struct book *book = NULL;
	int r = book_look(path, &book, err);

	if (r == 0)
		r = state_book_load(book, clock_wall_ms(), state, err);
	if (r == -ENOENT && is_lost(workspace, err))
		r = -ENODATA;
	book_close(book);
	return r;
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

int
look_open_history(const struct workspace *workspace, struct book **ret_book,
    char **ret_dir, struct err *err)
{
	cleanup_free char *path = workspace_path(workspace, WORKSPACE_BOOK);
	cleanup_free char *file = NULL;
	char dir[] = "/tmp/llmc-look-XXXXXX";
	int r = book_look(path, ret_book, err);

	if (r == 0)
		r = find_tables(*ret_book, err);
	if (r != -ENOENT)
		return r;
	if (is_lost(workspace, err))
		return -ENODATA;
	book_close(take_ptr(ret_book));
	if (mkdtemp(dir) == NULL)
		return err_errno(err, -errno, "%s", dir);
	*ret_dir = xstrdup(dir);
	file = file_join(dir, WORKSPACE_BOOK);
	r = book_open(file, ret_book, err);
	return r == 0 ? book_history_open(*ret_book, err) : r;
}

/* --- the view ----------------------------------------------------------- */

static bool
on_ended(const struct task *task, int64_t filed, void *arg)
{
	(void)filed;
	json_set(arg, task->id, view_row_task(task));
	return true;
}

void
look_set_offline(struct state *state)
{
	for (size_t i = 0; i < state->count; i++) {
		struct worker *w = state->workers[i];

		if (!worker_in_turn(w->status) &&
		    w->status != WORKER_STARTING &&
		    w->status != WORKER_ACCEPTING &&
		    w->status != WORKER_WAITING)
			continue;
		free(w->reason);
		w->reason = xasprintf("was %s when the daemon ended",
		    worker_status_name(w->status));
		w->status = WORKER_OFFLINE;
	}
}

/* What the state knows of the check command, as the member "check" of the
 * view's head: for when no daemon says it. */
static void
set_check(const struct state *state, const struct settings *settings,
    struct json_object *head)
{
	const char *command = settings_string(settings, "auto.check_command");
	const struct check_book *book = &state->landings.checks;
	const struct check_command *known;
	struct json_object *json;
	char key[CHECK_KEY_SIZE];

	if (command == NULL || *command == '\0')
		return;
	check_book_key(command, key);
	known = check_book_command(book, key);
	json = json_object_new_object();
	json_set_string(json, "command", command);
	json_set_int(json, "trees", known != NULL ? known->trees : 0);
	json_set_int(json, "flaky_trees", known != NULL ? known->flaky : 0);
	json_set_bool(json, "flaky_alarm", check_book_alarm(book, key));
	json_set(head, "check", json);
}

static void
set_untold(const struct workspace *workspace, const struct state *state,
    const struct settings *settings, struct json_object *view)
{
	cleanup_free char *path = workspace_path(workspace, WORKSPACE_BOOK);
	struct book *book = NULL;

	if (state->ask_count > 0 && book_look(path, &book, NULL) == 0)
		show_untold_fill(book, state, settings, clock_wall_ms(), view);
	book_close(book);
}

struct json_object *
look_view(struct book *book, const struct workspace *workspace,
    struct json_object *params, struct err *err)
{
	cleanup_free char *lock = workspace_path(workspace, "overseer.lock");
	cleanup_free char *dir = NULL;
	bool alive = json_bool_or(params, "alive", false);
	struct json_object *sections = NULL, *view = NULL;
	struct settings *settings = NULL;
	struct settings_problems problems;
	struct view_files *files;
	struct source_todo *todo;
	struct state state;
	int r;

	if (config_load_with(workspace, NULL, &settings, &problems, err) < 0)
		return NULL;
	settings_problems_release(&problems);
	state_init(&state);
	r = look_read_state(workspace, &state, err);
	if (r == 0 || r == -ENOENT) {
		json_get_array(params, "", "sections", &sections, NULL);
		if (!alive)
			look_set_offline(&state);
		view = view_new();
		view_state_fill(&state, settings, NULL, sections, view);
		view_state_alone(&state, settings, workspace, view);
		set_check(&state, settings, view_of(view, "head"));
		set_untold(workspace, &state, settings, view);
		files = view_files_new(workspace);
		view_files_fill(files, view);
		view_files_free(files);
		json_set_bool(view_of(view, "head"), "daemon_gone",
		    !alive && state.daemon_running && lock_is_held(lock) != 1);
		if (view_wants(sections, "ended") &&
		    look_open_history(workspace, &book, &dir, NULL) == 0)
			book_each_task(book,
			    &(struct book_tasks){
				.limit = SHOW_ENDED_MAX, .oldest_first = true },
			    on_ended, view_of(view, "ended"), NULL);
		if (view_wants(sections, "todo")) {
			todo = source_todo_new();
			source_todo_fill(todo, settings, workspace, view);
			source_todo_free(todo);
		}
		if (view_wants(sections, VIEW_EVENTS))
			json_set(
			    view, VIEW_EVENTS, view_files_events(workspace));
		view_needs(view);
		view_keep(view, sections);
	}
	book_close(book);
	if (dir != NULL)
		remove_tree(dir);
	state_release(&state);
	settings_free(settings);
	return view;
}
