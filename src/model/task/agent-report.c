/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <math.h>
#include <strings.h>

#include "agent-report.h"
#include "excerpt.h"
#include "review.h"

struct report_line {
	const char *text;
	bool fenced; /* in a fenced code block, or one of its fences */
};

struct report_lines {
	char *copy;
	struct report_line *at;
	size_t count;
	bool reviews; /* one of them is a verdict */
};

#define cleanup_report_lines __attribute__((cleanup(report_lines_release)))

#define COMPLETION_ALL_MAX 32768 /* bytes of all entries */

#define COMPLETION_TEXT_MAX (256 * 1024) /* of a message, from its end */

#define FENCE_LEAST 3
#define BLANKS      " \t\r\n\v\f"

static bool
report_is_blank(const char *line)
{
	return line[strspn(line, BLANKS)] == '\0';
}

/* The word that is equal but for its case; NULL = none of them. */
static const char *
report_word(const char *const *words, const char *text)
{
	for (; *words != NULL; words++)
		if (strcasecmp(*words, text) == 0)
			return *words;
	return NULL;
}

/* The length of the fence that a line is, 0 = none. An opening one may name a
 * language, a closing one not. */
static size_t
fence_len(const char *line, char mark, bool closing)
{
	const char *s = line + strspn(line, " \t");
	size_t len = 0;

	while (s[len] == mark)
		len++;
	if (len < FENCE_LEAST || (closing && !report_is_blank(s + len)) ||
	    (!closing && mark == '`' && strchr(s + len, '`') != NULL))
		return 0;
	return len;
}

static void
mark_fenced(struct report_lines *lines)
{
	static const char marks[] = { '`', '~' };
	size_t open = 0, len;
	char mark = 0;

	for (size_t i = 0; i < lines->count; i++) {
		struct report_line *line = &lines->at[i];

		if (open > 0) {
			line->fenced = true;
			if (fence_len(line->text, mark, true) >= open)
				open = 0;
			continue;
		}
		for (size_t m = 0; m < nitems(marks) && open == 0; m++) {
			len = fence_len(line->text, marks[m], false);
			if (len == 0)
				continue;
			open = len;
			mark = marks[m];
			line->fenced = true;
		}
	}
}

static void
report_lines_release(struct report_lines *lines)
{
	free(lines->copy);
	free(lines->at);
}

/* What follows the mark of a list item ("- ", "2. "); NULL = it is none. */
static const char *
report_item(const char *line)
{
	const char *s = line + strspn(line, " \t");
	size_t digits = strspn(s, "0123456789");

	if (digits > 0 && (s[digits] == '.' || s[digits] == ')'))
		s += digits;
	else if (*s == '\0' || strchr("-*+", *s) == NULL)
		return NULL;
	s++;
	return *s == ' ' || *s == '\t' || *s == '\0' || *s == '\r' ?
	    s + strspn(s, " \t\r") :
	    NULL;
}

#define TOOL_PREFIX "mcp__llmc__"

static const char *const completion_status_words[] = { "complete", "partial",
	"failed", NULL };

const char *const completion_result_words[] = { COMPLETION_IS_RESULT, NULL };

static const char *const completion_confidence_words[] = { "high", "medium",
	"low", NULL };

enum field {
	FIELD_STATUS,
	FIELD_CONFIDENCE,
	FIELD_VERDICT,
	FIELD_RESULT,
	FIELD_SUMMARY,
	FIELD_ARTIFACTS,
	FIELD_BLOCKERS,
	FIELD_WARNINGS,
	FIELD_FINDINGS,
	FIELD_COUNT
};

static const char *const field_names[FIELD_COUNT] = { "status", "confidence",
	"verdict", "result", "summary", "artifacts", "blockers", "warnings",
	"findings" };

static const char *const *
words_of(enum field field)
{
	return field == FIELD_STATUS ? completion_status_words :
	    field == FIELD_VERDICT   ? review_verdict_words :
	    field == FIELD_RESULT    ? completion_result_words :
				       completion_confidence_words;
}

const char *
completion_report_tool(const char *tool_name)
{
	size_t len = strlen(TOOL_PREFIX);

	return strncmp(tool_name, TOOL_PREFIX, len) == 0 ? tool_name + len :
							   tool_name;
}

/* --- lists ------------------------------------------------------------ */

/* *room: bytes that are left for all lists; 0 = an entry did not fit. */
static void
add_entry(struct json_object *list, struct json_object *entry, size_t len,
    size_t *room)
{
	if (len >= *room ||
	    json_object_array_length(list) >= COMPLETION_ENTRIES_MAX) {
		*room = 0;
		json_object_put(entry);
		return;
	}
	*room -= len;
	json_object_array_add(list, entry);
}

