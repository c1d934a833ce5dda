/* SPDX-License-Identifier: ISC */

/*
 * Commands that a worker does not run, found in the text that its agent gives
 * to a shell. The text is split as a shell splits it: quotes, lists, pipes,
 * subshells, redirections, here-documents, $(...) and `...`, and what env,
 * timeout, xargs, sh -c, eval and their like run. What only the shell can know,
 * such as the value of a variable, is not guessed, and passes.
 *
 * It is a guard rail against what agents do by mistake, not a wall: a script,
 * an alias or a program can do all of it. A wall is a sandbox. Pure.
 */
#ifndef COMMAND_GUARD_H
#define COMMAND_GUARD_H

struct buf;

enum command_rule {
	COMMAND_PUSH, /* git push */
	COMMAND_CONFIG, /* git config --global or --system that changes it */
	COMMAND_REMOVE, /* rm -r of what is outside of the worktree */
	COMMAND_ROOT, /* sudo and its like */
	COMMAND_KILL, /* of processes that are not the session's */
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
	char *const *protected_paths; /* in the worktree; NULL = none */
	/* Is this process one that does not belong to the session? */
	bool (*is_foreign)(int64_t pid, void *arg);
	bool alone; /* it sees no processes of others: a sandbox */
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
