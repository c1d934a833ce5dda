/* SPDX-License-Identifier: ISC */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "box-fault.h"
#include "box.h"
#include "child.h"
#include "clock.h"
#include "cli.h"
#include "config.h"
#include "doctor-box.h"
#include "doctor-kernel.h"
#include "doctor-scene.h"
#include "doctor.h"
#include "errtext.h"
#include "escape-table.h"
#include "git-clone.h"
#include "json.h"
#include "mem.h"
#include "settings.h"
#include "strv.h"
#include "table.h"
#include "tmux.h"
#include "workspace.h"

#define TRUE_DEADLINE_MS 10000

static const char *const verdict_keys[ESCAPE_VERDICT_COUNT] = {
	[ESCAPE_HELD] = "held",
	[ESCAPE_NOT_HELD] = "not_held",
	[ESCAPE_NO_EVIDENCE] = "no_evidence",
};
static const char *const verdict_colours[ESCAPE_VERDICT_COUNT] = {
	[ESCAPE_HELD] = "32",
	[ESCAPE_NOT_HELD] = "1;31",
	[ESCAPE_NO_EVIDENCE] = "2",
};

struct trial {
	struct doctor *doctor;
	enum box_mode mode;
	bool linked; /* a worktree, since there can be no clone here */
	bool scoped; /* worktree closes abstract sockets */
	struct doctor_scene *scene;
	char *agent; /* its program; NULL = the settings are not known */
	struct box box;
	struct table *table;
	struct json_object *rows;
	int counts[ESCAPE_VERDICT_COUNT];
};

/* --- settings ---------------------------------------------------------- */

/* The lists of the repository open its boxes further: try them too. */
static const char *const opened[] = { "defaults.sandbox_read",
	"defaults.sandbox_write", "defaults.sandbox_env",
	"defaults.agent_command" };

static void
add_config(const struct settings *settings, enum box_mode mode, struct buf *out)
{
	buf_addf(out, "[defaults]\nsandbox = \"%s\"\n", box_mode_name(mode));
	for (size_t i = 0; settings != NULL && i < nitems(opened); i++) {
		struct json_object *value = NULL;
		unsigned line;

		if (!settings_value(settings, opened[i], &value, &line))
			continue;
		buf_addf(out, "%s = %s\n", strchr(opened[i], '.') + 1,
		    json_object_to_json_string_ext(
			value, JSON_C_TO_STRING_NOSLASHESCAPE));
		json_object_put(value);
	}
}

/* --- the box ----------------------------------------------------------- */

static int
prepare_box(struct trial *t, struct err *err)
{
	cleanup_workspace struct workspace ws = { 0 };
	struct settings *settings = NULL;
	struct box_spec spec = { .kind = BOX_SESSION,
		.workspace = &ws,
		.worker = doctor_scene_worker(),
		.tree = doctor_scene_worktree(t->scene) };
	int r = workspace_at(doctor_scene_root(t->scene), &ws, err);

	if (r == 0)
		r = config_load_strict(&ws, &settings, err);
	if (r < 0)
		return r;
	spec.settings = settings;
	r = box_prepare(&spec, &t->box, err);
	settings_free(settings);
	return r;
}

/* Does the vector work at all? */
static bool
try_nothing(struct trial *t)
{
	cleanup_strv char **argv = NULL;
	struct child_spec spec = { .cwd = doctor_scene_worktree(t->scene),
		.merge_stderr = true,
		.deadline_ms = TRUE_DEADLINE_MS };
	cleanup_child_result struct child_result result;
	cleanup_buf struct buf text = BUF_INIT, detail = BUF_INIT;
	const struct box_fault *fault;
	struct err err = { 0 };
	int64_t began = clock_mono_ms();

	strv_add_all(&argv, strv_const(t->box.prefix));
	strv_add(&argv, "true");
	spec.argv = strv_const(argv);
	if (child_run(&spec, &result, &err) < 0)
		buf_adds(&text, err.msg);
	else
		child_output_text(&result.out, &text);
	if (child_succeeded(&result)) {
		buf_addf(&detail, "a box of mode %s works; it takes %d ms",
		    box_mode_name(t->mode), (int)(clock_mono_ms() - began));
		doctor_note(t->doctor, VERDICT_OK, "box", detail.data, NULL);
		return true;
	}
	fault = box_fault_find(text.data);
	while (text.len > 0 && text.data[text.len - 1] == '\n')
		buf_truncate(&text, text.len - 1);
	buf_addf(&detail, "%s (%s)", fault->cause,
	    text.len > 0 ? text.data : "no message");
	doctor_note(t->doctor, VERDICT_FAIL, "box", detail.data, fault->fix);
	return false;
}

