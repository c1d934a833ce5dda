/* SPDX-License-Identifier: ISC */

#include <ctype.h>

#include "metrics-lint.h"

#define FAMILIES_MAX 64
#define SERIES_MAX   4096
#define NAME_MAX_LEN 128

struct family {
	char name[NAME_MAX_LEN], type[16];
	bool samples, over; /* it has some; another one has begun */
};

struct lint {
	struct family families[FAMILIES_MAX];
	size_t family_count;
	char *series[SERIES_MAX];
	size_t series_count;
	/* The histogram series that is being read. */
	char bucket[256];
	double last, inf;
};

static bool
is_name(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!(isalpha((unsigned char)s[i]) || s[i] == '_' ||
			(i > 0 && isdigit((unsigned char)s[i]))))
			return false;
	return len > 0 && len < NAME_MAX_LEN;
}

static bool
ends_in(const char *s, size_t len, const char *end)
{
	size_t n = strlen(end);

	return len >= n && memcmp(s + len - n, end, n) == 0;
}

static struct family *
find(struct lint *lint, const char *name, size_t len)
{
	for (size_t i = 0; i < lint->family_count; i++)
		if (strlen(lint->families[i].name) == len &&
		    memcmp(lint->families[i].name, name, len) == 0)
			return &lint->families[i];
	return NULL;
}

/* --- comments -------------------------------------------------------- */

static const char *
read_help(struct lint *lint, const char *name, size_t len)
{
	struct family *f;

	if (!is_name(name, len))
		return "no name after HELP";
	if (find(lint, name, len) != NULL)
		return "HELP twice";
	if (lint->family_count == FAMILIES_MAX)
		return "too many families";
	if (lint->family_count > 0)
		lint->families[lint->family_count - 1].over = true;
	f = &lint->families[lint->family_count++];
	memset(f, 0, sizeof *f);
	memcpy(f->name, name, len);
	return NULL;
}

static const char *
read_type(struct lint *lint, const char *name, size_t len, const char *type)
{
	struct family *f = find(lint, name, len);

	if (f == NULL || f->over || f->samples)
		return "TYPE without HELP before it, or after samples";
	if (f->type[0] != '\0')
		return "TYPE twice";
	if (strcmp(type, "counter") != 0 && strcmp(type, "gauge") != 0 &&
	    strcmp(type, "histogram") != 0)
		return "unknown TYPE";
	if ((strcmp(type, "counter") == 0) != ends_in(name, len, "_total"))
		return "a counter must end in _total, and nothing else";
	snprintf(f->type, sizeof f->type, "%s", type);
	return NULL;
}

static const char *
read_comment(struct lint *lint, const char *line)
{
	const char *name = line + strlen("# HELP ");
	const char *blank;

	if (strncmp(line, "# HELP ", 7) != 0 &&
	    strncmp(line, "# TYPE ", 7) != 0)
		return "neither HELP nor TYPE";
	blank = strchr(name, ' ');
	if (blank == NULL || blank[1] == '\0')
		return "no text after the name";
	return line[2] == 'H' ?
	    read_help(lint, name, (size_t)(blank - name)) :
	    read_type(lint, name, (size_t)(blank - name), blank + 1);
}

/* --- samples --------------------------------------------------------- */

/* The end of {label="value",...}, or NULL. */
static const char *
skip_labels(const char *s)
{
	do {
		const char *name = ++s;

		s += strcspn(s, "=\"{} ");
		if (!is_name(name, (size_t)(s - name)) || *s++ != '=' ||
		    *s++ != '"')
			return NULL;
		for (; *s != '"'; s++) {
			if (*s == '\0')
				return NULL;
			if (*s == '\\' && strchr("\\\"n", *++s) == NULL)
				return NULL;
		}
		s++;
	} while (*s == ',');
	return *s == '}' ? s + 1 : NULL;
}

