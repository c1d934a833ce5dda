/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "child.h"
#include "git-ask.h"
#include "git-private.h"
#include "settings.h"
#include "workspace.h"

#define GIT_DEADLINE_MS 20000
#define GIT_ARGS_MAX    32
#define INDEX_MAX       (4 * 1024 * 1024)
/* The program that started this one limits the time. */
#define ARTIFACT_MS       ((int64_t)3600 * 1000)
#define ARTIFACT_LIST_MAX ((size_t)4 * 1024 * 1024)

static void
add_trimmed(struct buf *out, const struct child_output *output)
{
	child_output_text(output, out);
	while (out->len > 0 && out->data[out->len - 1] == '\n')
		buf_truncate(out, out->len - 1);
}

/* What git said, on one line. */
static void
add_folded(struct buf *out, const struct child_output *output)
{
	cleanup_buf struct buf text = BUF_INIT;
	const char *line;
	size_t len;

	add_trimmed(&text, output);
	for (line = text.data; *line != '\0'; line += len) {
		line += strspn(line, "\n\t ");
		len = strcspn(line, "\n");
		if (out->len > 0)
			buf_addc(out, ' ');
		buf_add(out, line, len);
	}
}

int
git_ask_later(struct loop *loop, const char *dir, const char *const *args,
    child_fn *done, void *arg, struct child **ret_child, struct err *err)
{
	const char *argv[GIT_ARGS_MAX + 4] = { "git", "-C", dir };
	struct child_spec spec = {
		.argv = argv, .env = git_env, .deadline_ms = GIT_DEADLINE_MS
	};

	for (size_t i = 0; i < GIT_ARGS_MAX && args[i] != NULL; i++)
		argv[3 + i] = args[i];
	return child_spawn(loop, &spec, done, arg, ret_child, err);
}

/* 0, git's exit status, or negative errno; the spec has all but what to run. */
static int
run(const char *dir, const char *const *args, struct child_spec *spec,
    struct child_result *result, struct err *err)
{
	cleanup_strv char **argv = NULL;
	cleanup_buf struct buf words = BUF_INIT;
	int r;

	strv_add_all(&argv, (const char *[]){ "git", "-C", dir, NULL });
	strv_add_all(&argv, args);
	spec->argv = strv_const(argv);
	spec->env = git_env;
	r = child_run(spec, result, err);
	if (r < 0)
		return r;
	if (result->timed_out || !result->exited) {
		child_result_describe(result, &words);
		return err_set(err, -ETIMEDOUT, "git %s in %s %s",
		    git_verb(args), dir, words.data);
	}
	if (result->status != 0) {
		add_folded(&words, &result->err);
		err_set(err, -EIO, "git %s: %s", git_verb(args),
		    words.len > 0 ? words.data : "failed without a message");
	}
	return result->status;
}

int
git_ask(
    const char *dir, const char *const *args, struct buf *out, struct err *err)
{
	struct child_spec spec = { .deadline_ms = GIT_DEADLINE_MS };
	cleanup_child_result struct child_result result;
	int r = run(dir, args, &spec, &result, err);

	if (r == 0 && out != NULL)
		add_trimmed(out, &result.out);
	return r;
}

int
git_ask_head(const char *dir, struct buf *out, struct err *err)
{
	const char *const args[] = { "rev-parse", "--verify", "--quiet",
		"HEAD^{commit}", NULL };
	cleanup_free char *gitdir = git_dirs_gitdir(dir);
	cleanup_free char *common =
	    gitdir != NULL ? git_dirs_common(gitdir) : NULL;
	char head[GIT_ID_SIZE];

	if (common == NULL || git_refs_head(gitdir, common, head) < 0)
		return git_ask(dir, args, out, err);
	buf_adds(out, head);
	return 0;
}

int
git_ask_has_commit(const char *dir, struct err *err)
{
	const char *const args[] = { "rev-parse", "--verify", "--quiet",
		"HEAD^{commit}", NULL };
	int r = git_ask(dir, args, NULL, err);

	if (r == 0)
		return 1;
	/* 1 means no; more is an error, such as a wrong owner. */
	return r == 1 ? 0 : (r < 0 ? r : -EIO);
}

bool
git_ask_is_bare(const char *dir)
{
	const char *const args[] = { "rev-parse", "--is-bare-repository",
		NULL };
	cleanup_buf struct buf answer = BUF_INIT;

	return git_ask(dir, args, &answer, NULL) == 0 &&
	    strcmp(answer.data, "true") == 0;
}

/* The name behind the prefix of what a ref points to. Not --short, which says
 * heads/main where there is a tag of that name. */
static char *
ask_branch(const char *dir, const char *ref, const char *prefix)
{
	const char *const args[] = { "symbolic-ref", "--quiet", ref, NULL };
	cleanup_buf struct buf name = BUF_INIT;

	if (git_ask(dir, args, &name, NULL) != 0 ||
	    !text_begins(name.data, prefix) || name.len == strlen(prefix))
		return NULL;
	return xstrdup(name.data + strlen(prefix));
}

