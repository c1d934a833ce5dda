/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "box.h"
#include "check-place.h"
#include "core.h"
#include "emit.h"
#include "errand.h"
#include "git-facts.h"
#include "git.h"
#include "identity.h"
#include "landing-private.h"
#include "operation.h"
#include "place.h"
#include "settings.h"
#include "workspace.h"

#define OUTPUT_MAX (64 * 1024) /* the end of it */

static const char prefix[] = "failed-";

static char *
path_of(const struct core *core, const char *tree)
{
	cleanup_free char *name = xasprintf("checks/%s%s.log", prefix, tree);

	return workspace_path(core->workspace, name);
}

void
check_output_keep(const struct core *core, const char *tree, const char *how,
    const char *output)
{
	cleanup_free char *path = path_of(core, tree);
	cleanup_buf struct buf text = BUF_INIT;
	size_t len = strlen(output);
	struct err err = { 0 };

	buf_addf(&text, "%s\n", how);
	buf_adds(&text, len > OUTPUT_MAX ? output + len - OUTPUT_MAX : output);
	if (file_replace(path, text.data, text.len, 0600, &err) < 0)
		log_debug("%s", err.msg);
}

void
check_output_read(const struct core *core, const char *tree, struct buf *how,
    struct buf *output)
{
	cleanup_free char *path = path_of(core, tree);
	cleanup_buf struct buf text = BUF_INIT;
	size_t line;

	if (file_read(path, 2 * OUTPUT_MAX, &text, NULL) < 0)
		return;
	line = strcspn(text.data, "\n");
	buf_add(how, text.data, line);
	if (text.data[line] == '\n')
		buf_adds(output, text.data + line + 1);
}

/* By any command: the output of a tree is that of its last failure. */
static bool
is_wanted(const struct check_book *book, const char *name)
{
	size_t len = strcspn(name, ".");

	for (size_t i = 0; i < book->count; i++) {
		const struct check_result *result = &book->results[i];

		if (result->fails > 0 && strlen(result->tree) == len &&
		    memcmp(result->tree, name, len) == 0)
			return true;
	}
	return false;
}

void
check_output_trim(const struct core *core)
{
	cleanup_free char *dir = workspace_path(core->workspace, "checks");
	cleanup_dir DIR *list = opendir(dir);
	size_t skip = strlen(prefix);
	const char *name;

	while ((name = dir_next(list)) != NULL)
		if (strncmp(name, prefix, skip) == 0 &&
		    !is_wanted(&core->state.landings.checks, name + skip))
			unlinkat(dirfd(list), name, 0);
}

#define NAME_SIZE (CHECK_TREE_SIZE + CHECK_KEY_SIZE)

enum {
	STEP_PLACE,
	STEP_RUN,
	STEP_COMPARE
};

struct check_slot {
	struct operation op; /* first; while it is busy */
	struct core *core;
	int number;
	struct check_place *place;
	const char *dir; /* its worktree */
	char *run_dir; /* the errand's files */
	check_slot_fn *fn;
	void *arg;

	bool busy;
	bool adopting;
	bool leaving; /* the daemon stops: the command goes on */
	char name[NAME_SIZE]; /* of the errand: <tree>-<key> */
	char tree[CHECK_TREE_SIZE], key[CHECK_KEY_SIZE], commit[GIT_ID_SIZE];
	char *command; /* as it was when the check began: `key` is its name */
	char *task, *base;
	char **protected_paths;
	bool afresh;
	bool ran; /* its command */
	int64_t since_ms;
	struct errand *errand; /* while it runs */
	struct errand_facts {
		enum check_verdict verdict;
		int64_t duration_ms;
	} facts;
	struct buf how, output;
};

static const char *
command_of(const struct core *core)
{
	return settings_string(core->settings, "auto.check_command");
}

void
check_slot_key(const struct core *core, char ret_key[CHECK_KEY_SIZE])
{
	check_book_key(command_of(core), ret_key);
}

/* --- step place: the worktree at that commit, set up ------------------ */

