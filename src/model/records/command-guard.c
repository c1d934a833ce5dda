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

/* A text that is read as a shell reads it. */
struct scan {
	const struct command_place *place;
	struct buf *why;
	const char *p;
	int depth;
	bool refused;
	char *cwd; /* NULL = not known any more */
	const char *home; /* likewise */
	/* HOME or git's settings for the user were moved: from here on, for
	 * this command. */
	bool moved, moved_here;
	size_t count; /* of the words, targets and here-documents */
	char **words, **targets; /* of the command: strv; > files */
	char **heredocs; /* delimiters of those whose text follows */
};

static void scan_list(struct scan *scan, char until);
static void judge(struct scan *scan);

/* --- reading ----------------------------------------------------------- */

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

/* A text of its own, such as that of sh -c: what it changes stays there. */
static void
scan_text(struct scan *scan, const char *text)
{
	struct scan inner = { .place = scan->place,
		.why = scan->why,
		.p = text,
		.depth = scan->depth + 1,
		.home = scan->home,
		.moved = scan->moved || scan->moved_here,
		.cwd = scan->cwd != NULL ? xstrdup(scan->cwd) : NULL };

	if (inner.depth < DEPTH_MAX)
		scan_list(&inner, '\0');
	scan->refused |= inner.refused;
	free(inner.cwd);
}

