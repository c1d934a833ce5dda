/* SPDX-License-Identifier: ISC */

/*
 * The place of a worker (model/settings/place.h) on this machine: its folder
 * for temporary files, .llmc/tmp/INDEX, and its variables. Made before a
 * session, a setup, a check or a teardown begins; all of them get the same.
 */
#ifndef WORKPLACE_H
#define WORKPLACE_H

struct buf;
struct err;
struct json_object;
struct settings;
struct workspace;

/* All zero is empty. */
struct workplace {
	char *tmpdir; /* exists; a box must show it (box.h) */
	char **env; /* edits of child.h */
};

/* name, index: of a worker or a slot (place.h). */
int workplace_make(const struct workspace *workspace,
    const struct settings *settings, const char *name, int index,
    struct workplace *ret_place, struct err *err);
void workplace_release(struct workplace *place);

/* Where workplace_make() puts temporary files of that number. The caller
 * frees. */
char *workplace_tmpdir(const struct workspace *workspace, int index);

/* Which processes of a worker's session listen on which ports: an array of
 * {"port", "pid", "program"}, the caller owns it. Reads /proc now, and waits
 * for it: not for a loop. */
struct json_object *
workplace_listeners(const struct workspace *workspace, const char *worker);

/* The first port of that number that somebody listens on, 0 = none. */
int workplace_busy_port(const struct settings *settings, int index);

#endif
