/* SPDX-License-Identifier: ISC */

#include <string.h>
#include <strings.h>

#include "agent-card.h"
#include "coverage-pattern.h"
#include "launch-choice.h"
#include "provider-limit.h"
#include "settings-form.h"
#include "thresholds.h"
#include "word.h"

#define PORT_MAX 65535

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* 0 if it is not one, else the bytes; a size of 0 would stop everything. */
int64_t
settings_form_bytes(const char *text)
{
	static const char units[] = "KMGT";
	int64_t bytes = 0;
	const char *unit;

	if (!is_digit(*text))
		return 0;
	for (; is_digit(*text); text++) {
		bytes = bytes * 10 + (*text - '0');
		if (bytes > INT64_C(1) << 50)
			return 0;
	}
	if (*text == '\0')
		return bytes;
	unit = strchr(units, *text);
	if (unit == NULL || text[1] != '\0' || bytes > 1 << 20)
		return 0;
	return bytes << (10 * (unit - units + 1));
}

static bool
is_size(const char *text)
{
	return *text == '\0' || settings_form_bytes(text) > 0;
}

static bool
is_daytime(const char *text)
{
	return *text == '\0' ||
	    (strlen(text) == strlen("07:00") && is_digit(text[0]) &&
		is_digit(text[1]) && text[2] == ':' && is_digit(text[3]) &&
		is_digit(text[4]) && text[3] < '6' &&
		(text[0] < '2' || (text[0] == '2' && text[1] < '4')));
}

static bool
is_variable(const char *text)
{
	if (!is_letter(*text) && *text != '_')
		return false;
	while (is_letter(*text) || is_digit(*text) || *text == '_')
		text++;
	return *text == '\0';
}

static bool
is_place(const char *text)
{
	if (text[0] == '~')
		return text[1] == '\0' || text[1] == '/';
	return text[0] == '/';
}

static bool
is_port(const char *text)
{
	int port = 0;

	if (!is_digit(*text) || *text == '0')
		return false;
	for (; is_digit(*text); text++) {
		port = port * 10 + (*text - '0');
		if (port > PORT_MAX)
			return false;
	}
	return *text == '\0';
}

static bool
is_host(const char *text)
{
	char before = '.';

	if (text[0] == '*' && text[1] == '.')
		text += 2;
	for (; is_letter(*text) || is_digit(*text) || *text == '-' ||
	     *text == '_' || *text == '.';
	     text++) {
		if (*text == '.' && before == '.')
			return false;
		before = *text;
	}
	if (before == '.')
		return false;
	return *text == '\0' || (*text == ':' && is_port(text + 1));
}

/* Nothing in it can end a line or a word of what it is written into. */
static bool
is_url(const char *text)
{
	size_t begin = strncmp(text, "https://", 8) == 0 ? 8 :
	    strncmp(text, "http://", 7) == 0             ? 7 :
							   0;

	if (begin == 0 || text[begin] == '\0' || text[begin] == '/')
		return false;
	for (; *text != '\0'; text++)
		if (*text <= ' ' || *text > '~' || *text == '"' ||
		    *text == '\\')
			return false;
	return true;
}

static bool
is_repo(const char *text)
{
	int slashes = 0;
	char before = '/';

	for (; *text != '\0'; text++) {
		if (*text == '/' && (before == '/' || ++slashes > 1))
			return false;
		if (*text == '.' && before == '/')
			return false;
		if (*text != '/' && *text != '.' && *text != '-' &&
		    *text != '_' && !is_letter(*text) && !is_digit(*text))
			return false;
		before = *text;
	}
	return slashes == 1 && before != '/';
}

static bool
is_threshold(const char *text)
{
	struct thresholds thresholds;

	return thresholds_set(&thresholds, text, NULL) == 0;
}

static bool
is_cost(const char *text)
{
	for (size_t i = 0; cost_tier_words[i] != NULL; i++)
		if (strcasecmp(text, cost_tier_words[i]) == 0)
			return true;
	return *text == '\0';
}

static bool
is_effort(const char *text)
{
	unsigned ignored;

	return *text == '\0' || word_find(thinking_words, text, &ignored);
}

/* Rules such as Bash(git *) are none: what runs inside a tool cannot be told
 * from its name. */
static bool
is_tool(const char *text)
{
	if (strcmp(text, "*") == 0)
		return true;
	if (!is_letter(*text) && *text != '_')
		return false; /* no option of a command line */
	while (
	    is_letter(*text) || is_digit(*text) || *text == '_' || *text == '-')
		text++;
	return *text == '\0';
}

static const struct {
	bool (*fits)(const char *text);
	const char *words;
} forms[FORM_COUNT] = {
	[FORM_ANY] = { NULL, NULL },
	[FORM_SIZE] = { is_size, "a size such as \"4G\", or \"\" for none" },
	[FORM_VARIABLE] = { is_variable,
	    "names of environment variables, such as [\"EDITOR\"]" },
	[FORM_PLACE] = { is_place,
	    "absolute paths or paths below ~, such as [\"~/.cargo\"]" },
	[FORM_HOST] = { is_host,
	    ("hosts such as [\"example.org\", \"example.org:8443\", "
	     "\"*.example.org\"]") },
	[FORM_NAME] = { is_variable, "the name of an environment variable" },
	[FORM_URL] = { is_url, "a URL that begins with https:// or http://" },
	[FORM_REPO] = { is_repo, "a repository such as \"owner/name\"" },
	[FORM_COVERAGE] = { coverage_pattern_valid,
	    ("an extended regular expression with a group, such as "
	     "\"total: ([0-9.]+)%\"") },
	[FORM_THRESHOLD] = { is_threshold,
	    ("thresholds such as [\"stuck.sameErrorCount=3\", "
	     "\"regression.testPassToFail=false\"]") },
	[FORM_PROVIDER] = { provider_limit_valid,
	    "limits such as [\"anthropic=4\", \"openai=1\"]" },
	[FORM_COST] = { is_cost,
	    ("one of free, cheap, medium and expensive, or \"\" if it is not "
	     "known") },
	[FORM_EFFORT] = { is_effort,
	    ("one of off, minimal, low, medium, high, xhigh and max, or \"\" "
	     "for the agent's own default") },
	[FORM_DAYTIME] = { is_daytime,
	    "a time of day such as \"07:00\", or \"\" for none" },
	[FORM_TOOL] = { is_tool,
	    "names of tools, such as [\"Read\", \"Grep\"]" },
};

bool
settings_form_fits(enum setting_form form, const char *text)
{
	return forms[form].fits == NULL || forms[form].fits(text);
}

const char *
settings_form_words(enum setting_form form)
{
	return forms[form].words;
}
