/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <ctype.h>
#include <strings.h>

#include "diff.h"
#include "schema.h"

#define PATH_BYTES   4096
#define LINE_BYTES   2000 /* of a line, after that it is cut */
#define TOKENS_MAX   400 /* words of a line */
#define TABLE_MAX    40000 /* pairs of words that are compared */
#define BLOCK_MAX    400 /* lines of a block whose words are compared */
#define NUMBER_MAX   (INT64_C(1) << 40)
#define LINE_COST    80 /* bytes of JSON around a line's text */
#define MARK_COST    12
#define SECTION_COST 200 /* around a file or a hunk */

const char *const diff_languages[] = { "none", "c", "hash", "markup", NULL };
const char *const diff_statuses[] = { "added", "deleted", "modified", "renamed",
	"copied", "mode", NULL };

const struct diff_limits diff_first_look = { .file_lines = 1000,
	.lines = 8000,
	.bytes = 2 * 1024 * 1024,
	.files = 2000 };
const struct diff_limits diff_one_file = { .file_lines = 20000,
	.lines = 20000,
	.bytes = 3 * 1024 * 1024,
	.files = 1 };

/* --- a line at a time -------------------------------------------------- */

void
diff_reader_init(struct diff_reader *reader)
{
	memset(reader, 0, sizeof *reader);
	buf_init(&reader->path);
	buf_init(&reader->old_path);
}

void
diff_reader_release(struct diff_reader *reader)
{
	buf_release(&reader->path);
	buf_release(&reader->old_path);
}

static bool
begins(const char *s, size_t len, const char *with)
{
	return len >= strlen(with) && memcmp(s, with, strlen(with)) == 0;
}

/* A name as git quotes it in C's way, or as it is; up to the end, a tab, or the
 * closing quote. The length that was used. */
static size_t
take_name(const char *s, size_t len, struct buf *out)
{
	static const char letters[] = "abtnvfr", bytes[] = "\a\b\t\n\v\f\r";
	size_t i = 1;

	buf_clear(out);
	if (len == 0 || s[0] != '"') {
		const char *tab = memchr(s, '\t', len);

		len = tab != NULL ? (size_t)(tab - s) : len;
		buf_add(out, s, len < PATH_BYTES ? len : PATH_BYTES);
		return len;
	}
	while (i < len && s[i] != '"' && out->len < PATH_BYTES) {
		const char *letter;
		int value = 0, digits = 0;

		if (s[i] != '\\' || i + 1 == len) {
			buf_addc(out, s[i++]);
			continue;
		}
		letter = memchr(letters, s[++i], sizeof letters - 1);
		while (digits < 3 && i < len && s[i] >= '0' && s[i] <= '7') {
			value = value * 8 + (s[i++] - '0');
			digits++;
		}
		if (digits > 0)
			buf_addc(out, (char)value);
		else
			buf_addc(out,
			    letter != NULL ? bytes[letter - letters] : s[i]);
		i += digits == 0;
	}
	return i < len ? i + 1 : len;
}

/* "a/x" or "b/x" without its first two bytes; /dev/null is no name. */
static void
take_side(struct diff_reader *reader, const char *s, size_t len, bool old)
{
	cleanup_buf struct buf name = BUF_INIT;

	take_name(s, len, &name);
	if (!begins(name.data, name.len, old ? "a/" : "b/"))
		return;
	buf_consume(&name, 2);
	if (old && !reader->deleted)
		return; /* what it is called now comes next */
	buf_clear(&reader->path);
	buf_add(&reader->path, name.data, name.len);
	reader->named = true;
}

/* "diff --git a/x b/x": both are the same, if no other line says otherwise. */
static void
take_first_line(struct diff_reader *reader, const char *s, size_t len)
{
	buf_clear(&reader->path);
	if (len > 0 && s[0] == '"') {
		take_name(s, len, &reader->path);
		buf_consume(&reader->path, reader->path.len < 2 ? 0 : 2);
	} else if (len >= 5 && len % 2 == 1 && s[len / 2] == ' ') {
		size_t half = len / 2 - 2;

		buf_add(&reader->path, s + 2,
		    half < PATH_BYTES ? half : PATH_BYTES);
	}
}

