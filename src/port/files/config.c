/* SPDX-License-Identifier: ISC */

#include "base.h"

#include "child.h"
#include "config.h"
#include "git-ask.h"
#include "guard.h"
#include "loop.h"
#include "settings.h"
#include "toml-edit.h"
#include "toml.h"
#include "settings-table.h"
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

#define LINKS_MAX 40 /* as the kernel */

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
on_retry(void *arg)
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
		    loop_after(reader->loop, LOCK_MS, on_retry, reader);
	else if (root_mark_is_untracked(ws))
		finish(reader, 0, &err);
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
		    loop_after(reader->loop, LOCK_MS, on_retry, reader);
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

#define KEY_PARTS_MAX 8

static int
read_config(const char *file, struct buf *text, struct err *err)
{
	int r = file_read(file, TOML_SIZE_MAX, text, err);

	return r == -ENOENT ? 0 : r;
}

/* What a test has replaced. */
static void
read_tuning(void)
{
	const char *file = getenv(TUNING_FILE);
	cleanup_buf struct buf text = BUF_INIT;

	if (file != NULL && file_read(file, TOML_SIZE_MAX, &text, NULL) == 0 &&
	    !tuning_read(text.data))
		fatalx("%s: not a list of tunings", file);
}

struct settings *
config_parse(const struct workspace *ws, const char *branch,
    const struct buf *text, struct settings_problems *ret_problems)
{
	struct settings_facts facts = { .root = ws->root,
		.home = getenv("HOME"),
		.default_branch = branch };

	read_tuning();
	return settings_parse(text->data, text->len, &facts, ret_problems);
}

int
config_load_with(const struct workspace *ws, const char *branch,
    struct settings **ret_settings, struct settings_problems *ret_problems,
    struct err *err)
{
	cleanup_free char *file = workspace_path(ws, "config.toml");
	cleanup_buf struct buf text = BUF_INIT;
	int r = read_config(file, &text, err);

	if (r < 0)
		return r;
	*ret_settings = config_parse(ws, branch, &text, ret_problems);
	return 0;
}

int
config_load(const struct workspace *ws, struct settings **ret_settings,
    struct settings_problems *ret_problems, struct err *err)
{
	cleanup_free char *branch = NULL;
	int r = config_load_with(ws, NULL, ret_settings, ret_problems, err);

	if (r < 0 ||
	    settings_string(*ret_settings, "repo.default_branch")[0] != '\0' ||
	    (branch = git_ask_default_branch(ws->root)) == NULL)
		return r;
	settings_free(*ret_settings);
	settings_problems_release(ret_problems);
	return config_load_with(ws, branch, ret_settings, ret_problems, err);
}

/* The message of the first error, if there is one. */
static int
first_error(
    const char *file, const struct settings_problems *problems, struct err *err)
{
	for (size_t i = 0; i < problems->count; i++) {
		const struct settings_problem *p = &problems->list[i];

		if (p->fatal)
			return err_set(
			    err, -EINVAL, "%s:%u: %s", file, p->line, p->text);
	}
	return 0;
}

int
config_load_strict(
    const struct workspace *ws, struct settings **ret_settings, struct err *err)
{
	cleanup_free char *file = workspace_path(ws, "config.toml");
	struct settings_problems problems;
	struct settings *settings;
	int r = config_load(ws, &settings, &problems, err);

	if (r < 0)
		return r;
	r = first_error(file, &problems, err);
	settings_problems_release(&problems);
	if (r < 0) {
		settings_free(settings);
		return r;
	}
	*ret_settings = settings;
	return 0;
}

/* Cut "a.b.c" at its dots, in place. Known keys have no dot in a part. */
static size_t
split_path(char *path, const char *parts[KEY_PARTS_MAX])
{
	size_t count = 0;
	char *part;

	while (count < KEY_PARTS_MAX && (part = strsep(&path, ".")) != NULL)
		parts[count++] = part;
	return count;
}

/* "line 3: what" as "FILE:3: what". */
static void
name_file(struct err *err, const char *file)
{
	cleanup_free char *msg = NULL;
	size_t digits;

	if (err == NULL)
		return;
	msg = xstrdup(err->msg);
	digits = strspn(msg + strcspn(msg, "0123456789"), "0123456789");
	if (text_begins(msg, "line ") && msg[5 + digits] == ':')
		err_set(err, err->code, "%s:%s", file, msg + 5);
	else
		err_prefix(err, "%s", file);
}

