/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <ctype.h>
#include <math.h>

#include "behaviour-private.h"
#include "error-signature.h"
#include "failure-text.h"

#define LINES_MAX   1024 /* the last ones count */
#define BEFORE      2 /* lines of the failure, see the header */
#define NEAR        3 /* lines in which numbers are looked for */
#define NUMBER_MAX  1e12
#define EPOCH_LEAST 1e9
#define EXAMPLE_MAX 20 /* lines of a random example */

struct failure_line {
	const char *s;
	size_t len; /* without blanks at both ends */
	bool tells; /* of a failure */
	bool random; /* belongs to a random example */
};

struct failure_lines {
	struct failure_line line[LINES_MAX];
	size_t count;
};

/* In any case of letters. */
static bool
line_has(const struct failure_line *line, const char *word)
{
	size_t n = strlen(word);

	for (size_t i = 0; i + n <= line->len; i++)
		if (strncasecmp(line->s + i, word, n) == 0)
			return true;
	return false;
}

static bool
line_has_any(const struct failure_line *line, const char *const *words)
{
	for (; *words != NULL; words++)
		if (line_has(line, *words))
			return true;
	return false;
}

static bool
line_begins(const struct failure_line *line, const char *word)
{
	size_t n = strlen(word);

	return line->len >= n && memcmp(line->s, word, n) == 0;
}

static bool
line_ends(const struct failure_line *line, const char *word)
{
	size_t n = strlen(word);

	return line->len >= n && memcmp(line->s + line->len - n, word, n) == 0;
}

/* The lines that are not blank. */
static void
failure_split(const char *text, struct failure_lines *ret)
{
	static const char *const words[] = { "fail", "error", "assert", "panic",
		"not ok", "exception", "fatal", NULL };
	static const char *const examples[] = { "falsifying", "falsified",
		"counterexample", "shrunk", "shrink", "minimal failing",
		"minimal example", "random seed", "--seed", "seed=", NULL };
	size_t open = 0, total = 0;

	for (const char *s = text, *next; *s != '\0'; s = next) {
		struct failure_line line = { .s = s, .len = strcspn(s, "\n") };

		next = s + line.len + (s[line.len] == '\n');
		while (line.len > 0 && isspace((unsigned char)*line.s)) {
			line.s++;
			line.len--;
		}
		while (line.len > 0 &&
		    isspace((unsigned char)line.s[line.len - 1]))
			line.len--;
		if (line.len == 0)
			continue;
		/* Falsifying example: test_sum(
		 *     a=3,
		 * ) */
		line.random = open > 0 || line_has_any(&line, examples);
		if (open > 0)
			open = line_ends(&line, ")") ? 0 : open - 1;
		else if (line.random && line_ends(&line, "("))
			open = EXAMPLE_MAX;
		line.tells = !line.random && line_has_any(&line, words);
		ret->line[total++ % LINES_MAX] = line;
	}
	ret->count = total < LINES_MAX ? total : LINES_MAX;
}

/* --- names ------------------------------------------------------------------
 */

/* What a runner writes in front of the name of a test that failed, and what
 * comes after it. */
static const struct {
	const char *front;
	const char *behind; /* any of these ends the name */
	const char *has; /* one of these is in it; NULL = anything */
	bool one_word;
} name_forms[] = {
	{ "FAILED ", " - ", "::", false }, /* pytest */
	{ "ERROR ", " - ", "::", false }, { "ERROR ", " - ", ".py", true },
	{ "FAIL: ", "\n", "(", false }, /* unittest */
	{ "ERROR: ", "\n", "(", false },
	{ "FAIL: ", "\n", NULL, true }, /* automake */
	{ "--- FAIL: ", " (", NULL, false }, /* go */
	{ "not ok ", " # ", NULL, false }, /* TAP */
	{ "\xe2\x97\x8f ", "\n", "\xe2\x80\xba", false }, /* jest */
	{ "\xe2\x9c\x95 ", " (", NULL, false },
	{ "\xe2\x9c\x97 ", " (", NULL, false }, /* mocha, bats */
	{ "\xe2\x9c\x96 ", " (", NULL, false }, /* node */
	{ "\xc3\x97 ", " (", NULL, false }, /* vitest */
	{ "[  FAILED  ] ", " (,", ".", true }, /* googletest */
	{ "rspec ", " #", ":", false },
	{ "Failed ", " [", ".", true }, /* dotnet */
};