/* "12" or "12,3"; false if it is neither. */
static bool
take_range(const char **s, const char *end, int64_t *ret_at, int64_t *ret_count)
{
	int64_t numbers[2] = { 0, 1 };

	for (int i = 0; i < 2; i++) {
		const char *first = *s;

		for (numbers[i] = 0; *s < end && isdigit((unsigned char)**s) &&
		     numbers[i] < NUMBER_MAX;
		     (*s)++)
			numbers[i] = numbers[i] * 10 + (**s - '0');
		if (*s == first)
			return false;
		if (i == 1 || *s == end || **s != ',') {
			if (i == 0)
				numbers[1] = 1;
			break;
		}
		(*s)++;
	}
	*ret_at = numbers[0];
	*ret_count = numbers[1];
	return true;
}

static bool
take_hunk(struct diff_reader *reader, const char *line, size_t len)
{
	const char *s = line + 4, *end = line + len;
	int64_t old, old_count, new, new_count;

	if (!begins(line, len, "@@ -") ||
	    !take_range(&s, end, &old, &old_count) || end - s < 2 ||
	    memcmp(s, " +", 2) != 0)
		return false;
	s += 2;
	if (!take_range(&s, end, &new, &new_count) || end - s < 3 ||
	    memcmp(s, " @@", 3) != 0)
		return false;
	reader->next_old = old + (old_count == 0);
	reader->next_new = new + (new_count == 0);
	reader->old_left = old_count;
	reader->new_left = new_count;
	return true;
}

static void
take_mode(char out[8], const char *s, size_t len)
{
	snprintf(out, 8, "%.*s", (int)(len < 7 ? len : 7), s);
	out[strspn(out, "01234567")] = '\0';
}

static bool
take_head(struct diff_reader *r, const char *s, size_t len)
{
	static const char *const others[] = { "index ", "similarity index ",
		"dissimilarity index " };
	struct {
		const char *words;
		bool *flag;
		char *mode;
		struct buf *name;
	} heads[] = {
		{ "old mode ", NULL, r->old_mode, NULL },
		{ "new mode ", NULL, r->mode, NULL },
		{ "deleted file mode ", &r->deleted, NULL, NULL },
		{ "new file mode ", &r->added, NULL, NULL },
		{ "rename from ", &r->renamed, NULL, &r->old_path },
		{ "rename to ", &r->renamed, NULL, &r->path },
		{ "copy from ", &r->copied, NULL, &r->old_path },
		{ "copy to ", &r->copied, NULL, &r->path },
		{ "Binary files ", &r->binary, NULL, NULL },
	};

	for (size_t i = 0; i < nitems(heads); i++) {
		size_t skip = strlen(heads[i].words);

		if (!begins(s, len, heads[i].words))
			continue;
		if (heads[i].flag != NULL)
			*heads[i].flag = true;
		if (heads[i].mode != NULL)
			take_mode(heads[i].mode, s + skip, len - skip);
		if (heads[i].name != NULL)
			take_name(s + skip, len - skip, heads[i].name);
		r->named |= heads[i].name != NULL;
		return true;
	}
	if (begins(s, len, "--- ") || begins(s, len, "+++ ")) {
		take_side(r, s + 4, len - 4, s[0] == '-');
		return true;
	}
	for (size_t i = 0; i < nitems(others); i++)
		if (begins(s, len, others[i]))
			return true;
	return false;
}

enum diff_event
diff_reader_line(struct diff_reader *reader, const char *line, size_t len)
{
	char side = len > 0 ? line[0] : ' '; /* editors remove blanks */

	reader->old = reader->new = 0;
	if (reader->old_left > 0 || reader->new_left > 0) {
		bool old = side == ' ' || side == '-';
		bool new = side == ' ' || side == '+';

		if ((old || new) && (!old || reader->old_left > 0) &&
		    (!new || reader->new_left > 0)) {
			reader->old = old ? reader->next_old : 0;
			reader->new = new ? reader->next_new : 0;
			reader->next_old += old;
			reader->next_new += new;
			reader->old_left -= old;
			reader->new_left -= new;
			return old && new ? DIFF_SAME :
			    old           ? DIFF_REMOVED :
					    DIFF_ADDED;
		}
	}
	if (side == '\\' && reader->next_new > 0)
		return DIFF_NOTE;
	if (begins(line, len, "diff --git ")) {
		struct buf path = reader->path, old_path = reader->old_path;

		memset(reader, 0, sizeof *reader);
		reader->path = path;
		reader->old_path = old_path;
		buf_clear(&reader->old_path);
		take_first_line(reader, line + 11, len - 11);
		return DIFF_FILE;
	}
	if (reader->path.len > 0 && take_hunk(reader, line, len))
		return DIFF_HUNK;
	if (reader->old_left == 0 && reader->new_left == 0 &&
	    take_head(reader, line, len))
		return DIFF_HEAD;
	return DIFF_OTHER;
}