char *
git_ask_default_branch(const char *dir)
{
	char *name =
	    ask_branch(dir, "refs/remotes/origin/HEAD", "refs/remotes/origin/");

	return name != NULL ? name : ask_branch(dir, "HEAD", "refs/heads/");
}

/* The first working tree that has the branch checked out; the caller frees.
 * NULL when there is none. */
static char *
git_ask_checkout(const char *root, const char *branch)
{
	struct git_trees trees = { 0 };
	const struct git_tree *tree = NULL;
	char *path = NULL;

	if (git_dirs_trees(root, false, &trees, NULL) == 0)
		tree = git_trees_on(&trees, branch, NULL);
	if (tree != NULL && !tree->missing)
		path = xstrdup(tree->path);
	git_trees_release(&trees);
	return path;
}

/* Lines of two letters, a space and the path. */
static int
git_ask_changed(const char *tree, struct buf *out, struct err *err)
{
	const char *const args[] = { "status", "--porcelain",
		"--untracked-files=no", "--ignore-submodules=dirty",
		"--no-renames", NULL };
	cleanup_buf struct buf status = BUF_INIT;
	const char *line, *end;
	int r = git_ask(tree, args, &status, err);

	for (line = status.data; r == 0 && *line != '\0'; line = end) {
		end = line + strcspn(line, "\n");
		end += *end == '\n';
		if (end - line > 3)
			buf_add(out, line + 3, (size_t)(end - line - 3));
	}
	return r;
}

bool
git_ask_branch_exists(const char *dir, const char *branch)
{
	cleanup_free char *ref = xasprintf("refs/heads/%s", branch);
	const char *const args[] = { "show-ref", "--verify", "--quiet", ref,
		NULL };
	cleanup_free char *gitdir = git_dirs_gitdir(dir);
	cleanup_free char *common =
	    gitdir != NULL ? git_dirs_common(gitdir) : NULL;
	char id[GIT_ID_SIZE];

	if (common != NULL && git_refs_read(common, ref, id) == 0)
		return true;
	return git_ask(dir, args, NULL, NULL) == 0;
}

/* An index names each of its files in full, unless it is of a version that
 * leaves out what two names have in common, or is split in two ("link"). */
bool
git_ask_lacks(const char *dir, const char *folder)
{
	static const char head[] = "DIRC\0\0";
	cleanup_free char *gitdir = git_dirs_gitdir(dir);
	cleanup_free char *path =
	    gitdir != NULL ? file_join(gitdir, "index") : NULL;
	cleanup_buf struct buf index = BUF_INIT;

	return path != NULL && file_read(path, INDEX_MAX, &index, NULL) == 0 &&
	    index.len > sizeof head && memcmp(index.data, head, 7) == 0 &&
	    (index.data[7] == 2 || index.data[7] == 3) &&
	    memmem(index.data, index.len, "link", 4) == NULL &&
	    memmem(index.data, index.len, folder, strlen(folder)) == NULL;
}

/* --- what the user's checkout has uncommitted --------------------------- */

#define NAMES_MAX 5

static int
count_lines(const char *text)
{
	int count = 0;

	for (; *text != '\0'; text++)
		count += *text == '\n' || text[1] == '\0';
	return count;
}

static void
add_names(struct buf *out, const char *lines)
{
	const char *before = "";

	for (int told = 0; *lines != '\0'; told++) {
		size_t len = strcspn(lines, "\n");

		buf_adds(out, before);
		if (told == NAMES_MAX) {
			buf_adds(out, "...");
			break;
		}
		buf_add(out, lines, len);
		lines += len + (lines[len] == '\n');
		before = ", ";
	}
}

bool
uncommitted_describe(const struct workspace *workspace,
    const struct settings *settings, struct buf *out)
{
	const char *branch = settings_string(settings, "repo.default_branch");
	bool overlap = strcmp(settings_string(settings, "repo.dirty_checkout"),
			   "overlap") == 0;
	cleanup_free char *tree = git_ask_checkout(workspace->root, branch);
	cleanup_buf struct buf lines = BUF_INIT;
	int count;

	if (tree == NULL || git_ask_changed(tree, &lines, NULL) != 0 ||
	    lines.len == 0)
		return false;
	count = count_lines(lines.data);
	buf_addf(out, "%d file%s changed in %s, your checkout of %s: ", count,
	    count == 1 ? "" : "s", tree, branch);
	add_names(out, lines.data);
	buf_adds(out,
	    overlap ? "; work that touches these files waits" :
		      "; no work lands meanwhile");
	return true;
}

/* --- files of a commit --------------------------------------------------- */