static void
add_text(struct json_object *list, const char *text, size_t *room)
{
	cleanup_free char *clean =
	    excerpt_clean(text, strlen(text), COMPLETION_ENTRY_MAX, false);

	if (*clean != '\0')
		add_entry(
		    list, json_object_new_string(clean), strlen(clean), room);
}

static void
add_artifact(struct json_object *list, const char *path,
    const char *description, size_t *room)
{
	cleanup_free char *where =
	    excerpt_clean(path, strlen(path), COMPLETION_ENTRY_MAX, false);
	cleanup_free char *what = excerpt_clean(
	    description, strlen(description), COMPLETION_ENTRY_MAX, false);
	struct json_object *entry;

	if (*where == '\0')
		return;
	entry = json_object_new_object();
	json_set_string(entry, "path", where);
	if (*what != '\0')
		json_set_string(entry, "description", what);
	add_entry(list, entry, strlen(where) + strlen(what), room);
}

/* NULL and words that say that there is none are left out. Takes it. */
static void
add_finding(struct json_object *list, struct json_object *finding, size_t *room)
{
	static const char *const none[] = { "none", "none.", "nothing",
		"nothing.", "n/a", "-", "[]", "no findings", "no findings.",
		NULL };
	const char *file = json_string_or(finding, "file", "");
	const char *text = json_string_or(finding, "text", "");

	if (*text == '\0' || (*file == '\0' && report_word(none, text) != NULL))
		json_object_put(finding);
	else
		add_entry(list, finding, strlen(file) + strlen(text), room);
}

/* Keeps a list that has entries. */
static bool
set_list(struct json_object *report, enum field field, struct json_object *list)
{
	if (json_object_array_length(list) == 0) {
		json_object_put(list);
		return false;
	}
	json_set(report, field_names[field], list);
	return true;
}

/* --- arguments of the tool -------------------------------------------- */

static int
add_arg(struct json_object *list, enum field field, struct json_object *value,
    size_t index, size_t *room, struct err *err)
{
	bool artifact = field == FIELD_ARTIFACTS;
	cleanup_free char *at = xasprintf("%s[%zu]", field_names[field], index);
	struct json_object *finding = NULL;
	int r;

	if (field == FIELD_FINDINGS &&
	    json_object_is_type(value, json_type_object)) {
		r = comment_read(value, at, &finding, err);
		if (r == 0)
			add_finding(list, finding, room);
		return r;
	}
	if (field == FIELD_FINDINGS &&
	    json_object_is_type(value, json_type_string)) {
		add_finding(list,
		    comment_from_line(json_object_get_string(value)), room);
		return 0;
	}
	if (artifact && json_object_is_type(value, json_type_object))
		add_artifact(list, json_string_or(value, "path", ""),
		    json_string_or(value, "description", ""), room);
	else if (artifact && json_object_is_type(value, json_type_string))
		add_artifact(list, json_object_get_string(value), "", room);
	else if (json_object_is_type(value, json_type_string))
		add_text(list, json_object_get_string(value), room);
	else
		return err_set(err, -EINVAL, "%s: expected %s, found %s", at,
		    artifact ? "an object with a path" : "a string",
		    json_type_words(value));
	return 0;
}

static int
take_list(struct json_object *args, enum field field,
    struct json_object *report, size_t *room, struct err *err)
{
	struct json_object *value = NULL;
	cleanup_json struct json_object *list = json_object_new_array();
	int r = 0;

	if (!json_object_object_get_ex(args, field_names[field], &value) ||
	    value == NULL)
		return 0;
	if (!json_object_is_type(value, json_type_array)) {
		r = add_arg(list, field, value, 0, room, err);
	} else {
		for (size_t i = 0;
		     r == 0 && i < json_object_array_length(value); i++)
			r = add_arg(list, field,
			    json_object_array_get_idx(value, i), i, room, err);
	}
	if (r < 0)
		return r;
	if (*room == 0)
		return err_set(err, -EINVAL,
		    "%s: at most %d entries, and %d bytes in all lists of a "
		    "report; write the rest to a file and name that in "
		    "artifacts",
		    field_names[field], COMPLETION_ENTRIES_MAX,
		    COMPLETION_ALL_MAX);
	set_list(report, field, take_ptr(&list));
	return 0;
}

