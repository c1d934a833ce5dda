/* SPDX-License-Identifier: ISC */

/* llmc doctor: what the work meets outside of llmc: its sandbox; the forge that
 * issues come from (auto.source) and pull requests go to (auto.land). */
#include "base.h"

#include <sys/socket.h>
#include <sys/syscall.h>

#include "box-net.h"
#include "box-plan.h"
#include "box-probe.h"
#include "box.h"
#include "child.h"
#include "cli-private.h"
#include "config.h"
#include "curl.h"
#include "forge-http.h"
#include "git-ask.h"
#include "git-clone.h"
#include "landing-record.h"
#include "loop.h"
#include "settings.h"

/* --- doctor-kernel ----------------------------------------------------- */

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif
#define LANDLOCK_VERSION 1u
#define ASK_DEADLINE_MS  10000

static void
check_bubblewrap(struct doctor *d)
{
	cleanup_free char *bwrap = box_find_bwrap();
	const char *const argv[] = { bwrap, "--version", NULL };
	struct child_spec spec = { .argv = argv,
		.deadline_ms = ASK_DEADLINE_MS };
	cleanup_child_result struct child_result result;
	cleanup_buf struct buf text = BUF_INIT;
	const struct box_fault *fault;

	child_result_init(&result);
	if (bwrap == NULL) {
		fault = box_fault_find("bwrap: not found");
		doctor_note(
		    d, VERDICT_FAIL, "bubblewrap", fault->cause, fault->fix);
		return;
	}
	if (child_run(&spec, &result, NULL) == 0)
		child_output_text(&result.out, &text);
	buf_truncate(&text, strcspn(text.data, "\n"));
	if (text.len == 0)
		buf_addf(&text, "%s, which tells no version", bwrap);
	doctor_note(d, VERDICT_OK, "bubblewrap", text.data, NULL);
}

/* A number of the kernel; otherwise if there is no such file. */
static long
kernel_number(const char *file, long otherwise)
{
	cleanup_buf struct buf text = BUF_INIT;

	/* Files of /proc have no size, but these are short. */
	if (file_read(file, 64, &text, NULL) < 0)
		return otherwise;
	return strtol(text.data, NULL, 10);
}

/* Without bwrap there is no sandbox to ask about. */
static bool
check_landlock(struct doctor *d)
{
	cleanup_free char *bwrap = box_find_bwrap();
	long abi = syscall(
	    SYS_landlock_create_ruleset, NULL, (size_t)0, LANDLOCK_VERSION);
	bool scoped = box_net_can_scope(bwrap != NULL ? bwrap : "");
	cleanup_free char *has =
	    abi > 0 ? xasprintf("ABI %ld", abi) : xstrdup("not in this kernel");
	cleanup_free char *detail = xasprintf("%s%s", has,
	    scoped ? "" :
		     "; sandbox worktree leaves abstract unix sockets of this "
		     "machine open (it takes ABI 6, Linux 6.12, and a bwrap "
		     "without the set-user-ID bit); strict closes them");

	doctor_note(d, VERDICT_OK, "landlock", detail, NULL);
	return scoped;
}

static void
check_peers(struct doctor *d)
{
	int pair[2], pidfd = -1;
	socklen_t len = sizeof pidfd;
	bool can;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == -1)
		return;
	can = getsockopt(pair[0], SOL_SOCKET, SO_PEERPIDFD, &pidfd, &len) == 0;
	fd_close(pair[0]);
	fd_close(pair[1]);
	if (can)
		fd_close(pidfd);
	doctor_note(d, VERDICT_OK, "peers",
	    can ? "SO_PEERPIDFD: a caller cannot be confused with another" :
		  "no SO_PEERPIDFD (Linux 6.5): callers are known by pid",
	    NULL);
}

static void
check_git(struct doctor *d)
{
	const char *const worktree[] = { "config", "--bool",
		"extensions.worktreeConfig", NULL };
	const char *const storage[] = { "config", "extensions.refStorage",
		NULL };
	cleanup_buf struct buf text = BUF_INIT;

	if (d->cli->workspace.root == NULL)
		return;
	git_ask(d->cli->workspace.root, worktree, &text, NULL);
	doctor_note(d, VERDICT_OK, "git config",
	    text_begins(text.data, "true") ?
		"extensions.worktreeConfig is on: a sandbox protects "
		"config.worktree" :
		"extensions.worktreeConfig is off",
	    NULL);
	buf_clear(&text);
	git_ask(d->cli->workspace.root, storage, &text, NULL);
	if (text_begins(text.data, "reftable"))
		doctor_note(d, VERDICT_WARN, "refs",
		    "this repository uses reftable, with which a sandbox has "
		    "not been tested",
		    "git refs migrate --ref-format=files");
	else
		doctor_note(d, VERDICT_OK, "refs", "branches are files", NULL);
}