/* --- programs ---------------------------------------------------------- */

/* Prints the programs of PATH that are links to what is not there: at most some
 * of them. */
static const char unseen_script[] =
    "IFS=:; n=0; for d in $PATH; do for f in \"$d\"/*; do\n"
    "case $d in /usr/*|/bin|/sbin) continue 2;; esac\n"
    "[ $n -lt 20 ] || exit 0\n"
    "if [ -L \"$f\" ] && [ ! -e \"$f\" ]; then\n"
    "	n=$((n + 1)); printf '%s\\n' \"$f\"\n"
    "fi; done; done\n";

/* The first of these paths that is a program outside, and where it is. */
static bool
find_unseen(char *text, char **ret_name, char **ret_folder)
{
	char *line, *rest = text;

	while ((line = strsep(&rest, "\n")) != NULL) {
		cleanup_free char *real = realpath(line, NULL);

		if (real == NULL || access(real, X_OK) == -1)
			continue;
		*ret_name = xstrdup(line);
		*strrchr(real, '/') = '\0';
		*ret_folder = take_ptr(&real);
		return true;
	}
	return false;
}

/* A program in a box (prefix NULL: outside). Does it succeed? */
static bool
succeeds(const struct trial *t, char *const *prefix, const char *const *words,
    struct buf *text)
{
	cleanup_strv char **argv = NULL;
	struct child_spec spec = { .cwd = doctor_scene_worktree(t->scene),
		.merge_stderr = true,
		.deadline_ms = TRUE_DEADLINE_MS };
	cleanup_child_result struct child_result result;

	strv_add_all(&argv, strv_const(prefix));
	strv_add_all(&argv, words);
	spec.argv = strv_const(argv);
	if (child_run(&spec, &result, NULL) < 0)
		return false;
	child_output_text(&result.out, text);
	return child_succeeded(&result);
}

static void
check_links(struct trial *t)
{
	const char *const words[] = { "/bin/sh", "-c", unseen_script, NULL };
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_free char *name = NULL, *folder = NULL, *detail = NULL;
	cleanup_free char *fix = NULL;

	if (!succeeds(t, t->box.prefix, words, &text) ||
	    !find_unseen(text.data, &name, &folder))
		return;
	detail = xasprintf(
	    "%s is in %s, which a sandbox does not see", name, folder);
	fix = xasprintf("if workers need it: llmc config set "
			"defaults.sandbox_read '[\"%s\"]'",
	    folder);
	doctor_note(t->doctor, VERDICT_WARN, "programs", detail, fix);
}

/* Does the agent start in there, if it does outside? */
static void
check_agent(struct trial *t)
{
	const char *const words[] = { t->agent, "--version", NULL };
	cleanup_buf struct buf text = BUF_INIT, outside = BUF_INIT;
	cleanup_free char *detail = NULL;

	if (t->agent == NULL || !succeeds(t, NULL, words, &outside) ||
	    succeeds(t, t->box.prefix, words, &text))
		return;
	buf_truncate(&text, strcspn(text.data, "\n"));
	detail = xasprintf("%s does not start in a sandbox: %s", t->agent,
	    text.len > 0 ? text.data : "no message");
	doctor_note(t->doctor, VERDICT_FAIL, "agent", detail,
	    "add the folder of what it needs: llmc config set "
	    "defaults.sandbox_read '[\"FOLDER\"]'");
}

/* --- the escapes ------------------------------------------------------- */

static void
show_progress(const struct trial *t, const char *where, size_t at)
{
	if (t->doctor->cli->json || !isatty(STDERR_FILENO))
		return;
	if (where == NULL)
		fprintf(stderr, "\r\033[K");
	else
		fprintf(stderr, "\r\033[K%s: %zu of %zu", where, at + 1,
		    escape_count());
	fflush(stderr);
}

