/* SPDX-License-Identifier: ISC */

/*
 * The folder of one agent session, .llmc/run/<name>/: the socket at which only
 * that session is served, and the spool of its hooks. 0700, and only of our
 * user. Made when the worker is known, removed with the worker.
 *
 * A socket's path is short: if the folder is too deep for one, the socket is in
 * a folder of its own in $XDG_RUNTIME_DIR or /tmp, as the daemon's is. The
 * spool is always below .llmc.
 */
#ifndef RUN_DIR_H
#define RUN_DIR_H

struct err;
struct workspace;

/* Each is the caller's to free. name: "adam", or "overseer". */
char *run_dir_path(const struct workspace *workspace, const char *name);
char *run_dir_spool(const struct workspace *workspace, const char *name);
/* The folder of its socket, usually run_dir_path(); and the socket in it. */
char *run_dir_socket_dir(const struct workspace *workspace, const char *name);
char *run_dir_socket(const struct workspace *workspace, const char *name);
/* The socket where nothing can be created in .llmc. */
char *
run_dir_socket_outside(const struct workspace *workspace, const char *name);

/* Make the folders of the session, private. -EPERM: one of them is a link, or
 * another user's. */
int run_dir_make(
    const struct workspace *workspace, const char *name, struct err *err);
/* Only the folder of this socket, which lies outside of .llmc. */
int run_dir_make_outside(const char *socket, struct err *err);

/* Shall the hooks of its tools wait for the daemon's answer? A file beside the
 * socket says so, because they are not to wait each time. What cannot be
 * created is not waited for. */
void
run_dir_wait(const struct workspace *workspace, const char *name, bool wait);
bool run_dir_waits(const char *socket);

/* Remove all of them, with what is in them. */
void run_dir_remove(const struct workspace *workspace, const char *name);

#endif
