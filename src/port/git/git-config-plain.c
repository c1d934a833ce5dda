/* SPDX-License-Identifier: ISC */

#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "git-config-plain.h"
#include "mem.h"

/* What `git clone`, `git worktree add` and `git sparse-checkout` write, who
 * commits, and what people set that neither runs a program nor names a file.
 * "*" = any key. */
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
	{ "core", "safecrlf" },
	{ "core", "sparsecheckout" },
	{ "core", "sparsecheckoutcone" },
	{ "core", "untrackedcache" },
	{ "core", "splitindex" },
	{ "core", "preloadindex" },
	{ "core", "abbrev" },
	{ "core", "quotepath" },
	{ "core", "commentchar" },
	{ "core", "compression" },
	{ "core", "whitespace" },
	{ "index", "*" },
	{ "user", "name" },
	{ "user", "email" },
	{ "user", "signingkey" },
	{ "commit", "gpgsign" },
	{ "tag", "gpgsign" },
	{ "branch", "remote" },
	{ "branch", "merge" },
	{ "branch", "rebase" },
	{ "branch", "description" },
	{ "branch", "autosetupmerge" },
	{ "branch", "autosetuprebase" },
	{ "remote", "url" },
	{ "remote", "pushurl" },
	{ "remote", "fetch" },
	{ "remote", "push" },
	{ "remote", "tagopt" },
	{ "remote", "prune" },
	{ "remote", "pushdefault" },
	{ "submodule", "url" },
	{ "submodule", "active" },
	{ "submodule", "branch" },
	{ "submodule", "ignore" },
	{ "extensions", "objectformat" },
	{ "lfs", "repositoryformatversion" },
	{ "lfs", "access" },
	{ "lfs", "locksverify" },
	{ "merge", "conflictstyle" },
	{ "merge", "ff" },
	{ "merge", "renames" },
	{ "diff", "algorithm" },
	{ "diff", "renames" },
	{ "diff", "colormoved" },
	{ "diff", "mnemonicprefix" },
	{ "fetch", "prune" },
	{ "rebase", "autostash" },
	{ "rebase", "autosquash" },
	{ "rebase", "updaterefs" },
	{ "rerere", "*" },
	{ "push", "*" },
	{ "pull", "*" },
	{ "status", "*" },
	{ "color", "*" },
	{ "column", "*" },
	{ "advice", "*" },
	{ "feature", "*" },
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
		    (plain[i].key[0] == '*' ||
			same_word(key, len, plain[i].key)))
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