/* "test a::b ... FAILED" and "Class > method FAILED". */
static bool
name_between(const struct failure_line *line, size_t *ret_from, size_t *ret_to)
{
	if (line_begins(line, "test ") && line_ends(line, " ... FAILED")) {
		*ret_from = strlen("test ");
		*ret_to = line->len - strlen(" ... FAILED");
		return true;
	}
	if (line_has(line, " > ") && line_ends(line, " FAILED")) {
		*ret_from = 0;
		*ret_to = line->len - strlen(" FAILED");
		return true;
	}
	return false;
}

/* Where the name of the test that failed is in the line. */
static bool
failure_name(const struct failure_line *line, size_t *ret_from, size_t *ret_to)
{
	for (size_t i = 0; i < nitems(name_forms); i++) {
		size_t from = strlen(name_forms[i].front), to = from;
		const char *behind = name_forms[i].behind;
		struct failure_line name;

		if (!line_begins(line, name_forms[i].front))
			continue;
		while (to < line->len &&
		    (line->len - to < strlen(behind) ||
			memcmp(line->s + to, behind, strlen(behind)) != 0))
			to++;
		name = (struct failure_line){ .s = line->s + from,
			.len = to - from };
		while (name.len > 0 && name.s[name.len - 1] == ' ')
			name.len--;
		if (name.len == 0 || name.s[0] == '(' ||
		    (name_forms[i].has != NULL &&
			!line_has(&name, name_forms[i].has)) ||
		    (name_forms[i].one_word &&
			memchr(name.s, ' ', name.len) != NULL))
			continue;
		*ret_from = from;
		*ret_to = from + name.len;
		return true;
	}
	return name_between(line, ret_from, ret_to);
}

/* --- counts ------------------------------------------------------------------
 */

static int64_t
count_at(const struct failure_line *line, size_t i)
{
	int64_t n = 0;

	for (; i < line->len && text_is_digit(line->s[i]) && n < 1000000; i++)
		n = n * 10 + (line->s[i] - '0');
	return n;
}

/* "3 failed", "3 tests failed", "failures=3", "Fail: 3" beside a word that
 * begins at i; -1 = no number is there. */
static int64_t
count_beside(const struct failure_line *line, size_t word)
{
	size_t i = word, after = word;

	for (int words = 0; words < 2 && i > 0; words++) {
		while (i > 0 && line->s[i - 1] == ' ')
			i--;
		if (i > 0 && i < word && text_is_digit(line->s[i - 1])) {
			while (i > 0 && text_is_digit(line->s[i - 1]))
				i--;
			return count_at(line, i);
		}
		while (i > 0 && isalpha((unsigned char)line->s[i - 1]))
			i--;
	}
	while (after < line->len && isalpha((unsigned char)line->s[after]))
		after++;
	while (after < line->len && strchr(" :=", line->s[after]) != NULL)
		after++;
	return after < line->len && text_is_digit(line->s[after]) ?
	    count_at(line, after) :
	    -1;
}

/* Of all these words in the line; -1 = no number is beside any. */
static int64_t
count_stated(const struct failure_line *line, const char *const *words)
{
	int64_t sum = -1;

	for (; *words != NULL; words++) {
		size_t n = strlen(*words);

		for (size_t i = 0; i + n <= line->len; i++) {
			int64_t one = -1;

			if (strncasecmp(line->s + i, *words, n) == 0 &&
			    (i == 0 || !isalpha((unsigned char)line->s[i - 1])))
				one = count_beside(line, i);
			if (one >= 0)
				sum = (sum < 0 ? 0 : sum) + one;
		}
	}
	return sum;
}

static bool
line_is_ok(const struct failure_line *line)
{
	return line_begins(line, "ok ") || line_ends(line, " ok") ||
	    line_begins(line, "PASS") || line_ends(line, " PASSED") ||
	    line_begins(line, "\xe2\x9c\x93 ") ||
	    line_begins(line, "\xe2\x9c\x94 ");
}

