/* SPDX-License-Identifier: ISC */

/* The words of llmc top: times, amounts, and lines of them. */
#include "base.h"
#include "view-private.h"

#define MINUTE 60
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)

/* What comes from elsewhere may be any number: these are the largest moments
 * and amounts that are shown. */
#define MOMENT_MAX INT64_C(100000000000)
#define DAYS_MAX   (MOMENT_MAX / DAY)
#define MICROS_MAX (INT64_MAX / 2)

#define LABEL_COLUMNS 13

/* --- times ----------------------------------------------------------- */

/* What was added is different when `unit` more seconds have passed since
 * `from`. */
static void
changes(struct top_clock *clock, int64_t from, int64_t unit)
{
	int64_t passed = clock->now_ms / 1000 - from;
	int64_t next = (from + (passed / unit + 1) * unit) * 1000;

	if (next < clock->next_ms)
		clock->next_ms = next;
}

static bool
is_moment(int64_t at_unix)
{
	return at_unix > 0 && at_unix < MOMENT_MAX;
}

/* What is in the future is now. */
static int64_t
age_of(struct top_clock *clock, int64_t since_unix)
{
	int64_t age = clock->now_ms / 1000 - since_unix;

	return age > 0 ? age : 0;
}

void
top_add_age(struct top_clock *clock, int64_t since_unix, struct buf *out)
{
	int64_t age, unit = DAY;

	if (!is_moment(since_unix)) {
		buf_addc(out, '-');
		return;
	}
	age = age_of(clock, since_unix);
	if (age < MINUTE)
		unit = 1;
	else if (age < HOUR)
		unit = MINUTE;
	else if (age < 2 * DAY)
		unit = HOUR;
	buf_addf(out, "%" PRId64 "%c", age / unit,
	    unit == 1          ? 's' :
		unit == MINUTE ? 'm' :
		unit == HOUR   ? 'h' :
				 'd');
	changes(clock, since_unix, unit);
}

void
top_add_uptime(struct top_clock *clock, int64_t since_unix, struct buf *out)
{
	int64_t age = is_moment(since_unix) ? age_of(clock, since_unix) : 0;

	if (age < HOUR || age >= 2 * DAY) {
		top_add_age(clock, since_unix, out);
		return;
	}
	top_add_length(age * 1000, out);
	changes(clock, since_unix, MINUTE);
}

/* The number of its day, and the second in it. */
static int64_t
local_day(const struct top_clock *clock, int64_t at_unix, int64_t *ret_second)
{
	int64_t local = at_unix + clock->utc_offset_s;
	int64_t second = (local % DAY + DAY) % DAY;

	*ret_second = second;
	return (local - second) / DAY;
}

void
top_add_day(int64_t days, struct buf *out)
{
	char stamp[CLOCK_STAMP_SIZE] = "-";

	if (days >= 0 && days <= DAYS_MAX) {
		clock_format_stamp(days * DAY * 1000, stamp);
		stamp[strcspn(stamp, "T")] = '\0';
	}
	buf_adds(out, stamp);
}

static void
add_time(int64_t second, struct buf *out)
{
	buf_addf(out, "%02" PRId64 ":%02" PRId64, second / HOUR,
	    second / MINUTE % 60);
}

void
top_add_moment(struct top_clock *clock, int64_t at_unix, struct buf *out)
{
	int64_t second, now_second;
	int64_t now_unix = clock->now_ms / 1000;
	int64_t day, today = local_day(clock, now_unix, &now_second);
	cleanup_buf struct buf date = BUF_INIT;

	if (!is_moment(at_unix)) {
		buf_addc(out, '-');
		return;
	}
	day = local_day(clock, at_unix, &second);
	top_add_day(day, &date);
	if (day == today)
		add_time(second, out);
	else /* without the year */
		buf_adds(
		    out, date.len > 5 ? date.data + date.len - 5 : date.data);
	changes(clock, now_unix - now_second, DAY);
}

void
top_add_now(struct top_clock *clock, struct buf *out)
{
	int64_t second;

	local_day(clock, clock->now_ms / 1000, &second);
	add_time(second, out);
	changes(clock, clock->now_ms / 1000 - second % MINUTE, MINUTE);
}