/* What follows a "$" is read; the value is appended if it is known. */
static void
scan_dollar(struct scan *scan, struct buf *word)
{
	static const char top[] = "(git rev-parse --show-toplevel)";
	const char *name = scan->p, *value = NULL;
	bool braced = *name == '{';
	size_t len;

	if (*name == '(' && name[1] == '(') { /* arithmetic */
		int open = 0;

		do
			open += (*scan->p == '(') - (*scan->p == ')');
		while (*scan->p != '\0' && *++scan->p != '\0' && open > 0);
		buf_addc(word, UNKNOWN);
		return;
	}
	/* So do agents find their worktree, and there is no other to find. */
	if (text_begins(name, top) && scan->cwd != NULL &&
	    below(scan->cwd, scan->place->tree) != NULL) {
		scan->p += strlen(top);
		buf_adds(word, scan->place->tree);
		return;
	}
	if (*name == '(') {
		struct scan inner = *scan;

		inner.words = inner.targets = inner.heredocs = NULL;
		inner.count = 0;
		inner.moved_here = false;
		inner.cwd = scan->cwd != NULL ? xstrdup(scan->cwd) : NULL;
		inner.p++;
		inner.depth++;
		if (inner.depth < DEPTH_MAX)
			scan_list(&inner, ')');
		else
			inner.p += strlen(inner.p);
		free(inner.cwd);
		scan->p = inner.p;
		scan->refused |= inner.refused;
		buf_addc(word, UNKNOWN);
		return;
	}
	name += braced;
	len = strspn(name,
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789");
	if (len == 4 && text_begins(name, "HOME"))
		value = scan->home;
	else if (len == 3 && text_begins(name, "PWD"))
		value = scan->cwd;
	if (braced) {
		int open = 1;

		if (name[len] != '}')
			value = NULL; /* a part of it, say */
		for (scan->p = name + len; *scan->p != '\0' && open > 0;
		     scan->p++)
			open += (*scan->p == '{') - (*scan->p == '}');
	} else if (len > 0) {
		scan->p = name + len;
	} else if (*name != '\0' && strchr("$!?#*@-", *name) != NULL) {
		scan->p = name + 1;
	} else { /* a dollar sign */
		buf_addc(word, '$');
		return;
	}
	if (value != NULL)
		buf_adds(word, value);
	else
		buf_addc(word, UNKNOWN);
}

static void
scan_backquotes(struct scan *scan, struct buf *word)
{
	cleanup_buf struct buf text = BUF_INIT;

	for (; *scan->p != '\0' && *scan->p != '`'; scan->p++) {
		if (*scan->p == '\\' && scan->p[1] != '\0')
			scan->p++;
		buf_addc(&text, *scan->p);
	}
	if (*scan->p == '`')
		scan->p++;
	scan_text(scan, text.len > 0 ? text.data : "");
	buf_addc(word, UNKNOWN);
}

static void
scan_quotes(struct scan *scan, struct buf *word)
{
	while (*scan->p != '\0' && *scan->p != '"') {
		char c = *scan->p++;

		if (c == '\\' && *scan->p == '\n')
			scan->p++;
		else if (c == '\\' && *scan->p != '\0' &&
		    strchr("$`\"\\", *scan->p) != NULL)
			buf_addc(word, *scan->p++);
		else if (c == '$')
			scan_dollar(scan, word);
		else if (c == '`')
			scan_backquotes(scan, word);
		else
			buf_addc(word, c);
	}
	if (*scan->p == '"')
		scan->p++;
}

/* A word; false: there is none here. */
static bool
scan_word(struct scan *scan, struct buf *word)
{
	const char *begin = scan->p;

	if (*scan->p == '~' &&
	    (scan->p[1] == '/' || strcspn(scan->p + 1, " \t\n;&|<>()") == 0)) {
		if (scan->home != NULL)
			buf_adds(word, scan->home);
		else
			buf_addc(word, UNKNOWN);
		scan->p++;
	}
	while (*scan->p != '\0' && strchr(" \t\r\n;&|<>()", *scan->p) == NULL) {
		char c = *scan->p++;

		if (c == '\\' && *scan->p == '\n') {
			scan->p++;
		} else if (c == '\\' && *scan->p != '\0') {
			buf_addc(word, *scan->p++);
		} else if (c == '\'' || (c == '$' && *scan->p == '\'')) {
			bool ansi = c == '$';

			scan->p += ansi;
			while (*scan->p != '\0' && *scan->p != '\'') {
				if (ansi && *scan->p == '\\' &&
				    scan->p[1] != '\0')
					scan->p++;
				buf_addc(word, *scan->p++);
			}
			if (*scan->p == '\'')
				scan->p++;
		} else if (c == '"') {
			scan_quotes(scan, word);
		} else if (c == '$') {
			scan_dollar(scan, word);
		} else if (c == '`') {
			scan_backquotes(scan, word);
		} else {
			buf_addc(word, c);
		}
	}
	return scan->p > begin;
}

/* At "<" or ">", or "&>". */
static void
scan_redirection(struct scan *scan)
{
	cleanup_buf struct buf word = BUF_INIT;
	bool writes = *scan->p == '>' || text_begins(scan->p, "&>") ||
	    text_begins(scan->p, "<>");
	bool heredoc = text_begins(scan->p, "<<") && scan->p[2] != '<';

	if (scan->p[1] == '(') { /* <(command): a word */
		scan->p++;
		scan_dollar(scan, &word);
		return;
	}
	scan->p += strspn(scan->p, "<>&|");
	if (heredoc && *scan->p == '-')
		scan->p++;
	scan->p += strspn(scan->p, " \t");
	if (!scan_word(scan, &word) || scan->count++ >= WORDS_MAX)
		return;
	if (heredoc)
		strv_add(&scan->heredocs, word.data);
	else if (writes)
		strv_add(&scan->targets, word.data);
}

/* The texts of the here-documents that were announced. */
static void
skip_heredocs(struct scan *scan)
{
	for (char **d = scan->heredocs; d != NULL && *d != NULL; d++) {
		bool found = false;

		while (*scan->p != '\0' && !found) {
			const char *line = scan->p + strspn(scan->p, "\t");
			size_t len = strcspn(line, "\n");

			found =
			    len == strlen(*d) && strncmp(line, *d, len) == 0;
			scan->p = line + len + (line[len] == '\n');
		}
	}
	strv_clear(&scan->heredocs);
}

static void
end_command(struct scan *scan)
{
	if (!scan->refused)
		judge(scan);
	strv_clear(&scan->words);
	strv_clear(&scan->targets);
	scan->count = 0;
	scan->moved_here = false;
}

/* Commands until the end, or the ")" that closes them. */
static void
scan_list(struct scan *scan, char until)
{
	char *outer[DEPTH_MAX]; /* where the shells around a subshell are */
	int shells = 0;

	while (!scan->refused && *scan->p != '\0') {
		char c = *scan->p;

		if (c == ' ' || c == '\t' || c == '\r') {
			scan->p++;
		} else if (c == '\\' && scan->p[1] == '\n') {
			scan->p += 2;
		} else if (c == '#') {
			scan->p += strcspn(scan->p, "\n");
		} else if (c == '<' || c == '>' || text_begins(scan->p, "&>")) {
			scan_redirection(scan);
		} else if (c == ')' && shells == 0 && until == ')') {
			scan->p++;
			break;
		} else if (strchr(";&|\n()", c) != NULL) {
			scan->p++;
			end_command(scan);
			if (c == '\n') {
				skip_heredocs(scan);
			} else if (c == '(' && shells < DEPTH_MAX) {
				outer[shells++] = scan->cwd != NULL ?
				    xstrdup(scan->cwd) :
				    NULL;
			} else if (c == ')' && shells > 0) {
				free(scan->cwd);
				scan->cwd = outer[--shells];
			}
		} else {
			cleanup_buf struct buf word = BUF_INIT;

			scan_word(scan, &word);
			/* 2>file: the number of a descriptor */
			if ((*scan->p != '<' && *scan->p != '>') ||
			    strspn(word.len > 0 ? word.data : "x",
				"0123456789") != word.len)
				if (scan->count++ < WORDS_MAX)
					strv_add(&scan->words,
					    word.len > 0 ? word.data : "");
		}
	}
	end_command(scan);
	strv_clear(&scan->heredocs);
	while (shells > 0)
		free(outer[--shells]);
}

/* --- places ------------------------------------------------------------ */

/* Where a word leads, absolute and in its shortest form. A pattern is cut where
 * it begins, so that "/tmp/a*" is something below "/tmp". NULL: not known. */
static char *
resolve(const struct scan *scan, const char *word)
{
	cleanup_buf struct buf path = BUF_INIT;

	if (*word == '\0' || strchr(word, UNKNOWN) != NULL ||
	    (*word != '/' && scan->cwd == NULL))
		return NULL;
	if (*word != '/')
		buf_adds(&path, scan->cwd);
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

bool
command_guard_protects(char *const *protected_paths, const char *file)
{
	for (char *const *p = protected_paths; p != NULL && *p != NULL; p++)
		if (scope_path_covers(*p, file) ||
		    (text_begins(*p, "**/") && scope_path_covers(*p + 3, file)))
			return true;
	return false;
}

/* --- the rules --------------------------------------------------------- */

static bool
has(const struct scan *scan, enum command_rule rule)
{
	return (scan->place->rules & (1U << rule)) != 0;
}

/* One word of the agent's in the middle of a sentence of ours. */
static void
refuse(
    struct scan *scan, const char *before, const char *word, const char *after)
{
	scan->refused = true;
	buf_adds(scan->why, before);
	text_add_visible(scan->why, word, strlen(word), false);
	buf_adds(scan->why, after);
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

static void
judge_write(struct scan *scan, const char *word)
{
	cleanup_free char *path = resolve(scan, word);
	const char *file = path != NULL ? below(path, scan->place->tree) : NULL;

	if (scan->refused || file == NULL ||
	    !command_guard_protects(scan->place->protected_paths, file))
		return;
	scan->refused = true;
	command_guard_refuse_write(file, scan->why);
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
is_scratch(const struct scan *scan, const char *path)
{
	for (const char *const *s = scan->place->scratch;
	     s != NULL && *s != NULL; s++) {
		const char *rest = below(path, *s);

		if (rest != NULL && *rest != '\0' && strcmp(rest, "*") != 0)
			return true;
	}
	return false;
}

static void
judge_remove(struct scan *scan, char *const *words)
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
		path = resolve(scan, *w);
		if (path == NULL || scan->place->tree == NULL)
			continue;
		inside = below(path, scan->place->tree) != NULL ||
		    below(path, scan->place->own) != NULL ||
		    is_scratch(scan, path);
		if (!inside &&
		    (scan->place->is_inside == NULL ||
			!scan->place->is_inside(path, scan->place->arg))) {
			refuse(scan, "rm: ", *w,
			    " is outside of your worktree, and others may "
			    "need it. Remove only what is in your worktree or "
			    "what you made in the folder for temporary files.");
			return;
		}
	}
}

static void
judge_kill(struct scan *scan, char *const *words)
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
		    (pid != 0 && scan->place->is_foreign != NULL &&
			scan->place->is_foreign(
			    pid < 0 ? -pid : pid, scan->place->arg))) {
			refuse(scan, "kill: ", *w,
			    " is not a process of your session. End only "
			    "processes that you started.");
			return;
		}
	}
}