/* A setup that fails here fails for the sake of what is checked. */
static void
on_placed(const char *broken, const struct err *err, void *arg)
{
	struct check_slot *slot = arg;

	if (broken != NULL)
		EMIT(slot->core, EVENT_WORKTREE_BROKEN, .path = broken);
	if (err == NULL || err->code != -ECHILD) {
		operation_on_done(err, arg);
		return;
	}
	slot->facts.verdict = CHECK_FAILED;
	buf_adds(&slot->how, err->msg);
	if (operation_arrived(&slot->op, NULL))
		operation_done(&slot->op);
}

static void
step_place(struct operation *op)
{
	struct check_slot *slot = (struct check_slot *)op;
	struct git_check_tree what = {
		.commit = slot->commit,
		.judge = slot->base,
		.protected_paths = strv_const(slot->protected_paths),
	};

	check_place_begin(
	    slot->place, &what, slot->afresh, on_placed, operation_await(op));
}

static void
cancel_place(struct operation *op)
{
	check_place_cancel(((struct check_slot *)op)->place);
}

/* --- step run: the command ------------------------------------------- */

static void
judge(struct check_slot *slot, const struct errand_result *result)
{
	slot->facts.duration_ms = result->duration_ms;
	buf_clear(&slot->how);
	if (result->timed_out) {
		slot->facts.verdict = CHECK_FAILED;
		buf_adds(&slot->how, "took too long");
	} else if (result->lost) {
		slot->facts.verdict = CHECK_UNJUDGED;
		buf_adds(&slot->how, "was killed");
	} else {
		/* The command writes to standard output only: what is on the
		 * other says why it was not started. */
		slot->facts.verdict = result->status == 0 ? CHECK_PASSED :
		    result->status == CHECK_EXIT_UNJUDGED ||
			result->err.len > 0 ?
							    CHECK_UNJUDGED :
							    CHECK_FAILED;
		buf_addf(&slot->how, "exited with status %d", result->status);
	}
	buf_clear(&slot->output);
	buf_add(&slot->output, result->out.data, result->out.len);
}

static void
on_exited(const struct errand_result *result, void *arg)
{
	struct check_slot *slot = arg;

	judge(slot, result);
	errand_free(take_ptr(&slot->errand));
	operation_on_over(&slot->op);
}

static int
start_errand(struct check_slot *slot, struct err *err)
{
	const struct core *core = slot->core;
	cleanup_free char *number =
	    xasprintf("LLMC_CHECK_SLOT=%d", slot->number);
	cleanup_free char *commit = xasprintf("LLMC_COMMIT=%s", slot->commit);
	cleanup_free char *task =
	    xasprintf("LLMC_TASK=%s", slot->task != NULL ? slot->task : "");
	cleanup_free char *merged = NULL, *command = NULL;
	cleanup_free char *whose = identity_command(core->workspace->root);
	const char *const own[] = { number, commit, task, whose, NULL };
	cleanup_strv char **env = NULL;
	struct errand_spec spec = {
		.dir = slot->run_dir,
		.name = slot->name,
		.cwd = slot->dir,
		.deadline_ms =
		    settings_duration(core->settings, "auto.check_timeout"),
	};
	const char *const *box = NULL, *const *place = NULL;
	int r = file_mkdirs(slot->run_dir, 0700, err);

	if (r == 0 && !slot->adopting)
		r = check_place_box(slot->place, &box, &place, err);
	if (r < 0)
		return r;
	/* What bubblewrap says on standard error is no result of the check. */
	merged = xasprintf(
	    "exec 2>&1\n%s", slot->command != NULL ? slot->command : "");
	command = box_shell(box, merged);
	spec.command = command;
	if (box == NULL)
		box_hide_env(core->settings, NULL, &env);
	if (place != NULL)
		strv_add_all(&env, place);
	strv_add_all(&env, own);
	spec.env = strv_const(env);
	{
		struct loop *loop = slot->core->loop;

		if (slot->adopting)
			return errand_adopt(
			    loop, &spec, on_exited, slot, &slot->errand, err);
		r = errand_forget(slot->run_dir, slot->name, err);
		if (r < 0)
			return r;
		return errand_start(
		    loop, &spec, on_exited, slot, &slot->errand, err);
	}
}

static void
step_run(struct operation *op)
{
	struct check_slot *slot = (struct check_slot *)op;
	struct err err = { 0 };

	slot->ran = true;
	if (start_errand(slot, &err) < 0)
		operation_fail(op, &err);
	else
		operation_await(op);
}