static void
failure_count(const struct failure_line *line, struct failure *f)
{
	static const char *const bad[] = { "fail", "error", "exception",
		"problem", "warning", "violation", "mismatch", NULL };
	static const char *const good[] = { "passed", "passing", "succeeded",
		NULL };
	int64_t stated = count_stated(line, bad);
	int64_t passed = count_stated(line, good);

	if (stated >= 0)
		f->stated = (f->stated < 0 ? 0 : f->stated) + stated;
	if (passed > 0)
		f->ok += passed;
	f->ok += line_is_ok(line);
}

/* --- numbers -----------------------------------------------------------------
 */

/* The end of the digits of a time (12:30:05) or a date that begins at i, or
 * i. */
static size_t
stamp_end(const struct failure_line *line, size_t i)
{
	size_t parts = 0, end = i;

	while (end < line->len && text_is_digit(line->s[end])) {
		while (end < line->len && text_is_digit(line->s[end]))
			end++;
		parts++;
		if (end + 1 < line->len &&
		    strchr(":-T", line->s[end]) != NULL &&
		    text_is_digit(line->s[end + 1]))
			end++;
		else
			break;
	}
	return parts >= 3 ? end : i;
}

/* Is it part of a path? The line after it is none. */
static bool
number_in_path(const struct failure_line *line, size_t i)
{
	if (i > 0 && strchr(":,(", line->s[i - 1]) != NULL)
		return false;
	while (i > 0 && !isspace((unsigned char)line->s[i - 1]))
		if (line->s[--i] == '/')
			return true;
	return false;
}

/* "pid 4711", "Process=4711"; "(soup.c:4711): " of a program with GLib. */
static bool
number_of_process(const struct failure_line *line, size_t i, size_t end)
{
	static const char *const words[] = { "pid", "process", "port",
		"thread" };
	size_t stop = i;

	if (line->s[0] == '(' && i > 0 && line->s[i - 1] == ':' &&
	    line->len - end > 2 && memcmp(line->s + end, "): ", 3) == 0)
		return true;
	while (stop > 0 && strchr(" =:#", line->s[stop - 1]) != NULL)
		stop--;
	for (size_t k = 0; stop < i && k < nitems(words); k++) {
		size_t n = strlen(words[k]);

		if (stop >= n &&
		    strncasecmp(line->s + stop - n, words[k], n) == 0 &&
		    (stop == n ||
			!isalpha((unsigned char)line->s[stop - n - 1])))
			return true;
	}
	return false;
}

/* Not part of a word, a path, a time, an address, or the number of a
 * process. */
static void
failure_numbers(const struct failure_line *line, struct failure *f)
{
	for (size_t i = 0; i < line->len;) {
		char before = i > 0 ? line->s[i - 1] : ' ', after;
		size_t begin = i, stamp;
		double value = 0, unit = 1;

		if (!text_is_digit(line->s[i])) {
			i++;
			continue;
		}
		stamp = stamp_end(line, i);
		if (stamp > i) {
			i = stamp;
			continue;
		}
		for (bool point = false; i < line->len; i++) {
			if (line->s[i] == '.' && !point && i + 1 < line->len &&
			    text_is_digit(line->s[i + 1]))
				point = true;
			else if (!text_is_digit(line->s[i]))
				break;
			else if (point)
				value += (line->s[i] - '0') * (unit /= 10);
			else if (value < NUMBER_MAX)
				value = value * 10 + (line->s[i] - '0');
		}
		after = i < line->len ? line->s[i] : ' ';
		if (isalpha((unsigned char)before) || before == '_' ||
		    (before == '[' && after == ']') ||
		    (before == '=' && begin > 1 && line->s[begin - 2] == '=' &&
			after == '=') ||
		    (isxdigit((unsigned char)after) &&
			isalpha((unsigned char)after))) {
			while (
			    i < line->len && isalnum((unsigned char)line->s[i]))
				i++;
			continue;
		}
		/* How long a test took: "(0.05s)", "in 1.2s"; and seconds since
		 * 1970. */
		if (value >= EPOCH_LEAST || number_in_path(line, begin) ||
		    number_of_process(line, begin, i) ||
		    ((after == 's' || line_ends(line, "s)")) &&
			(before == '(' ||
			    (begin > 2 &&
				memcmp(line->s + begin - 3, "in ", 3) == 0))))
			continue;
		if (f->number_count < FAILURE_NUMBERS)
			f->numbers[f->number_count++] = value;
	}
}

/* --- the line that failed
 * ------------------------------------------------------ */