/* --- words -------------------------------------------------------------- */

struct token {
	const char *s;
	size_t len;
	int at, to; /* in UTF-16 units */
	bool blank, kept;
};

/* 0: there are too many. */
static size_t
split(const char *s, struct token *list)
{
	size_t count = 0;
	int at = 0;

	while (*s != '\0') {
		struct token *t = &list[count];
		size_t len = 0;

		if (count == TOKENS_MAX)
			return 0;
		*t = (struct token){ .s = s, .at = at };
		t->blank = *s == ' ' || *s == '\t';
		if (t->blank)
			len = strspn(s, " \t");
		while (!t->blank &&
		    (isalnum((unsigned char)s[len]) || s[len] == '_' ||
			(unsigned char)s[len] >= 0x80))
			len++;
		t->len = len > 0 ? len : 1;
		for (size_t i = 0; i < t->len; i++) {
			unsigned char c = (unsigned char)s[i];

			at += c >= 0xf0 ? 2 : c < 0x80 || c >= 0xc0;
		}
		t->to = at;
		s += t->len;
		count++;
	}
	return count;
}

static bool
same(const struct token *a, const struct token *b)
{
	return a->len == b->len && memcmp(a->s, b->s, a->len) == 0;
}

/* Mark the longest common sequence of the words as kept. */
static void
keep_common(struct token *a, size_t n, struct token *b, size_t m)
{
	cleanup_free uint16_t *table = NULL;
	size_t i = 0, j = 0;

	if (n == 0 || m == 0 || (n + 1) * (m + 1) > TABLE_MAX)
		return;
	table = xcalloc((n + 1) * (m + 1), sizeof *table);
#define AT(x, y) table[(x) * (m + 1) + (y)]
	for (size_t x = n; x-- > 0;)
		for (size_t y = m; y-- > 0;) {
			uint16_t down = AT(x + 1, y), right = AT(x, y + 1);

			AT(x, y) = same(&a[x], &b[y]) ?
			    (uint16_t)(AT(x + 1, y + 1) + 1) :
			    down > right ? down :
					   right;
		}
	while (i < n && j < m) {
		if (same(&a[i], &b[j])) {
			a[i++].kept = true;
			b[j++].kept = true;
		} else if (AT(i + 1, j) >= AT(i, j + 1)) {
			i++;
		} else {
			j++;
		}
	}
#undef AT
}

/* Ranges of what is not kept; blanks between two of them belong to both. */
static void
mark(const struct token *list, size_t count, struct diff_marks *out)
{
	bool joins = false;

	out->count = 0;
	for (size_t i = 0; i < count; i++) {
		if (list[i].kept) {
			joins = joins && list[i].blank;
			continue;
		}
		if (out->count > 0 && (joins || out->count == DIFF_MARKS_MAX)) {
			out->v[out->count - 1].to = list[i].to;
		} else {
			out->v[out->count].from = list[i].at;
			out->v[out->count++].to = list[i].to;
		}
		joins = true;
	}
}

/* Bytes of words: all, and those that are kept. */
static void
weigh(const struct token *list, size_t count, size_t *ret_all, size_t *ret_kept)
{
	*ret_all = *ret_kept = 0;
	for (size_t i = 0; i < count; i++) {
		if (list[i].blank)
			continue;
		*ret_all += list[i].len;
		*ret_kept += list[i].kept ? list[i].len : 0;
	}
}

bool
diff_words(const char *old, const char *new, struct diff_marks *ret_old,
    struct diff_marks *ret_new)
{
	cleanup_free struct token *a = xcalloc(TOKENS_MAX, sizeof *a),
				  *b = xcalloc(TOKENS_MAX, sizeof *b);
	size_t n = split(old, a), m = split(new, b), first = 0, last = 0;
	size_t all_old, all_new, kept, kept_new;

