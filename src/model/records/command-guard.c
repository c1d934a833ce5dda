/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "command-guard.h"
#include "work-record.h"

#define DEPTH_MAX 16 /* of commands in commands */
#define WORDS_MAX 4096 /* of one command */
#define TEXT_MAX  ((size_t)256 * 1024) /* what follows is not read */
#define UNKNOWN   '\001' /* stands for what only the shell knows */

const char *const command_rule_words[COMMAND_RULE_COUNT + 1] = {
	[COMMAND_PUSH] = "git-push",
	[COMMAND_CONFIG] = "git-config",
	[COMMAND_REMOVE] = "rm-outside",
	[COMMAND_ROOT] = "sudo",
	[COMMAND_KILL] = "kill-others",
	[COMMAND_PROTECTED] = "protected-files",
};

struct reader {
	const struct command_place *place;
	struct buf *why;
	int depth;
	bool refused;
	char *cwd; /* NULL = not known any more */
};

static void read_text(struct reader *reader, const char *text);

/* --- places ------------------------------------------------------------ */

/* The rest of a path below a folder; "" = the folder itself; NULL = not in it.
 */
static const char *
below(const char *path, const char *folder)
{
	size_t len = folder != NULL ? strlen(folder) : 0;

	while (len > 1 && folder[len - 1] == '/')
		len--;
	if (len == 0 || strncmp(path, folder, len) != 0)
		return NULL;
	if (path[len] == '\0')
		return path + len;
	return path[len] == '/' ? path + len + 1 : NULL;
}

/* Where a word leads, absolute and in its shortest form. A pattern is cut where
 * it begins, so that "/tmp/a*" is something below "/tmp". NULL: not known. */
static char *
resolve(const struct reader *reader, const char *word)
{
	cleanup_buf struct buf path = BUF_INIT;

	if (*word == '\0' || strchr(word, UNKNOWN) != NULL ||
	    (*word != '/' && reader->cwd == NULL))
		return NULL;
	if (*word != '/')
		buf_adds(&path, reader->cwd);
	while (*word != '\0') {
		size_t len = strcspn(word, "/");

		if (len == 2 && text_begins(word, "..")) {
			const char *slash = path.len > 0 ?
			    memrchr(path.data, '/', path.len) :
			    NULL;

			if (slash != NULL)
				buf_truncate(
				    &path, (size_t)(slash - path.data));
		} else if (len > 0 && !(len == 1 && *word == '.')) {
			buf_addc(&path, '/');
			buf_add(&path, word, len);
			if (strcspn(word, "/*?[") < len)
				break;
		}
		word += len + (word[len] == '/');
	}
	return xstrdup(path.len > 0 ? path.data : "/");
}

/* --- the rules --------------------------------------------------------- */

/* One word of the agent's in the middle of a sentence of ours. */
static void
refuse(struct reader *reader, const char *before, const char *word,
    const char *after)
{
	reader->refused = true;
	buf_adds(reader->why, before);
	text_add_visible(reader->why, word, strlen(word), false);
	buf_adds(reader->why, after);
}

/* Is it an option with one of these letters, or this long one? */
static bool
is_option(const char *word, const char *letters, const char *name)
{
	if (word[0] != '-' || word[1] == '\0')
		return false;
	if (word[1] == '-')
		return strcmp(word + 2, name) == 0;
	return strpbrk(word + 1, letters) != NULL;
}

/* Is it something in a folder for everybody's temporary files? All of them are
 * not. */
static bool
is_scratch(const struct reader *reader, const char *path)
{
	for (const char *const *s = reader->place->scratch;
	     s != NULL && *s != NULL; s++) {
		const char *rest = below(path, *s);

		if (rest != NULL && *rest != '\0' && strcmp(rest, "*") != 0)
			return true;
	}
	return false;
}