/* An edit of the text: set a value, remove a key, or remove a table. */
struct edit {
	const char *path;
	const char *typed; /* NULL = remove the key */
	const char *reason; /* a comment for a new key; NULL = none */
	bool table; /* remove the table */
};

/* A line that begins like this, below that header; NULL = there is none. */
static const char *
find_line(const char *text, const char *header, const char *line)
{
	bool inside = false;

	for (const char *at = text; at[0] != '\0';) {
		if (inside && text_begins(at, line))
			return at;
		if (at[0] == '[')
			inside = text_begins(at, header);
		at += strcspn(at, "\n");
		at += at[0] == '\n';
	}
	return NULL;
}

/* A new key with a comment. llmc init may have written the line as a comment,
 * too, below its reason: then that becomes the line. */
static int
set_with_reason(struct buf *text, const char *const *parts, size_t count,
    const char *value, const char *reason, struct err *err)
{
	cleanup_free char *header = xasprintf("[%s]", parts[0]);
	cleanup_free char *comment =
	    xasprintf("# %s = %s\n", parts[count - 1], value);
	cleanup_buf struct buf made = BUF_INIT;
	const char *line = find_line(text->data, header, comment);
	bool proposed = line != NULL;
	int r = proposed ? 0 : toml_edit_set(text, parts, count, value, err);

	if (!proposed)
		line = find_line(text->data, header, comment + 2);
	if (r < 0 || line == NULL)
		return r;
	buf_add(&made, text->data, (size_t)(line - text->data));
	if (!proposed) {
		buf_adds(&made, "# ");
		text_add_visible(&made, reason, strlen(reason), false);
		buf_adds(&made, ".\n");
	}
	buf_adds(&made, line + (proposed ? 2 : 0));
	/* It may have been a line of something else. */
	r = toml_edit_set(&made, parts, count, value, err);
	if (r < 0)
		return r;
	buf_clear(text);
	buf_add(text, made.data, made.len);
	return 0;
}

static int
edit_text(const char *file, struct buf *text, const struct edit *edit,
    struct err *err)
{
	const struct setting *row = settings_find(edit->path, NULL);
	cleanup_free char *copy = xstrdup(edit->path);
	cleanup_buf struct buf value = BUF_INIT;
	const char *parts[KEY_PARTS_MAX];
	size_t count = split_path(copy, parts);
	int r;

	if (edit->table) {
		r = toml_edit_remove_table(text, parts, count, err);
		if (r == -ENOENT)
			r = 0;
	} else if (edit->typed != NULL) {
		r = settings_value_text(row, edit->typed, &value, err);
		if (r < 0) {
			err_prefix(err, "%s", edit->path);
			return r;
		}
		r = edit->reason != NULL ?
		    set_with_reason(
			text, parts, count, value.data, edit->reason, err) :
		    toml_edit_set(text, parts, count, value.data, err);
	} else {
		r = toml_edit_unset(text, parts, count, err);
	}
	if (r < 0)
		name_file(err, file);
	return r;
}

/* The number of errors in a text; err gets the first one. */
static size_t
count_errors(const struct workspace *ws, const char *file,
    const struct buf *text, struct err *err)
{
	struct settings_problems problems;
	size_t count = 0;

	settings_free(config_parse(ws, NULL, text, &problems));
	for (size_t i = 0; i < problems.count; i++)
		count += problems.list[i].fatal;
	first_error(file, &problems, err);
	settings_problems_release(&problems);
	return count;
}

static int
change_file(
    const struct workspace *ws, const struct edit *edit, struct err *err)
{
	cleanup_free char *file = workspace_path(ws, "config.toml");
	cleanup_free char *lock_file = workspace_path(ws, "config.lock");
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_fd int lock = lock_try(lock_file, err);
	size_t errors;
	int r;

	if (lock < 0)
		return lock == -EAGAIN ?
		    err_set(err, lock, "another llmc is changing %s; try again",
			file) :
		    lock;
	r = read_config(file, &text, err);
	if (r < 0)
		return r;
	errors = count_errors(ws, file, &text, NULL);
	r = edit_text(file, &text, edit, err);
	if (r < 0)
		return r;
	/* A file with several errors may be fixed one by one. */
	if (count_errors(ws, file, &text, err) > errors)
		return -EINVAL;
	/* A daemon that runs reads the file at once. */
	r = root_mark_follow(ws, &text, err);
	return r < 0 ? r : file_replace(file, text.data, text.len, 0600, err);
}

