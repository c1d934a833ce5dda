/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "child.h"
#include "git-artifact.h"
#include "git-private.h"

/* The program that started this one limits the time. */
#define DEADLINE_MS ((int64_t)3600 * 1000)
#define LIST_MAX    ((size_t)4 * 1024 * 1024)

/* Run git with these words behind its own; all that it prints is in out. */
static int
ask(const char *root, const char *const *words, const struct buf *input,
    size_t max, struct buf *out, struct err *err)
{
	cleanup_strv char **argv = NULL;
	struct child_spec spec = { .env = git_env,
		.deadline_ms = DEADLINE_MS,
		.output_max = 2 * max + 2 };
	cleanup_child_result struct child_result result;
	cleanup_buf struct buf complaint = BUF_INIT;
	int r;

	strv_add(&argv, "git");
	strv_add(&argv, "-C");
	strv_add(&argv, root);
	strv_add(&argv, "--literal-pathspecs");
	strv_add_all(&argv, words);
	spec.argv = strv_const(argv);
	if (input != NULL) {
		spec.input = input->data;
		spec.input_len = input->len;
	}
	r = child_run(&spec, &result, err);
	if (r < 0)
		return r;
	if (!child_succeeded(&result)) {
		child_output_text(&result.err, &complaint);
		return err_set(
		    err, -EIO, "git %s: %s", words[0], complaint.data);
	}
	if (result.out.total > max)
		return err_set(
		    err, -EFBIG, "git %s printed too much", words[0]);
	buf_add(out, result.out.head.data, result.out.head.len);
	buf_add(out, result.out.tail.data, result.out.tail.len);
	return 0;
}

/* --- finding ----------------------------------------------------------- */

static int
list(const char *root, const char *commit, const struct git_artifact *artifacts,
    size_t count, struct buf *out, struct err *err)
{
	cleanup_strv char **words = NULL;
	size_t named = 0;

	strv_add(&words, "ls-tree");
	strv_add(&words, "-z");
	strv_add(&words, "--full-tree");
	strv_add(&words, commit);
	strv_add(&words, "--");
	for (size_t i = 0; i < count; i++)
		if (artifacts[i].path[0] != '\0') {
			strv_add(&words, artifacts[i].path);
			named++;
		}
	/* Without a path it would list all of them. */
	return commit[0] == '\0' || named == 0 ?
	    0 :
	    ask(root, strv_const(words), NULL, LIST_MAX, out, err);
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
	int r = list(root, commit, artifacts, count, &now, err);

	if (r == 0)
		r = list(root, base, artifacts, count, &before, err);
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
			r = ask(root, words, &input, LIST_MAX, &out, err);
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

/* --- reading ----------------------------------------------------------- */

int
git_artifact_read(const char *root, const struct git_artifact *artifact,
    size_t max, struct buf *out, struct err *err)
{
	const char *const words[] = { "cat-file", "blob", artifact->id, NULL };

	return ask(root, words, NULL, max, out, err);
}
