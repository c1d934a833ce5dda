/* SPDX-License-Identifier: ISC */

/*
 * Whether the settings of a root may be used. A repository can bring a folder
 * .llmc along, and settings run commands: they count only if this user has run
 * `llmc init` here. That leaves a mark in the git directory, which a clone does
 * not copy. Settings that git tracks change with every pull, so for those the
 * mark holds what was accepted.
 */
#ifndef ROOT_MARK_H
#define ROOT_MARK_H

#include "id.h"

struct buf;
struct err;
struct workspace;

/* May these settings, the text of config.toml, be used? 0; -ENOENT if llmc is
 * not set up here; -EPERM if they were not accepted; err says what to type.
 * -EAGAIN, without words: yes, unless they are not empty and git tracks the
 * file. */
int root_mark_judge(const struct workspace *workspace, const struct buf *config,
    struct err *err);

/* Does git track nothing in .llmc, for sure? Looks without git, at once. */
bool root_mark_is_untracked(const struct workspace *workspace);

/* What git is asked for that, with status 0 for yes; and then this is said:
 * -EPERM. */
extern const char *const root_mark_question[];
int
root_mark_refuse_tracked(const struct workspace *workspace, struct err *err);

/* The same for the file as it is now, never -EAGAIN: asks git, and waits, so
 * never from inside a loop. A git that cannot answer (a broken index) forbids
 * nothing: it is needed to repair that. */
int root_mark_check(const struct workspace *workspace, struct err *err);

/* Accept the settings as they are now. Asks git too. */
int root_mark_write(const struct workspace *workspace, struct err *err);

/* Just before llmc itself changes the settings to these: accept them. Does
 * nothing where the mark holds none. */
int root_mark_follow(const struct workspace *workspace,
    const struct buf *config, struct err *err);

/* .llmc/root_id: the id of the first state of this root, and a sign that there
 * was one. */

/* -ENOENT if there is no such file, or no id in it; ret_id is as it was then.
 */
int root_id_read(const struct workspace *workspace, char ret_id[ID_UUID_SIZE],
    struct err *err);

/* Write it, if there is none. */
int root_id_keep(
    const struct workspace *workspace, const char *id, struct err *err);

/* There is no state: was there one? This root has an id, or worktrees in that
 * folder (absolute). Words that say what to do. */
bool root_id_is_lost(
    const struct workspace *workspace, const char *worktrees, struct err *err);

#endif
