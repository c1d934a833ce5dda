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

struct err;
struct workspace;

/* 0; -ENOENT if llmc is not set up here; -EPERM if there are settings that
 * nobody accepted. err says what to type. Asks git, and waits: never from
 * inside a loop. */
int root_mark_check(const struct workspace *workspace, struct err *err);

/* Accept the settings as they are now. Asks git too. */
int root_mark_write(const struct workspace *workspace, struct err *err);

/* After a change of the settings by llmc: keep accepting them. Does nothing
 * where the mark does not hold them. */
int root_mark_follow(const struct workspace *workspace, struct err *err);

#endif