static int
take_word(struct json_object *args, enum field field,
    struct json_object *report, struct err *err)
{
	const char *text = NULL;
	cleanup_free char *clean = NULL;
	const char *word;
	int r = json_get_string(args, "", field_names[field], &text, err);

	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return r;
	clean = excerpt_clean(text, strlen(text), COMPLETION_ENTRY_MAX, false);
	if (*clean == '\0')
		return 0;
	word = report_word(words_of(field), clean);
	if (word == NULL)
		return field == FIELD_VERDICT ?
		    err_set(err, -EINVAL, "verdict: expected %s or %s",
			REVIEW_SAYS_APPROVE, REVIEW_SAYS_FINDINGS) :
		    field == FIELD_RESULT ?
		    err_set(err, -EINVAL, "result: expected %s",
			completion_result_words[0]) :
		    err_set(err, -EINVAL, "%s: expected %s, %s or %s",
			field_names[field], words_of(field)[0],
			words_of(field)[1], words_of(field)[2]);
	json_set_string(report, field_names[field], word);
	return 0;
}

int
completion_report_from_args(
    struct json_object *args, struct json_object **ret_report, struct err *err)
{
	cleanup_json struct json_object *report = json_object_new_object();
	cleanup_free char *summary = NULL;
	const char *text = "";
	size_t room = COMPLETION_ALL_MAX;
	int r;

	r = json_get_string(args, "", "summary", &text, err);
	if (r < 0 && r != -ENOENT)
		return r;
	if (strlen(text) > COMPLETION_SUMMARY_MAX)
		return err_set(err, -EINVAL,
		    "summary: %zu bytes, and %d are kept; write the rest to a "
		    "file and name that in artifacts",
		    strlen(text), COMPLETION_SUMMARY_MAX);
	summary =
	    excerpt_clean(text, strlen(text), COMPLETION_SUMMARY_MAX, true);
	if (*summary == '\0')
		return err_set(err, -EINVAL,
		    "summary required: say in a few sentences what was "
		    "accomplished");
	for (enum field f = FIELD_STATUS; f <= FIELD_RESULT; f++)
		if ((r = take_word(args, f, report, err)) < 0)
			return r;
	json_set_string(report, "summary", summary);
	for (enum field f = FIELD_ARTIFACTS; f < FIELD_COUNT; f++)
		if ((r = take_list(args, f, report, &room, err)) < 0)
			return r;
	*ret_report = take_ptr(&report);
	return 0;
}

/* --- a message -------------------------------------------------------- */

/* The field whose name a line begins with, and its value; FIELD_COUNT =
 * none. Others have findings, too: those of a review have a verdict. */
static enum field
field_of(const struct report_line *line, bool reviews, const char **ret_value)
{
	static const char marks[] = "#*_ \t";
	const char *s = line->text + strspn(line->text, marks);
	size_t len =
	    strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
	const char *end = s + len + strspn(s + len, "*_ \t");

	/* "* status: x" is an item of a list. */
	if (line->fenced || report_item(line->text) != NULL ||
	    (*end != ':' && *end != '='))
		return FIELD_COUNT;
	for (enum field f = FIELD_STATUS; f < FIELD_COUNT; f++)
		if (f != FIELD_RESULT && /* a word of any message */
		    (reviews || (f != FIELD_VERDICT && f != FIELD_FINDINGS)) &&
		    strlen(field_names[f]) == len &&
		    strncasecmp(field_names[f], s, len) == 0) {
			end++;
			*ret_value = end + strspn(end, "*_ \t");
			return f;
		}
	return FIELD_COUNT;
}

static bool
set_word(struct json_object *report, enum field field, const char *value)
{
	cleanup_free char *clean =
	    excerpt_clean(value, strlen(value), COMPLETION_ENTRY_MAX, false);
	size_t len = strlen(clean);
	const char *word;

	while (len > 0 && strchr("*_.`", clean[len - 1]) != NULL)
		clean[--len] = '\0';
	word = report_word(words_of(field), clean + strspn(clean, "`"));
	if (word != NULL)
		json_set_string(report, field_names[field], word);
	return word != NULL;
}

/* The value, and the lines below it up to an empty one. */
static bool
set_summary(struct json_object *report, const struct report_lines *lines,
    size_t at, const char *value)
{
	cleanup_buf struct buf all = BUF_INIT;
	cleanup_free char *clean = NULL;
	const char *item, *ignored = NULL;

	buf_adds(&all, value);
	for (size_t i = at + 1; i < lines->count; i++) {
		const struct report_line *line = &lines->at[i];

		if (line->fenced || report_is_blank(line->text) ||
		    field_of(line, lines->reviews, &ignored) != FIELD_COUNT)
			break;
		item = report_item(line->text);
		if (all.len > 0)
			buf_addc(&all, '\n');
		buf_adds(&all, item != NULL ? item : line->text);
	}
	clean = excerpt_clean(all.data, all.len, COMPLETION_SUMMARY_MAX, true);
	if (*clean == '\0')
		return false;
	json_set_string(report, "summary", clean);
	return true;
}

