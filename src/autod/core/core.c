/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/stat.h>

#include "book-care.h"
#include "book-history.h"
#include "book.h"
#include "box.h"
#include "client.h"
#include "config.h"
#include "core.h"
#include "emit.h"
#include "git-ask.h"
#include "git-facts.h"
#include "git.h"
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
#include "state.h"
#include "tmux.h"
#include "toml.h"
#include "watch.h"
#include "worker.h"
#include "workspace.h"

/* --- the root ----------------------------------------------------------- */

/* The folder may still be being removed, and what our sessions write
 * when they end would be in the way; or another daemon is about to start. */
#define PAUSE_MS 1000

static void
give_up(void *arg)
{
	struct core *core = arg;
	cleanup_free char *lock = workspace_path(core->workspace, "state.lock"),
			  *reason = NULL;

	loop_timer_free(take_ptr(&core->root_pause));
	core->replaced = lock_is_held(lock) == 1;
	reason = xasprintf("%s was removed or replaced while this daemon ran: "
			   "it ends and writes nothing there. %s; the work "
			   "stays in the worktrees. Start again with: llmc "
			   "init, llmc doctor --rebuild, llmc up",
	    lock,
	    core->replaced ?
		"Another daemon owns the repository, and its sessions" :
		"The sessions are ended");
	RAISE(core, "root_gone", .reason = reason);
}

bool
root_guard_holds(struct core *core)
{
	cleanup_free char *lock = NULL;

	if (core->lock < 0 || core->evicted || core->options->oneshot)
		return !core->evicted;
	lock = workspace_path(core->workspace, "state.lock");
	if (lock_is_at(core->lock, lock))
		return true;
	core->evicted = true;
	core->root_pause = loop_after(core->loop, PAUSE_MS, give_up, core);
	return false;
}

static void
on_lock_changed(void *arg)
{
	root_guard_holds(arg);
}

static void
root_guard_watch(struct core *core)
{
	cleanup_free char *lock = workspace_path(core->workspace, "state.lock");

	if (!core->options->oneshot &&
	    watch_new(core->loop, lock, on_lock_changed, core,
		&core->root_watch, NULL) < 0)
		log_debug("state.lock is not watched");
}

/* --- the landing branch ------------------------------------------------- */

#define KEY "repo.default_branch"

static void
tell_wrong(struct core *core, const char *reason)
{
	EMIT(
	    core, EVENT_BRANCH_WRONG, .branch = core->branch, .reason = reason);
}

/* From what git says now, and into the settings. */
static void
choose(struct core *core)
{
	struct err err = { 0 };
	cleanup_free char *words = NULL;

	core->branch = git_ask_default_branch(core->workspace->root);
	if (core->branch == NULL) {
		core->branch = xstrdup("");
		tell_wrong(core,
		    "work cannot land: " KEY " is not set, no branch is "
		    "checked out and origin has no HEAD; type: llmc config "
		    "set " KEY " BRANCH, and restart the daemon");
	} else if (config_change(core->workspace, KEY, core->branch, &err) <
	    0) {
		words = xasprintf("work lands on %s until the daemon ends, "
				  "but that cannot be written down: %s",
		    core->branch, err.msg);
		tell_wrong(core, words);
	} else {
		EMIT(core, EVENT_BRANCH_CHOSEN, .branch = core->branch);
	}
}

/* Choose core->branch for the life of this daemon; the settings have been read.
 * A problem with the branch is reported, and is no error: workers can work
 * without it. */
static void
landing_branch_fix(struct core *core)
{
	const char *set = settings_string(core->settings, KEY);
	cleanup_free char *words = NULL;

	if (set[0] != '\0')
		core->branch = xstrdup(set);
	else
		choose(core);
	if (core->branch[0] == '\0' ||
	    git_ask_branch_exists(core->workspace->root, core->branch))
		return;
	words = xasprintf("work cannot land: there is no branch %s; create it, "
			  "or type: llmc config set " KEY
			  " BRANCH, and restart the daemon",
	    core->branch);
	tell_wrong(core, words);
}

