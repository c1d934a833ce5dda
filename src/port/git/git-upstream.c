/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <poll.h>

#include "git-private.h"
#include "git-upstream.h"

#define BRING_TRIES    10 /* while another git is in the way */
#define BRING_AGAIN_MS 100 /* between two of them */
#define ASK_MS         (INT64_C(2) * 60 * 1000) /* for an answer */
#define TRANSFER_MS    (INT64_C(10) * 60 * 1000) /* for commits to be sent */
#define CONFIG_MAX     ((size_t)256 * 1024)
#define WORDS_MAX      300

#define WORDS_LETTER 'w'

/* --- nothing asks --------------------------------------------------------- */

/* Does the file say which ssh git uses, or lead to another one that may? */
static bool
config_may_name_ssh(const char *dir, const char *name)
{
	cleanup_free char *path = file_join(dir, name);
	cleanup_buf struct buf text = BUF_INIT;

	if (file_read(path, CONFIG_MAX, &text, NULL) < 0)
		return file_exists(path);
	return strcasestr(text.data, "sshcommand") != NULL ||
	    strcasestr(text.data, "include") != NULL;
}

/* Settings of ssh that the user has made for git stay. There, too, nothing can
 * ask: git has no terminal, and no askpass. */
static bool
is_plain_ssh(const struct git_op *op)
{
	const char *home = getenv("HOME"), *xdg = getenv("XDG_CONFIG_HOME");

	return getenv("GIT_SSH_COMMAND") == NULL && getenv("GIT_SSH") == NULL &&
	    !config_may_name_ssh(op->common, "config") &&
	    !config_may_name_ssh("/etc", "gitconfig") &&
	    (home == NULL ||
		(!config_may_name_ssh(home, ".gitconfig") &&
		    !config_may_name_ssh(home, ".config/git/config"))) &&
	    (xdg == NULL || !config_may_name_ssh(xdg, "git/config"));
}

static void
say_nothing_asks(struct git_op *op)
{
	/* Empty, not unset: core.askPass would be used. */
	git_op_env(op, "GIT_ASKPASS=");
	git_op_env(op, "SSH_ASKPASS=");
	git_op_env(op, "SSH_ASKPASS_REQUIRE=never");
	git_op_env(op, "GCM_INTERACTIVE=never");
	if (is_plain_ssh(op))
		git_op_env(op, "GIT_SSH_COMMAND=ssh -oBatchMode=yes");
	op->once = op->tolerant = true;
}

/* The end of the name and the password in "//name:password@host/"; NULL = there
 * are none. */
static const char *
after_userinfo(const char *slashes)
{
	size_t len = strcspn(slashes + 2, "@/'\" \t\r\n");

	return slashes[2 + len] == '@' ? slashes + 2 + len : NULL;
}

/* What git said, on one line. A URL may have a token for a name, which git
 * repeats: "could not read Password for 'https://TOKEN@host'". */
static char *
complaint_words(struct git_op *op, const char *before)
{
	const struct git_answer *answer = &op->answer;
	const char *said =
	    answer->err != NULL ? answer->err->msg : answer->complaint;
	cleanup_buf struct buf words = BUF_INIT;

	buf_adds(&words, before);
	if (before[0] != '\0' && said[0] != '\0')
		buf_adds(&words, ": ");
	for (const char *p = said, *end; *p != '\0'; p++)
		if (text_begins(p, "//") && (end = after_userinfo(p)) != NULL) {
			buf_adds(&words, "//...@");
			p = end;
		} else if (*p != '\n' && *p != '\r' && *p != '\t')
			buf_addc(&words, *p);
		else if (words.len > 0 && words.data[words.len - 1] != ' ')
			buf_addc(&words, ' ');
	if (words.len == 0)
		buf_addf(&words, "git %s ended with status %d", op->verb,
		    answer->status);
	buf_truncate(&words, text_cut(words.data, words.len, WORDS_MAX));
	return git_op_text(op, "%s", words.data);
}

/* --- where the remote is -------------------------------------------------- */

struct git_fetch {
	struct git_op op;
	char *remote, *ref, *keep, *branch, *known_remote, *known_branch;
	enum git_upstream_stand known_stand;
	int64_t deadline_ms;
	struct git_fetched fetched;
	git_fetch_fn *fn;
};

