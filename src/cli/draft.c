/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>

#include "cli-private.h"
#include "comment-file.h"
#include "prompt.h"

#define DRAFT_FILE_MAX (64 * 1024 * 1024) /* with a diff below the text */

static const char draft_end_words[] =
    "# Everything below the line above is ignored.\n";

static bool
is_blank(const char *text)
{
	return text[strspn(text, " \t\r\n")] == '\0';
}

static int
too_long(struct cli *cli, const char *what)
{
	return cli_fail(cli, "too_long", "%s is longer than 1 MiB", what);
}

int
draft_check(struct cli *cli, const struct draft *draft, const char *what)
{
	if (memchr(draft->text.data, '\0', draft->text.len) != NULL)
		return cli_fail(cli, "bad_text",
		    "%s contains a NUL byte; a prompt is text", what);
	return CLI_OK;
}

/* Read everything, up to the limit. Negative errno. */
static int
read_all(int fd, size_t max, struct buf *out)
{
	ssize_t n;

	do {
		buf_reserve(out, 65536);
		n = read(fd, out->data + out->len, 65536);
		if (n > 0)
			buf_grew(out, (size_t)n);
	} while ((n > 0 || (n == -1 && errno == EINTR)) && out->len <= max);
	return n == -1 ? -errno : 0;
}

int
draft_read(struct cli *cli, const char *path, struct draft *draft)
{
	bool is_input = strcmp(path, "-") == 0;
	const char *what = is_input ? "standard input" : path;
	int fd = is_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	size_t max = draft->with_diff ? DRAFT_FILE_MAX : PROMPT_MAX;
	int r = fd == -1 ? -errno : read_all(fd, max, &draft->text);

	if (!is_input)
		fd_close(fd);
	if (r < 0)
		return cli_fail(cli, "io", "%s: %s", what, strerror(-r));
	if (draft->text.len > max)
		return too_long(cli, what);
	r = draft_check(cli, draft, what);
	if (r == CLI_OK && is_blank(draft->text.data))
		return cli_fail(cli, "empty", "%s is empty", what);
	return r;
}

/* NULL = none is set. */
static const char *
chosen_editor(void)
{
	const char *const values[] = { getenv("VISUAL"), getenv("EDITOR") };

	for (size_t i = 0; i < nitems(values); i++)
		if (values[i] != NULL && values[i][0] != '\0')
			return values[i];
	return NULL;
}

/* Through the shell, as git does it: the variable may hold arguments. */
int
draft_editor(struct cli *cli, const char *file, const char *not_done)
{
	const char *chosen = chosen_editor();
	const char *editor = chosen != NULL ? chosen : "vi";
	cleanup_free char *script = xasprintf("%s \"$1\"", editor);
	const char *const argv[] = { "/bin/sh", "-c", script, "sh", file,
		NULL };
	struct err err = { 0 };
	int r = terminal_run(argv, &err);

	if (r < 0)
		return cli_fail_err(cli, "failed", &err);
	if (r > 0)
		return cli_fail(cli, "failed",
		    "the editor %s exited with status %d; %s", editor, r,
		    not_done);
	return CLI_OK;
}

static int
make_file(struct cli *cli, const char *kind, const char *initial,
    const char *below, struct draft *draft, struct err *err)
{
	cleanup_free char *dir = workspace_path(&cli->workspace, "drafts");
	cleanup_free char *name = xasprintf("%s-%ld.md", kind, (long)getpid());
	cleanup_buf struct buf text = BUF_INIT;
	int r = file_mkdirs(dir, 0700, err);

	if (r < 0)
		return r;
	draft->file = file_join(dir, name);
	if (initial != NULL)
		buf_adds(&text, initial);
	else
		buf_addf(&text, "\n%s\n%s", comment_file_end, draft_end_words);
	if (below != NULL)
		buf_adds(&text, below);
	return file_replace(draft->file, text.data, text.len, 0600, err);
}

/* Its file is there. keep: it holds what was typed before. */
static int
edit_file(struct cli *cli, struct draft *draft, bool keep)
{
	struct err err = { 0 };
	int status = draft_editor(cli, draft->file, "nothing was sent");
	struct buf *text;
	size_t len;
	const char *p;

	buf_clear(&draft->text);
	if (status == CLI_OK &&
	    file_read(draft->file, DRAFT_FILE_MAX, &draft->text, &err) < 0)
		status = cli_fail_err(cli, "io", &err);
	if (status == CLI_OK && draft_check(cli, draft, "the text") != CLI_OK)
		return CLI_FAILED; /* and the file is kept */
	/* Up to the line that ends the text, wherever the person left it. */
	text = &draft->text;
	len = strlen(comment_file_end);
	p = draft->with_diff ? NULL : text->data;
	while (p != NULL && strncmp(p, comment_file_end, len) != 0) {
		p = strchr(p, '\n');
		if (p != NULL)
			p++;
	}
	if (p != NULL)
		buf_truncate(text, (size_t)(p - text->data));
	if (status == CLI_OK && is_blank(draft->text.data))
		status = cli_fail(
		    cli, "empty", "the text is empty; nothing was sent");
	if (status == CLI_OK && !draft->with_diff &&
	    draft->text.len > PROMPT_MAX)
		return too_long(cli, "the text"); /* and the file is kept */
	if (status != CLI_OK && !keep) {
		unlink(draft->file);
		free(take_ptr(&draft->file));
	}
	return status;
}

static int
edit(struct cli *cli, const char *kind, const char *initial, const char *below,
    struct draft *draft)
{
	struct err err = { 0 };

	if (make_file(cli, kind, initial, below, draft, &err) < 0)
		return cli_fail_err(cli, "io", &err);
	return edit_file(cli, draft, false);
}

int
draft_fill(struct cli *cli, const char *typed, const char *kind,
    const char *below, struct draft *draft)
{
	if (typed == NULL && (!terminal_here() || cli->json))
		return cli_fail(cli, "no_terminal",
		    "there is no terminal for an editor; give the text on the "
		    "command line");
	if (typed == NULL)
		return edit(cli, kind, NULL, below, draft);
	if (strcmp(typed, "-") == 0)
		return draft_read(cli, "-", draft);
	if (is_blank(typed))
		return cli_fail(cli, "empty", "the text is empty");
	buf_adds(&draft->text, typed);
	return CLI_OK;
}

int
draft_edit(struct cli *cli, const char *text, const char *kind,
    const char *option, struct draft *draft)
{
	if (cli->json)
		return cli_fail(cli, "no_terminal",
		    "there is no editor with --json; give the text with %s "
		    "FILE",
		    option);
	if (!terminal_here() && chosen_editor() == NULL)
		return cli_fail(cli, "no_terminal",
		    "there is no terminal for an editor; set EDITOR to one "
		    "that needs none, or give the text with %s FILE",
		    option);
	return edit(cli, kind, text, NULL, draft);
}

int
draft_again(struct cli *cli, struct draft *draft)
{
	return edit_file(cli, draft, true);
}

int
draft_end(struct cli *cli, struct draft *draft, int status)
{
	if (draft->file != NULL && status == CLI_OK)
		unlink(draft->file);
	else if (draft->file != NULL)
		cli_warn(cli, "your text is saved in %s", draft->file);
	free(take_ptr(&draft->file));
	buf_release(&draft->text);
	return status;
}