static void
cancel_run(struct operation *op)
{
	struct check_slot *slot = (struct check_slot *)op;

	if (slot->errand == NULL)
		return;
	if (!slot->leaving) {
		errand_cancel(slot->errand);
		return;
	}
	errand_free(take_ptr(&slot->errand));
	operation_arrived(op, NULL);
}

/* --- step compare: is its judge what it was? --------------------------- */

static void
take_changed(struct check_slot *slot, const struct git_list *paths)
{
	cleanup_buf struct buf shown = BUF_INIT;

	if (paths->count == 0)
		return;
	text_add_visible(&shown, paths->v[0],
	    text_cut(paths->v[0], strlen(paths->v[0]), 200), false);
	/* The judge of one that was adopted is not known. */
	slot->facts.verdict = slot->adopting ? CHECK_UNJUDGED : CHECK_FAILED;
	buf_clear(&slot->how);
	buf_addf(&slot->how, "changed what is protected while it ran: %s",
	    shown.data);
}

static void
on_compared(const struct git_list *paths, const struct err *err, void *arg)
{
	struct check_slot *slot = arg;

	if (!operation_arrived(&slot->op, NULL))
		return;
	if (err == NULL) {
		take_changed(slot, paths);
	} else {
		slot->facts.verdict =
		    err->code == -EUCLEAN ? CHECK_FAILED : CHECK_UNJUDGED;
		buf_clear(&slot->how);
		buf_addf(&slot->how, "cannot be believed: %s", err->msg);
	}
	operation_done(&slot->op);
}

static void
step_compare(struct operation *op)
{
	struct check_slot *slot = (struct check_slot *)op;
	const char *judge = slot->adopting ? slot->tree :
	    slot->base != NULL             ? slot->base :
					     slot->commit;

	if (slot->facts.verdict != CHECK_PASSED ||
	    strv_count(slot->protected_paths) == 0) {
		operation_done(op);
		return;
	}
	git_check_tree_compare(slot->core->git, slot->dir, judge,
	    strv_const(slot->protected_paths), on_compared,
	    operation_await(op));
}

/* --- the end --------------------------------------------------------- */

/* Not while it runs on without us. */
static void
tidy(const struct check_slot *slot)
{
	const struct core *core = slot->core;
	char tip[GIT_ID_SIZE];

	if (!slot->ran)
		return;
	if (!slot->adopting)
		git_check_tree_tidy(core->git, slot->dir, slot->commit);
	else if (git_refs_tip(core->git, core_branch(core), tip) == 0)
		git_check_tree_tidy(core->git, slot->dir, tip);
}

static void
end(struct operation *op, const struct err *err)
{
	struct check_slot *slot = (struct check_slot *)op;
	struct check_end ended = {
		.tree = slot->tree,
		.key = slot->key,
		.verdict = slot->facts.verdict,
		.cancelled = err != NULL && err->code == -ECANCELED,
		.how = slot->how.data,
		.output = slot->output.data,
		.duration_ms = slot->facts.duration_ms,
	};
	bool leaving = slot->leaving;

	if (err != NULL) {
		ended.verdict = CHECK_UNJUDGED;
		ended.how = err->msg;
	}
	if (!leaving) {
		tidy(slot);
		check_place_over(slot->place, ended.verdict == CHECK_PASSED);
	}
	/* The result is in the caller's hands; if it is lost with us, the check
	 * runs again. */
	if (!leaving)
		errand_forget(slot->run_dir, slot->name, NULL);
	errand_free(take_ptr(&slot->errand));
	xstrset(&slot->command, NULL);
	xstrset(&slot->task, NULL);
	xstrset(&slot->base, NULL);
	strv_clear(&slot->protected_paths);
	slot->busy = slot->adopting = false;
	if (!leaving)
		slot->fn(slot, &ended, slot->arg);
}

static const struct operation_step steps[] = {
	[STEP_PLACE] = { .name = "place",
	    .run = step_place,
	    .cancel = cancel_place },
	[STEP_RUN] = { .name = "run", .run = step_run, .cancel = cancel_run },
	[STEP_COMPARE] = { .name = "compare", .run = step_compare },
};

OPERATION_KIND(kind, "check", steps, end);