/* False: no answer. "" = the remote has no such ref. */
static bool
ask_remote(struct git_op *op, const char *remote, const char *ref,
    int64_t deadline_ms, char *ret_id)
{
	const char *line;

	say_nothing_asks(op);
	op->deadline_ms = deadline_ms > 0 ? deadline_ms : ASK_MS;
	ret_id[0] = '\0';
	if (git_op_try(op, "ls-remote", "--", remote, ref, NULL) != 0)
		return false;
	/* The name is a pattern: "x/refs/heads/main" has it at its end, too. */
	for (line = op->answer.out; *line != '\0';) {
		size_t len = strcspn(line, "\n"), id = strcspn(line, "\t");

		if (id < len && id < GIT_ID_SIZE &&
		    len - id - 1 == strlen(ref) &&
		    text_begins(line + id + 1, ref)) {
			memcpy(ret_id, line, id);
			ret_id[id] = '\0';
		}
		line += len;
		if (*line == '\n')
			line++;
	}
	return true;
}

/* Another git does at the same time what this one does; the next time it is
 * done. "worktree add" begins with a HEAD that names no commit, and a fetch
 * looks at the HEAD of each worktree; and another fetch, the user's or one of
 * ours, has moved the remote-tracking branch since this one began. */
static bool
is_passing(const char *complaint)
{
	return strstr(complaint, "bad object worktrees/") != NULL ||
	    strstr(complaint, "cannot lock ref") != NULL;
}

/* Its commit becomes `keep`. The user's own remote-tracking branch follows, as
 * with every fetch; but nothing else, whatever remote.*.fetch says: a mirror
 * has the branches themselves there. */
static bool
bring(struct git_op *op, const char *remote, const char *ref, const char *keep,
    int64_t deadline_ms)
{
	const char *map = strpbrk(remote, "/:.*") == NULL ?
	    git_op_text(
		op, "--refmap=+refs/heads/*:refs/remotes/%s/*", remote) :
	    "--refmap=";

	for (int tries = 0; tries < BRING_TRIES; tries++) {
		say_nothing_asks(op);
		op->deadline_ms = deadline_ms > 0 ? deadline_ms : TRANSFER_MS;
		if (git_op_try(op, "fetch", "--quiet", "--no-tags",
			"--no-prune", "--no-recurse-submodules",
			"--no-write-fetch-head", map, "--", remote,
			git_op_text(op, "+%s:%s", ref, keep), NULL) == 0)
			return true;
		if (!is_passing(op->answer.complaint))
			break;
		poll(NULL, 0, BRING_AGAIN_MS);
	}
	return false;
}

static void __attribute__((noreturn))
fetch_end(struct git_fetch *fetch, enum push_answer result)
{
	struct git_op *op = &fetch->op;

	fetch->fetched.result = result;
	if (result != PUSH_OK)
		git_op_tell(op, WORDS_LETTER, complaint_words(op, ""));
	git_op_die_of(op);
}

static void
compare(struct git_fetch *fetch)
{
	struct git_op *op = &fetch->op;
	struct git_fetched *f = &fetch->fetched;
	cleanup_free char *ref = xasprintf("refs/heads/%s", fetch->branch);

	if (git_refs_read(op->common, ref, f->branch) < 0) {
		git_op_must(op, "rev-parse", "--verify",
		    git_op_text(op, "%s^{commit}", ref), NULL);
		strlcpy(f->branch, op->answer.out, sizeof f->branch);
	}
	if (f->remote[0] == '\0')
		f->stand = GIT_STAND_NONE;
	else if (strcmp(f->remote, f->branch) == 0)
		f->stand = GIT_STAND_SAME;
	else if (fetch->known_remote != NULL && fetch->known_branch != NULL &&
	    strcmp(f->remote, fetch->known_remote) == 0 &&
	    strcmp(f->branch, fetch->known_branch) == 0)
		f->stand = fetch->known_stand;
	else
		f->stand = GIT_STAND_COUNT;
}

static void
fetch_run(struct git_op *op)
{
	struct git_fetch *fetch = op->self;
	struct git_fetched *f = &fetch->fetched;
	char kept[GIT_ID_SIZE] = "";

	git_op_need_gitdir(op);
	if (!ask_remote(
		op, fetch->remote, fetch->ref, fetch->deadline_ms, f->remote))
		fetch_end(fetch, PUSH_AWAY);
	if (fetch->branch != NULL) {
		compare(fetch);
		if (f->stand != GIT_STAND_COUNT)
			fetch_end(fetch, PUSH_OK);
	}
	if (f->remote[0] == '\0' || fetch->keep == NULL)
		fetch_end(fetch, PUSH_OK);
	if (git_refs_read(op->common, fetch->keep, kept) < 0 ||
	    strcmp(kept, f->remote) != 0) {
		if (!bring(op, fetch->remote, fetch->ref, fetch->keep,
			fetch->deadline_ms))
			fetch_end(fetch, PUSH_AWAY);
		/* It may have moved on since it was asked. */
		git_op_must(op, "rev-parse", "--verify",
		    git_op_text(op, "%s^{commit}", fetch->keep), NULL);
		strlcpy(f->remote, op->answer.out, sizeof f->remote);
	}
	if (fetch->branch == NULL)
		fetch_end(fetch, PUSH_OK);
	if (strcmp(f->branch, f->remote) == 0)
		f->stand = GIT_STAND_SAME;
	else if (git_op_is_ancestor(op, f->branch, f->remote))
		f->stand = GIT_STAND_BEHIND;
	else if (git_op_is_ancestor(op, f->remote, f->branch))
		f->stand = GIT_STAND_AHEAD;
	else
		f->stand = GIT_STAND_DIVERGED;
	fetch_end(fetch, PUSH_OK);
}

