/* SPDX-License-Identifier: ISC */

/*
 * Commands that a worker does not run. Claude Code's own rules hold what they
 * can (claude.c); what no rule can say is found here, in the text that an agent
 * gives to a shell: rm -r of what is outside of its worktree, and kill of a
 * process that is not its own. The text is split at blanks and at what ends a
 * command. What only the shell can know, such as the value of a variable,
 * passes, and so does what follows a here-document.
 *
 * It is a guard rail against what agents do by mistake, not a wall: a script,
 * an alias or a program can do all of it. A wall is a sandbox. Pure.
 */
#ifndef COMMAND_GUARD_H
#define COMMAND_GUARD_H

struct buf;

enum command_rule {
	COMMAND_PUSH, /* git push; this and the next ones: by a rule */
	COMMAND_CONFIG, /* git config --global or --system that changes it */
	COMMAND_REMOVE, /* here: rm -r of what is outside of the worktree */
	COMMAND_ROOT, /* sudo and its like */
	COMMAND_KILL, /* here: of processes that are not the session's; by name:
		       * by a rule */
	COMMAND_PROTECTED, /* writes to protected files */
	COMMAND_RULE_COUNT
};

/* "git-push", "git-config", "rm-outside", "sudo", "kill-others",
 * "protected-files"; NULL terminated: defaults.refuse_commands. */
extern const char *const command_rule_words[COMMAND_RULE_COUNT + 1];

/* Where it would run. Everything is borrowed. */
struct command_place {
	unsigned rules; /* 1 << COMMAND_... */
	const char *tree; /* the worktree; NULL = not known */
	const char *cwd; /* NULL = the worktree */
	const char *home; /* NULL = not known */
	const char *own; /* its folder for temporary files; NULL = none */
	const char *const *scratch; /* everybody's: not to be removed whole */
	/* Is this process one that does not belong to the session? */
	bool (*is_foreign)(int64_t pid, void *arg);
	/* Do links lead this path into the worktree? NULL = there are none. */
	bool (*is_inside)(const char *path, void *arg);
	void *arg;
};

/* May the shell run it? False: why is the answer to the agent. */
bool command_guard(
    const char *text, const struct command_place *place, struct buf *why);

/* Is the file, relative to the top, one of these? Places as in work-record.h; a
 * leading "**" and slash mean any folder, and the top too. */
bool command_guard_protects(char *const *protected_paths, const char *file);
/* The answer to an agent that would write it. */
void command_guard_refuse_write(const char *file, struct buf *why);

#endif