static void
judge_git(struct scan *scan, char *const *words)
{
	static const char *const reads[] = { "--get", "--get-all",
		"--get-regexp", "--get-urlmatch", "--list", "-l", NULL };
	cleanup_free char *dir = scan->cwd != NULL ? xstrdup(scan->cwd) : NULL;
	bool shared = false, read = false;
	int operands = 0;

	while (*words != NULL && **words == '-') {
		bool valued = strcmp(*words, "-C") == 0 ||
		    strcmp(*words, "-c") == 0 ||
		    strcmp(*words, "--git-dir") == 0 ||
		    strcmp(*words, "--work-tree") == 0 ||
		    strcmp(*words, "--namespace") == 0;

		if (strcmp(*words, "-C") == 0 && words[1] != NULL) {
			free(dir);
			dir = resolve(scan, words[1]);
		}
		words += valued && words[1] != NULL ? 2 : 1;
	}
	if (*words == NULL)
		return;
	/* A test pushes in repositories of its own, which are elsewhere; those
	 * above the worktree are not. */
	if (strcmp(*words, "push") == 0 && has(scan, COMMAND_PUSH) &&
	    dir != NULL &&
	    (!(is_scratch(scan, dir) || below(dir, scan->place->own) != NULL) ||
		(scan->place->tree != NULL &&
		    (below(dir, scan->place->tree) != NULL ||
			below(scan->place->tree, dir) != NULL)))) {
		refuse(scan, "git ", *words,
		    " is not for you: llmc lands your work, and pushes it "
		    "where that is wanted. Commit it, and say in your report "
		    "that it is ready. In a repository that you made below "
		    "/tmp you may push.");
		return;
	}
	if (strcmp(*words, "rm") == 0 || strcmp(*words, "mv") == 0)
		for (char *const *w = words + 1; *w != NULL; w++)
			if (**w != '-')
				judge_write(scan, *w);
	if (strcmp(*words, "config") != 0 || !has(scan, COMMAND_CONFIG))
		return;
	for (char *const *w = words + 1; *w != NULL; w++) {
		shared |=
		    strcmp(*w, "--global") == 0 || strcmp(*w, "--system") == 0;
		read |= strv_has(reads, *w) ||
		    (operands == 0 &&
			(strcmp(*w, "get") == 0 || strcmp(*w, "list") == 0));
		if (**w != '-')
			operands++;
		else if (text_begins(*w, "--unset") ||
		    is_option(*w, "e", "edit"))
			operands = 2;
	}
	if (shared && !read && operands > 1 && !scan->moved &&
	    !scan->moved_here)
		refuse(scan, "git ", *words,
		    " --global and --system change git for everybody here. Set "
		    "it for one command with git -c NAME=VALUE, or do "
		    "without.");
}

