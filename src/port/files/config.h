/* SPDX-License-Identifier: ISC */

/* The files of rules: the configuration file, which is read into settings and
 * changed in place, and the policy of each worker. */
#ifndef CONFIG_H
#define CONFIG_H

struct buf;
struct config_read;
struct err;
struct guard_policy;
struct loop;
struct settings;
struct settings_problems;
struct workspace;

/* The text that was checked. NULL: err says why not; -EPERM and -ENOENT as from
 * root_mark_judge(). */
typedef void
config_read_fn(const struct buf *config, const struct err *err, void *arg);

struct config_read *config_read_new(struct loop *loop,
    const struct workspace *workspace, config_read_fn *fn, void *arg);
void config_read_free(struct config_read *reader);

/* Read the file as it is now; fn is called once, from here or later. A reading
 * in progress is given up for it. An empty file is looked at again for two
 * seconds: it is just being written, perhaps. */
void config_read_begin(struct config_read *reader);

/* Read <root>/.llmc/config.toml. A missing file means all defaults. Negative
 * errno only if the file cannot be read at all; errors inside it are in the
 * problems. The caller frees both. git is asked for the default branch if none
 * is set. */
int
config_load(const struct workspace *workspace, struct settings **ret_settings,
    struct settings_problems *ret_problems, struct err *err);

/* The same without asking git for the default branch: for a program with a
 * loop, which must not wait. default_branch may be NULL. */
int config_load_with(const struct workspace *workspace,
    const char *default_branch, struct settings **ret_settings,
    struct settings_problems *ret_problems, struct err *err);

/* The same for a text that was read. */
struct settings *
config_parse(const struct workspace *workspace, const char *default_branch,
    const struct buf *text, struct settings_problems *ret_problems);

/* The same as config_load, with the first error as a failure: "FILE:LINE:
 * what". Warnings are ignored. */
int config_load_strict(const struct workspace *workspace,
    struct settings **ret_settings, struct err *err);

/* Set a key to what a person typed, or remove it (typed NULL; -ENOENT when it
 * is not set). Every other byte of the file stays. The file is checked before
 * it is replaced, atomically, under a lock. */
int config_change(const struct workspace *workspace, const char *path,
    const char *typed, struct err *err);

/* Set a key that the file does not set, with the reason as a comment above. */
int config_propose(const struct workspace *workspace, const char *path,
    const char *typed, const char *reason, struct err *err);

/* Remove a whole [table] ("workers.adam"). It is no error if there is none. */
int config_remove_table(
    const struct workspace *workspace, const char *path, struct err *err);

/*
 * The policy of a worker (model/team/guard.h) as a file that its hooks and
 * tools read themselves, so that it holds while no daemon is running:
 * .llmc/run/<worker>/policy.json. The daemon writes it before each launch, and
 * when it changes; a sandbox shows that folder, but does not let it be changed.
 *
 * It is replaced whole, but not waited for until it is on the disk: a power cut
 * ends the sessions, too, and the next launch writes it again. What may be left
 * of it then, an empty file say, cannot be loaded.
 */

/* Owned by the caller. */
char *policy_file_path(const struct workspace *workspace, const char *worker);

/* Replace the file, unless it says the same already. The folder exists:
 * workspace.h. */
int policy_file_save(const struct workspace *workspace, const char *worker,
    const struct guard_policy *policy, struct err *err);

/* -ENOENT, -EINVAL, ...: the policy is empty, and must not be taken for one
 * that allows everything. Release it with guard_policy_release(). */
int policy_file_load(
    const char *path, struct guard_policy *ret_policy, struct err *err);

/*
 * Where a path that an agent names leads, with every symbolic link followed.
 * The file need not exist, nor the folders above it. Only looks, with a few
 * lstat(2).
 */

/* The path relative to tree, which is absolute and has no links; "" is the tree
 * itself. A relative path is taken from cwd (NULL = tree). NULL: it leads
 * elsewhere. Owned by the caller. plain: "a/.." is removed before links are
 * followed, as programs do that shorten a path before they use it; otherwise
 * as the kernel does it. They differ behind a link to a folder. */
char *
tree_path(const char *tree, const char *cwd, const char *path, bool plain);

#endif