static void
fetch_finish(struct git_op *op, const struct err *err)
{
	struct git_fetch *fetch = op->self;
	cleanup_git_list struct git_list words = { 0 };

	git_op_told(op, WORDS_LETTER, &words);
	if (err != NULL)
		fetch->fetched.result = PUSH_AWAY;
	fetch->fn(&fetch->fetched,
	    err != NULL         ? err->msg :
		words.count > 0 ? words.v[0] :
				  "",
	    op->arg);
}

void
git_upstream_fetch(struct git *git, const struct git_fetch_spec *spec,
    git_fetch_fn *fn, void *arg)
{
	struct git_fetch *fetch = git_op_new(
	    sizeof *fetch, git, git_root(git), NULL, fetch_run, fetch_finish);
	struct git_op *op = &fetch->op;

	fetch->remote = git_op_copy(op, spec->remote);
	fetch->ref = git_op_copy(op, spec->ref);
	fetch->keep = git_op_copy(op, spec->keep);
	fetch->branch = git_op_copy(op, spec->branch);
	fetch->known_remote = git_op_copy(op, spec->known_remote);
	fetch->known_branch = git_op_copy(op, spec->known_branch);
	fetch->known_stand = spec->known_stand;
	fetch->deadline_ms = spec->deadline_ms;
	fetch->fn = fn;
	op->arg = arg;
	op->ret = &fetch->fetched;
	op->ret_size = sizeof fetch->fetched;
	git_op_begin(op, false);
}

/* --- what it has -------------------------------------------------- */

static void
list_run(struct git_op *op)
{
	const struct git_op_list *list = op->self;
	const char *line;

	git_op_need_gitdir(op);
	say_nothing_asks(op);
	op->deadline_ms = ASK_MS;
	if (git_op_try(op, "ls-remote", "--refs", "--", "origin", list->name,
		NULL) != 0)
		git_op_die_as(op);
	for (line = op->answer.out; *line != '\0'; line += *line == '\n') {
		size_t id = strcspn(line, "\t\n");
		size_t ref =
		    line[id] == '\t' ? strcspn(line + id + 1, "\n") : 0;

		if (ref > 0)
			git_op_tell(op, GIT_OP_LIST,
			    git_op_text(op, "%.*s %.*s", (int)ref,
				line + id + 1, (int)id, line));
		line += id + (ref > 0 ? ref + 1 : 0);
	}
	git_op_die_of(op);
}

void
git_upstream_list(
    struct git *git, const char *pattern, git_list_fn *fn, void *arg)
{
	git_op_list(git, git_root(git), NULL, pattern, list_run, fn, arg);
}

/* --- what it is given ----------------------------------------------------- */

struct git_push {
	struct git_op op;
	char *remote, *commit, *ref, *expected;
	bool forward;
	int64_t deadline_ms;
	enum push_answer result;
	git_push_fn *fn;
};

static void __attribute__((noreturn))
push_end(struct git_push *push, enum push_answer result, const char *words)
{
	push->result = result;
	git_op_tell(&push->op, WORDS_LETTER, words);
	git_op_die_of(&push->op);
}

/* The line of `git push --porcelain` about a ref that was not updated:
 * "!\tFROM:TO\t[rejected] (why)". NULL = there is none. */
static char *
line_of_refusal(struct git_op *op)
{
	const char *line = op->answer.out;

	while (line != NULL && strncmp(line, "!\t", 2) != 0) {
		line = strchr(line, '\n');
		if (line != NULL)
			line++;
	}
	if (line == NULL || (line = strchr(line + 2, '\t')) == NULL)
		return NULL;
	line++;
	return git_op_text(op, "%.*s", (int)strcspn(line, "\n"), line);
}

/* Somebody else was faster, also in the moment between the question and the
 * update. */
static bool
is_about_a_move(const char *refusal)
{
	static const char *const words[] = { "[rejected]", "cannot lock ref",
		"failed to update ref", "failed to lock",
		"incorrect old value" };

	for (size_t i = 0; i < nitems(words); i++)
		if (strstr(refusal, words[i]) != NULL)
			return true;
	return false;
}

