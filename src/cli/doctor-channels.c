/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <string.h>

#include "buf.h"
#include "channel.h"
#include "child.h"
#include "cli.h"
#include "doctor-channels.h"
#include "doctor.h"
#include "errtext.h"
#include "http-call.h"
#include "mem.h"
#include "people.h"
#include "settings.h"

static bool
uses_http(const struct channel *channel)
{
	return channel->type == CHANNEL_WEBHOOK ||
	    channel->type == CHANNEL_GITEA || channel->type == CHANNEL_GITHUB;
}

static bool
can_run(const char *program)
{
	const char *argv[] = { program, "--version", NULL };
	struct child_spec spec = { .argv = argv };
	cleanup_child_result struct child_result result;

	child_result_init(&result);
	return child_run(&spec, &result, NULL) == 0 && child_succeeded(&result);
}

/* NULL = the token is in order. */
static char *
token_trouble(const struct channel *channel, const char *root, char **ret_fix)
{
	cleanup_free char *path = http_token_path(channel, root);
	cleanup_buf struct buf token = BUF_INIT;
	struct err err = { 0 };
	int r = http_token(channel, root, &token, &err);

	explicit_bzero(token.data, token.len);
	if (r == -EPERM) {
		*ret_fix = xasprintf("run: chmod 600 '%s'", path);
		return xasprintf("others can read or change %s, so it is not "
				 "used",
		    path);
	}
	if (r < 0) {
		*ret_fix = xstrdup("put the token there, alone on a line");
		return xstrdup(err.msg);
	}
	if (path == NULL && channel->token_env[0] != '\0') {
		*ret_fix = xstrdup("put the token into a file, and set "
				   "token_file instead");
		return xasprintf(
		    "the sessions of workers inherit %s", channel->token_env);
	}
	if ((path != NULL || channel->token_env[0] != '\0') &&
	    !channel_is_private(channel)) {
		*ret_fix = xstrdup("use a URL that begins with https://");
		return xstrdup("sends its token so that everybody on the way "
			       "can read it");
	}
	return NULL;
}

static void
check_one(struct doctor *d, const struct channel *channel, bool have_curl)
{
	const char *root = d->cli->workspace.root;
	cleanup_free char *name = xasprintf("channel %s", channel->name);
	cleanup_free char *fix = NULL, *trouble = NULL;

	if (!channel->enabled) {
		doctor_note(d, VERDICT_OK, name, "not enabled", NULL);
		return;
	}
	if (uses_http(channel) && !have_curl) {
		doctor_note(d, VERDICT_WARN, name,
		    "needs curl, which cannot be run",
		    "install curl with your package manager");
		return;
	}
	if (channel->type == CHANNEL_DESKTOP && !can_run("notify-send")) {
		doctor_note(d, VERDICT_WARN, name,
		    "needs notify-send, which cannot be run",
		    "install it (libnotify-bin, libnotify)");
		return;
	}
	trouble = token_trouble(channel, root, &fix);
	doctor_note(d, trouble == NULL ? VERDICT_OK : VERDICT_WARN, name,
	    trouble != NULL ? trouble : channel_type_words[channel->type], fix);
}

void
doctor_channels_check(struct doctor *d)
{
	const struct channel_list *list;
	bool have_curl = false;

	if (d->settings == NULL)
		return;
	list = settings_channels(d->settings);
	for (size_t i = 0; i < list->count; i++)
		have_curl |= uses_http(&list->rows[i]);
	have_curl = have_curl && can_run("curl");
	for (size_t i = 0; i < list->count; i++)
		check_one(d, &list->rows[i], have_curl);
	if (!people_reaches(d->settings))
		doctor_note(d, VERDICT_WARN, "channels",
		    "no channel is set: you will find asks in llmc status",
		    "describe one: llmc config doc people.notify_command");
}