/* What the user has checked out may be its new name. */
static char *
branch_of_user(const struct core *core)
{
	static const char prefix[] = "ref: refs/heads/";
	cleanup_free char *path = file_join(core->workspace->git_dir, "HEAD");
	cleanup_buf struct buf text = BUF_INIT;

	if (file_read(path, 4096, &text, NULL) < 0 ||
	    strncmp(text.data, prefix, sizeof prefix - 1) != 0)
		return xstrdup("BRANCH");
	text.data[strcspn(text.data, "\n")] = '\0';
	return xstrdup(text.data + sizeof prefix - 1);
}

char *
landing_branch_lost(const struct core *core)
{
	cleanup_free char *other = NULL;
	char tip[GIT_ID_SIZE];

	if (core->git == NULL || core->branch == NULL ||
	    core->branch[0] == '\0' ||
	    git_facts_tip(core->git, core->branch, tip) != -ENOENT)
		return NULL;
	other = branch_of_user(core);
	return xasprintf("work cannot land: there is no branch %s any more; if "
			 "it has another name now, type: llmc config set " KEY
			 " %s; if not, create it again: git branch %s COMMIT",
	    core->branch, other, core->branch);
}

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

/* --- settings ----------------------------------------------------------- */

struct waiting {
	reload_fn *fn;
	void *arg;
	struct waiting *next;
};

struct reload {
	struct core *core;
	struct config_read *reader;
	struct waiting *waiting;
};

/* Command-line options override the file. */
static int
override(const struct core *core, struct settings *settings, struct err *err)
{
	const struct {
		const char *path, *value;
	} overrides[] = {
		{ "auto.concurrency", core->options->concurrency },
		{ "auto.task_pool_command", core->options->task_pool_command },
		{ "auto.post_accept_command",
		    core->options->post_accept_command },
	};
	int r = 0;

	for (size_t i = 0; i < nitems(overrides) && r == 0; i++)
		if (overrides[i].value != NULL)
			r = settings_override(settings, overrides[i].path,
			    overrides[i].value, err);
	return r;
}

static int
apply(struct core *core, const struct buf *config, struct err *err)
{
	cleanup_free char *file =
	    workspace_path(core->workspace, "config.toml");
	struct settings_problems problems;
	struct settings *fresh =
	    config_parse(core->workspace, core->branch, config, &problems);
	int r = 0;

	for (size_t i = 0; i < problems.count && r == 0; i++)
		if (problems.list[i].fatal)
			r = err_set(err, -EINVAL, "%s:%u: %s", file,
			    problems.list[i].line, problems.list[i].text);
	settings_problems_release(&problems);
	if (r == 0)
		r = override(core, fresh, err);
	if (r < 0) {
		settings_free(fresh);
		return r;
	}
	settings_free(core->settings);
	core->settings = fresh;
	if (core->people != NULL)
		people_settings(core->people, fresh);
	return 0;
}

/* fn may begin another reading. */
static void
tell_waiting(struct reload *reload, const struct err *err)
{
	struct waiting *w = take_ptr(&reload->waiting), *next;

	for (; w != NULL; w = next) {
		next = w->next;
		w->fn(err, w->arg);
		free(w);
	}
}

static void
on_read(const struct buf *config, const struct err *err, void *arg)
{
	struct reload *reload = arg;
	struct err wrong = { 0 };

	if (config == NULL)
		wrong = *err;
	else
		apply(reload->core, config, &wrong);
	tell_waiting(reload, wrong.code != 0 ? &wrong : NULL);
}

static struct reload *
reload_new(struct core *core)
{
	struct reload *reload = xcalloc(1, sizeof *reload);

	reload->core = core;
	reload->reader =
	    config_read_new(core->loop, core->workspace, on_read, reload);
	return reload;
}

static void
reload_free(struct reload *reload)
{
	struct err err = { 0 };

	err_set(&err, -ECANCELED, "the daemon is stopping");
	tell_waiting(reload, &err);
	config_read_free(reload->reader);
	free(reload);
}

