/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <ctype.h>

#include "comment-file.h"
#include "diff.h"

#define WRONG_BYTES 60 /* of a line that is quoted in an error */

const char comment_file_end[] =
    "# ------------------------ >8 ------------------------";
const char comment_file_help[] =
    "# Below is the diff. To comment on a line of it, write below that line, "
    "on\n# lines that begin with >. Leave the lines of the diff as they are. "
    "Lines that\n# begin with # are ignored.\n";

/* Comments as they come: lines of one after another belong together. */
struct reading {
	struct diff_reader diff;
	struct json_object *list;
	struct buf *text; /* about the whole */
	struct buf comment;
	struct buf code; /* the last line of the diff */
	int64_t line; /* of the file that is read */
	int64_t hunk; /* where the hunk begins; 0 = there is none */
	bool hunk_has; /* a comment */
};

static void
add(struct reading *r, const char *file, size_t file_len, int64_t line,
    bool old, const char *code, const char *text)
{
	struct json_object *json = json_object_new_object();
	cleanup_buf struct buf path = BUF_INIT;

	text_add_utf8(&path, file, file_len);
	json_set_string(json, "file", path.data);
	if (line > 0)
		json_set_int(json, "line", line);
	if (old)
		json_set_string(json, "side", "old");
	if (line > 0 && *code != '\0')
		json_set_string(json, "code", code);
	json_set_string(json, "text", text);
	json_object_array_add(r->list, json);
}

/* The comment so far is about the last line of the diff. */
static void
end_comment(struct reading *r)
{
	const struct diff_reader *d = &r->diff;
	bool old = d->old > 0 && d->new == 0;
	int64_t line = old ? d->old : d->new;

	if (line == 0 && r->hunk > 0) /* below its first line, "@@" */
		line = d->next_new;

	if (r->comment.data[strspn(r->comment.data, " \t\r\n")] != '\0') {
		if (d->path.len == 0)
			buf_addf(r->text, "%s%s", r->text->len > 0 ? "\n" : "",
			    r->comment.data);
		else
			add(r, d->path.data, d->path.len, line, old,
			    r->code.data, r->comment.data);
		r->hunk_has = true;
	}
	buf_clear(&r->comment);
}

/* "path:12: text" */
static bool
take_listed(struct reading *r, const char *line, size_t len)
{
	for (size_t i = 1; i + 3 < len; i++) {
		size_t end = i + 1;
		int64_t number = 0;

		if (line[i] != ':')
			continue;
		while (end < len && isdigit((unsigned char)line[end]) &&
		    number < INT32_MAX)
			number = number * 10 + (line[end++] - '0');
		if (number == 0 || number > INT32_MAX || end + 1 >= len ||
		    line[end] != ':')
			continue;
		for (end++; end < len && line[end] == ' ';)
			end++;
		if (end < len) {
			cleanup_free char *text =
			    xstrndup(line + end, len - end);

			add(r, line, i, number, false, "", text);
			return true;
		}
	}
	return false;
}

/* Numbers are right only if no line of the hunk was taken away. */
static int
end_hunk(struct reading *r, struct err *err)
{
	if (r->hunk_has && r->hunk > 0 &&
	    r->diff.old_left + r->diff.new_left > 0)
		return err_set(err, -EINVAL,
		    "line %" PRId64 ": lines of this part of the diff are "
		    "missing, so its comments cannot be placed; leave the diff "
		    "as it was, or write PATH:LINE: TEXT",
		    r->hunk);
	r->hunk = 0;
	r->hunk_has = false;
	return 0;
}

static int
take_line(struct reading *r, const char *line, size_t len, struct err *err)
{
	cleanup_buf struct buf shown = BUF_INIT;
	int64_t old = r->diff.old, new = r->diff.new;
	enum diff_event event;
	bool blank = strspn(line, " \t\r") >= len;

	if (len > 0 && line[len - 1] == '\r')
		len--;
	if (len > 0 && line[0] == '>') {
		size_t skip = len > 1 && line[1] == ' ' ? 2 : 1;

		buf_adds(&r->comment, r->comment.len > 0 ? "\n" : "");
		text_add_utf8(&r->comment, line + skip, len - skip);
		return 0;
	}
	end_comment(r);
	if (len > 0 && line[0] == '#')
		return 0;
	if (blank && r->diff.old_left + r->diff.new_left == 0)
		return 0;
	if ((len >= 11 && memcmp(line, "diff --git ", 11) == 0) ||
	    (len >= 4 && memcmp(line, "@@ -", 4) == 0)) {
		int e = end_hunk(r, err);

		if (e < 0)
			return e;
	}
	event = diff_reader_line(&r->diff, line, len);
	if (event == DIFF_HUNK)
		r->hunk = r->line;
	if (event == DIFF_NOTE) { /* about the line above it */
		r->diff.old = old;
		r->diff.new = new;
	} else {
		buf_clear(&r->code);
		if (event >= DIFF_SAME && len > 1)
			text_add_utf8(&r->code, line + 1, len - 1);
	}
	if (event != DIFF_OTHER || take_listed(r, line, len))
		return 0;
	text_add_visible(&shown, line, text_cut(line, len, WRONG_BYTES), false);
	return err_set(err, -EINVAL,
	    "line %" PRId64 " is neither a line of the diff nor a comment, "
	    "which begins with > or is PATH:LINE: TEXT: %s",
	    r->line, shown.data);
}

int
comment_file_read(const char *bytes, size_t len, struct buf *text,
    struct json_object **ret_list, struct err *err)
{
	struct reading r = {
		.text = text, .comment = BUF_INIT, .code = BUF_INIT
	};
	cleanup_buf struct buf whole = BUF_INIT;
	const char *end, *cut = NULL;
	int e = 0;

	/* A copy ends with a NUL, whatever is in it. */
	buf_add(&whole, bytes, len);
	bytes = whole.data;
	diff_reader_init(&r.diff);
	r.list = json_object_new_array();
	for (const char *p = bytes;; p++) {
		if (strncmp(p, comment_file_end, strlen(comment_file_end)) == 0)
			cut = p;
		else if ((p = memchr(p, '\n', len - (size_t)(p - bytes))) !=
		    NULL)
			continue;
		break;
	}
	if (cut != NULL) {
		const char *first = bytes + strspn(bytes, " \t\r\n");
		const char *last = cut;

		while (last > first && isspace((unsigned char)last[-1]))
			last--;
		if (last > first)
			text_add_utf8(text, first, (size_t)(last - first));
		for (const char *p = bytes; p < cut; p++)
			r.line += *p == '\n';
		len -= (size_t)(cut - bytes);
		bytes = cut;
	}
	while (len > 0 && e == 0) {
		size_t used;

		end = memchr(bytes, '\n', len);
		used = end != NULL ? (size_t)(end - bytes) : len;
		r.line++;
		e = take_line(&r, bytes, used, err);
		bytes += used + (end != NULL);
		len -= used + (end != NULL);
	}
	if (e == 0) {
		end_comment(&r);
		e = end_hunk(&r, err);
	}
	diff_reader_release(&r.diff);
	buf_release(&r.comment);
	buf_release(&r.code);
	if (e < 0)
		json_object_put(r.list);
	else
		*ret_list = r.list;
	return e;
}
