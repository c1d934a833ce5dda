/* SPDX-License-Identifier: ISC */

/* llmc doctor: where issues come from (auto.source), and pull requests go
 * (auto.land); what the forge says to the token, within 5 seconds. */
#include "base.h"
#include "child.h"
#include "cli-private.h"
#include "curl.h"
#include "forge-http.h"
#include "git-ask.h"
#include "landing-record.h"
#include "loop.h"
#include "settings.h"

static int
find_token(
    const struct doctor *d, const struct forge_place *place, struct err *err)
{
	const char *set = settings_string(d->settings, "forge.token_file");
	cleanup_free char *file =
	    set[0] != '\0' ? workspace_resolve(&d->cli->workspace, set) : NULL;
	struct buf token = BUF_INIT;
	int r;

	if (file == NULL && place->dialect == FORGE_GITHUB) {
		cleanup_free char *host = forge_place_host(place);
		const char *const argv[] = { "gh", "auth", "token",
			"--hostname", host, NULL };
		struct child_spec spec = { .argv = argv,
			.deadline_ms = 10 * 1000 };
		cleanup_child_result struct child_result result;

		/* Does `gh` have a token? It is not shown. */
		if (child_run(&spec, &result, NULL) == 0 &&
		    child_succeeded(&result))
			return 0;
		return err_set(err, -ENOENT,
		    "forge.token_file is not set, and `gh auth token` has no token "
		    "for %s",
		    host);
	}
	if (file == NULL)
		return err_set(err, -EINVAL, "forge.token_file is not set");
	r = curl_token(file, &token, err);
	explicit_bzero(token.data, token.len);
	buf_release(&token);
	return r;
}

/* --- what the forge says ------------------------------------------------ */

#define ASK_MS 5000

struct question {
	struct loop *loop;
	struct forge_http *http;
	bool takes, pulls;
	char *login; /* whose token it is; NULL = not known yet */
	enum verdict verdict; /* as long as nothing else is said: not reached */
	char *words;
};

static void
on_late(void *arg)
{
	struct question *q = arg;

	loop_stop(q->loop, 0);
}

static void
on_answer(const struct forge_answer *answer, void *arg)
{
	struct question *q = arg;
	cleanup_buf struct buf lacks = BUF_INIT;

	if (answer->verdict == FORGE_GOOD && q->login == NULL) {
		xstrset(&q->login, forge_login(answer->json));
		if (q->login == NULL)
			q->login = xstrdup("somebody");
		forge_http_send(q->http,
		    &(struct forge_request){ .what = FORGE_ASK_REPO }, NULL,
		    on_answer, q);
		return;
	}
	free(q->words);
	if (answer->verdict == FORGE_GOOD) {
		forge_repo_lacks(answer->json, q->takes, q->pulls, &lacks);
		q->verdict = lacks.len > 0 ? VERDICT_FAIL : VERDICT_OK;
		q->words = lacks.len > 0 ?
		    buf_take(&lacks) :
		    xasprintf("the token is that of %s%s", q->login,
			json_object_object_get_ex(
			    answer->json, "permissions", NULL) ?
			    ", who may write" :
			    "");
	} else if (answer->verdict == FORGE_GONE) {
		q->verdict = VERDICT_FAIL;
		q->words = xstrdup("there is no such repository, or the token "
				   "may not read it");
	} else if (answer->verdict == FORGE_REFUSED) {
		q->verdict = VERDICT_FAIL;
		q->words = xasprintf("it refuses the token: %s", answer->words);
	} else {
		q->words = xasprintf("not reached: %s", answer->words);
	}
	loop_stop(q->loop, 0);
}

/* The token goes to github.com, or to the server that a person has set: whoever
 * can write to .git/config, as agents can, does not choose where. The caller
 * frees the words. */
static enum verdict
ask(const struct doctor *d, const struct forge_place *place, bool takes,
    bool pulls, char **ret_words)
{
	const char *set = settings_string(d->settings, "forge.token_file");
	cleanup_free char *host = forge_place_host(place);
	cleanup_free char *file =
	    set[0] != '\0' ? workspace_resolve(&d->cli->workspace, set) : NULL;
	cleanup_free char *body =
	    workspace_path(&d->cli->workspace, "doctor.body");
	struct question q = {
		.takes = takes, .pulls = pulls, .verdict = VERDICT_WARN
	};
	struct loop_timer *timer;

	if (settings_string(d->settings, "forge.url")[0] == '\0' &&
	    strcmp(host, "github.com") != 0) {
		*ret_words = xstrdup("there is a token; it was not asked, "
				     "since forge.url is not set");
		return VERDICT_OK;
	}
	q.words = xstrdup("not reached: no answer in 5 seconds");
	q.loop = loop_new();
	q.http = forge_http_new(q.loop, place, file, body);
	timer = loop_after(q.loop, ASK_MS, on_late, &q);
	forge_http_send(q.http,
	    &(struct forge_request){ .what = FORGE_ASK_USER }, NULL, on_answer,
	    &q);
	loop_run(q.loop);
	loop_timer_free(timer);
	forge_http_free(q.http);
	loop_free(q.loop);
	free(q.login);
	*ret_words = q.words;
	return q.verdict;
}

void
doctor_forge_check(struct doctor *d)
{
	static const char *const args[] = { "remote", "get-url", "origin",
		NULL };
	cleanup_buf struct buf origin = BUF_INIT;
	cleanup_free char *detail = NULL, *words = NULL;
	enum verdict verdict;
	struct forge_place place = { 0 };
	enum forge_dialect dialect = FORGE_NONE;
	struct err err = { 0 };
	bool takes, pulls;

	if (d->settings == NULL || !d->have_git)
		return;
	takes =
	    strcmp(settings_string(d->settings, "auto.source"), "local") != 0;
	pulls = lands_by_pull(d->settings);
	if (!takes && !pulls)
		return;
	if (git_ask(d->cli->workspace.root, args, &origin, NULL) != 0)
		err_set(&err, -ENOENT,
		    "issues are claimed, and pull requests made, at the remote "
		    "origin, which this repository does not have");
	else
		dialect = forge_dialect_of(
		    settings_string(d->settings, "auto.source"),
		    settings_string(d->settings, "forge.kind"), origin.data);
	if (err.code == 0 && dialect == FORGE_NONE)
		err_set(&err, -EINVAL,
		    "auto.land is pull-request, and it is not known what "
		    "origin is: set forge.kind to github or gitea");
	else if (err.code == 0 &&
	    forge_place_init(&place, dialect,
		settings_string(d->settings, "forge.url"),
		settings_string(d->settings, "forge.repo"), origin.data,
		&err) == 0)
		find_token(d, &place, &err);
	if (err.code < 0) {
		doctor_note(d, VERDICT_FAIL, "forge", err.msg,
		    takes ? "see FORGES in llmc.conf(5), or: llmc config set "
			    "auto.source local" :
			    "see FORGES in llmc.conf(5), or: llmc config set "
			    "auto.land branch");
	} else {
		verdict = ask(d, &place, takes, pulls, &words);
		detail = xasprintf("%s of %s, by %s; %s",
		    takes && pulls ? "issues and pull requests" :
			takes      ? "issues" :
				     "pull requests",
		    place.repo, place.api, words);
		doctor_note(d, verdict, "forge", detail,
		    verdict == VERDICT_FAIL ?
			"give the token what FORGES in llmc.conf(5) lists" :
			NULL);
	}
	forge_place_release(&place);
}