/* Buckets of one series follow each other, then come its sum and count. */
static const char *
read_histogram(struct lint *lint, const char *series, size_t name_len,
    size_t len, double value)
{
	const char *le = strstr(series, ",le=\"");
	size_t labels;

	if (!ends_in(series, name_len, "_bucket")) {
		if (ends_in(series, name_len, "_count") && value != lint->inf)
			return "the count is not that of the last bucket";
		return NULL;
	}
	if (le == NULL || le > series + len)
		return "a bucket without le as its last label";
	labels = (size_t)(le - series);
	if (strncmp(lint->bucket, series, labels) != 0 ||
	    lint->bucket[labels] != '\0') {
		snprintf(lint->bucket, sizeof lint->bucket, "%.*s", (int)labels,
		    series);
		lint->last = 0;
	}
	if (value < lint->last)
		return "the buckets shrink";
	lint->last = value;
	lint->inf = strncmp(le, ",le=\"+Inf\"", 10) == 0 ? value : -1;
	return NULL;
}

static const char *
read_series(struct lint *lint, const char *line, size_t len)
{
	for (size_t i = 0; i < lint->series_count; i++)
		if (strlen(lint->series[i]) == len &&
		    memcmp(lint->series[i], line, len) == 0)
			return "a series twice";
	if (lint->series_count == SERIES_MAX)
		return "too many series";
	lint->series[lint->series_count++] = xstrndup(line, len);
	return NULL;
}

static const char *
read_sample(struct lint *lint, const char *line)
{
	size_t name_len = strcspn(line, "{ "), base = name_len;
	const char *end = line + name_len, *fault;
	static const char *const ends[] = { "_bucket", "_sum", "_count" };
	struct family *f = find(lint, line, name_len);
	char *rest;
	double value;

	for (size_t i = 0; f == NULL && i < nitems(ends); i++)
		if (ends_in(line, name_len, ends[i])) {
			base = name_len - strlen(ends[i]);
			f = find(lint, line, base);
		}
	if (f == NULL || f->type[0] == '\0' ||
	    (base != name_len && strcmp(f->type, "histogram") != 0))
		return "a sample without HELP and TYPE before it";
	if (f->over)
		return "samples of a family are not together";
	f->samples = true;
	if (*end == '{')
		end = skip_labels(end);
	if (end == NULL || *end != ' ')
		return "wrong labels";
	value = strtod(end + 1, &rest);
	if (rest == end + 1 || *rest != '\0')
		return "no number";
	if (value < 0 && strcmp(f->type, "gauge") != 0)
		return "below zero";
	fault = read_series(lint, line, (size_t)(end - line));
	if (fault == NULL && strcmp(f->type, "histogram") == 0)
		fault = read_histogram(
		    lint, line, name_len, (size_t)(end - line), value);
	return fault;
}

char *
metrics_fault(const char *text, size_t *ret_series)
{
	struct lint *lint = xcalloc(1, sizeof *lint);
	const char *fault = NULL;
	char *words = NULL;

	for (const char *at = text; fault == NULL && *at != '\0';) {
		size_t len = strcspn(at, "\n");
		cleanup_free char *line = xstrndup(at, len);

		if (at[len] == '\0')
			fault = "the last line does not end";
		else if (line[0] == '#')
			fault = read_comment(lint, line);
		else
			fault = read_sample(lint, line);
		if (fault != NULL)
			words = xasprintf("%s: %s", fault, line);
		at += len + (at[len] == '\n');
	}
	if (ret_series != NULL)
		*ret_series = lint->series_count;
	for (size_t i = 0; i < lint->series_count; i++)
		free(lint->series[i]);
	free(lint);
	return words;
}

size_t
metrics_lint(const char *text)
{
	size_t series = 0;
	cleanup_free char *fault = metrics_fault(text, &series);

	ck_assert_msg(fault == NULL, "%s", fault);
	return series;
}

double
metrics_value(const char *text, const char *series)
{
	size_t len = strlen(series);

	for (const char *at = text; *at != '\0';) {
		if (strncmp(at, series, len) == 0 && at[len] == ' ')
			return strtod(at + len, NULL);
		at += strcspn(at, "\n");
		at += *at == '\n';
	}
	ck_abort_msg("there is no series %s", series);
	return 0;
}

bool
metrics_promtool(const char *text)
{
	const struct child_spec spec = {
		.shell = "command -v promtool >/dev/null || exit 77\n"
			 "exec promtool check metrics 2>&1",
		.input = text,
		.input_len = strlen(text),
	};
	cleanup_child_result struct child_result result;
	struct err err = { 0 };

	ck_assert_msg(child_run(&spec, &result, &err) == 0, "%s", err.msg);
	if (result.status == 77)
		return false;
	ck_assert_msg(child_succeeded(&result), "%s", result.out.head.data);
	return true;
}
