/* SPDX-License-Identifier: ISC */

/*
 * Files of the page on 127.0.0.1: .llmc/web.token, its secret, which only the
 * user can read, the file that leads a browser there, and the logins.
 */
#ifndef WEB_FILES_H
#define WEB_FILES_H

#include "http-request.h"

struct err;
struct workspace;

#define WEB_FILES_TOKEN  "web.token"
#define WEB_FILES_LINK   "web.html"
#define WEB_FILES_LOGINS "web.logins"

/* Who has logged in at web.origin, and until when. */
#define WEB_LOGINS_MAX 16

struct web_login {
	char session[WEB_TOKEN_CHARS + 1];
	int64_t until_unix;
};

/* The token. -ENOENT: there is none; -EINVAL: it is not one, or others could
 * have read it. */
int web_files_token(const struct workspace *workspace,
    char ret_token[WEB_TOKEN_CHARS + 1], struct err *err);
/* A random one. */
void web_files_new_token(char ret_token[WEB_TOKEN_CHARS + 1]);
/* This is the token from now on. */
int web_files_put_token(
    const struct workspace *workspace, const char *token, struct err *err);

/* The logins, at most WEB_LOGINS_MAX; 0 if there are none, or if others could
 * have read them. */
size_t web_files_logins(
    const struct workspace *workspace, struct web_login *ret_logins);
int web_files_put_logins(const struct workspace *workspace,
    const struct web_login *logins, size_t count, struct err *err);

/* Write a file that leads a browser to the address, .llmc/web.html, which only
 * the user can read. The caller frees its path. */
int web_files_write_link(const struct workspace *workspace, const char *url,
    char **ret_path, struct err *err);

#endif
