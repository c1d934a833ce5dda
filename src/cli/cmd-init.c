/* SPDX-License-Identifier: ISC */

/*
 * llmc init: make <root>/.llmc with a config file to start from, and keep it
 * and the worktrees out of git through .git/info/exclude. Nothing tracked is
 * touched. A second run repairs what is missing and changes nothing else.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "commands.h"
#include "config.h"
#include "errtext.h"
#include "file.h"
#include "git-ask.h"
#include "json.h"
#include "mem.h"
#include "settings.h"
#include "shape.h"
#include "text.h"

#define EXCLUDE_MAX (1024 * 1024)

static const char config_start[] =
    "# Settings of llmc for this repository. Every setting has a default:\n#   "
    "llmc config list      the values in effect\n#   llmc config doc       "
    "every key with its meaning\n#   llmc config set KEY VALUE\n";

/* Is there such a line already? */
static bool
has_line(const char *text, const char *line)
{
	size_t len = strlen(line);

	for (const char *p = text; p != NULL && *p != '\0';) {
		if (strncmp(p, line, len) == 0 &&
		    (p[len] == '\n' || p[len] == '\0' || p[len] == '\r'))
			return true;
		p = strchr(p, '\n');
		if (p != NULL)
			p++;
	}
	return false;
}

/* Append "/part" for every part of a path below the root, with characters that
 * have a meaning in an exclude file escaped. False for what cannot be written
 * as a pattern: "..", an empty path, a newline. */
static bool
add_pattern(struct buf *out, const char *path)
{
	size_t before = out->len, len;

	for (; *path != '\0'; path += len) {
		path += strspn(path, "/");
		len = strcspn(path, "/");
		if (len == 0 || (len == 1 && path[0] == '.'))
			continue;
		if (len == 2 && strncmp(path, "..", 2) == 0)
			return false;
		buf_addc(out, '/');
		for (size_t i = 0; i < len; i++) {
			if (path[i] == '\n')
				return false;
			if (strchr("\\*?[", path[i]) != NULL)
				buf_addc(out, '\\');
			buf_addc(out, path[i]);
		}
	}
	return out->len > before;
}

/* The pattern that keeps one of llmc's folders out of git, NULL if it is
 * outside the repository. */
static char *
exclude_pattern(const struct workspace *ws, const char *dir)
{
	cleanup_free char *path = workspace_resolve(ws, dir);
	cleanup_buf struct buf pattern = BUF_INIT;
	size_t len = strlen(ws->root);

	if (strncmp(path, ws->root, len) != 0 || path[len] != '/' ||
	    !add_pattern(&pattern, path + len))
		return NULL;
	buf_addc(&pattern, '/');
	return buf_take(&pattern);
}

static int
add_excludes(const struct workspace *ws, const char *worktree_dir,
    bool *ret_changed, struct err *err)
{
	cleanup_free char *info = file_join(ws->git_dir, "info");
	cleanup_free char *file = file_join(info, "exclude");
	/* Without a slash at its end, so that it also matches a link. */
	char *patterns[] = { xstrdup("/.llmc"),
		exclude_pattern(ws, worktree_dir) };
	cleanup_buf struct buf text = BUF_INIT;
	int r = file_read(file, EXCLUDE_MAX, &text, err);
	size_t before;

	if (r == -ENOENT)
		r = 0;
	before = text.len;
	for (size_t i = 0; r == 0 && i < nitems(patterns); i++) {
		if (patterns[i] == NULL || has_line(text.data, patterns[i]))
			continue;
		if (text.len > 0 && text.data[text.len - 1] != '\n')
			buf_addc(&text, '\n');
		buf_addf(&text, "%s\n", patterns[i]);
	}
	if (r == 0 && text.len > before) {
		*ret_changed = true;
		r = file_mkdirs(info, 0755, err);
		if (r == 0)
			r = file_replace(file, text.data, text.len, 0644, err);
	}
	for (size_t i = 0; i < nitems(patterns); i++)
		free(patterns[i]);
	return r;
}

/* Write a first config if there is none. One that cannot be examined is not
 * replaced. */