/* Adopted: only the command is left, and a look at what it did. */
static const struct operation_kind adopted_kind = {
	.name = "check",
	.steps = steps + STEP_RUN,
	.count = nitems(steps) - STEP_RUN,
	.end = end,
};

static void
begin(struct check_slot *slot, const struct operation_kind *how)
{
	slot->busy = true;
	slot->ran = false;
	slot->since_ms = clock_wall_ms();
	slot->facts = (struct errand_facts){ .verdict = CHECK_UNJUDGED };
	buf_clear(&slot->how);
	buf_clear(&slot->output);
	operation_begin(&slot->op, how, slot->core->loop, 0);
}

void
check_slot_start(struct check_slot *slot, const struct check_subject *subject)
{
	snprintf(slot->tree, sizeof slot->tree, "%s", subject->tree);
	snprintf(slot->commit, sizeof slot->commit, "%s", subject->commit);
	xstrset(&slot->command, command_of(slot->core));
	check_book_key(slot->command, slot->key);
	snprintf(slot->name, sizeof slot->name, "%s-%s", slot->tree, slot->key);
	xstrset(&slot->task, subject->task);
	xstrset(&slot->base, subject->base);
	slot->afresh = subject->afresh;
	strv_clear(&slot->protected_paths);
	if (subject->protected_paths != NULL)
		strv_add_all(&slot->protected_paths, subject->protected_paths);
	begin(slot, &kind);
}

bool
check_slot_adopt(struct check_slot *slot)
{
	const char *const *paths;
	char name[NAME_SIZE];
	char *dash;

	while (errand_find(slot->run_dir, name, sizeof name)) {
		dash = strchr(name, '-');
		if (dash == NULL || dash - name >= CHECK_TREE_SIZE ||
		    strlen(dash + 1) >= CHECK_KEY_SIZE) {
			if (errand_forget(slot->run_dir, name, NULL) < 0)
				return false;
			continue;
		}
		strlcpy(slot->name, name, sizeof slot->name);
		*dash = '\0';
		strlcpy(slot->tree, name, sizeof slot->tree);
		strlcpy(slot->key, dash + 1, sizeof slot->key);
		slot->adopting = true;
		settings_list(
		    slot->core->settings, "repo.protected_paths", &paths);
		strv_clear(&slot->protected_paths);
		strv_add_all(&slot->protected_paths, paths);
		begin(slot, &adopted_kind);
		return true;
	}
	return false;
}

void
check_slot_cancel(struct check_slot *slot)
{
	if (slot->busy)
		operation_cancel(&slot->op, "it is not needed any more");
}

void
check_slot_stop(struct check_slot *slot)
{
	slot->leaving = true;
	if (slot->busy)
		operation_cancel(&slot->op, "the daemon is stopping");
}

const char *
check_slot_tree(const struct check_slot *slot)
{
	return slot->busy ? slot->tree : NULL;
}

int64_t
check_slot_since_ms(const struct check_slot *slot)
{
	return slot->since_ms;
}

struct check_slot *
check_slot_new(struct core *core, int number, check_slot_fn *fn, void *arg)
{
	struct check_slot *slot = xcalloc(1, sizeof *slot);
	cleanup_free char *name = xasprintf("%d", number);
	cleanup_free char *run_dir = xasprintf("checks/run-%d", number);

	slot->core = core;
	slot->number = number;
	slot->place =
	    check_place_new(&(struct check_place_spec){ .loop = core->loop,
		.git = core->git,
		.workspace = core->workspace,
		.settings = &core->settings,
		.name = name,
		.index = PLACE_SLOTS + number,
		.keeps = true });
	slot->dir = check_place_dir(slot->place);
	slot->run_dir = workspace_path(core->workspace, run_dir);
	slot->fn = fn;
	slot->arg = arg;
	buf_init(&slot->how);
	buf_init(&slot->output);
	return slot;
}

void
check_slot_free(struct check_slot *slot)
{
	if (slot == NULL)
		return;
	slot->leaving = true;
	if (slot->busy) {
		errand_free(take_ptr(&slot->errand));
		operation_drop(&slot->op);
	}
	buf_release(&slot->how);
	buf_release(&slot->output);
	check_place_free(slot->place);
	free(slot->run_dir);
	free(slot);
}