/* Programs that run another one: how to find it. */
static const struct wrapper {
	const char *name;
	const char *valued; /* its letters that have a value of their own */
	int operands; /* before the command */
} wrappers[] = {
	{ "env", "uCS", 0 },
	{ "command", "", 0 },
	{ "builtin", "", 0 },
	{ "exec", "a", 0 },
	{ "nohup", "", 0 },
	{ "setsid", "", 0 },
	{ "time", "fo", 0 },
	{ "nice", "n", 0 },
	{ "ionice", "cn", 0 },
	{ "stdbuf", "ioe", 0 },
	{ "timeout", "ks", 1 },
	{ "xargs", "IdEnPsaL", 0 },
	{ "busybox", "", 0 },
	{ "sudo", "ugCpr", 0 },
	{ "doas", "uC", 0 },
};

/* Words before a command that are none of it. */
static const char *const reserved[] = { "if", "then", "elif", "else", "while",
	"until", "do", "!", "{", "}", "coproc", NULL };

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

/* A home of its own, such as a test has: what is in it is not the user's. */
static bool
is_new_home(const char *word)
{
	return text_begins(word, "HOME=") ||
	    text_begins(word, "XDG_CONFIG_HOME=") ||
	    text_begins(word, "GIT_CONFIG_");
}