static void
judge_remove(struct reader *reader, char *const *words)
{
	bool recursive = false, options = true;

	for (char *const *w = words; *w != NULL; w++)
		recursive |= is_option(*w, "rR", "recursive");
	for (char *const *w = words; recursive && *w != NULL; w++) {
		cleanup_free char *path = NULL;
		bool inside;

		if (options && **w == '-') {
			options = strcmp(*w, "--") != 0;
			continue;
		}
		path = resolve(reader, *w);
		if (path == NULL || reader->place->tree == NULL)
			continue;
		inside = below(path, reader->place->tree) != NULL ||
		    below(path, reader->place->own) != NULL ||
		    is_scratch(reader, path);
		if (!inside &&
		    (reader->place->is_inside == NULL ||
			!reader->place->is_inside(path, reader->place->arg))) {
			refuse(reader, "rm: ", *w,
			    " is outside of your worktree, and others may "
			    "need it. Remove only what is in your worktree or "
			    "what you made in the folder for temporary files.");
			return;
		}
	}
}

static void
judge_kill(struct reader *reader, char *const *words)
{
	bool options = true, signal = false;

	for (char *const *w = words; *w != NULL; w++) {
		int64_t pid;

		if (options && **w == '-' && !signal) {
			if (strcmp(*w, "-l") == 0 || strcmp(*w, "-L") == 0)
				return;
			if ((strcmp(*w, "-s") == 0 || strcmp(*w, "-n") == 0) &&
			    w[1] != NULL)
				w++;
			/* It only asks whether they are there. */
			if (strcmp(*w, "-0") == 0 || strcmp(*w, "0") == 0)
				return;
			options = strcmp(*w, "--") != 0;
			signal = options;
			continue;
		}
		if (strcmp(*w, "--") == 0 ||
		    !text_parse_int(*w, INT32_MIN, INT32_MAX, &pid))
			continue; /* %1, $! */
		if (pid == -1 || pid == 1 ||
		    (pid != 0 && reader->place->is_foreign != NULL &&
			reader->place->is_foreign(
			    pid < 0 ? -pid : pid, reader->place->arg))) {
			refuse(reader, "kill: ", *w,
			    " is not a process of your session. End only "
			    "processes that you started.");
			return;
		}
	}
}

