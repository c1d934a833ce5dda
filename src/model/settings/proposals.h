/* SPDX-License-Identifier: ISC */

/*
 * What llmc init proposes for a project: settings with a reason each, from the
 * files that the project has. Pure: names and bytes in, proposals out. Nothing
 * is proposed that no file speaks for; what speaks for it is the reason. The
 * bytes are the project's own, so they may be anything.
 */
#ifndef PROPOSALS_H
#define PROPOSALS_H

/* A file is not read beyond this. */
#define PROPOSALS_FILE_MAX (256 * 1024)

struct project_file {
	const char *path; /* from the top; a folder ends with "/" */
	const char *text; /* NULL = not read */
	size_t len;
};

/* Strings are borrowed. */
struct project_facts {
	/* Of the landing branch, as a worktree gets them: everything at the
	 * top, and of the rest what proposals_read() names. */
	const struct project_file *files;
	size_t count;
	const char *const *ignored; /* folders of proposals_made() that git
				     * ignores; NULL = none */
	const char *const *secrets; /* .env files that git ignores; NULL =
				     * none */
	const char *no_sandbox; /* why none can be made; NULL = one can */
	bool no_clone; /* a worker in a sandbox has a git worktree */
};

/* The files whose bytes are wanted, and the folders that a set-up makes. Both
 * end with NULL. */
extern const char *const proposals_read[], *const proposals_made[];

/* Strings are owned, but the path. */
struct proposal {
	const char *path; /* of a setting */
	char *value; /* as a person types it: settings_value_text() */
	char *reason; /* a sentence without a full stop */
	bool left_out; /* the person does not want it */
};

struct proposals {
	struct proposal *list;
	size_t count;
	char *kind; /* "node, python", "" = not known */
	char **remarks; /* what was left out, and why; NULL = nothing */
};

/* Fill *ret_proposals, which the caller releases. */
void proposals_make(
    const struct project_facts *facts, struct proposals *ret_proposals);
void proposals_release(struct proposals *proposals);

/* NULL = it is not proposed. */
const struct proposal *
proposals_find(const struct proposals *proposals, const char *path);

#endif