/* How much the line says about what failed. */
static int
line_worth(const struct failure_line *line)
{
	static const char *const kinds[] = { "error: ", "exception: ",
		"panicked at", "assert", "fatal: ", "not ok ", NULL };
	static const char *const sums[] = { "collected ", "short test summary",
		"the check of your work failed", "traceback (most recent",
		"find the cause, fix it", "failed (", NULL };
	size_t marks = 0, from, to;

	for (size_t i = 0; i < line->len; i++)
		marks += strchr("=-_*#~^.+", line->s[i]) != NULL;
	if (line->random || 2 * marks >= line->len)
		return 0; /* a ruler, or the dots of a run */
	if (line_begins(line, "==") || line_begins(line, "__") ||
	    line_begins(line, "--") || line_has_any(line, sums))
		return line_begins(line, "--- FAIL: ") ? 3 : 1;
	if (line_begins(line, "E ") && line->len > 2)
		return 6; /* pytest */
	if (!line->tells)
		return 1;
	if (line_begins(line, "> ") || line_begins(line, "def "))
		return 2; /* the source */
	if (line_has_any(line, kinds))
		return 5;
	if (failure_name(line, &from, &to))
		return 4;
	if (count_beside(line, line->len) >= 0)
		return 2;
	return 3;
}

/* Its number, or the count: there is no line. */
static size_t
failure_worst(const struct failure_lines *lines)
{
	size_t found = lines->count;
	int most = -1;

	for (size_t i = 0; i < lines->count; i++) {
		int worth = line_worth(&lines->line[i]);

		if (worth > most) {
			most = worth;
			found = i;
		}
	}
	return found;
}

void
failure_quote(const char *text, struct buf *out)
{
	struct failure_lines lines;
	size_t at;

	failure_split(text, &lines);
	at = failure_worst(&lines);
	if (at < lines.count)
		buf_add(out, lines.line[at].s, lines.line[at].len);
	else
		buf_adds(out, "the check printed nothing");
}

/* --- all of it
 * ------------------------------------------------------------------ */

struct failure_set {
	uint64_t seen[LINES_MAX];
	size_t count;
	uint64_t sum; /* the order does not count: tests run side by side */
};

static bool
set_add(struct failure_set *set, uint64_t hash)
{
	for (size_t i = 0; i < set->count; i++)
		if (set->seen[i] == hash)
			return false;
	if (set->count == LINES_MAX)
		return false;
	set->seen[set->count++] = hash;
	set->sum += hash;
	return true;
}

static void
take_names(const struct failure_lines *lines, struct failure *f)
{
	struct failure_set set;
	size_t from, to;

	set.count = 0;
	set.sum = 0;
	for (size_t i = 0; i < lines->count; i++) {
		const struct failure_line *line = &lines->line[i];

		if (failure_name(line, &from, &to))
			set_add(
			    &set, behaviour_hash(line->s + from, to - from));
	}
	f->names = (int64_t)set.count;
	f->named = set.count > 0;
	f->key = set.sum;
}

/* All lines where none tells of a failure. */
static void
take_lines(const struct failure_lines *lines, bool all, struct failure *f)
{
	struct failure_set set;

	set.count = 0;
	set.sum = 0;
	for (size_t i = 0; i < lines->count; i++) {
		if (!all && !lines->line[i].tells)
			continue;
		for (size_t k = i > BEFORE ? i - BEFORE : 0; k <= i; k++)
			if (!lines->line[k].random &&
			    !line_is_ok(&lines->line[k]))
				set_add(&set,
				    error_line_hash(
					lines->line[k].s, lines->line[k].len));
	}
	f->key = set.sum;
}

void
failure_read(const char *text, struct failure *ret_failure)
{
	struct failure f = { .stated = -1, .coverage = coverage_find(text) };
	struct failure_lines lines;
	size_t at;

	failure_split(text, &lines);
	for (size_t i = 0; i < lines.count; i++) {
		f.lines += lines.line[i].tells;
		failure_count(&lines.line[i], &f);
	}
	take_names(&lines, &f);
	if (!f.named)
		take_lines(&lines, f.lines == 0, &f);
	f.key = behaviour_hash_end(f.key);
	at = failure_worst(&lines);
	for (size_t i = at > NEAR ? at - NEAR : 0; i <= at && i < lines.count;
	     i++)
		failure_numbers(&lines.line[i], &f);
	*ret_failure = f;
}