/* The command behind assignments, reserved words and wrappers. */
static char *const *
skip_wrappers(struct scan *scan, char *const *words)
{
	for (bool found = true; found && *words != NULL;) {
		const char *name = base_name(*words);

		scan->moved_here |= is_new_home(*words);
		if (is_assignment(*words) || strv_has(reserved, *words)) {
			words++;
			continue;
		}
		found = false;
		for (size_t i = 0; i < nitems(wrappers) && !found; i++) {
			if (strcmp(wrappers[i].name, name) != 0 ||
			    (has(scan, COMMAND_ROOT) &&
				i + 2 >= nitems(wrappers)))
				continue;
			found = true;
			for (words++; *words != NULL && **words == '-';
			     words++) {
				const char *last = *words + strlen(*words) - 1;

				if (strcmp(*words, "--") == 0) {
					words++;
					break;
				}
				/* It only asks where the program is. */
				if (strcmp(name, "command") == 0 &&
				    is_option(*words, "vV", ""))
					return words + strv_count(words);
				/* "-n 5" has a value, "-n5" has it already */
				if ((*words)[1] != '-' && last > *words &&
				    strchr(wrappers[i].valued, *last) != NULL &&
				    words[1] != NULL)
					words++;
			}
			for (int n = wrappers[i].operands;
			     n > 0 && *words != NULL; n--)
				words++;
		}
	}
	return words;
}

/* Programs whose operands are written: all of them, or the last one. */
static const struct {
	const char *name;
	const char *needs; /* an option without which nothing is written */
	bool last;
} writers[] = {
	{ "rm", NULL, false },
	{ "mv", NULL, false },
	{ "cp", NULL, true },
	{ "ln", NULL, true },
	{ "install", NULL, true },
	{ "tee", NULL, false },
	{ "truncate", NULL, false },
	{ "unlink", NULL, false },
	{ "shred", NULL, false },
	{ "sed", "i", false },
	{ "perl", "i", false },
};

static void
judge_writes(struct scan *scan, const char *name, char *const *words)
{
	for (size_t i = 0; i < nitems(writers); i++) {
		bool writes = writers[i].needs == NULL;

		if (strcmp(writers[i].name, name) != 0)
			continue;
		for (char *const *w = words; *w != NULL && !writes; w++)
			writes = is_option(*w, writers[i].needs, "in-place") ||
			    text_begins(*w, "--in-place=");
		for (char *const *w = words; *w != NULL && writes; w++)
			if (**w != '-' && (!writers[i].last || w[1] == NULL))
				judge_write(scan, *w);
	}
	for (char *const *t = scan->targets; t != NULL && *t != NULL; t++)
		judge_write(scan, *t);
}