/* "path - what it is" */
static void
add_artifact_item(struct json_object *list, const char *item, size_t *room)
{
	static const char *const dashes[] = { " - ", " \xe2\x80\x93 ",
		" \xe2\x80\x94 " };
	cleanup_free char *copy = xstrdup(item);
	char *cut = NULL, *path = copy;
	const char *what = "";

	for (size_t i = 0; i < nitems(dashes) && cut == NULL; i++)
		if ((cut = strstr(copy, dashes[i])) != NULL)
			what = cut + strlen(dashes[i]);
	if (cut != NULL)
		*cut = '\0';
	if (*path == '`') {
		path++;
		path[strcspn(path, "`")] = '\0';
	}
	add_artifact(list, path, what, room);
}

static void
add_item(
    struct json_object *list, enum field field, const char *item, size_t *room)
{
	if (field == FIELD_ARTIFACTS)
		add_artifact_item(list, item, room);
	else if (field == FIELD_FINDINGS)
		add_finding(list, comment_from_line(item), room);
	else
		add_text(list, item, room);
}

static bool
set_items(struct json_object *report, const struct report_lines *lines,
    size_t at, enum field field, const char *value, size_t *room)
{
	struct json_object *list = json_object_new_array();
	const char *item = report_item(value);

	add_item(list, field, item != NULL ? item : value, room);
	for (size_t i = at + 1; i < lines->count; i++) {
		const struct report_line *line = &lines->at[i];

		if (line->fenced || report_is_blank(line->text))
			continue;
		item = report_item(line->text);
		if (item == NULL)
			break;
		add_item(list, field, item, room);
	}
	return set_list(report, field, list);
}

struct json_object *
completion_report_from_text(const char *text, size_t len)
{
	cleanup_json struct json_object *report = json_object_new_object();
	cleanup_report_lines struct report_lines lines = { 0 };
	bool known[FIELD_COUNT] = { false };
	size_t room = COMPLETION_ALL_MAX;
	const char *value = "";
	size_t skip = len > COMPLETION_TEXT_MAX ? len - COMPLETION_TEXT_MAX : 0,
	       count = 1;
	char *copy = xstrndup(text + skip, len - skip);

	/* The lines of the last max bytes of a text. */
	for (const char *s = copy; *s != '\0'; s++)
		count += *s == '\n';
	lines.copy = copy;
	lines.at = xcalloc(count, sizeof(struct report_line));
	lines.count = 0;
	while (copy != NULL)
		lines.at[lines.count++].text = strsep(&copy, "\n");
	mark_fenced(&lines);
	for (size_t i = lines.count; i-- > 0 && !lines.reviews;)
		lines.reviews =
		    field_of(&lines.at[i], true, &value) == FIELD_VERDICT &&
		    set_word(report, FIELD_VERDICT, value);
	known[FIELD_VERDICT] = lines.reviews;
	for (size_t i = lines.count; i-- > 0;) {
		enum field f = field_of(&lines.at[i], lines.reviews, &value);

		if (f == FIELD_COUNT || known[f])
			continue;
		if (f == FIELD_SUMMARY)
			known[f] = set_summary(report, &lines, i, value);
		else if (f <= FIELD_VERDICT)
			known[f] = set_word(report, f, value);
		else
			known[f] =
			    set_items(report, &lines, i, f, value, &room);
	}
	return json_object_object_length(report) > 0 ? take_ptr(&report) : NULL;
}

const char *const progress_level_words[] = { "L0_operational", "L1_plan_update",
	"L2_detail", NULL };

static int
take_level(
    struct json_object *args, struct json_object *report, struct err *err)
{
	const char *text = "", *word;
	cleanup_free char *clean = NULL;
	int r = json_get_string(args, "", "level", &text, err);

	if (r < 0 && r != -ENOENT)
		return r;
	clean = excerpt_clean(text, strlen(text), PROGRESS_NAME_MAX, false);
	word = *clean == '\0' ? progress_level_words[0] :
				report_word(progress_level_words, clean);
	if (word == NULL)
		return err_set(err, -EINVAL, "level: expected %s, %s or %s",
		    progress_level_words[0], progress_level_words[1],
		    progress_level_words[2]);
	json_set_string(report, "level", word);
	return 0;
}