static bool
is_wanted(const struct trial *t, const struct escape *escape)
{
	if (t->mode == BOX_STRICT)
		return (escape->modes & ESCAPE_STRICT) != 0;
	return (escape->modes &
		   (t->linked ? ESCAPE_LINKED : ESCAPE_WORKTREE)) != 0 &&
	    ((escape->modes & ESCAPE_SCOPED) == 0 || t->scoped);
}

static void
add_row(struct trial *t, const struct escape *escape, bool box, bool control)
{
	enum escape_verdict verdict = escape_judge(box, control);
	const char *const cells[] = { escape_verdict_word(verdict),
		escape_group_word(escape->group), escape->id, escape->words };
	struct json_object *row = json_object_new_object();

	t->counts[verdict]++;
	table_row(t->table, cells);
	table_colour(t->table, 0, verdict_colours[verdict]);
	json_set_string(row, "id", escape->id);
	json_set_string(row, "group", escape_group_word(escape->group));
	json_set_string(row, "words", escape->words);
	json_set_string(row, "verdict", verdict_keys[verdict]);
	json_set_bool(row, "box_escaped", box);
	json_set_bool(row, "control_escaped", control);
	json_object_array_add(t->rows, row);
}

/* All rows in the box (or, prefix NULL, as the control): has each escaped? */
static int
try_all(struct trial *t, char *const *prefix, bool *escaped, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < escape_count() && r == 0; i++) {
		show_progress(
		    t, prefix != NULL ? "in the box" : "without a box", i);
		if (is_wanted(t, &escape_table[i]))
			r = doctor_scene_try(t->scene, &escape_table[i], prefix,
			    &escaped[i], err);
	}
	show_progress(t, NULL, 0);
	return r;
}

/* A box changes little, so that all rows in it and then all without it is
 * faster than each row in both. */
static int
try_escapes(struct trial *t, struct err *err)
{
	cleanup_free bool *box = xcalloc(escape_count(), sizeof *box);
	cleanup_free bool *control = xcalloc(escape_count(), sizeof *control);
	int r = try_all(t, t->box.prefix, box, err);

	if (r == 0)
		r = try_all(t, NULL, control, err);
	for (size_t i = 0; i < escape_count() && r == 0; i++)
		if (is_wanted(t, &escape_table[i]))
			add_row(t, &escape_table[i], box[i], control[i]);
	return r;
}

/* --- the report -------------------------------------------------------- */

static void
tell(struct trial *t)
{
	struct cli *cli = t->doctor->cli;

	buf_addc(&cli->text, '\n');
	table_print(t->table, cli->width, cli->colour, &cli->text);
	buf_addf(&cli->text, "\nMode %s: %d held, %d NOT held",
	    box_mode_name(t->mode), t->counts[ESCAPE_HELD],
	    t->counts[ESCAPE_NOT_HELD]);
	if (t->counts[ESCAPE_NO_EVIDENCE] > 0)
		buf_addf(&cli->text,
		    "; %d no evidence (fail on this machine without a sandbox "
		    "too)",
		    t->counts[ESCAPE_NO_EVIDENCE]);
	buf_adds(&cli->text, ".\n");
	if (t->mode == BOX_WORKTREE)
		buf_addf(&cli->text,
		    "Mode worktree has the network of this machine, its "
		    "loopback too%s; strict has none.\n",
		    t->scoped ? "" : ", and its abstract unix sockets");
	if (t->linked)
		buf_adds(&cli->text,
		    "In this repository (Git LFS, submodules, a partial clone "
		    "or a reftable) a worker of mode worktree can delete and change "
		    "git objects.\n");
	if (t->counts[ESCAPE_NOT_HELD] > 0)
		doctor_note(t->doctor, VERDICT_FAIL, "escapes",
		    "the sandbox does not hold everything that it should",
		    "look at sandbox_read and sandbox_write: llmc config list; "
		    "otherwise report this as a bug");
	else
		doctor_note(t->doctor, VERDICT_OK, "escapes",
		    "everything that could be tried was held", NULL);
}

static struct json_object *
report(struct trial *t)
{
	struct json_object *json = json_object_new_object();

	json_set_string(json, "mode", box_mode_name(t->mode));
	for (size_t i = 0; i < ESCAPE_VERDICT_COUNT; i++)
		json_set_int(json, verdict_keys[i], t->counts[i]);
	json_set(json, "escapes", json_object_get(t->rows));
	return json;
}