/* All that it prints is in out. */
static int
ask_long(const char *root, const char *const *args, const struct buf *input,
    size_t max, struct buf *out, struct err *err)
{
	struct child_spec spec = { .deadline_ms = ARTIFACT_MS,
		.output_max = 2 * max + 2,
		.input = input != NULL ? input->data : NULL,
		.input_len = input != NULL ? input->len : 0 };
	cleanup_child_result struct child_result result;
	int r = run(root, args, &spec, &result, err);

	if (r != 0)
		return r < 0 ? r : -EIO;
	if (result.out.total > max)
		return err_set(
		    err, -EFBIG, "git %s printed too much", git_verb(args));
	buf_add(out, result.out.head.data, result.out.head.len);
	buf_add(out, result.out.tail.data, result.out.tail.len);
	return 0;
}

static int
list_artifacts(const char *root, const char *commit,
    const struct git_artifact *artifacts, size_t count, struct buf *out,
    struct err *err)
{
	cleanup_strv char **words = NULL;
	size_t named = 0;

	strv_add_all(&words,
	    (const char *[]){ "--literal-pathspecs", "ls-tree", "-z",
		"--full-tree", commit, "--", NULL });
	for (size_t i = 0; i < count; i++)
		if (artifacts[i].path[0] != '\0') {
			strv_add(&words, artifacts[i].path);
			named++;
		}
	/* Without a path it would list all of them. */
	return commit[0] == '\0' || named == 0 ?
	    0 :
	    ask_long(
		root, strv_const(words), NULL, ARTIFACT_LIST_MAX, out, err);
}

/* "100644 blob <id>\tpath", for this path; NULL = there is none. */
static const char *
entry_of(const struct buf *text, const char *path)
{
	struct git_records records;
	const char *record, *tab;

	git_records_init(&records, text->data, text->len);
	while ((record = git_records_next(&records)) != NULL) {
		tab = strchr(record, '\t');
		if (tab != NULL && strcmp(tab + 1, path) == 0)
			return record;
	}
	return NULL;
}

static void
id_of(const char *entry, char out[GIT_ID_SIZE])
{
	const char *id = entry == NULL ? NULL : git_records_skip(entry, 2);
	size_t len = id == NULL ? 0 : strcspn(id, "\t");

	if (len >= GIT_ID_SIZE)
		len = 0;
	if (len > 0)
		memcpy(out, id, len);
	out[len] = '\0';
}

static void
read_entry(
    const struct buf *now, const struct buf *before, struct git_artifact *a)
{
	const char *entry = entry_of(now, a->path);
	char old_id[GIT_ID_SIZE];

	a->kind = ARTIFACT_MISSING;
	a->size = 0;
	if (entry == NULL || a->path[0] == '\0')
		return;
	if (text_begins(entry, "100644 ") || text_begins(entry, "100755 "))
		a->kind = ARTIFACT_FILE;
	else if (text_begins(entry, "120000 "))
		a->kind = ARTIFACT_LINK;
	else
		a->kind = ARTIFACT_OTHER;
	id_of(entry, a->id);
	id_of(entry_of(before, a->path), old_id);
	a->changed = strcmp(a->id, old_id) != 0;
}

int
git_artifact_find(const char *root, const char *commit, const char *base,
    struct git_artifact *artifacts, size_t count, struct err *err)
{
	cleanup_buf struct buf now = BUF_INIT, before = BUF_INIT;
	int r = list_artifacts(root, commit, artifacts, count, &now, err);

	if (r == 0)
		r = list_artifacts(root, base, artifacts, count, &before, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < count; i++)
		read_entry(&now, &before, &artifacts[i]);
	{
		const char *const words[] = { "cat-file",
			"--batch-check=%(objectsize)", NULL };
		cleanup_buf struct buf input = BUF_INIT, out = BUF_INIT;
		const char *line;

		/* Only of those that were changed: others may not even be
		 * here, where a repository was cloned in part. */
		r = 0;
		for (size_t i = 0; i < count; i++)
			if (artifacts[i].kind == ARTIFACT_FILE &&
			    artifacts[i].changed)
				buf_addf(&input, "%s\n", artifacts[i].id);
		if (input.len > 0)
			r = ask_long(
			    root, words, &input, ARTIFACT_LIST_MAX, &out, err);
		line = out.data;
		for (size_t i = 0; r == 0 && i < count; i++) {
			cleanup_free char *text = NULL;
			size_t len = strcspn(line, "\n");

			if (artifacts[i].kind != ARTIFACT_FILE ||
			    !artifacts[i].changed)
				continue;
			text = xstrndup(line, len);
			if (!text_parse_int(
				text, 0, INT64_MAX, &artifacts[i].size))
				r = err_set(err, -EIO,
				    "%s: git cannot read it (%s)",
				    artifacts[i].path, text);
			line += len + (line[len] == '\n');
		}
		return r;
	}
}

int
git_artifact_read(const char *root, const struct git_artifact *artifact,
    size_t max, struct buf *out, struct err *err)
{
	const char *const words[] = { "cat-file", "blob", artifact->id, NULL };

	return ask_long(root, words, NULL, max, out, err);
}