static int
take_percent(
    struct json_object *args, struct json_object *report, struct err *err)
{
	double percent = NAN;
	int r = json_get_double(args, "", "percentComplete", &percent, err);

	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return r;
	if (!(percent >= 0 && percent <= 100))
		return err_set(err, -EINVAL,
		    "percentComplete: expected a number from 0 to 100");
	json_set(report, "percentComplete", json_object_new_double(percent));
	return 0;
}

static int
keep_metric(struct json_object *kept, const char *key,
    struct json_object *value, struct err *err)
{
	cleanup_free char *name =
	    excerpt_clean(key, strlen(key), PROGRESS_NAME_MAX, false);
	cleanup_free char *text = NULL;

	if (json_object_object_length(kept) >= PROGRESS_METRICS_MAX)
		return 0;
	if (json_object_is_type(value, json_type_string)) {
		text = excerpt_clean(json_object_get_string(value),
		    (size_t)json_object_get_string_len(value),
		    PROGRESS_VALUE_MAX, false);
		json_set_string(kept, name, text);
		return 0;
	}
	if (!json_object_is_type(value, json_type_int) &&
	    !json_object_is_type(value, json_type_double))
		return err_set(err, -EINVAL,
		    "metrics.%s: expected a string or a number, found %s", name,
		    json_type_words(value));
	json_set(kept, name, json_object_get(value));
	return 0;
}

static int
take_metrics(
    struct json_object *args, struct json_object *report, struct err *err)
{
	struct json_object *all = NULL;
	cleanup_json struct json_object *kept = json_object_new_object();
	struct json_object_iter it;
	int r = json_get_object(args, "", "metrics", &all, err);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	json_object_object_foreachC(all, it)
	{
		if ((r = keep_metric(kept, it.key, it.val, err)) < 0)
			return r;
	}
	json_set(report, "metrics", take_ptr(&kept));
	return 0;
}

int
progress_report_from_args(
    struct json_object *args, struct json_object **ret_report, struct err *err)
{
	cleanup_json struct json_object *report = json_object_new_object();
	cleanup_free char *phase = NULL;
	const char *text = "";
	int r = json_get_string(args, "", "phase", &text, err);

	if (r < 0 && r != -ENOENT)
		return r;
	phase = excerpt_clean(text, strlen(text), PROGRESS_PHASE_MAX, false);
	if (*phase == '\0')
		return err_set(err, -EINVAL,
		    "phase required: say which phase or step you are in");
	json_set_string(report, "phase", phase);
	if ((r = take_percent(args, report, err)) < 0 ||
	    (r = take_level(args, report, err)) < 0 ||
	    (r = take_metrics(args, report, err)) < 0)
		return r;
	*ret_report = take_ptr(&report);
	return 0;
}

struct json_object *
progress_report_latest(struct json_object *report, int64_t now_ms)
{
	static const char *const members[] = { "phase", "percentComplete",
		"level" };
	struct json_object *latest = json_object_new_object(), *value = NULL;

	for (size_t i = 0; i < nitems(members); i++)
		if (json_object_object_get_ex(report, members[i], &value))
			json_set(latest, members[i], json_object_get(value));
	json_set_int(latest, "updatedAt", now_ms);
	return latest;
}

double
progress_report_percent(struct json_object *latest)
{
	double percent = NAN;

	if (latest != NULL)
		json_get_double(latest, "", "percentComplete", &percent, NULL);
	return percent >= 0 && percent <= 100 ? percent : NAN;
}

enum progress_rate
progress_report_rate(
    int count, int64_t last_ms, int64_t now_ms, int64_t *ret_wait_ms)
{
	int64_t since = now_ms - last_ms;

	if (count >= PROGRESS_COUNT_MAX)
		return PROGRESS_USED_UP;
	if (count == 0 || since < 0 || since >= PROGRESS_EVERY_MS)
		return PROGRESS_ACCEPTED;
	*ret_wait_ms = PROGRESS_EVERY_MS - since;
	return PROGRESS_TOO_SOON;
}

void
report_prompt(struct buf *out, bool completion, bool progress)
{
	if (!completion && !progress)
		return;
	if (out->len > 0 && out->data[out->len - 1] != '\n')
		buf_addc(out, '\n');
	if (progress)
		buf_adds(out,
		    "\nReport your progress with the tool report_progress when "
		    "a new phase of your work begins, at most once in 30 "
		    "seconds.\n");
	if (completion)
		buf_adds(out,
		    "\nWhen your work has ended, well or not, and is committed, "
		    "call the tool report_completion as your very last tool: "
		    "whoever gave you this task reads it.\n");
}
