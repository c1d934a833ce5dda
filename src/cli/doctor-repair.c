/* SPDX-License-Identifier: ISC */

/* llmc doctor: changes what it was asked to repair. */
#include "base.h"
#include "cli-private.h"
#include "lock.h"
#include "root-mark.h"

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

static int
repair_all(struct doctor *d, const struct settings *settings,
    const struct state *state, const struct sessions *sessions, bool yes)
{
	cleanup_buf struct buf list = BUF_INIT;
	int status;

	for (size_t i = 0; i < state->count; i++)
		if (is_broken(state->workers[i]))
			buf_addf(&list, "%s%s", list.len > 0 ? ", " : "",
			    state->workers[i]->name);
	for (size_t i = 0; i < sessions->count; i++)
		if (is_orphan(state, &sessions->list[i]))
			buf_addf(&list, "%sthe session %s",
			    list.len > 0 ? ", " : "", sessions->list[i].name);
	if (list.len == 0)
		return CLI_OK;
	status = ask_confirm(d->cli, yes,
	    "This resets or ends %s; unlanded work is kept for llmc landing salvage.",
	    list.data);
	if (status != CLI_OK)
		return status;
	for (size_t i = 0; i < state->count; i++)
		if (is_broken(state->workers[i])) {
			const char *name = state->workers[i]->name;
			cleanup_json struct json_object *result = NULL;
			struct err err = { 0 };
			const char *code, *salvage;

			if (!remote_try(d->cli, "worker.reset",
				remote_worker(name), REMOTE_LONG_MS, &result,
				&code, &err)) {
				cli_warn(d->cli, "%s: %s", name, err.msg);
				continue;
			}
			salvage = json_string_or(result, "salvage", "");
			if (salvage[0] != '\0')
				done(d, "%s: reset; its work is kept as %s",
				    name, salvage);
			else
				done(d, "%s: reset", name);
		}
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

/* What was known, kept for a person. False: nothing is. */
static bool
read_old(struct doctor *d, struct state *ret_old, int *ret_status)
{
	cleanup_json struct json_object *json = NULL;
	cleanup_free char *name = NULL, *file = NULL;
	char stamp[CLOCK_STAMP_SIZE];
	struct err err = { 0 };

	*ret_status = CLI_OK;
	if (remote_look(d->cli, "state", NULL, &json, NULL) < 0 ||
	    json_object_object_length(json) == 0 ||
	    state_from_json(json, clock_wall_ms(), ret_old, NULL) < 0)
		return false;
	clock_format_compact(clock_wall_ms(), stamp);
	name = xasprintf("state-%s.json", stamp);
	file = workspace_path(&d->cli->workspace, name);
	if (json_save(file, json, 0600, &err) < 0)
		*ret_status = cli_fail_err(d->cli, "io", &err);
	else
		done(d, "the old state is kept as %s", file);
	return true;
}

/* A new state from the worktrees. old: NULL = it cannot be read. */
static void
make_state(struct doctor *d, const struct settings *settings,
    const struct doctor_fleet_worktrees *trees, const struct state *old,
    struct state *fresh)
{
	const char *onto = settings_string(settings, "repo.default_branch");
	const char *prefix = settings_string(settings, "repo.branch_prefix");

	state_init(fresh);
	if (old != NULL) {
		memcpy(fresh->root_id, old->root_id, sizeof fresh->root_id);
		fresh->receipts = old->receipts;
	}
	/* The old one may belong to another root. */
	root_id_read(&d->cli->workspace, fresh->root_id, NULL);
	progress_begin(d->cli, "looking at the worktrees");
	for (size_t i = 0; i < trees->count; i++) {
		const struct doctor_fleet_worktree *t = &trees->list[i];
		cleanup_free char *branch = xasprintf("%s%s", prefix, t->name);

		progress_count(i, trees->count);
		/* A detached one is in the middle of a rebase. */
		if (t->branch[0] != '\0' && strcmp(t->branch, branch) != 0)
			continue;
		state_add(fresh,
		    make_worker(d->cli,
			&(struct doctor_fleet_worktree){
			    t->name, t->path, branch },
			onto, old));
	}
	progress_end();
}

static int
write_state(struct doctor *d, const struct settings *settings,
    const struct doctor_fleet_worktrees *trees)
{
	cleanup_json struct json_object *json = NULL, *result = NULL;
	struct state old, fresh;
	struct err err = { 0 };
	const char *damaged;
	int status;
	bool have_old = read_old(d, &old, &status);

	if (status == CLI_OK) {
		make_state(d, settings, trees, have_old ? &old : NULL, &fresh);
		json = state_to_json(&fresh);
		if (remote_rebuild(d->cli, json, &result, &err) < 0)
			status = cli_fail_err(d->cli, "io", &err);
	}
	if (status == CLI_OK) {
		damaged = json_string_or(result, "damaged", NULL);
		if (damaged != NULL)
			done(d, "the damaged llmc.db is kept as %s", damaged);
		done(d, "wrote a new state with %zu worker%s", fresh.count,
		    fresh.count == 1 ? "" : "s");
	}
	if (json != NULL)
		state_release(&fresh);
	if (have_old)
		state_release(&old);
	return status;
}

int
doctor_repair_rebuild(struct doctor *d, bool yes)
{
	cleanup_free char *file =
	    workspace_path(&d->cli->workspace, "state.lock");
	struct doctor_fleet_worktrees trees = { 0 };
	struct settings *settings = NULL;
	int status;

	/* autod takes it for itself when it writes. */
	if (lock_is_held(file) == 1)
		return cli_fail(d->cli, "busy",
		    "a daemon is running; stop it first with: llmc down");
	status = cli_load_settings(d->cli, &settings);
	if (status == CLI_OK)
		status = doctor_fleet_worktrees_load(d->cli, settings, &trees);
	if (status == CLI_OK)
		status = ask_confirm(d->cli, yes,
		    "This creates a new state from %zu worktree%s, and forgets "
		    "what the workers were doing.",
		    trees.count, trees.count == 1 ? "" : "s");
	if (status == CLI_OK)
		status = write_state(d, settings, &trees);
	doctor_fleet_worktrees_release(&trees);
	settings_free(settings);
	return status;
}
