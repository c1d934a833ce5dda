/* SPDX-License-Identifier: ISC */

#include "base.h"

#include "diff.h"
#include "git-diff.h"
#include "git-private.h"
#include "rpc.h"
#include "test-guard.h"

#define ANSWER_LETTER 'a'
#define MESSAGE_BYTES (64 * 1024)
#define CONFLICTS_MAX 100
#define DEADLINE_MS   60000

struct diff_op {
	struct git_op op;
	char *commit, *tree, *file;
	int context;
	git_diff_fn *fn;
};

/* What the branch would have if the commit landed now; NULL if that conflicts,
 * or this git cannot tell. */
static const char *
merged_tree(
    struct git_op *op, const char *commit, struct json_object *conflicts)
{
	struct git_records records;
	const char *tree, *path;
	int status;

	if (git_op_is_ancestor(op, op->onto_id, commit))
		return commit;
	status = git_op_try(op, "merge-tree", "--write-tree", "--name-only",
	    "--no-messages", "-z", op->onto_id, commit, NULL);
	git_records_init(&records, op->answer.out, op->answer.out_len);
	tree = git_records_next(&records);
	if (status == 0 && tree != NULL)
		return git_op_text(op, "%s", tree);
	while (status == 1 && tree != NULL &&
	    (path = git_records_next(&records)) != NULL && path[0] != '\0' &&
	    json_object_array_length(conflicts) < CONFLICTS_MAX) {
		cleanup_buf struct buf name = BUF_INIT;

		text_add_utf8(&name, path, strlen(path));
		json_object_array_add(
		    conflicts, json_object_new_string(name.data));
	}
	return NULL;
}

static void
diff_run(struct git_op *op)
{
	struct diff_op *diff = op->self;
	struct json_object *answer = json_object_new_object();
	struct json_object *conflicts = json_object_new_array();
	struct diff_limits limits =
	    diff->file != NULL ? diff_one_file : diff_first_look;
	cleanup_buf struct buf text = BUF_INIT, words = BUF_INIT;
	const char *from, *to = NULL, *message;
	int64_t more = 0;

	git_op_need_gitdir(op);
	git_op_need_onto(op);
	if (diff->tree == NULL)
		to = merged_tree(op, diff->commit, conflicts);
	from = op->onto_id;
	if (to == NULL) {
		from = git_op_must(
		    op, "merge-base", op->onto_id, diff->commit, NULL);
		from = git_op_text(op, "%.*s", (int)strcspn(from, "\n"), from);
		to = diff->tree != NULL ? diff->tree : diff->commit;
	}
	message = git_op_must(op, "log", "--max-count=1", "--no-show-signature",
	    "--format=%B", diff->commit, "--", NULL);
	text_add_utf8(
	    &text, message, text_cut(message, strlen(message), MESSAGE_BYTES));
	json_set_string(answer, "base", from);
	json_set_string(answer, "message", text.data);
	op->deadline_ms = DEADLINE_MS;
	op->tolerant = true;
	git_op_no_attributes(op);
	if (git_op_try(op, "-c", "core.quotePath=false", "diff", "-M",
		"--no-color", "--no-ext-diff", "--no-textconv",
		"--src-prefix=a/", "--dst-prefix=b/", "--submodule=short",
		"--ignore-submodules=none",
		git_op_text(op, "-U%d", diff->context), from, to, "--",
		NULL) != 0) {
		if (op->answer_err.code == -EFBIG)
			git_op_die(op, -EFBIG,
			    "the change is larger than 32 MiB; look at it with: "
			    "git diff --stat %.12s %.12s",
			    from, diff->commit);
		git_op_die_as(op);
	}
	test_guard_read(op->answer.out, op->answer.out_len, &words);
	limits.file = diff->file;
	json_set(answer, "files",
	    diff_read(op->answer.out, op->answer.out_len, &limits, &more));
	json_set_int(answer, "more_files", more);
	json_set(answer, "conflicts", conflicts);
	if (words.len > 0)
		json_set_string(answer, "weakens", words.data);
	buf_clear(&text);
	json_print(answer, false, &text);
	git_op_tell(op, ANSWER_LETTER, text.data);
}

static void
diff_finish(struct git_op *op, const struct err *err)
{
	const struct diff_op *diff = op->self;
	cleanup_git_list struct git_list told = { 0 };
	cleanup_json struct json_object *answer = NULL;
	struct err bad = { 0 };

	git_op_told(op, ANSWER_LETTER, &told);
	if (err == NULL &&
	    (told.count != 1 ||
		json_parse(told.v[0], strlen(told.v[0]), RPC_LINE_MAX, &answer,
		    &bad) < 0)) {
		err_set(&bad, -EPROTO, "the change cannot be shown%s%s",
		    bad.msg[0] != '\0' ? ": " : "", bad.msg);
		err = &bad;
	}
	diff->fn(answer, err, op->arg);
}

void
git_diff_read(struct git *git, const char *dir, const struct git_diff *what,
    git_diff_fn *fn, void *arg)
{
	struct diff_op *diff = git_op_new(
	    sizeof *diff, git, dir, what->onto, diff_run, diff_finish);
	struct git_op *op = &diff->op;

	diff->commit = git_op_copy(op, what->commit);
	diff->tree = git_op_copy(op, what->tree);
	diff->file = git_op_copy(op, what->file);
	diff->context = what->context;
	diff->fn = fn;
	op->arg = arg;
	git_op_begin(op, false);
}