	if (n == 0 || m == 0)
		return false;
	while (first < n && first < m && same(&a[first], &b[first])) {
		a[first].kept = b[first].kept = true;
		first++;
	}
	while (last < n - first && last < m - first &&
	    same(&a[n - 1 - last], &b[m - 1 - last])) {
		a[n - 1 - last].kept = b[m - 1 - last].kept = true;
		last++;
	}
	keep_common(a + first, n - first - last, b + first, m - first - last);
	weigh(a, n, &all_old, &kept);
	weigh(b, m, &all_new, &kept_new);
	if (kept * 3 < (all_old > all_new ? all_old : all_new) ||
	    (kept == 0 && all_old + all_new > 0))
		return false;
	mark(a, n, ret_old);
	mark(b, m, ret_new);
	return true;
}

/* --- the whole ---------------------------------------------------------- */

const char *
diff_language(const char *path)
{
	static const char *const c[] = { "c", "h", "cc", "cpp", "cxx", "hpp",
		"hh", "m", "mm", "java", "kt", "kts", "js", "mjs", "cjs", "jsx",
		"ts", "tsx", "go", "rs", "swift", "cs", "scala", "dart", "php",
		"css", "scss", "less", "zig", "proto", "groovy", "gradle", "v",
		"sv", NULL };
	static const char *const hash[] = { "py", "pyi", "sh", "bash", "zsh",
		"fish", "rb", "pl", "pm", "yml", "yaml", "toml", "cfg", "conf",
		"ini", "mk", "cmake", "r", "jl", "tcl", "awk", "nix", "ex",
		"exs", "Makefile", "Dockerfile", "build", "service", NULL };
	static const char *const markup[] = { "html", "htm", "xml", "svg",
		"vue", "svelte", "md", "markdown", "xhtml", "plist", NULL };
	static const char *const *const lists[] = { NULL, c, hash, markup };
	const char *slash = strrchr(path, '/');
	const char *name = slash != NULL ? slash + 1 : path;
	const char *dot = strrchr(name, '.');
	const char *end = dot != NULL ? dot + 1 : name;

	for (size_t i = 1; i < nitems(lists); i++)
		for (size_t j = 0; lists[i][j] != NULL; j++)
			if (strcasecmp(end, lists[i][j]) == 0)
				return diff_languages[i];
	return diff_languages[0];
}

struct collector {
	const struct diff_limits *limits;
	struct diff_reader reader;
	struct json_object *files;
	struct json_object *file, *hunks; /* of the file; borrowed */
	struct json_object *lines; /* of the hunk; borrowed */
	bool skipped, full; /* the file is not wanted, or too long */
	int64_t added, removed, file_lines;
	int64_t all_lines, all_bytes, file_bytes, more;
	/* Lines of the block, whose words are compared at its end. */
	struct json_object *block[2][BLOCK_MAX];
	size_t count[2];
};

static void
set_marks(
    struct collector *c, struct json_object *line, const struct diff_marks *m)
{
	struct json_object *list;

	if (m->count == 0)
		return;
	list = json_object_new_array();
	for (size_t i = 0; i < m->count; i++) {
		struct json_object *pair = json_object_new_array_ext(2);

		json_object_array_add(pair, json_object_new_int(m->v[i].from));
		json_object_array_add(pair, json_object_new_int(m->v[i].to));
		json_object_array_add(list, pair);
	}
	json_set(line, "words", list);
	c->file_bytes += MARK_COST * (int64_t)m->count;
}

/* The n-th line that goes belongs to the n-th that comes. */
static void
end_block(struct collector *c)
{
	for (size_t i = 0; i < c->count[0] && i < c->count[1]; i++) {
		struct diff_marks old, new;

		if (!diff_words(json_string_or(c->block[0][i], "s", ""),
			json_string_or(c->block[1][i], "s", ""), &old, &new))
			continue;
		set_marks(c, c->block[0][i], &old);
		set_marks(c, c->block[1][i], &new);
	}
	c->count[0] = c->count[1] = 0;
}