/* True if a box with the host's network is closed to abstract unix sockets. */
static bool
doctor_kernel_check(struct doctor *d)
{
	bool scoped;
	const struct box_fault *fault = NULL;
	cleanup_free char *detail = NULL;

	check_bubblewrap(d);
	if (kernel_number("/proc/sys/user/max_user_namespaces", 1) == 0)
		fault = box_fault_find("Creating new namespace failed: "
				       "No space left on device");
	else if (geteuid() != 0 &&
	    kernel_number("/proc/sys/kernel/unprivileged_userns_clone", 1) == 0)
		fault = box_fault_find("No permissions to create new "
				       "namespace");
	if (fault != NULL)
		doctor_note(
		    d, VERDICT_FAIL, "namespaces", fault->cause, fault->fix);
	else
		doctor_note(d, VERDICT_OK, "namespaces",
		    kernel_number("/proc/sys/kernel/apparmor_restrict_"
				  "unprivileged_userns",
			0) == 1 ?
			"user namespaces are there, as far as AppArmor allows" :
			"user namespaces are there",
		    NULL);
	detail = xasprintf("uid %u", (unsigned)geteuid());
	if (geteuid() == 0)
		doctor_note(d, VERDICT_OK, "user",
		    "uid 0: a hole in the sandbox would be a hole in "
		    "everything; an ordinary user is safer",
		    NULL);
	else
		doctor_note(d, VERDICT_OK, "user", detail, NULL);
	scoped = check_landlock(d);
	check_peers(d);
	check_git(d);
	return scoped;
}

#define DEADLINE_MS 10000
#define WORKER      "adam"

struct trial {
	struct doctor *doctor;
	enum box_mode mode;
	char *agent; /* its program; NULL = the settings are not known */
	char *dir, *worktree; /* the scratch repository */
	struct box box;
};

/* The lists of the repository open its boxes further. */
static const char *const opened[] = { "defaults.sandbox_read",
	"defaults.sandbox_write", "defaults.env", "defaults.agent_command" };

/* Not below /tmp if possible: a box hides that anyway, and would look better
 * than it is. */
static char *
make_dir(struct err *err)
{
	const char *home = getenv("HOME"), *tmp = getenv("TMPDIR");
	cleanup_free char *cache =
	    file_join(home != NULL ? home : "/", ".cache");
	const char *const places[] = { cache, tmp != NULL ? tmp : "/tmp",
		"/tmp" };

	for (size_t i = 0; i < nitems(places); i++) {
		cleanup_free char *dir =
		    file_join(places[i], "llmc-doctor.XXXXXX");

		if (mkdtemp(dir) != NULL)
			return realpath(dir, NULL);
	}
	err_errno(err, -errno, "no temporary folder can be made");
	return NULL;
}

static const char make_script[] =
    "set -e\n"
    "git init -q --template= -b main\n"
    "git -c user.name=Doctor -c user.email=doctor@example.invalid "
    "-c commit.gpgSign=false commit -q --allow-empty -m Scratch\n"
    "mkdir -m 700 .llmc\n"
    "printf '%s' \"$CONFIG\" >.llmc/config.toml\n"
    "git clone -q --shared -b main . .worktrees/" WORKER "\n";

