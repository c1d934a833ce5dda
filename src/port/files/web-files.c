/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/stat.h>

#include "web-files.h"
#include "workspace.h"

#define LOGINS_BYTES_MAX 4096

/* A file of ours that other users cannot read. */
static int
check_private(const char *path, struct err *err)
{
	struct stat st;

	if (lstat(path, &st) == -1)
		return err_errno(err, -errno, "%s", path);
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
	    (st.st_mode & (S_IRWXG | S_IRWXO)) != 0)
		return err_set(err, -EINVAL,
		    "%s is not a file that only you can read", path);
	return 0;
}

static int
read_token(
    const char *path, char ret_token[WEB_TOKEN_CHARS + 1], struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT;
	int r = check_private(path, err);

	if (r == 0)
		r = file_read(path, WEB_TOKEN_CHARS + 1, &text, err);
	if (r < 0)
		return r;
	if (text.len > 0 && text.data[text.len - 1] == '\n')
		buf_truncate(&text, text.len - 1);
	if (strlen(text.data) != text.len || !web_token_valid(text.data))
		return err_set(err, -EINVAL, "%s is not a token", path);
	memcpy(ret_token, text.data, WEB_TOKEN_CHARS + 1);
	return 0;
}

int
web_files_token(const struct workspace *workspace,
    char ret_token[WEB_TOKEN_CHARS + 1], struct err *err)
{
	cleanup_free char *path = workspace_path(workspace, WEB_FILES_TOKEN);

	return read_token(path, ret_token, err);
}

/* An existing file would keep who can read it. */
static int
write_private(const char *path, const char *text, size_t len, struct err *err)
{
	if (unlink(path) == -1 && errno != ENOENT)
		return err_errno(err, -errno, "cannot replace %s", path);
	return file_replace(path, text, len, 0600, err);
}

void
web_files_new_token(char ret_token[WEB_TOKEN_CHARS + 1])
{
	unsigned char bytes[WEB_TOKEN_BYTES];

	arc4random_buf(bytes, sizeof bytes);
	for (size_t i = 0; i < sizeof bytes; i++)
		snprintf(ret_token + 2 * i, 3, "%02x", bytes[i]);
}

int
web_files_put_token(
    const struct workspace *workspace, const char *token, struct err *err)
{
	cleanup_free char *path = workspace_path(workspace, WEB_FILES_TOKEN);
	char text[WEB_TOKEN_CHARS + 1];

	if (read_token(path, text, NULL) == 0 && strcmp(text, token) == 0)
		return 0;
	memcpy(text, token, WEB_TOKEN_CHARS);
	text[WEB_TOKEN_CHARS] = '\n';
	return write_private(path, text, sizeof text, err);
}

size_t
web_files_logins(
    const struct workspace *workspace, struct web_login *ret_logins)
{
	cleanup_free char *path = workspace_path(workspace, WEB_FILES_LOGINS);
	cleanup_buf struct buf text = BUF_INIT;
	size_t count = 0;
	char *line, *rest;

	if (check_private(path, NULL) < 0 ||
	    file_read(path, LOGINS_BYTES_MAX, &text, NULL) < 0)
		return 0;
	rest = text.data;
	while (count < WEB_LOGINS_MAX && (line = strsep(&rest, "\n")) != NULL) {
		struct web_login *login = &ret_logins[count];
		char *until = line;
		const char *problem = NULL;
		const char *session = strsep(&until, " ");

		if (!web_token_valid(session) || until == NULL)
			continue;
		login->until_unix = strtonum(until, 0, INT64_MAX, &problem);
		memcpy(login->session, session, WEB_TOKEN_CHARS + 1);
		count += problem == NULL;
	}
	return count;
}

int
web_files_put_logins(const struct workspace *workspace,
    const struct web_login *logins, size_t count, struct err *err)
{
	cleanup_free char *path = workspace_path(workspace, WEB_FILES_LOGINS);
	cleanup_buf struct buf text = BUF_INIT;

	for (size_t i = 0; i < count; i++)
		buf_addf(&text, "%s %" PRId64 "\n", logins[i].session,
		    logins[i].until_unix);
	return write_private(path, text.data, text.len, err);
}

int
web_files_write_link(const struct workspace *workspace, const char *url,
    char **ret_path, struct err *err)
{
	cleanup_free char *path = workspace_path(workspace, WEB_FILES_LINK);
	cleanup_buf struct buf text = BUF_INIT;
	int r;

	buf_addf(&text,
	    "<!DOCTYPE html>\n<title>llmc</title>\n"
	    "<meta name=\"referrer\" content=\"no-referrer\">\n"
	    "<meta http-equiv=\"refresh\" content=\"0; url=%s\">\n",
	    url);
	r = write_private(path, text.data, text.len, err);
	if (r == 0)
		*ret_path = take_ptr(&path);
	return r;
}