int
config_change(const struct workspace *ws, const char *path, const char *typed,
    struct err *err)
{
	struct edit edit = { .path = path, .typed = typed };

	return change_file(ws, &edit, err);
}

int
config_propose(const struct workspace *ws, const char *path, const char *typed,
    const char *reason, struct err *err)
{
	struct edit edit = { .path = path, .typed = typed, .reason = reason };

	return change_file(ws, &edit, err);
}

int
config_remove_table(
    const struct workspace *ws, const char *path, struct err *err)
{
	struct edit edit = { .path = path, .table = true };

	return change_file(ws, &edit, err);
}

static void
go_up(struct buf *out)
{
	const char *slash = out->len > 0 ? strrchr(out->data, '/') : NULL;

	buf_truncate(out, slash != NULL ? (size_t)(slash - out->data) : 0);
}

/* If it is a link, return what is left of the way behind it. */
static char *
follow(struct buf *out, const char *rest)
{
	char target[PATH_MAX];
	ssize_t n = readlink(out->data, target, sizeof target - 1);

	if (n <= 0)
		return NULL;
	target[n] = '\0';
	if (target[0] == '/')
		buf_truncate(out, 0);
	else
		go_up(out);
	return xasprintf("%s/%s", target, rest);
}

/* An absolute path without ".", ".." and, if wanted, links; "" is the root.
 * NULL = too many links. */
static char *
resolve(const char *path, bool links)
{
	cleanup_buf struct buf out = BUF_INIT;
	cleanup_free char *way = xstrdup(path);
	const char *name = way;
	int followed = 0;

	while (*name != '\0') {
		size_t len = strcspn(name, "/");
		const char *rest = name + len + (name[len] == '/');
		char *next = NULL;

		if (len == 2 && memcmp(name, "..", 2) == 0) {
			go_up(&out);
		} else if (len > 0 && !(len == 1 && *name == '.')) {
			buf_addc(&out, '/');
			buf_add(&out, name, len);
			next = links ? follow(&out, rest) : NULL;
		}
		name = rest;
		if (next == NULL)
			continue;
		free(way);
		name = way = next;
		if (++followed > LINKS_MAX)
			return NULL;
	}
	return xstrdup(out.len > 0 ? out.data : "");
}

char *
tree_path(const char *tree, const char *cwd, const char *path, bool plain)
{
	cleanup_free char *whole = *path == '/' ?
	    xstrdup(path) :
	    xasprintf("%s/%s", cwd != NULL ? cwd : tree, path);
	cleanup_free char *given =
	    plain ? resolve(whole, false) : xstrdup(whole);
	cleanup_free char *real = resolve(given, true);
	size_t len = strlen(tree);

	if (real == NULL || strncmp(real, tree, len) != 0)
		return NULL;
	if (real[len] == '\0')
		return xstrdup("");
	return real[len] == '/' ? xstrdup(real + len + 1) : NULL;
}

#define FILE_MAX (4 * 1024 * 1024)

char *
policy_file_path(const struct workspace *workspace, const char *worker)
{
	cleanup_free char *dir = run_dir_path(workspace, worker);

	return file_join(dir, "policy.json");
}

int
policy_file_save(const struct workspace *workspace, const char *worker,
    const struct guard_policy *policy, struct err *err)
{
	cleanup_free char *path = policy_file_path(workspace, worker);
	cleanup_json struct json_object *json = guard_policy_to_json(policy);
	cleanup_buf struct buf now = BUF_INIT, old = BUF_INIT;

	json_print(json, true, &now);
	if (file_read(path, FILE_MAX, &old, NULL) == 0 && old.len == now.len &&
	    memcmp(old.data, now.data, now.len) == 0)
		return 0;
	return file_replace_soon(path, now.data, now.len, 0600, err);
}

int
policy_file_load(
    const char *path, struct guard_policy *ret_policy, struct err *err)
{
	cleanup_json struct json_object *json = NULL;
	int r = json_load(path, FILE_MAX, &json, err);

	*ret_policy = (struct guard_policy){ 0 };
	return r < 0 ? r : guard_policy_from_json(json, ret_policy, err);
}