void
top_add_length(int64_t ms, struct buf *out)
{
	int64_t s = ms / 1000;

	if (s < MINUTE)
		buf_addf(out, "%" PRId64 "s", s);
	else if (s < HOUR)
		buf_addf(out, "%" PRId64 "m", s / MINUTE);
	else if (s < 2 * DAY)
		buf_addf(out, "%" PRId64 "h%" PRId64 "m", s / HOUR,
		    s % HOUR / MINUTE);
	else
		buf_addf(
		    out, "%" PRId64 "d%" PRId64 "h", s / DAY, s % DAY / HOUR);
}

void
top_add_running(
    struct top_clock *clock, int64_t ms, int64_t from_ms, struct buf *out)
{
	/* A whole second, as all that is shown: they change at once. */
	int64_t since = from_ms > ms ? (from_ms - ms) / 1000 * 1000 : 0;
	int64_t passed = clock->now_ms > since ? clock->now_ms - since : 0;
	int64_t unit = 1000 *
	    (passed < MINUTE * 1000                  ? 1 :
		    passed < 2 * (int64_t)DAY * 1000 ? MINUTE :
						       HOUR);
	int64_t next = since + (passed / unit + 1) * unit;

	top_add_length(passed, out);
	if (next < clock->next_ms)
		clock->next_ms = next;
}

/* --- numbers --------------------------------------------------------- */

void
top_add_count(int64_t count, struct buf *out)
{
	static const char units[] = "kMGT";
	int64_t unit = 1000;
	size_t i = 0;

	if (count < 1000) {
		buf_addf(out, "%" PRId64, count);
		return;
	}
	while (count / unit >= 1000 && units[i + 1] != '\0') {
		unit *= 1000;
		i++;
	}
	if (count / unit < 10)
		buf_addf(out, "%" PRId64 ".%" PRId64 "%c", count / unit,
		    count % unit / (unit / 10), units[i]);
	else
		buf_addf(out, "%" PRId64 "%c", count / unit, units[i]);
}

void
top_add_dollars(int64_t micros, struct buf *out)
{
	int64_t cents;

	if (micros < 0 || micros > MICROS_MAX) {
		buf_addc(out, '?');
		return;
	}
	if (micros > 0 && micros < 9500) { /* not nothing */
		micros = micros < 1000 ? 1000 : micros;
		buf_addf(out, "0.00%" PRId64, (micros + 500) / 1000);
		return;
	}
	cents = (micros + 5000) / 10000;
	buf_addf(out, "%" PRId64 ".%02" PRId64, cents / 100, cents % 100);
}

/* Below 0: it is not known. */
static int64_t
cost_of(struct json_object *row, bool *ret_estimate)
{
	const char *source = json_string_or(row, "cost_source", "unknown");
	int64_t micros = json_int_or(row, "cost_micros", -1);

	*ret_estimate = strcmp(source, "estimate") == 0;
	return strcmp(source, "unknown") == 0 || micros > MICROS_MAX ? -1 :
								       micros;
}

void
top_add_cost(struct json_object *row, struct buf *out)
{
	bool estimate;
	int64_t micros = cost_of(row, &estimate);

	if (micros >= 0 && estimate)
		buf_addc(out, '~');
	if (micros >= INT64_C(100000000)) /* cents do not matter */
		buf_addf(out, "%" PRId64, (micros + 500000) / 1000000);
	else
		top_add_dollars(micros, out);
}

void
top_add_cost_words(struct json_object *row, struct buf *out)
{
	bool estimate;
	int64_t micros = cost_of(row, &estimate);

	if (micros >= 0)
		buf_addc(out, '$');
	top_add_dollars(micros, out);
	if (micros >= 0 && estimate)
		buf_adds(out, " est.");
}

/* --- lines ----------------------------------------------------------- */

void
top_lines_init(struct top_lines *lines, int width, struct top_clock *clock)
{
	*lines = (struct top_lines){
		.width = width > 1 ? width : 1,
		.clock = clock,
		.next_ms = clock->next_ms,
	};
	clock->next_ms = INT64_MAX;
}

