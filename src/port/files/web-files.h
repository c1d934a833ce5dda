/* SPDX-License-Identifier: ISC */

/*
 * What the page on 127.0.0.1 keeps over restarts: .llmc/web.token, its secret,
 * which only the user can read, and .llmc/web.json, its port.
 */
#ifndef WEB_FILES_H
#define WEB_FILES_H

#include "web-rules.h"

struct err;
struct workspace;

#define WEB_FILES_TOKEN "web.token"
#define WEB_FILES_PORT  "web.json"
#define WEB_FILES_LINK  "web.html"

/* The token. -ENOENT: there is none; -EINVAL: it is not one, or others could
 * have read it. */
int web_files_token(const struct workspace *workspace,
    char ret_token[WEB_TOKEN_CHARS + 1], struct err *err);
/* The same; a new one is made where there is none that can be used. */
int web_files_make_token(const struct workspace *workspace,
    char ret_token[WEB_TOKEN_CHARS + 1], struct err *err);

/* The port that was kept; 0 = none. */
unsigned web_files_port(const struct workspace *workspace);
int web_files_keep_port(
    const struct workspace *workspace, unsigned port, struct err *err);

/* Write a file that leads a browser to the address, .llmc/web.html, which only
 * the user can read. The caller frees its path. */
int web_files_write_link(const struct workspace *workspace, const char *url,
    char **ret_path, struct err *err);

#endif