static bool
is_assignment(const char *word)
{
	size_t len = strspn(word,
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789");

	return len > 0 && (word[len] == '=' || text_begins(word + len, "+="));
}

static const char *
base_name(const char *word)
{
	const char *slash = strrchr(word, '/');

	return slash != NULL ? slash + 1 : word;
}

/* Words before a command, and programs that run another one. */
static const char *const before[] = { "if", "then", "elif", "else", "while",
	"until", "do", "!", "coproc", "env", "command", "builtin", "exec",
	"nohup", "setsid", "time", "nice", "ionice", "stdbuf", "timeout",
	"xargs", "find", "busybox", "sudo", "doas", NULL };

/* A command is complete. What runs another one may have options and operands
 * of its own before it. */
static void
judge(struct reader *reader, char *const *words)
{
	static const char *const shells[] = { "sh", "bash", "dash", "zsh",
		"ksh", "eval", NULL };
	unsigned rules = reader->place->rules;
	bool runs = false;

	for (; words != NULL && *words != NULL && !reader->refused; words++) {
		const char *name = base_name(*words);

		if (strv_has(before, name)) {
			runs = true;
		} else if (strcmp(name, "rm") == 0) {
			if (rules & (1U << COMMAND_REMOVE))
				judge_remove(reader, words + 1);
			return;
		} else if (strcmp(name, "kill") == 0) {
			if (rules & (1U << COMMAND_KILL))
				judge_kill(reader, words + 1);
			return;
		} else if (strv_has(shells, name)) {
			cleanup_buf struct buf text = BUF_INIT;

			while (*++words != NULL)
				if (**words != '-' || text.len > 0)
					buf_addf(&text, "%s ", *words);
			read_text(reader, text.len > 0 ? text.data : "");
			return;
		} else if (strcmp(name, "cd") == 0 ||
		    strcmp(name, "pushd") == 0 || strcmp(name, "popd") == 0) {
			char *path = words[1] != NULL && words[1][0] != '-' ?
			    resolve(reader, words[1]) :
			    NULL;

			free(reader->cwd);
			reader->cwd = path;
			return;
		} else if (!runs && !is_assignment(*words)) {
			return;
		}
	}
}

/* A word is complete: "~" and "$HOME" at its beginning are known. */
static void
add_word(const struct reader *reader, char ***words, const struct buf *word)
{
	const char *text = word->len > 0 ? word->data : "", *rest = NULL;
	cleanup_free char *whole = NULL;

	if (text[0] == '~' && (text[1] == '/' || text[1] == '\0'))
		rest = text + 1;
	else if (text_begins(text,
		     (const char[]){ UNKNOWN, 'H', 'O', 'M', 'E', '\0' }) &&
	    (text[5] == '/' || text[5] == '\0'))
		rest = text + 5;
	if (rest != NULL && reader->place->home != NULL)
		whole = xasprintf("%s%s", reader->place->home, rest);
	if (strv_count(*words) < WORDS_MAX)
		strv_add(words, whole != NULL ? whole : text);
}

/* Words are split at blanks, commands at what ends one; quotes are taken away.
 * What is redirected to is no word. Reading ends where a here-document begins.
 */
static void
read_text(struct reader *outer, const char *text)
{
	struct reader reader = { .place = outer->place,
		.why = outer->why,
		.depth = outer->depth + 1,
		.cwd = outer->cwd != NULL ? xstrdup(outer->cwd) : NULL };
	char *around[DEPTH_MAX]; /* where the shells around a subshell are */
	cleanup_strv char **words = NULL;
	cleanup_buf struct buf word = BUF_INIT;
	bool quoted = false, target = false;
	char quote = '\0';
	int shells = 0;

	for (const char *p = text; reader.depth < DEPTH_MAX; p++) {
		char c = *p;

		if (c != '\0' && c == quote) {
			quote = '\0';
		} else if (quote == '\0' && (c == '\'' || c == '"')) {
			quote = c;
			quoted = true;
		} else if (c == '\\' && quote != '\'' && p[1] != '\0') {
			if (*++p != '\n')
				buf_addc(&word, *p);
		} else if (c != '\0' &&
		    (quote != '\0' || strchr(" \t\r\n;&|(){}<>", c) == NULL)) {
			buf_addc(&word,
			    quote != '\'' && (c == '$' || c == '`') ? UNKNOWN :
								      c);
		} else {
			bool redirects = c == '<' || c == '>';

			/* 2>file: the number of a descriptor */
			if ((word.len > 0 || quoted) && !target &&
			    !(redirects &&
				strspn(word.len > 0 ? word.data : "x",
				    "0123456789") == word.len))
				add_word(&reader, &words, &word);
			target = target && word.len == 0 && !quoted;
			buf_clear(&word);
			quoted = false;
			if (redirects && text_begins(p, "<<"))
				c = '\0';
			if (redirects && c != '\0') {
				target = true;
				p += strspn(p + 1, "<>&|");
			} else if (c == '\0' ||
			    strchr("\n;&|(){}", c) != NULL) {
				judge(&reader, words);
				strv_clear(&words);
				target = false;
			}
			if (c == '(' && shells < DEPTH_MAX) {
				around[shells++] = reader.cwd != NULL ?
				    xstrdup(reader.cwd) :
				    NULL;
			} else if (c == ')' && shells > 0) {
				free(reader.cwd);
				reader.cwd = around[--shells];
			}
			if (c == '\0' || reader.refused)
				break;
		}
	}
	while (shells > 0)
		free(around[--shells]);
	free(reader.cwd);
	outer->refused |= reader.refused;
}

bool
command_guard(
    const char *text, const struct command_place *place, struct buf *why)
{
	const char *cwd = place->cwd != NULL ? place->cwd : place->tree;
	cleanup_free char *read = xstrndup(text, TEXT_MAX);
	struct command_place known = *place;
	struct reader reader = { .place = &known,
		.why = why,
		.cwd = cwd != NULL ? xstrdup(cwd) : NULL };

	if (strstr(read, "HOME=") != NULL)
		known.home = NULL; /* as a test has one of its own */
	read_text(&reader, read);
	free(reader.cwd);
	return !reader.refused;
}

/* --- protected files ---------------------------------------------------- */

bool
command_guard_protects(char *const *protected_paths, const char *file)
{
	for (char *const *p = protected_paths; p != NULL && *p != NULL; p++)
		if (scope_path_covers(*p, file) ||
		    (text_begins(*p, "**/") && scope_path_covers(*p + 3, file)))
			return true;
	return false;
}

void
command_guard_refuse_write(const char *file, struct buf *why)
{
	text_add_visible(why, file, strlen(file), false);
	buf_adds(why,
	    " is protected: only a person changes it (repo.protected_paths). "
	    "Do the task without changing it; if that is impossible, say so in "
	    "your report.");
}
