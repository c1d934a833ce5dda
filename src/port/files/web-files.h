/* SPDX-License-Identifier: ISC */

/*
 * Files of the page on 127.0.0.1: .llmc/web.token, its secret, which only the
 * user can read, and the file that leads a browser there.
 */
#ifndef WEB_FILES_H
#define WEB_FILES_H

#include "http-request.h"

struct err;
struct workspace;

#define WEB_FILES_TOKEN "web.token"
#define WEB_FILES_LINK  "web.html"

/* The token. -ENOENT: there is none; -EINVAL: it is not one, or others could
 * have read it. */
int web_files_token(const struct workspace *workspace,
    char ret_token[WEB_TOKEN_CHARS + 1], struct err *err);
/* A random one. */
void web_files_new_token(char ret_token[WEB_TOKEN_CHARS + 1]);
/* This is the token from now on. */
int web_files_put_token(
    const struct workspace *workspace, const char *token, struct err *err);

/* Write a file that leads a browser to the address, .llmc/web.html, which only
 * the user can read. The caller frees its path. */
int web_files_write_link(const struct workspace *workspace, const char *url,
    char **ret_path, struct err *err);

#endif
