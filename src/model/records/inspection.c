/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "inspection.h"

bool
inspection_is_id(const char *text)
{
	size_t len = strlen(text);

	return len >= 7 && len <= 64 && strspn(text, "0123456789abcdef") == len;
}

static bool
is_moved(const struct inspection *in)
{
	return !text_begins(in->head, in->seen);
}

static bool
is_elsewhere(const struct inspection *in)
{
	return in->branch != NULL &&
	    (in->rebasing || strcmp(in->checked_out, in->branch) != 0);
}

static bool
is_dirty(const struct inspection *in)
{
	return in->clean && in->dirty > 0;
}

bool
inspection_holds(const struct inspection *in)
{
	return !is_moved(in) && !is_elsewhere(in) && !is_dirty(in);
}

/* "3 files: a, b, c" */
static void
add_files(struct buf *out, const char *const *files, size_t count)
{
	buf_addf(out, "%zu file%s", count, count == 1 ? "" : "s");
	for (size_t i = 0; i < count && i < INSPECTION_NAMES; i++) {
		buf_adds(out, i == 0 ? ": " : ", ");
		text_add_visible(out, files[i], strlen(files[i]), false);
	}
	if (count > INSPECTION_NAMES)
		buf_addf(out, " and %zu more", count - INSPECTION_NAMES);
}

static void
add_move(const struct inspection *in, struct buf *out)
{
	buf_addf(out, "HEAD was %.7s, now %s%.7s", in->seen,
	    in->head[0] == '\0' ? "there is no commit" : "", in->head);
	if (!in->known)
		return;
	if (in->commits == 0) {
		buf_adds(out, " (no new commit)");
		return;
	}
	buf_addf(
	    out, " (%d commit%s, ", in->commits, in->commits == 1 ? "" : "s");
	add_files(out, in->files, in->file_count);
	buf_addc(out, ')');
}

void
inspection_sentence(const struct inspection *in, struct buf *out)
{
	const char *before = ": ";

	buf_addf(out, "the work of %s is not ", in->worker);
	if (in->reviewed)
		buf_adds(out, "what you reviewed");
	else
		buf_addf(out, "exactly commit %.7s", in->seen);
	if (is_elsewhere(in)) {
		buf_adds(out, before);
		if (in->rebasing)
			buf_adds(out, "a rebase is in progress");
		else if (in->checked_out[0] == '\0')
			buf_addf(out, "no branch is checked out, instead of %s",
			    in->branch);
		else
			buf_addf(out, "%s is checked out, instead of %s",
			    in->checked_out, in->branch);
		buf_addf(out, " in %s", in->worktree);
		before = "; ";
	}
	if (is_moved(in)) {
		buf_adds(out, before);
		add_move(in, out);
		before = "; ";
	}
	if (is_dirty(in)) {
		buf_adds(out, before);
		buf_adds(out, "there are uncommitted changes in ");
		add_files(out, in->uncommitted, in->uncommitted_count);
	}
	buf_adds(out, "; ");
	if (is_elsewhere(in) && in->rebasing)
		buf_adds(out, "finish or abort the rebase, then ");
	else if (is_elsewhere(in))
		buf_addf(out, "check out %s there, then ", in->branch);
	buf_addf(out, "review it again with: llmc review %s", in->worker);
}
