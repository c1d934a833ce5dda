/* SPDX-License-Identifier: ISC */

/* The strict box has no network but through the proxy; with the real
 * bubblewrap, git and llmc. */
#include "proxy-world.h"
#include "agent-kind.h"
#include "box-net.h"
#include "box.h"
#include "repo.h"
#include "settings.h"
#include "workspace.h"

struct world {
	struct repo *repo;
	struct workspace workspace;
	struct settings *settings;
	struct box_spec spec;
	struct buf out; /* of the last script */
	char *tree;
	unsigned port; /* of a server on this machine */
	pid_t server;
};

static void
need_boxes(void)
{
	static const char *const argv[] = { "bwrap", "--unshare-user",
		"--unshare-pid", "--unshare-net", "--ro-bind", "/", "/",
		"--proc", "/proc", "true", NULL };
	struct child_spec child = { .argv = argv };
	cleanup_child_result struct child_result result;

	if (child_run(&child, &result, NULL) < 0 || !child_succeeded(&result))
		unit_skip("bubblewrap cannot make a box here");
}

/* A server here, and ann, who may reach it. */
static void
begin(struct world *w)
{
	cleanup_free char *config = NULL;
	struct settings_facts facts = { .home = getenv("HOME") };
	struct settings_problems problems;
	struct err err = { 0 };

	need_boxes();
	*w = (struct world){ .repo = repo_new(false) };
	buf_init(&w->out);
	w->server = net_serve(net_listen(&w->port), 0);
	ck_assert_int_eq(repo_add(w->repo), 0);
	repo_sh(w->repo,
	    "mkdir -p .llmc/sessions .worktrees\n"
	    "git clone -q --no-hardlinks . .worktrees/ann");
	ck_assert_msg(workspace_at(w->repo->root, &w->workspace, &err) == 0,
	    "%s", err.msg);
	w->tree = file_join(w->workspace.root, ".worktrees/ann");
	config = xasprintf("[defaults]\nsandbox = \"strict\"\n"
			   "sandbox_hosts = [\"127.0.0.1:%u\"]\n",
	    w->port);
	facts.root = w->workspace.root;
	w->settings = settings_parse(config, strlen(config), &facts, &problems);
	ck_assert_uint_eq(problems.count, 0);
	settings_problems_release(&problems);
	w->spec = (struct box_spec){ .kind = BOX_SESSION,
		.agent = &claude_kind,
		.workspace = &w->workspace,
		.settings = w->settings,
		.worker = "ann",
		.tree = w->tree };
}

static void
end(struct world *w)
{
	net_end(w->server);
	free(w->tree);
	settings_free(w->settings);
	workspace_release(&w->workspace);
	repo_free(w->repo);
	buf_release(&w->out);
}

static int
inside(struct world *w, const char *script)
{
	const char *const shell[] = { "bash", "-c", script, NULL };
	cleanup_child_result struct child_result result;
	cleanup_strv char **argv = NULL;
	struct child_spec child = { .cwd = w->tree, .merge_stderr = true };
	struct box box = { 0 };
	struct err err = { 0 };

	ck_assert_msg(box_prepare(&w->spec, &box, &err) == 0, "%s", err.msg);
	strv_add_all(&argv, strv_const(box.prefix));
	strv_add_all(&argv, shell);
	box_release(&box);
	child.argv = strv_const(argv);
	ck_assert_int_eq(child_run(&child, &result, &err), 0);
	buf_clear(&w->out);
	child_output_text(&result.out, &w->out);
	ck_assert(result.exited);
	return result.status;
}

#define works(w, script)                                                     \
	do {                                                                 \
		const char *script_ = (script);                              \
		ck_assert_msg(inside(&(w), script_) == 0, "%s: %s", script_, \
		    (w).out.data);                                           \
	} while (0)
#define fails(w, script)                                                     \
	do {                                                                 \
		const char *script_ = (script);                              \
		ck_assert_msg(inside(&(w), script_) != 0, "%s: %s", script_, \
		    (w).out.data);                                           \
	} while (0)

