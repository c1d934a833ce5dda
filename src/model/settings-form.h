/* SPDX-License-Identifier: ISC */

/* What a text in the configuration must look like, for strings and for the
 * items of lists that have a form. Pure. */
#ifndef SETTINGS_FORM_H
#define SETTINGS_FORM_H

#include <stdbool.h>
#include <stdint.h>

enum setting_form {
	FORM_ANY,
	FORM_SIZE, /* "" or a number of bytes with K, M, G or T */
	FORM_VARIABLE, /* the name of an environment variable */
	FORM_PLACE, /* an absolute path, or one that begins with ~ */
	FORM_HOST, /* "name", "name:port" or "*.name" */
	FORM_NAME, /* the name of one environment variable */
	FORM_URL, /* of http or https, in printable ASCII */
	FORM_REPO, /* "owner/name" */
	FORM_COVERAGE, /* see coverage-pattern.h */
	FORM_THRESHOLD, /* "stuck.sameErrorCount=3", see thresholds.h */
	FORM_PROVIDER, /* "openai=1", see provider-limit.h */
	FORM_COST, /* a cost tier, any case, or "" */
	FORM_EFFORT, /* how hard a model thinks, or "" */
	FORM_TOOL, /* the whole name of a tool, or "*" */
	FORM_DAYTIME, /* "07:00", or "" */
	FORM_COUNT
};

/* Does the text have this form? */
bool settings_form_fits(enum setting_form form, const char *text);

/* What it must look like: "a size such as \"4G\", or \"\" for none"; of one
 * item, if it is a list. NULL for FORM_ANY. */
const char *settings_form_words(enum setting_form form);

/* The bytes of a FORM_SIZE; 0 for "" and for what has not the form. */
int64_t settings_form_bytes(const char *text);

#endif
