/* SPDX-License-Identifier: ISC */

/* llmc doctor: changes what it was told to repair. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ask.h"
#include "cli.h"
#include "clock.h"
#include "doctor-fleet.h"
#include "doctor-repair.h"
#include "doctor.h"
#include "errtext.h"
#include "file.h"
#include "git-ask.h"
#include "json.h"
#include "lock.h"
#include "mem.h"
#include "progress.h"
#include "remote.h"
#include "roster.h"
#include "sessions.h"
#include "settings.h"
#include "state-file.h"
#include "text.h"
#include "worker.h"

#define STATE_MAX (64 * 1024 * 1024)

static void done(struct doctor *d, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void
done(struct doctor *d, const char *fmt, ...)
{
	cleanup_free char *words = NULL;
	va_list ap;

	va_start(ap, fmt);
	words = xvasprintf(fmt, ap);
	va_end(ap);
	json_object_array_add(d->repairs, json_object_new_string(words));
	cli_coloured(d->cli, "36", "fixed");
	buf_addf(&d->cli->text, " %s\n", words);
}

/* --- repair ---------------------------------------------------------- */

static bool
is_broken(const struct worker *w)
{
	return w->status == WORKER_ERROR || !file_is_dir(w->worktree);
}

static bool
is_orphan(const struct state *state, const struct sessions_entry *session)
{
	return strcmp(session->role, "worker") == 0 &&
	    state_find(state, session->worker) == NULL;
}

static void
list_broken(
    const struct state *state, const struct sessions *sessions, struct buf *out)
{
	for (size_t i = 0; i < state->count; i++)
		if (is_broken(state->workers[i]))
			buf_addf(out, "%s%s", out->len > 0 ? ", " : "",
			    state->workers[i]->name);
	for (size_t i = 0; i < sessions->count; i++)
		if (is_orphan(state, &sessions->list[i]))
			buf_addf(out, "%sthe session %s",
			    out->len > 0 ? ", " : "", sessions->list[i].name);
}

static void
reset_worker(struct doctor *d, const char *name)
{
	cleanup_json struct json_object *result = NULL;
	struct err err = { 0 };
	const char *code, *salvage;

	if (!remote_try(d->cli, "worker.reset", remote_worker(name),
		REMOTE_LONG_MS, &result, &code, &err)) {
		cli_warn(d->cli, "%s: %s", name, err.msg);
		return;
	}
	salvage = json_string_or(result, "salvage", "");
	if (salvage[0] != '\0')
		done(d, "%s: reset; its work is kept as %s", name, salvage);
	else
		done(d, "%s: reset", name);
}

static int
repair_all(struct doctor *d, const struct settings *settings,
    const struct state *state, const struct sessions *sessions, bool yes)
{
	cleanup_buf struct buf list = BUF_INIT;
	int status;

	list_broken(state, sessions, &list);
	if (list.len == 0)
		return CLI_OK;
	status = ask_confirm(d->cli, yes,
	    "This resets or ends %s; unlanded work is kept for llmc salvage.",
	    list.data);
	if (status != CLI_OK)
		return status;
	for (size_t i = 0; i < state->count; i++)
		if (is_broken(state->workers[i]))
			reset_worker(d, state->workers[i]->name);
	for (size_t i = 0; i < sessions->count; i++)
		if (is_orphan(state, &sessions->list[i]) &&
		    sessions_kill(d->cli, settings, sessions->list[i].name) ==
			CLI_OK)
			done(
			    d, "the session %s: ended", sessions->list[i].name);
	return CLI_OK;
}

int
doctor_repair(struct doctor *d, bool yes)
{
	struct settings *settings = NULL;
	struct sessions sessions = { 0 };
	struct state state;
	int status = cli_load_settings(d->cli, &settings);

	if (status == CLI_OK)
		status = roster_load(d->cli, &state);
	if (status == CLI_OK) {
		status = sessions_load(d->cli, settings, &sessions);
		if (status == CLI_OK)
			status =
			    repair_all(d, settings, &state, &sessions, yes);
		sessions_release(&sessions);
		state_release(&state);
	}
	settings_free(settings);
	return status;
}

/* --- rebuild --------------------------------------------------------- */

/* Has the branch commits that the default branch has not? */
static bool
is_ahead(struct cli *cli, const char *onto, const char *branch, struct buf *id)
{
	cleanup_free char *range = xasprintf("%s..%s", onto, branch);
	const char *const count[] = { "rev-list", "--count", range, "--",
		NULL };
	const char *const tip[] = { "rev-parse", "--verify", branch, NULL };
	cleanup_buf struct buf text = BUF_INIT;

	return git_ask(cli->workspace.root, count, &text, NULL) == 0 &&
	    strcmp(text.data, "0") != 0 &&
	    git_ask(cli->workspace.root, tip, id, NULL) == 0;
}

/* A worker made from its worktree: what it was doing is not known, but commits
 * that have not landed wait for review. */
