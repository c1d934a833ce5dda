/* SPDX-License-Identifier: ISC */

#include "base.h"

#include "box-probe.h"
#include "cli-private.h"
#include "git-clone.h"
#include "workspace.h"

#define TYPED_MAX 4000 /* of a line that a person types */

/* --- looking at the project ---------------------------------------------- */

struct seen {
	struct project_file *files;
	size_t count;
};

static void
add_file(struct seen *seen, const char *path, const char *suffix)
{
	seen->files =
	    xreallocarray(seen->files, seen->count + 1, sizeof *seen->files);
	seen->files[seen->count++] =
	    (struct project_file){ .path = xasprintf("%s%s", path, suffix) };
}

/* The bytes of a file as the branch has it; NULL = they are not known. */
static char *
read_file(const char *root, const char *ref, const char *path, size_t *len)
{
	cleanup_free char *object = xasprintf("%s:%s", ref, path);
	const char *const args[] = { "cat-file", "blob", object, NULL };
	cleanup_buf struct buf text = BUF_INIT;

	if (git_ask(root, args, &text, NULL) != 0)
		return NULL;
	*len = text.len;
	return buf_take(&text);
}

/* What a worktree of the branch gets, which may be at origin only so far. */
static void
see_files(const char *root, const char *branch, struct seen *seen)
{
	cleanup_free char *ref = xasprintf("refs/%s/%s",
	    git_ask_branch_exists(root, branch) ? "heads" : "remotes/origin",
	    branch);
	const char *const args[] = { "ls-tree", ref, NULL };
	static const char nested[] = ".devcontainer/devcontainer.json";
	cleanup_buf struct buf tree = BUF_INIT;

	if (git_ask(root, args, &tree, NULL) != 0)
		return;
	for (char *rest = tree.data, *line;
	     (line = strsep(&rest, "\n")) != NULL;) {
		const char *name = strchr(line, '\t');

		if (name == NULL)
			continue;
		add_file(
		    seen, name + 1, strstr(line, " tree ") != NULL ? "/" : "");
		if (strcmp(name + 1, ".devcontainer") == 0)
			add_file(seen, nested, "");
	}
	for (size_t i = 0; i < seen->count; i++)
		if (strv_has(proposals_read, seen->files[i].path))
			seen->files[i].text = read_file(root, ref,
			    seen->files[i].path, &seen->files[i].len);
}

/* The lines that git prints, without a slash at the end. */
static char **
ask_lines(const char *root, const char *const *args, bool folders)
{
	cleanup_buf struct buf text = BUF_INIT;
	char **lines = NULL;

	if (git_ask(root, args, &text, NULL) != 0)
		return NULL;
	for (char *rest = text.data, *line;
	     (line = strsep(&rest, "\n")) != NULL;) {
		size_t len = strlen(line);

		if (len == 0 || (line[len - 1] == '/') != folders)
			continue;
		line[len - folders] = '\0';
		strv_add(&lines, line);
	}
	return lines;
}

void
propose_look(
    const struct workspace *ws, const char *branch, struct proposals *ret)
{
	const char *root = ws->root;
	static const char *const secrets[] = { "ls-files", "--others",
		"--ignored", "--exclude-standard", "--directory", "--",
		":(top,glob).env*", NULL };
	const char *made[16] = { "check-ignore", "--" };
	cleanup_strv char **names = NULL, **ignored = NULL, **env = NULL;
	struct seen seen = { 0 };
	struct err err = { 0 };
	struct project_facts facts = { 0 };

	for (size_t i = 0; proposals_made[i] != NULL; i++)
		strv_take(&names, xasprintf("%s/", proposals_made[i]));
	for (size_t i = 0;
	     names != NULL && names[i] != NULL && i + 3 < nitems(made); i++)
		made[i + 2] = names[i];
	see_files(root, branch, &seen);
	ignored = ask_lines(root, made, true);
	env = ask_lines(root, secrets, false);
	facts = (struct project_facts){
		.files = seen.files,
		.count = seen.count,
		.ignored = strv_const(ignored),
		.secrets = strv_const(env),
		.no_sandbox = box_probe_run(&err) < 0 ? err.msg : NULL,
		.no_clone = !git_clone_suits(ws->git_dir),
	};
	proposals_make(&facts, ret);
	for (size_t i = 0; i < seen.count; i++) {
		free((char *)(uintptr_t)seen.files[i].path);
		free((char *)(uintptr_t)seen.files[i].text);
	}
	free(seen.files);
}

/* --- showing them ------------------------------------------------- */

static void
add_shown(struct buf *out, const char *text)
{
	text_add_visible(out, text, strlen(text), false);
}

