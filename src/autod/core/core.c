/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/stat.h>

#include "book-care.h"
#include "book-history.h"
#include "book.h"
#include "box.h"
#include "client.h"
#include "core-settings.h"
#include "core.h"
#include "emit.h"
#include "event-stream.h"
#include "failure.h"
#include "git.h"
#include "heartbeat.h"
#include "id.h"
#include "life.h"
#include "loop.h"
#include "people.h"
#include "persist.h"
#include "person.h"
#include "serve.h"
#include "settings.h"
#include "sibling.h"
#include "state-book.h"
#include "tmux.h"
#include "watch.h"
#include "worker.h"
#include "workspace.h"

/* --- the working trees of workers --------------------------------------- */

static const struct worker *
find(const struct core *core, const char *dir)
{
	for (size_t i = 0; i < core->state.count; i++) {
		const struct worker *w = core->state.workers[i];

		if (text_is(w->worktree, dir))
			return w;
	}
	return NULL;
}

bool
worker_tree_is_clone(const struct worker *w)
{
	cleanup_free char *dot_git = NULL;
	struct stat st;

	if (!w->clone || w->worktree == NULL)
		return false;
	dot_git = file_join(w->worktree, ".git");
	return lstat(dot_git, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool
worker_tree_home(void *arg, const char *dir, struct git_home *ret_home)
{
	const struct worker *w = find(arg, dir);

	if (w == NULL || w->branch == NULL)
		return false;
	*ret_home = (struct git_home){
		.worker = w->name,
		.branch = w->branch,
		.detached = w->detached || worker_tree_is_clone(w),
		.clone = worker_tree_is_clone(w),
		.base = w->base,
	};
	return true;
}

int
worker_tree_box(void *arg, const char *dir, char ***ret_prefix, struct err *err)
{
	const struct core *core = arg;
	const struct worker *w = find(core, dir);
	struct box_spec spec = { .kind = BOX_COMMAND,
		.workspace = core->workspace,
		.settings = core->settings,
		.tree = dir };
	struct box box = { 0 };
	int r;

	*ret_prefix = NULL;
	/* A check has written where it ran, too: a submodule's settings. */
	if (w == NULL)
		return box_prefix(
		    core->workspace, core->settings, dir, ret_prefix, err);
	if (worker_tree_is_clone(w))
		spec.at_least = BOX_WORKTREE;
	else if (w->branch != NULL && !w->detached)
		return 0;
	spec.worker = w->name;
	r = box_prepare(&spec, &box, err);
	if (r == 0)
		*ret_prefix = take_ptr(&box.prefix);
	box_release(&box);
	return r;
}

const char *
core_branch(const struct core *core)
{
	return core->branch;
}

bool
core_lands_when_dirty(const struct core *core)
{
	return strcmp(settings_string(core->settings, "repo.dirty_checkout"),
		   "overlap") == 0;
}

void
core_add_floor(struct core *core, const struct core_floor *floor)
{
	if (core->floor_count == CORE_FLOORS_MAX)
		fatalx("too many floors");
	core->floors[core->floor_count++] = floor;
}

/* --- ports and state -------------------------------------------------- */

static int
take_lock(struct core *core, struct err *err)
{
	cleanup_free char *file = workspace_path(core->workspace, "state.lock");
	int kept = core->options->restart.lock, r;

	r = kept > 0 && lock_inherit(kept, file) == 0 ? kept :
							lock_try(file, err);
	if (r == -EAGAIN)
		return registration_describe_holder(core, err);
	if (r < 0)
		return r;
	core->lock = r;
	root_guard_watch(core);
	return 0;
}

static int
open_ports(struct core *core, struct err *err)
{
	const struct settings *s = core->settings;
	cleanup_free char *config =
	    workspace_path(core->workspace, "tmux.conf");
	struct tmux_options tmux = {
		.command = settings_string(s, "tmux.command"),
		.socket = settings_string(s, "tmux.socket"),
		.config = config,
	};
	cleanup_free char *worktrees = workspace_resolve(
	    core->workspace, settings_string(s, "repo.worktree_dir"));
	cleanup_free char *checks = workspace_path(core->workspace, "checks");
	const char *const own[] = { worktrees, checks, NULL };
	struct git_options git = {
		.root = core->workspace->root,
		.run_hooks = settings_bool(s, "repo.run_hooks"),
		.own = own,
		.home = worker_tree_home,
		.box = worker_tree_box,
		.arg = core,
	};

	core->git = git_new(core->loop, &git);
	return tmux_new(core->loop, &tmux, &core->tmux, err);
}

/* Do not continue from a state that belongs to another root or has lost its
 * workers: something else wrote it. */
static int
check_state(struct core *core, struct err *err)
{
	char root_id[ID_UUID_SIZE] = "";
	int missing = 0, r;

	if (core->options->oneshot)
		return 0;
	r = root_id_read(core->workspace, root_id, NULL);
	r = state_check(&core->state, r == 0 ? root_id : NULL, &missing, err);
	if (r == 0 && missing > 0)
		EMIT(core, EVENT_STATE_LACKS_WORKERS, .count = missing);
	return r;
}

/* Damage was put aside, and what could be read was saved: tell a person. */
static void
tell_damage(struct core *core, const struct book_recovered *found)
{
	cleanup_buf struct buf reason = BUF_INIT;
	cleanup_free char *copy =
	    workspace_path(core->workspace, WORKSPACE_BOOK_COPY);

	if (found->damaged == NULL)
		return;
	buf_addf(&reason, "%s; it is kept as %s, and %zu row%s could be read",
	    found->why, found->damaged, found->rows,
	    found->rows == 1 ? "" : "s");
	if (found->gaps + found->refused + found->doubtful == 0)
		buf_adds(&reason, ", which are all");
	else
		buf_addf(&reason,
		    ": %zu page%s of it are missing or not as they were "
		    "written, %zu row%s of those may be wrong, and %zu more "
		    "could not be read",
		    found->gaps, found->gaps == 1 ? "" : "s", found->doubtful,
		    found->doubtful == 1 ? "" : "s", found->refused);
	if (found->gaps > 0 && file_exists(copy))
		buf_addf(&reason, "; %s is a copy of the last day", copy);
	EMIT(core, EVENT_STATE_RECOVERED, .reason = reason.data);
}

static int
open_book(struct core *core, struct err *err)
{
	cleanup_free char *path =
	    workspace_path(core->workspace, WORKSPACE_BOOK);
	struct book_recovered found = { 0 };
	int r = book_open_or_recover(
	    path, clock_wall_ms(), &core->book, &found, err);

	if (r == 0)
		r = state_book_new(core->book, &core->rows, err);
	if (r == 0)
		r = book_history_open(core->book, err);
	if (r == 0) {
		tell_damage(core, &found);
		book_on_damage(core->book, emit_damage, core);
	}
	book_recovered_release(&found);
	return r;
}

static int
load_state(struct core *core, struct err *err)
{
	cleanup_free char *worktrees = workspace_resolve(core->workspace,
	    settings_string(core->settings, "repo.worktree_dir"));
	int r;

	if (state_is_lost(core->workspace, worktrees, err))
		return -ENOENT;
	r = open_book(core, err);
	if (r == 0)
		r = state_book_load(
		    core->book, clock_wall_ms(), &core->state, err);
	if (r == 0)
		state_book_know(core->rows, &core->state);
	else if (r == -ENOENT) {
		/* Workers, tasks and costs would be lost. */
		if (root_id_is_lost(core->workspace, worktrees, err))
			return -ENOENT;
		root_id_read(core->workspace, core->state.root_id, NULL);
		r = 0;
	}
	if (r == 0)
		r = book_commit(core->book, err);
	if (r < 0)
		return r;
	persist_begin(core);
	return check_state(core, err);
}

/* --- the object ------------------------------------------------------- */

static struct core *
allocate(struct loop *loop, const struct workspace *workspace,
    const struct core_options *options)
{
	struct core *core = xcalloc(1, sizeof *core);
	const struct courier_store store = messages_store(core);
	char instance[ID_UUID_SIZE];

	core->loop = loop;
	core->workspace = workspace;
	core->options = options;
	core->lock = -1;
	state_init(&core->state);
	id_uuid(instance);
	core->instance = xstrdup(
	    options->restart.count > 0 ? options->restart.instance : instance);
	core->socket = client_socket_path(workspace);
	core->llmc = sibling_find("llmc");
	core->emitter = emitter_new();
	event_log_subscribe(core);
	event_file_subscribe(core);
	person_subscribe(core);
	if (!options->oneshot)
		core->people =
		    people_new(loop, workspace->root, "autod", &store);
	core->persist = persist_new(core);
	core->serve = serve_new(core);
	core->life = life_new(core);
	core->reload = reload_new(core);
	return core;
}

int
core_new(struct loop *loop, const struct workspace *workspace,
    const struct core_options *options, struct core **ret_core, struct err *err)
{
	struct core *core = allocate(loop, workspace, options);
	int r;

	r = take_lock(core, err);
	if (r == 0)
		r = reload_first(core, err);
	if (r == 0) {
		landing_branch_fix(core);
		r = open_ports(core, err);
	}
	if (r == 0)
		r = load_state(core, err);
	if (r == 0 && core->llmc == NULL)
		r = err_set(err, -ENOENT,
		    "the program llmc was not found next to autod");
	if (r < 0) {
		core_free(core);
		return r;
	}
	core->stream = event_stream_new(core);
	life_register(core);
	person_register(core);
	*ret_core = core;
	return 0;
}

void
core_free(struct core *core)
{
	struct err err = { 0 };

	if (core == NULL)
		return;
	reload_free(core->reload);
	persist_answer(core);
	event_stream_free(core->stream);
	serve_free(core->serve);
	git_free(core->git);
	heartbeat_free(take_ptr(&core->heartbeat));
	life_free(core->life);
	watch_free(core->root_watch);
	loop_timer_free(core->root_pause);
	loop_timer_free(core->rest);
	tmux_finish(core->tmux);
	tmux_free(core->tmux);
	core->stopping = true;
	if (people_free(take_ptr(&core->people)) && core->book != NULL)
		persist_flush(core, NULL);
	persist_free(take_ptr(&core->persist));
	state_book_free(core->rows);
	if (!core->book_lost || core->evicted)
		book_close(core->book);
	else if (book_put_back(core->book, &err) < 0)
		EMIT(core, EVENT_STATE_UNWRITTEN, .reason = err.msg);
	emitter_free(core->emitter);
	state_release(&core->state);
	settings_free(core->settings);
	fd_close(core->lock);
	free(core->socket);
	free(core->llmc);
	free(core->instance);
	free(core->branch);
	free(core);
}