/* What is known of a file is complete at its end. */
static void
end_file(struct collector *c)
{
	const struct diff_reader *r = &c->reader;
	cleanup_buf struct buf path = BUF_INIT, old = BUF_INIT;
	const char *status = "modified";

	end_block(c);
	if (c->file == NULL)
		return;
	if (r->path.len == 0 || (c->limits->file != NULL && c->skipped) ||
	    (int64_t)json_object_array_length(c->files) >= c->limits->files) {
		c->more += r->path.len > 0 && c->limits->file == NULL;
		json_object_put(take_ptr(&c->hunks));
		json_object_put(take_ptr(&c->file));
		return;
	}
	if (r->added)
		status = "added";
	else if (r->deleted)
		status = "deleted";
	else if (r->renamed)
		status = "renamed";
	else if (r->copied)
		status = "copied";
	else if (r->mode[0] != '\0' && c->file_lines == 0 && !r->binary)
		status = "mode";
	text_add_utf8(&path, r->path.data, r->path.len);
	text_add_utf8(&old, r->old_path.data, r->old_path.len);
	json_set_string(c->file, "path", path.data);
	if (old.len > 0)
		json_set_string(c->file, "old_path", old.data);
	json_set_string(c->file, "status", status);
	json_set_bool(c->file, "binary", r->binary);
	if (r->mode[0] != '\0') {
		json_set_string(c->file, "old_mode", r->old_mode);
		json_set_string(c->file, "mode", r->mode);
	}
	json_set_int(c->file, "lines_added", c->added);
	json_set_int(c->file, "lines_deleted", c->removed);
	json_set_string(c->file, "language", diff_language(path.data));
	json_set_bool(c->file, "too_long", c->full);
	json_set(c->file, "hunks", take_ptr(&c->hunks));
	json_object_array_add(c->files, take_ptr(&c->file));
	if (c->full && c->limits->file == NULL)
		return;
	c->all_lines += c->file_lines;
	c->all_bytes += c->file_bytes;
}

static void
add_line(
    struct collector *c, enum diff_event event, const char *line, size_t len)
{
	const struct diff_limits *limits = c->limits;
	const struct diff_reader *r = &c->reader;
	bool changed = event == DIFF_ADDED || event == DIFF_REMOVED;
	size_t side = event == DIFF_ADDED, cut;
	cleanup_buf struct buf text = BUF_INIT;
	struct json_object *json;

	c->added += event == DIFF_ADDED;
	c->removed += event == DIFF_REMOVED;
	c->file_lines++;
	if (!c->full &&
	    (c->file_lines > limits->file_lines ||
		c->all_lines + c->file_lines > limits->lines ||
		c->all_bytes + c->file_bytes > limits->bytes)) {
		c->full = true;
		c->count[0] = c->count[1] = 0;
		if (limits->file == NULL) {
			json_object_put(c->hunks);
			c->hunks = json_object_new_array();
		}
	}
	if (c->full || c->lines == NULL)
		return;
	/* After a line that comes, one that goes begins a block. */
	if (event == DIFF_SAME || (event == DIFF_REMOVED && c->count[1] > 0))
		end_block(c);
	if (len > 0) {
		line++;
		len--;
	}
	cut = text_cut(line, len, LINE_BYTES);
	text_add_visible(&text, line, cut, true);
	if (cut < len)
		buf_addf(&text, " ... %zu more bytes", len - cut);
	json = json_object_new_object();
	json_set_string(json, "k",
	    event == DIFF_ADDED       ? "+" :
		event == DIFF_REMOVED ? "-" :
		event == DIFF_NOTE    ? "\\" :
					" ");
	if (r->old > 0)
		json_set_int(json, "o", r->old);
	if (r->new > 0)
		json_set_int(json, "n", r->new);
	json_set_string(json, "s", text.data);
	c->file_bytes += LINE_COST + 2 * (int64_t)text.len;
	json_object_array_add(c->lines, json);
	if (changed && c->count[side] < BLOCK_MAX)
		c->block[side][c->count[side]++] = json;
}

static void
begin_hunk(struct collector *c, const char *line, size_t len)
{
	struct json_object *hunk;
	const char *at = len > 4 ? memmem(line + 4, len - 4, " @@", 3) : NULL;
	cleanup_buf struct buf title = BUF_INIT;

	end_block(c);
	if (c->full)
		return;
	hunk = json_object_new_object();
	json_set_int(hunk, "old", c->reader.next_old);
	json_set_int(hunk, "new", c->reader.next_new);
	if (at != NULL && at + 4 < line + len) {
		size_t rest = (size_t)(line + len - at) - 4;

		text_add_visible(
		    &title, at + 4, text_cut(at + 4, rest, 200), false);
		json_set_string(hunk, "title", title.data);
	}
	c->lines = json_object_new_array();
	json_set(hunk, "lines", c->lines);
	json_object_array_add(c->hunks, hunk);
	c->file_bytes += SECTION_COST;
}