static void
print_one(const struct proposal *p, size_t number, struct buf *out)
{
	buf_addf(out, "  %zu  %s = ", number, p->path);
	if (p->left_out)
		buf_adds(out, "(left out)");
	else
		add_shown(out, p->value);
	buf_adds(out, "\n       ");
	add_shown(out, p->reason);
	buf_addc(out, '\n');
}

void
propose_print(const struct proposals *p, struct buf *out)
{
	for (size_t i = 0; i < p->count; i++)
		print_one(&p->list[i], i + 1, out);
	for (size_t i = 0; p->remarks != NULL && p->remarks[i] != NULL; i++) {
		buf_adds(out, "  -  ");
		add_shown(out, p->remarks[i]);
		buf_addc(out, '\n');
	}
}

struct json_object *
propose_json(const struct proposals *p, bool set)
{
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < p->count; i++) {
		struct json_object *row = json_object_new_object();

		json_set_string(row, "key", p->list[i].path);
		json_set_string(row, "value", p->list[i].value);
		json_set_string(row, "reason", p->list[i].reason);
		json_set_bool(row, "set", set && !p->list[i].left_out);
		json_object_array_add(list, row);
	}
	return list;
}

/* --- asking ------------------------------------------------------- */

/* True: a line was typed, even an empty one. It is without spaces around it. */
static bool
read_line(struct buf *line)
{
	char c = '\0';
	ssize_t n;
	size_t skip;

	buf_clear(line);
	while ((n = read(STDIN_FILENO, &c, 1)) == 1 && c != '\n')
		if (line->len < TYPED_MAX)
			buf_addc(line, c);
	skip = strspn(line->data, " \t\r");
	buf_consume(line, skip);
	while (line->len > 0 && strchr(" \t\r", line->data[line->len - 1]))
		buf_truncate(line, line->len - 1);
	return n == 1 || line->len > 0;
}

bool
propose_value(const char *path, const char *question, struct buf *typed)
{
	for (;;) {
		cleanup_buf struct buf text = BUF_INIT;
		struct err err = { 0 };

		fputs(question, stderr);
		if (!read_line(typed))
			return false;
		if (typed->len == 0 ||
		    settings_value_text(settings_find(path, NULL), typed->data,
			&text, &err) == 0)
			return true;
		fprintf(stderr, "%s must be %s\n", path, err.msg);
	}
}

static void
change_one(struct proposal *p)
{
	cleanup_free char *question =
	    xasprintf("New value of %s (nothing: leave it out): ", p->path);
	cleanup_buf struct buf typed = BUF_INIT;

	if (!propose_value(p->path, question, &typed))
		return;
	p->left_out = typed.len == 0;
	if (p->left_out)
		return;
	free(p->value);
	p->value = buf_take(&typed);
	xstrset(&p->reason, "You have typed it");
}

enum propose_answer
propose_ask(struct proposals *p)
{
	cleanup_buf struct buf line = BUF_INIT;

	for (;;) {
		cleanup_buf struct buf text = BUF_INIT;
		int64_t number;

		buf_addf(&text,
		    "llmc has looked at this project%s%s%s and "
		    "proposes:\n\n",
		    p->kind[0] != '\0' ? " (" : "", p->kind,
		    p->kind[0] != '\0' ? ")" : "");
		propose_print(p, &text);
		buf_adds(&text,
		    "\nEnter accepts this; a number changes that one; e "
		    "accepts and edits the file; n sets\nnothing: ");
		fputs(text.data, stderr);
		if (!read_line(&line) || strcmp(line.data, "n") == 0)
			return PROPOSE_NOTHING;
		if (line.len == 0)
			return PROPOSE_ACCEPTED;
		if (strcmp(line.data, "e") == 0)
			return PROPOSE_EDIT;
		if (text_parse_int(line.data, 1, (int64_t)p->count, &number))
			change_one(&p->list[number - 1]);
		else
			fputs("There is no such answer.\n", stderr);
		fputc('\n', stderr);
	}
}

/* --- writing ------------------------------------------------------ */

void
propose_write(
    const struct proposals *p, const char *section, bool set, struct buf *out)
{
	size_t len = strlen(section);

	for (size_t i = 0; i < p->count; i++) {
		const struct proposal *one = &p->list[i];

		if (strncmp(one->path, section, len) != 0 ||
		    one->path[len] != '.')
			continue;
		buf_adds(out, "# ");
		add_shown(out, one->reason);
		buf_addf(out, ".\n%s%s = ", set && !one->left_out ? "" : "# ",
		    one->path + len + 1);
		settings_value_text(
		    settings_find(one->path, NULL), one->value, out, NULL);
		buf_addc(out, '\n');
	}
}