/* Is it there, although the remote does not want it (again)? It is, if an
 * earlier answer was lost. */
static bool
has_it(struct git_push *push)
{
	struct git_op *op = &push->op;
	const char *keep;
	char id[GIT_ID_SIZE];

	if (!ask_remote(op, push->remote, push->ref, push->deadline_ms, id))
		return false;
	if (push->commit == NULL || id[0] == '\0')
		return push->commit == NULL && id[0] == '\0';
	if (strcmp(id, push->commit) == 0)
		return true;
	if (!push->forward || !text_begins(push->ref, "refs/heads/"))
		return false;
	keep = git_op_text(op, "refs/llmc/upstream/%s", push->ref + 11);
	return bring(op, push->remote, push->ref, keep, push->deadline_ms) &&
	    git_op_try(op, "merge-base", "--is-ancestor", push->commit, keep,
		NULL) == 0;
}

/* Has it ended before anything was sent? What cannot be told may have been. */
static bool
is_unsent(const struct git_op *op)
{
	static const char *const words[] = {
		"Could not read from remote repository",
		"upon initial contact",
		"unable to access",
		"does not appear to be a git repository",
		"could not read Username",
		"could not read Password",
		"Authentication failed",
	};

	for (size_t i = 0; op->answer.err == NULL && i < nitems(words); i++)
		if (strstr(op->answer.complaint, words[i]) != NULL)
			return true;
	return false;
}

static void
push_run(struct git_op *op)
{
	struct git_push *push = op->self;
	const char *refusal, *words;
	int status;

	git_op_need_gitdir(op);
	if (push->forward && push->expected[0] != '\0' &&
	    git_op_try(op, "merge-base", "--is-ancestor", push->expected,
		push->commit, NULL) != 0) {
		words = git_op_text(op,
		    "%.12s is not on top of %.12s, which the remote has",
		    push->commit, push->expected);
		push_end(push, has_it(push) ? PUSH_OK : PUSH_REJECTED, words);
	}
	say_nothing_asks(op);
	op->deadline_ms =
	    push->deadline_ms > 0 ? push->deadline_ms : TRANSFER_MS;
	status = git_op_try(op, "push", "--porcelain", "--no-follow-tags",
	    "--recurse-submodules=no",
	    git_op_text(
		op, "--force-with-lease=%s:%s", push->ref, push->expected),
	    "--", push->remote,
	    git_op_text(op, "%s:%s", push->commit != NULL ? push->commit : "",
		push->ref),
	    NULL);
	if (status == 0)
		push_end(push, PUSH_OK, "");
	refusal = line_of_refusal(op);
	words = complaint_words(op, refusal != NULL ? refusal : "");
	/* 1 without such a line: the user's own pre-push hook, or a
	 * connection that broke. */
	if (refusal != NULL ? strstr(refusal, "[remote failure]") != NULL :
			      status != 1 ||
		    strstr(op->answer.complaint, "disconnect") != NULL ||
		    strstr(op->answer.complaint, "hung up") != NULL) {
		if (!push->forward || is_unsent(op))
			push_end(push, PUSH_AWAY, words);
		push_end(push, has_it(push) ? PUSH_OK : PUSH_UNKNOWN, words);
	}
	if (refusal == NULL || !is_about_a_move(refusal))
		push_end(push, PUSH_REFUSED, words);
	push_end(push, has_it(push) ? PUSH_OK : PUSH_REJECTED, words);
}

static void
push_finish(struct git_op *op, const struct err *err)
{
	const struct git_push *push = op->self;
	cleanup_git_list struct git_list words = { 0 };

	git_op_told(op, WORDS_LETTER, &words);
	if (err != NULL)
		push->fn(push->forward ? PUSH_UNKNOWN : PUSH_AWAY, err->msg,
		    op->arg);
	else
		push->fn(push->result,
		    push->result != PUSH_OK && words.count > 0 ? words.v[0] :
								 "",
		    op->arg);
}

void
git_upstream_push(struct git *git, const struct git_push_spec *spec,
    git_push_fn *fn, void *arg)
{
	struct git_push *push = git_op_new(
	    sizeof *push, git, git_root(git), NULL, push_run, push_finish);
	struct git_op *op = &push->op;

	push->remote = git_op_copy(op, spec->remote);
	push->commit = git_op_copy(op, spec->commit);
	push->ref = git_op_copy(op, spec->ref);
	push->expected = git_op_copy(op, spec->expected);
	push->forward = spec->forward && spec->commit != NULL;
	push->deadline_ms = spec->deadline_ms;
	push->fn = fn;
	op->arg = arg;
	op->ret = &push->result;
	op->ret_size = sizeof push->result;
	git_op_begin(op, false);
}
