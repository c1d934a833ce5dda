/* SPDX-License-Identifier: ISC */

/* llmc doctor: where issues come from (auto.source). Nobody is asked. */
#include "base.h"
#include "child.h"
#include "cli-private.h"
#include "curl.h"
#include "forge.h"
#include "git-ask.h"
#include "settings.h"
#include "word.h"

/* Does `gh` have a token? It is not shown. */
static int
ask_gh(const struct forge_place *place, struct err *err)
{
	cleanup_free char *host = forge_place_host(place);
	const char *const argv[] = { "gh", "auth", "token", "--hostname", host,
		NULL };
	struct child_spec spec = { .argv = argv, .deadline_ms = 10 * 1000 };
	cleanup_child_result struct child_result result;

	if (child_run(&spec, &result, NULL) == 0 && child_succeeded(&result))
		return 0;
	return err_set(err, -ENOENT,
	    "forge.token_file is not set, and `gh auth token` has no token "
	    "for %s",
	    host);
}

static int
find_token(
    const struct doctor *d, const struct forge_place *place, struct err *err)
{
	const char *set = settings_string(d->settings, "forge.token_file");
	cleanup_free char *file =
	    set[0] != '\0' ? workspace_resolve(&d->cli->workspace, set) : NULL;
	struct buf token = BUF_INIT;
	int r;

	if (file == NULL && place->dialect == FORGE_GITHUB)
		return ask_gh(place, err);
	if (file == NULL)
		return err_set(err, -EINVAL, "forge.token_file is not set");
	r = curl_token(file, &token, err);
	explicit_bzero(token.data, token.len);
	buf_release(&token);
	return r;
}

void
doctor_forge_check(struct doctor *d)
{
	static const char *const args[] = { "remote", "get-url", "origin",
		NULL };
	cleanup_buf struct buf origin = BUF_INIT;
	cleanup_free char *detail = NULL;
	struct forge_place place = { 0 };
	unsigned dialect = FORGE_NONE;
	struct err err = { 0 };

	if (d->settings == NULL || !d->have_git ||
	    !word_find(forge_dialect_words,
		settings_string(d->settings, "auto.source"), &dialect) ||
	    dialect == FORGE_NONE)
		return;
	if (git_ask(d->cli->workspace.root, args, &origin, NULL) != 0)
		err_set(&err, -ENOENT,
		    "issues are claimed at the remote origin, which this "
		    "repository does not have");
	else if (forge_place_init(&place, (enum forge_dialect)dialect,
		     settings_string(d->settings, "forge.url"),
		     settings_string(d->settings, "forge.repo"), origin.data,
		     &err) == 0)
		find_token(d, &place, &err);
	if (err.code < 0) {
		doctor_note(d, VERDICT_FAIL, "forge", err.msg,
		    "see FORGES in llmc.conf(5), or: llmc config set "
		    "auto.source local");
	} else {
		detail = xasprintf("issues of %s, by %s; there is a token",
		    place.repo, place.api);
		doctor_note(d, VERDICT_OK, "forge", detail, NULL);
	}
	forge_place_release(&place);
}