static const struct table_column columns[] = {
	{ .title = "VERDICT" },
	{ .title = "GROUP" },
	{ .title = "ESCAPE" },
	{ .title = "WHAT IT TRIES", .flexible = true },
};

static int
run_trial(struct trial *t, struct err *err)
{
	struct cli *cli = t->doctor->cli;
	int r = prepare_box(t, err);

	if (r < 0) {
		const struct box_fault *fault = box_fault_find(err->msg);

		doctor_note(
		    t->doctor, VERDICT_FAIL, "box", err->msg, fault->fix);
		return 0;
	}
	if (!try_nothing(t))
		return 0;
	check_links(t);
	check_agent(t);
	r = doctor_scene_keep(t->scene, err);
	if (r < 0)
		return r;
	cli_flush(cli);
	t->table = table_new(columns, nitems(columns));
	t->rows = json_object_new_array();
	r = try_escapes(t, err);
	if (r == 0)
		tell(t);
	return r;
}

/* The settings of this repository, or NULL. */
static struct settings *
settings_here(struct doctor *d)
{
	struct settings *settings = NULL;

	if (d->cli->workspace.root != NULL &&
	    config_load_strict(&d->cli->workspace, &settings, NULL) < 0)
		return NULL;
	return settings;
}

static enum box_mode
choose_mode(const struct settings *settings, const char *mode)
{
	enum box_mode chosen =
	    settings != NULL ? box_mode_strictest(settings) : BOX_WORKTREE;

	if (mode != NULL)
		return strcmp(mode, "strict") == 0 ? BOX_STRICT : BOX_WORKTREE;
	return chosen == BOX_OFF ? BOX_WORKTREE : chosen;
}

int
doctor_box_run(
    struct doctor *d, const char *mode, struct json_object **ret_report)
{
	struct settings *settings = settings_here(d);
	struct trial t = { .doctor = d, .mode = choose_mode(settings, mode) };
	cleanup_buf struct buf config = BUF_INIT;
	cleanup_free char *tmux = NULL;
	struct err err = { 0 };
	int r;

	t.scoped = doctor_kernel_check(d);
	add_config(settings, t.mode, &config);
	if (settings != NULL) {
		t.agent = xstrdup(
		    settings_string(settings, "defaults.agent_command"));
		tmux =
		    tmux_socket_path(settings_string(settings, "tmux.socket"));
	}
	settings_free(settings);
	t.linked = t.mode == BOX_WORKTREE && d->cli->workspace.root != NULL &&
	    !git_clone_suits(d->cli->workspace.git_dir);
	r = doctor_scene_begin(
	    t.linked ? "worktree" : "clone", config.data, tmux, &t.scene, &err);
	if (r == 0) {
		r = run_trial(&t, &err);
		doctor_scene_end(t.scene);
	}
	if (t.rows != NULL && r == 0)
		*ret_report = report(&t);
	box_release(&t.box);
	free(t.agent);
	table_free(t.table);
	json_object_put(t.rows);
	return r < 0 ? cli_fail_err(d->cli, "failed", &err) : CLI_OK;
}

static const struct schema escape_shape = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("id", STRING, NULL),
	    SCHEMA_IS("group", STRING, NULL),
	    SCHEMA_IS("words", STRING, "what it tries"),
	    { .name = "verdict",
		.type = SCHEMA_STRING,
		.choices = (const char *const[]){ "held", "not_held",
		    "no_evidence", NULL },
		.help = "no_evidence: it fails without a sandbox too" },
	    SCHEMA_IS("box_escaped", BOOL, NULL),
	    SCHEMA_IS("control_escaped", BOOL, "without a sandbox"),
	    SCHEMA_END,
	},
};

const struct schema doctor_box_shape = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("mode", STRING, NULL),
	    SCHEMA_IS("held", INT, NULL),
	    SCHEMA_IS("not_held", INT, NULL),
	    SCHEMA_IS("no_evidence", INT, NULL),
	    SCHEMA_IS("escapes", ROWS, NULL, .of = &escape_shape),
	    SCHEMA_END,
	},
};