/* A repository with a worker's clone, and the box of that worker. */
static int
prepare_box(struct trial *t, const char *config, struct err *err)
{
	cleanup_free char *variable = xasprintf("CONFIG=%s", config);
	const char *const env[] = { variable, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", NULL };
	struct child_spec child = { .shell = make_script,
		.cwd = t->dir,
		.env = env,
		.merge_stderr = true,
		.deadline_ms = DEADLINE_MS };
	cleanup_child_result struct child_result result;
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_workspace struct workspace ws = { 0 };
	struct settings *settings = NULL;
	struct box_spec spec = { .kind = BOX_SESSION,
		.workspace = &ws,
		.worker = WORKER,
		.tree = t->worktree };
	int r = child_run(&child, &result, err);

	if (r == 0 && !child_succeeded(&result)) {
		child_output_text(&result.out, &text);
		r = err_set(err, -EIO,
		    "the scratch repository cannot be made: %s", text.data);
	}
	if (r == 0)
		r = workspace_at(t->dir, &ws, err);
	if (r == 0)
		r = config_load_strict(&ws, &settings, err);
	if (r < 0)
		return r;
	spec.settings = settings;
	r = box_prepare(&spec, &t->box, err);
	settings_free(settings);
	return r;
}

/* A program in the box, or outside (prefix NULL). Does it succeed? */
static bool
succeeds(const struct trial *t, char *const *prefix, const char *const *words,
    struct buf *text)
{
	cleanup_strv char **argv = NULL;
	struct child_spec spec = { .cwd = t->worktree,
		.merge_stderr = true,
		.deadline_ms = DEADLINE_MS };
	cleanup_child_result struct child_result result;
	struct err err = { 0 };

	strv_add_all(&argv, strv_const(prefix));
	strv_add_all(&argv, words);
	spec.argv = strv_const(argv);
	if (child_run(&spec, &result, &err) < 0) {
		buf_adds(text, err.msg);
		return false;
	}
	child_output_text(&result.out, text);
	return child_succeeded(&result);
}

static bool
box_works(struct trial *t)
{
	const char *const words[] = { "true", NULL };
	cleanup_buf struct buf text = BUF_INIT, detail = BUF_INIT;
	const struct box_fault *fault;
	int64_t began = clock_mono_ms();

	if (succeeds(t, t->box.prefix, words, &text)) {
		buf_addf(&detail, "a box of mode %s works; it takes %d ms",
		    box_mode_name(t->mode), (int)(clock_mono_ms() - began));
		doctor_note(t->doctor, VERDICT_OK, "box", detail.data, NULL);
		return true;
	}
	fault = box_fault_find(text.data);
	while (text.len > 0 && text.data[text.len - 1] == '\n')
		buf_truncate(&text, text.len - 1);
	buf_addf(&detail, "%s (%s)", fault->cause,
	    text.len > 0 ? text.data : "no message");
	doctor_note(t->doctor, VERDICT_FAIL, "box", detail.data, fault->fix);
	return false;
}

/* Prints the programs of PATH that are links to what is not there: at most some
 * of them. */
static const char unseen_script[] =
    "IFS=:; n=0; for d in $PATH; do for f in \"$d\"/*; do\n"
    "case $d in /usr/*|/bin|/sbin) continue 2;; esac\n"
    "[ $n -lt 20 ] || exit 0\n"
    "if [ -L \"$f\" ] && [ ! -e \"$f\" ]; then\n"
    "	n=$((n + 1)); printf '%s\\n' \"$f\"\n"
    "fi; done; done\n";

/* The first program of PATH that is there outside only. */
static void
check_links(struct trial *t)
{
	const char *const words[] = { "/bin/sh", "-c", unseen_script, NULL };
	cleanup_buf struct buf text = BUF_INIT;
	char *line, *rest;

	if (!succeeds(t, t->box.prefix, words, &text))
		return;
	rest = text.data;
	while ((line = strsep(&rest, "\n")) != NULL) {
		cleanup_free char *real = realpath(line, NULL);
		cleanup_free char *detail = NULL, *fix = NULL;

		if (real == NULL || access(real, X_OK) == -1)
			continue;
		*strrchr(real, '/') = '\0';
		detail = xasprintf(
		    "%s is in %s, which a sandbox does not see", line, real);
		fix = xasprintf("if workers need it: llmc config set "
				"defaults.sandbox_read '[\"%s\"]'",
		    real);
		doctor_note(t->doctor, VERDICT_WARN, "programs", detail, fix);
		return;
	}
}

/* Does the agent start in there, if it does outside? */
static void
check_agent(struct trial *t)
{
	const char *const words[] = { t->agent, "--version", NULL };
	cleanup_buf struct buf text = BUF_INIT, outside = BUF_INIT;
	cleanup_free char *detail = NULL;

	if (t->agent == NULL || !succeeds(t, NULL, words, &outside) ||
	    succeeds(t, t->box.prefix, words, &text))
		return;
	buf_truncate(&text, strcspn(text.data, "\n"));
	detail = xasprintf("%s does not start in a sandbox: %s", t->agent,
	    text.len > 0 ? text.data : "no message");
	doctor_note(t->doctor, VERDICT_FAIL, "agent", detail,
	    "add the folder of what it needs: llmc config set "
	    "defaults.sandbox_read '[\"FOLDER\"]'");
}

/* What the mode leaves open, which nothing here can try. */
static void
add_limits(struct trial *t, bool scoped)
{
	const struct workspace *ws = &t->doctor->cli->workspace;
	struct buf *text = &t->doctor->cli->text;

	if (t->mode != BOX_WORKTREE)
		return;
	buf_addf(text,
	    "\nMode worktree has the network of this machine, its loopback "
	    "too%s; strict has none.\n",
	    scoped ? "" : ", and its abstract unix sockets");
	if (ws->root != NULL && !git_clone_suits(ws->git_dir))
		buf_adds(text,
		    "In this repository (Git LFS, submodules, a partial clone "
		    "or a reftable) a worker of mode worktree can delete and "
		    "change git objects.\n");
}

static enum box_mode
choose_mode(const struct settings *settings, const char *mode)
{
	enum box_mode chosen =
	    settings != NULL ? box_mode_strictest(settings) : BOX_WORKTREE;

	if (mode != NULL)
		return strcmp(mode, "strict") == 0 ? BOX_STRICT : BOX_WORKTREE;
	return chosen == BOX_OFF ? BOX_WORKTREE : chosen;
}

int
doctor_box_run(struct doctor *d, const char *mode)
{
	struct settings *settings = NULL;
	struct trial t = { .doctor = d };
	cleanup_buf struct buf config = BUF_INIT;
	struct err err = { 0 };
	bool scoped = doctor_kernel_check(d);

	if (d->cli->workspace.root != NULL)
		config_load_strict(&d->cli->workspace, &settings, NULL);
	t.mode = choose_mode(settings, mode);
	buf_addf(
	    &config, "[defaults]\nsandbox = \"%s\"\n", box_mode_name(t.mode));
	for (size_t i = 0; settings != NULL && i < nitems(opened); i++) {
		struct json_object *value = NULL;
		unsigned line;

		if (!settings_value(settings, opened[i], &value, &line))
			continue;
		buf_addf(&config, "%s = %s\n", strchr(opened[i], '.') + 1,
		    json_object_to_json_string_ext(
			value, JSON_C_TO_STRING_NOSLASHESCAPE));
		json_object_put(value);
	}
	if (settings != NULL)
		t.agent = xstrdup(
		    settings_string(settings, "defaults.agent_command"));
	settings_free(settings);
	t.dir = make_dir(&err);
	if (t.dir == NULL) {
		free(t.agent);
		return cli_fail_err(d->cli, "failed", &err);
	}
	t.worktree = file_join(t.dir, ".worktrees/" WORKER);
	if (prepare_box(&t, config.data, &err) < 0) {
		doctor_note(d, VERDICT_FAIL, "box", err.msg,
		    box_fault_find(err.msg)->fix);
	} else if (box_works(&t)) {
		cleanup_free char *secret =
		    file_join(t.dir, ".llmc/config.toml");
		const char *const words[] = { "cat", secret, NULL };
		cleanup_buf struct buf text = BUF_INIT;

		/* A secret of the user must not be seen in there: the one thing
		 * that every box is for. */
		if (succeeds(&t, t.box.prefix, words, &text))
			doctor_note(t.doctor, VERDICT_FAIL, "files",
			    "a box shows files of llmc and of your checkout",
			    "look at sandbox_read and sandbox_write: llmc config list; "
			    "otherwise report this as a bug");
		else
			doctor_note(t.doctor, VERDICT_OK, "files",
			    "a box hides the files of llmc and of your checkout",
			    NULL);
		check_links(&t);
		check_agent(&t);
		add_limits(&t, scoped);
	}
	remove_tree(t.dir);
	box_release(&t.box);
	free(t.agent);
	free(t.dir);
	free(t.worktree);
	return CLI_OK;
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
	cleanup_free char *detail = NULL, *words = NULL;
	enum verdict verdict;
	struct forge_place place = { 0 };
	struct err err = { 0 };
	bool takes, pulls;

	if (d->settings == NULL || !d->have_git)
		return;
	takes =
	    strcmp(settings_string(d->settings, "auto.source"), "local") != 0;
	pulls = lands_by_pull(d->settings);
	if (!takes && !pulls)
		return;
	forge_find(&d->cli->workspace, d->settings, &place, &err);
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