static int
make_config(const char *path, bool *ret_changed, struct err *err)
{
	struct stat st;

	if (lstat(path, &st) == 0)
		return 0;
	if (errno != ENOENT)
		return err_errno(err, -errno, "cannot access %s", path);
	*ret_changed = true;
	return file_replace(
	    path, config_start, sizeof config_start - 1, 0600, err);
}

static int
make_files(const struct workspace *ws, bool *ret_changed, struct err *err)
{
	cleanup_free char *config = workspace_path(ws, "config.toml");
	cleanup_free char *logs = workspace_path(ws, "logs");
	struct settings *settings;
	int r;

	*ret_changed = false;
	if (!file_is_dir(logs)) {
		*ret_changed = true;
		r = file_mkdirs(logs, 0700, err);
		if (r < 0)
			return r;
	}
	r = make_config(config, ret_changed, err);
	if (r < 0)
		return r;
	r = config_load_strict(ws, &settings, err);
	if (r < 0)
		return r;
	r = add_excludes(ws, settings_string(settings, "repo.worktree_dir"),
	    ret_changed, err);
	settings_free(settings);
	return r;
}

static int
init_run(struct cli *cli, const struct cli_args *args)
{
	struct workspace *ws = &cli->workspace;
	bool existed = workspace_initialised(ws), changed = false;
	cleanup_buf struct buf root = BUF_INIT;
	struct err err = { 0 };
	int r;

	(void)args;
	if (git_ask_is_bare(ws->root))
		return cli_fail(cli, "bad_repository",
		    "%s/.git is a bare repository, and llmc needs the main "
		    "working tree; work in a clone: git clone %s/.git",
		    ws->root, ws->root);
	r = git_ask_has_commit(ws->root, &err);
	if (r < 0)
		return cli_fail_err(cli, "bad_repository", &err);
	if (r == 0)
		return cli_fail(cli, "no_commit",
		    "%s has no commit yet, and worktrees need one; create it "
		    "with: git commit --allow-empty -m Start",
		    ws->root);
	r = make_files(ws, &changed, &err);
	if (r < 0)
		return cli_fail_err(
		    cli, r == -EINVAL ? "bad_config" : "io", &err);
	cli->result = json_object_new_object();
	json_set_string(cli->result, "root", ws->root);
	json_set_bool(cli->result, "created", !existed);
	json_set_bool(cli->result, "changed", changed);
	text_add_visible(&root, ws->root, strlen(ws->root), false);
	if (ws->in_worktree)
		buf_addf(&cli->text, "This is a worktree of %s.\n", root.data);
	if (!existed)
		buf_addf(&cli->text,
		    "Set up llmc in %s/.llmc, which git ignores.\nNext: llmc "
		    "doctor\n",
		    root.data);
	else
		buf_addf(&cli->text, "%s is already set up; %s.\n", root.data,
		    changed ? "what was missing has been added" :
			      "nothing was changed");
	return CLI_OK;
}

static const struct shape init_shape = {
	.fields =
	    (const struct shape_field[]){
		{ .name = "root",
		    .type = SHAPE_STRING,
		    .help = "top of the main working tree" },
		{ .name = "created",
		    .type = SHAPE_BOOL,
		    .help = "it had not been set up before" },
		{ .name = "changed",
		    .type = SHAPE_BOOL,
		    .help = "something was missing and has been added" },
		{ .name = NULL },
	    },
};

const struct cli_command cmd_init = {
	.name = "init",
	.usage = "",
	.summary = "set up llmc in this git repository",
	.help =
	    "Creates the folder .llmc at the top of the repository, with an "
	    "initial config\nfile, and keeps it out of git through "
	    ".git/info/exclude. No tracked file is\nchanged. Running it again "
	    "restores what is missing. In a linked worktree, it\nsets up the "
	    "main working tree.\n",
	.needs = CLI_NEEDS_REPO,
	.shape =
	    &(const struct shape_field){
		.type = SHAPE_OBJECT,
		.of = &init_shape,
	    },
	.run = init_run,
};
