/* SPDX-License-Identifier: ISC */

#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "git-config-plain.h"
#include "mem.h"

/* What `git clone`, `git worktree add` and `git sparse-checkout` write, and who
 * commits. "*" = any key. */
static const struct {
	const char *section, *key;
} plain[] = {
	{ "core", "repositoryformatversion" },
	{ "core", "filemode" },
	{ "core", "bare" },
	{ "core", "logallrefupdates" },
	{ "core", "ignorecase" },
	{ "core", "precomposeunicode" },
	{ "core", "symlinks" },
	{ "core", "worktree" },
	{ "core", "autocrlf" },
	{ "core", "eol" },
	{ "core", "sparsecheckout" },
	{ "core", "sparsecheckoutcone" },
	{ "index", "sparse" },
	{ "user", "name" },
	{ "user", "email" },
	{ "branch", "remote" },
	{ "branch", "merge" },
	{ "branch", "rebase" },
	{ "remote", "url" },
	{ "remote", "pushurl" },
	{ "remote", "fetch" },
	{ "remote", "tagopt" },
	{ "submodule", "url" },
	{ "submodule", "active" },
};

static bool
same_word(const char *text, size_t len, const char *word)
{
	return len == strlen(word) && strncasecmp(text, word, len) == 0;
}

static bool
is_known(const char *section, size_t section_len, const char *key, size_t len)
{
	for (size_t i = 0; i < nitems(plain); i++)
		if (same_word(section, section_len, plain[i].section) &&
		    same_word(key, len, plain[i].key))
			return true;
	return false;
}

/* "[section]" or "[section "name"]", alone on its line. */
static bool
take_section(
    const char *line, size_t len, const char **ret_section, size_t *ret_len)
{
	size_t word = strcspn(line + 1, " \t]\".\r\n");
	const char *end = memchr(line, ']', len);

	if (end == NULL || end != line + len - 1 || word == 0)
		return false;
	*ret_section = line + 1;
	*ret_len = word;
	return true;
}

static bool
take_key(const char *line, size_t len, const char *section, size_t section_len)
{
	size_t word = strcspn(line, " \t=\r\n");

	/* A value goes on in the next line behind a backslash. */
	if (word > len || section == NULL || line[len - 1] == '\\')
		return false;
	return is_known(section, section_len, line, word);
}

bool
git_config_is_plain(const char *text)
{
	const char *section = NULL, *line = text;
	size_t section_len = 0, len;

	for (; *line != '\0'; line += len + (line[len] == '\n')) {
		const char *at = line + strspn(line, " \t\r");
		size_t rest;

		len = strcspn(line, "\n");
		rest = len - (size_t)(at - line);
		while (rest > 0 && strchr(" \t\r", at[rest - 1]) != NULL)
			rest--;
		if (rest == 0 || *at == '#' || *at == ';')
			continue;
		if (*at == '[' ?
			!take_section(at, rest, &section, &section_len) :
			!take_key(at, rest, section, section_len))
			return false;
	}
	return true;
}