static int
reload_first(struct core *core, struct err *err)
{
	cleanup_free char *file =
	    workspace_path(core->workspace, "config.toml");
	cleanup_buf struct buf text = BUF_INIT;
	int r = file_read(file, TOML_SIZE_MAX, &text, err);

	return r < 0 && r != -ENOENT ? r : apply(core, &text, err);
}

void
reload_begin(struct core *core, reload_fn *fn, void *arg)
{
	struct reload *reload = core->reload;
	struct waiting *w = xcalloc(1, sizeof *w);

	*w = (struct waiting){ fn, arg, reload->waiting };
	reload->waiting = w;
	config_read_begin(reload->reader);
}

/* A file that is missing is being replaced, or goes together with its folder:
 * what was read stays in effect. */
static void
on_config_changed(void *arg)
{
	struct core *core = arg;
	cleanup_free char *config =
	    workspace_path(core->workspace, "config.toml");

	if (file_exists(config))
		life_reload(core);
}

/* Before lock and socket: when a process dies, the kernel closes the last
 * descriptors first, and closing inotify takes 15 ms. In this order the next
 * daemon need not wait for it. */
static void
watch_config(struct core *core)
{
	cleanup_free char *config =
	    workspace_path(core->workspace, "config.toml");

	if (!core->options->oneshot &&
	    watch_new(core->loop, config, on_config_changed, core,
		&core->config_watch, NULL) < 0)
		log_debug("config.toml is not watched");
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
	cleanup_free char *reason = NULL;

	if (found->damaged == NULL)
		return;
	reason = xasprintf("%s; it is kept as %s, and %zu row%s of it could be "
			   "read (%zu gap%s)",
	    found->why, found->damaged, found->rows,
	    found->rows == 1 ? "" : "s", found->gaps,
	    found->gaps == 1 ? "" : "s");
	EMIT(core, EVENT_STATE_RECOVERED, .reason = reason);
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
	if (r == 0)
		tell_damage(core, &found);
	book_recovered_release(&found);
	return r;
}

/* The files of the version before, or nothing: this is a new beginning. */
static int
first_state(struct core *core, const char *worktrees, struct err *err)
{
	cleanup_free char *recovered = NULL;
	int r = book_history_import(core->book, core->workspace, err);

	if (r < 0)
		return r;
	r = state_upgrade_read(
	    core->workspace, clock_wall_ms(), &core->state, &recovered, err);
	if (r == -ENOENT) {
		/* Workers, tasks and costs would be lost. */
		if (root_id_is_lost(core->workspace, worktrees, err))
			return -ENOENT;
		root_id_read(core->workspace, core->state.root_id, NULL);
		return 0;
	}
	if (r < 0)
		return r;
	if (recovered != NULL)
		EMIT(core, EVENT_STATE_RECOVERED, .reason = recovered);
	state_book_put(core->rows, &core->state);
	return 0;
}

static int
load_state(struct core *core, struct err *err)
{
	cleanup_free char *worktrees = workspace_resolve(core->workspace,
	    settings_string(core->settings, "repo.worktree_dir"));
	int r;

	if (state_upgrade_is_lost(core->workspace, worktrees, err))
		return -ENOENT;
	r = open_book(core, err);
	if (r == 0)
		r = state_book_load(
		    core->book, clock_wall_ms(), &core->state, err);
	if (r == 0)
		state_book_know(core->rows, &core->state);
	else if (r == -ENOENT)
		r = first_state(core, worktrees, err);
	if (r == 0) {
		messages_import(core);
		r = book_commit(core->book, err);
	}
	if (r < 0)
		return r;
	state_upgrade_move(core->workspace);
	book_history_imported(core->workspace);
	messages_imported(core);
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

	watch_config(core);
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
	asks_register(core);
	*ret_core = core;
	return 0;
}

struct task *
core_task_named(const struct core *core, const char *word, struct err *err)
{
	struct task *task = state_task_named(&core->state, word, err);
	cleanup_free char *full = NULL;

	if (task != NULL || (full = book_goal_word(core->book, word)) == NULL)
		return task;
	return state_task_named(&core->state, full, err);
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
	watch_free(core->config_watch);
	watch_free(core->root_watch);
	loop_timer_free(core->root_pause);
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