/* A command is complete. */
static void
judge(struct scan *scan)
{
	static const char *const shells[] = { "sh", "bash", "dash", "zsh",
		"ksh", NULL };
	static const char *const roots[] = { "sudo", "su", "doas", "pkexec",
		NULL };
	static const char *const by_name[] = { "pkill", "killall", "killall5",
		NULL };
	static char *const none[] = { NULL };
	char *const *words = scan->words != NULL ? scan->words : none;
	const char *name;

	words = skip_wrappers(scan, words);
	name = *words != NULL ? base_name(*words) : "";
	if (has(scan, COMMAND_PROTECTED))
		judge_writes(scan, name, *words != NULL ? words + 1 : words);
	if (scan->refused)
		return;
	if (*words == NULL || strcmp(name, "export") == 0) {
		for (; *words != NULL; words++)
			scan->moved_here |= is_new_home(*words);
		scan->moved |= scan->moved_here;
		if (scan->moved)
			scan->home = NULL;
		return;
	}
	words++;
	if (strcmp(name, "cd") == 0 || strcmp(name, "pushd") == 0) {
		const char *to = *words != NULL ? *words : scan->home;
		char *path =
		    to != NULL && *to != '-' ? resolve(scan, to) : NULL;

		free(scan->cwd);
		scan->cwd = path;
	} else if (strcmp(name, "popd") == 0) {
		free(take_ptr(&scan->cwd));
	} else if (strv_has(roots, name) && has(scan, COMMAND_ROOT)) {
		refuse(scan, "", name,
		    " is not for you. Work without the rights of root; if that "
		    "is impossible, say in your report what is missing.");
	} else if (strcmp(name, "git") == 0) {
		judge_git(scan, words);
	} else if (strcmp(name, "rm") == 0 && has(scan, COMMAND_REMOVE)) {
		judge_remove(scan, words);
	} else if (strcmp(name, "kill") == 0 && has(scan, COMMAND_KILL)) {
		judge_kill(scan, words);
	} else if (strv_has(by_name, name) && has(scan, COMMAND_KILL) &&
	    !scan->place->alone) {
		/* Its children, or what has its worktree in its words. */
		for (char *const *w = words; *w != NULL; w++)
			if (is_option(*w, "P", "parent") ||
			    (scan->place->tree != NULL &&
				strstr(*w, scan->place->tree) != NULL))
				return;
		refuse(scan, "", name,
		    " ends processes of other workers and of people too. End "
		    "those that you started, by their number: kill %1, "
		    "kill PID, or pkill -f with the path of your worktree.");
	} else if (strcmp(name, "eval") == 0) {
		cleanup_buf struct buf text = BUF_INIT;

		for (; *words != NULL; words++)
			buf_addf(&text, "%s ", *words);
		scan_text(scan, text.len > 0 ? text.data : "");
	} else if (strv_has(shells, name)) {
		while (*words != NULL && **words == '-' &&
		    !is_option(*words, "c", ""))
			words++;
		if (*words != NULL && **words == '-' && words[1] != NULL)
			scan_text(scan, words[1]);
	}
}

bool
command_guard(
    const char *text, const struct command_place *place, struct buf *why)
{
	const char *cwd = place->cwd != NULL ? place->cwd : place->tree;
	cleanup_free char *read = xstrndup(text, TEXT_MAX);
	struct scan scan = { .place = place,
		.why = why,
		.p = read,
		.home = place->home,
		.cwd = cwd != NULL ? xstrdup(cwd) : NULL };

	scan_list(&scan, '\0');
	free(scan.cwd);
	return !scan.refused;
}