static struct worker *
make_worker(struct cli *cli, const struct doctor_fleet_worktree *tree,
    const char *onto, const struct state *old)
{
	int64_t now = clock_wall_ms();
	struct worker *w = worker_new(tree->name, now), *before;
	cleanup_buf struct buf id = BUF_INIT;

	xstrset(&w->branch, tree->branch);
	xstrset(&w->worktree, tree->path);
	before = old != NULL ? state_find(old, tree->name) : NULL;
	if (before != NULL)
		w->session.generation = before->session.generation;
	if (is_ahead(cli, onto, tree->branch, &id)) {
		worker_transition(w, WORKER_ERROR, NULL, now, NULL);
		worker_transition(w, WORKER_NEEDS_REVIEW, NULL, now, NULL);
		xstrset(&w->commit, id.data);
	}
	return w;
}

/* Keep the file as it is: a person may still fix it by hand. */
static int
keep_old(struct doctor *d)
{
	cleanup_free char *file =
	    workspace_path(&d->cli->workspace, "state.json");
	cleanup_free char *aside = NULL;
	cleanup_buf struct buf text = BUF_INIT;
	char stamp[CLOCK_STAMP_SIZE];
	struct err err = { 0 };
	int r = file_read(file, STATE_MAX, &text, &err);

	if (r == -ENOENT)
		return CLI_OK;
	clock_format_compact(clock_wall_ms(), stamp);
	aside = xasprintf("%s.%s", file, stamp);
	if (r == 0)
		r = file_replace(aside, text.data, text.len, 0600, &err);
	if (r < 0)
		return cli_fail_err(d->cli, "io", &err);
	done(d, "the old state is kept as %s", aside);
	return CLI_OK;
}

static int
write_state(struct doctor *d, const struct settings *settings,
    const struct doctor_fleet_worktrees *trees)
{
	const struct workspace *ws = &d->cli->workspace;
	const char *onto = settings_string(settings, "repo.default_branch");
	const char *prefix = settings_string(settings, "repo.branch_prefix");
	cleanup_free char *recovered = NULL;
	struct state old, fresh;
	struct err err = { 0 };
	bool have_old =
	    state_file_load(ws, clock_wall_ms(), &old, &recovered, NULL) == 0;
	int r;

	state_init(&fresh);
	if (have_old) {
		memcpy(fresh.root_id, old.root_id, sizeof fresh.root_id);
		fresh.receipts = old.receipts;
	}
	/* The old one may belong to another root. */
	state_file_root_id(ws, fresh.root_id, NULL);
	progress_begin(d->cli, "looking at the worktrees");
	for (size_t i = 0; i < trees->count; i++) {
		const struct doctor_fleet_worktree *t = &trees->list[i];
		cleanup_free char *branch = xasprintf("%s%s", prefix, t->name);

		progress_count(i, trees->count);
		/* A detached one is in the middle of a rebase. */
		if (t->branch[0] != '\0' && strcmp(t->branch, branch) != 0)
			continue;
		state_add(&fresh,
		    make_worker(d->cli,
			&(struct doctor_fleet_worktree){
			    t->name, t->path, branch },
			onto, have_old ? &old : NULL));
	}
	progress_end();
	r = state_file_save(ws, &fresh, &err);
	if (r == 0)
		done(d, "wrote a new state with %zu worker%s", fresh.count,
		    fresh.count == 1 ? "" : "s");
	state_release(&fresh);
	if (have_old)
		state_release(&old);
	return r == 0 ? CLI_OK : cli_fail_err(d->cli, "io", &err);
}

static int
rebuild_locked(struct doctor *d, bool yes)
{
	struct doctor_fleet_worktrees trees = { 0 };
	struct settings *settings = NULL;
	int status = cli_load_settings(d->cli, &settings);

	if (status == CLI_OK)
		status = doctor_fleet_worktrees_load(d->cli, settings, &trees);
	if (status == CLI_OK)
		status = ask_confirm(d->cli, yes,
		    "This creates a new state from %zu worktree%s, and forgets "
		    "what the workers were doing.",
		    trees.count, trees.count == 1 ? "" : "s");
	if (status == CLI_OK)
		status = keep_old(d);
	if (status == CLI_OK)
		status = write_state(d, settings, &trees);
	doctor_fleet_worktrees_release(&trees);
	settings_free(settings);
	return status;
}

int
doctor_repair_rebuild(struct doctor *d, bool yes)
{
	cleanup_free char *file =
	    workspace_path(&d->cli->workspace, "state.lock");
	struct err err = { 0 };
	cleanup_fd int lock = lock_try(file, &err);

	if (lock == -EAGAIN)
		return cli_fail(d->cli, "busy",
		    "a daemon is running; stop it first with: llmc down");
	if (lock < 0)
		return cli_fail_err(d->cli, "io", &err);
	return rebuild_locked(d, yes);
}