void
top_lines_release(struct top_lines *lines)
{
	for (size_t i = 0; i < lines->count; i++)
		free(lines->lines[i].text);
	free(lines->lines);
	lines->clock->next_ms = lines->next_ms;
	*lines = (struct top_lines){ 0 };
}

/* Takes the text. */
static void
push(struct top_lines *lines, char *text, enum grid_style style, int label)
{
	if (lines->count == lines->cap) {
		lines->cap = lines->cap == 0 ? 32 : 2 * lines->cap;
		lines->lines = xreallocarray(
		    lines->lines, lines->cap, sizeof *lines->lines);
	}
	lines->lines[lines->count++] =
	    (struct top_line){ text, style, label, lines->clock->next_ms };
}

/* What was added is complete: the next text has a time of its own. */
static void
finish(struct top_lines *lines)
{
	lines->clock->next_ms = INT64_MAX;
}

/* How many bytes go on a line of so many columns: at least a character. */
static size_t
line_len(const char *text, size_t len, int columns)
{
	size_t fits = text_width_cut(text, len, columns), cut;

	if (fits == len)
		return len;
	for (cut = fits; cut > 0 && text[cut] != ' '; cut--)
		;
	if (cut > 0)
		return cut;
	if (fits == 0)
		fits = text_utf8_len(text, len);
	return fits > 0 ? fits : 1;
}

/* One line of a text, without control characters. */
static void
add_wrapped(struct top_lines *lines, const char *label, int indent,
    enum grid_style style, const char *text, size_t len)
{
	int room = lines->width - indent;

	if (room < 8) { /* a label needs its own line then */
		indent = 0;
		room = lines->width;
	}
	do {
		size_t n = line_len(text, len, room);
		int pad = indent - (label != NULL ? (int)strlen(label) : 0);

		push(lines,
		    xasprintf("%s%*s%.*s", label != NULL ? label : "",
			pad > 0                         ? pad :
			    indent > 0 && label != NULL ? 1 :
							  0,
			"", (int)n, text),
		    style, label != NULL ? (int)strlen(label) : 0);
		label = NULL;
		text += n;
		len -= n;
		while (len > 0 && *text == ' ') {
			text++;
			len--;
		}
	} while (len > 0);
}

static void
add_text(struct top_lines *lines, const char *label, int indent,
    enum grid_style style, const char *text)
{
	for (; text != NULL && *text != '\0'; label = NULL) {
		size_t n = strcspn(text, "\n");
		cleanup_buf struct buf visible = BUF_INIT;

		text_add_visible(&visible, text, n, false);
		add_wrapped(
		    lines, label, indent, style, visible.data, visible.len);
		text += n + (text[n] == '\n' ? 1 : 0);
	}
}

void
top_lines_add(struct top_lines *lines, int indent, enum grid_style style,
    const char *text)
{
	add_text(lines, NULL, indent, style, text);
	finish(lines);
}

void
top_lines_field(struct top_lines *lines, const char *label,
    enum grid_style style, const char *text)
{
	if (text == NULL || *text == '\0')
		return;
	if (lines->width - LABEL_COLUMNS < 8) {
		push(lines, xstrdup(label), STYLE_DIM, 0);
		add_text(lines, NULL, 0, style, text);
	} else {
		add_text(lines, label, LABEL_COLUMNS, style, text);
	}
	finish(lines);
}

void
top_lines_head(struct top_lines *lines, const char *words)
{
	if (lines->count > 0)
		push(lines, xstrdup(""), STYLE_PLAIN, 0);
	push(lines, xstrdup(words), STYLE_BOLD, 0);
	finish(lines);
}

void
top_lines_draw(struct top_lines *lines, int first, struct grid *grid, int row,
    int column, int rows)
{
	for (int i = 0;
	     i < rows && first >= 0 && (size_t)first + (size_t)i < lines->count;
	     i++) {
		const struct top_line *line = &lines->lines[first + i];

		grid_text(grid, row + i, column, lines->width, line->text,
		    line->style);
		grid_restyle(grid, row + i, column, line->label, STYLE_DIM);
		if (line->next_ms < lines->next_ms)
			lines->next_ms = line->next_ms;
	}
}