/* Ask the proxy for the server; print what comes back. */
static char *
request(const struct world *w, const char *host)
{
	return xasprintf(
	    "exec 5<>/dev/tcp/127.0.0.1/3128 && printf 'GET http://%s:%u/x "
	    "HTTP/1.1\\r\\n\\r\\n' >&5 && cat <&5",
	    host, w->port);
}

TEST(a_session_reaches_the_hosts_of_the_settings_and_no_others)
{
	ended_by(end) struct world w;
	cleanup_free char *allowed = NULL, *other = NULL, *direct = NULL;

	begin(&w);
	allowed = request(&w, "127.0.0.1");
	works(w, allowed);
	ck_assert_msg(
	    strstr(w.out.data, "GET /x HTTP/1.1") != NULL, "%s", w.out.data);
	other = request(&w, "127.0.0.2");
	works(w, other);
	ck_assert_msg(strstr(w.out.data, "is not in sandbox_hosts") != NULL,
	    "%s", w.out.data);
	direct = xasprintf("exec 5<>/dev/tcp/127.0.0.1/%u", w.port);
	fails(w, direct);
	fails(w, "exec 5<>/dev/udp/192.0.2.1/53 && echo x >&5");
	works(w, "test \"$HTTPS_PROXY\" = http://127.0.0.1:3128");
}

TEST(git_in_a_strict_box_has_no_network_at_all)
{
	ended_by(end) struct world w;

	begin(&w);
	w.spec.kind = BOX_COMMAND;
	fails(w, "exec 5<>/dev/tcp/127.0.0.1/3128");
	works(w, "git status");
	w.spec.network = true;
	works(w, "exec 5<>/dev/tcp/127.0.0.1/3128");
}

/* A bwrap with the set-user-ID bit needs it, unless root runs it. */
TEST(a_bwrap_that_becomes_root_is_left_as_it_is)
{
	const char *bwrap = unit_path("bwrap");

	if (geteuid() == 0)
		ck_assert_int_eq(chmod(unit_scratch(), 0755), 0);
	file_replace(bwrap, "", 0, 0755, NULL);
	if (!box_net_can_scope(bwrap))
		unit_skip("this kernel has no Landlock ABI 6");
	ck_assert_int_eq(chmod(bwrap, 04755), 0);
	ck_assert(box_net_can_scope(bwrap) == (geteuid() == 0));
	if (geteuid() == 0)
		ck_assert_int_eq(seteuid(65534), 0);
	ck_assert(!box_net_can_scope(bwrap));
	ck_assert(box_net_can_scope("/bin/true"));
	if (getuid() == 0)
		ck_assert_int_eq(seteuid(0), 0);
}

/* Only root's own file cannot be written by the user of a box, and it may be
 * one that needs to be executed as it is. */
TEST(a_bwrap_that_its_user_may_write_is_copied)
{
	const char *bwrap = unit_path("bwrap");

	if (geteuid() == 0)
		ck_assert_int_eq(chmod(unit_scratch(), 0755), 0);
	file_replace(bwrap, "", 0, 0755, NULL);
	ck_assert(box_net_must_seal(bwrap));
	if (geteuid() != 0)
		return;
	ck_assert_int_eq(seteuid(65534), 0);
	ck_assert(!box_net_must_seal(bwrap));
	ck_assert_int_eq(seteuid(0), 0);
	ck_assert_int_eq(chown(bwrap, 65534, 65534), 0);
	ck_assert_int_eq(seteuid(65534), 0);
	ck_assert(box_net_must_seal(bwrap));
	ck_assert_int_eq(seteuid(0), 0);
}

/* Also where abstract sockets stay open. */
TEST(nothing_is_open_in_a_box_with_the_hosts_network)
{
	struct box_net net = { 0 };
	struct err err = { 0 };
	const char *bwrap = unit_path("bwrap");

	file_replace(bwrap, "", 0, 0755, NULL);
	ck_assert_int_eq(chmod(bwrap, 04755), 0);
	ck_assert_msg(
	    box_net_begin(bwrap, true, &net, &err) == 0, "%s", err.msg);
	ck_assert_ptr_nonnull(net.before);
	ck_assert_str_eq(net.before[1], "--bare");
	box_net_release(&net);
}