struct json_object *
diff_read(const char *bytes, size_t len, const struct diff_limits *limits,
    int64_t *ret_more)
{
	cleanup_free struct collector *c = xcalloc(1, sizeof *c);
	cleanup_buf struct buf name = BUF_INIT;

	c->limits = limits;
	c->files = json_object_new_array();
	diff_reader_init(&c->reader);
	while (len > 0) {
		const char *line = bytes, *end = memchr(bytes, '\n', len);
		size_t used = end != NULL ? (size_t)(end - bytes) : len;
		enum diff_event event;

		bytes += used + (end != NULL);
		len -= used + (end != NULL);
		/* Its names are forgotten with the next one's first line. */
		if (begins(line, used, "diff --git "))
			end_file(c);
		event = diff_reader_line(&c->reader, line, used);
		if (event == DIFF_FILE) {
			c->file = json_object_new_object();
			c->hunks = json_object_new_array();
			c->lines = NULL;
			c->skipped = c->full = false;
			c->added = c->removed = c->file_lines = 0;
			c->file_bytes = SECTION_COST;
		}
		if (c->file == NULL || event == DIFF_OTHER)
			continue;
		if (limits->file != NULL && event < DIFF_HUNK) {
			buf_clear(&name);
			text_add_utf8(
			    &name, c->reader.path.data, c->reader.path.len);
			c->skipped = strcmp(name.data, limits->file) != 0;
		}
		if (event == DIFF_HUNK && !c->skipped)
			begin_hunk(c, line, used);
		else if (event >= DIFF_SAME && !c->skipped)
			add_line(c, event, line, used);
	}
	end_file(c);
	diff_reader_release(&c->reader);
	*ret_more = c->more;
	return c->files;
}

/* --- the shape ----------------------------------------------------------- */

static const char *const kinds[] = { " ", "+", "-", "\\", NULL };

static const struct schema pair = { SCHEMA_FIELDS{ { .type = SCHEMA_INT } } };
static const struct schema pairs = {
	SCHEMA_FIELDS{ { .type = SCHEMA_ARRAY, .of = &pair } },
};
static const struct schema line_schema = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("k", STRING, "what became of it; \\: a note by git",
		.choices = kinds),
	    SCHEMA_MAY(
		"o", INT, "its number before", .min = 1, .max = INT64_MAX),
	    SCHEMA_MAY("n", INT, "its number now", .min = 1, .max = INT64_MAX),
	    SCHEMA_IS("s", STRING,
		"its text; what cannot be seen is written as \\x1b or \\u202e"),
	    SCHEMA_MAY("words", ARRAY,
		"what is different in it: from and to, in UTF-16 units",
		.of = &pairs),
	    SCHEMA_END,
	},
};
static const struct schema hunk_schema = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("old", INT, "the number of its first line before"),
	    SCHEMA_IS("new", INT, "the same, now"),
	    SCHEMA_MAY("title", STRING, "the function that it is in"),
	    SCHEMA_IS("lines", ROWS, NULL, .of = &line_schema),
	    SCHEMA_END,
	},
};
const struct schema diff_file_schema = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("path", STRING, NULL),
	    SCHEMA_MAY("old_path", STRING, "if it was another one"),
	    SCHEMA_IS("status", STRING, "mode: nothing else has changed",
		.choices = diff_statuses),
	    SCHEMA_IS("binary", BOOL, "it has no lines to show"),
	    SCHEMA_MAY("old_mode", STRING, "if it has changed"),
	    SCHEMA_MAY("mode", STRING, "the same, now"),
	    SCHEMA_IS("lines_added", INT, NULL),
	    SCHEMA_IS("lines_deleted", INT, NULL),
	    SCHEMA_IS("language", STRING, "how comments look in it",
		.choices = diff_languages),
	    SCHEMA_IS("too_long", BOOL,
		"hunks are left out: ask for this file alone"),
	    SCHEMA_IS("hunks", ROWS, NULL, .of = &hunk_schema),
	    SCHEMA_END,
	},
};
