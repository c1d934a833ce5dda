/* SPDX-License-Identifier: ISC */

/* The words for bubblewrap, as they are. */
#include "settings-world.h"
#include "api.h"
#include "box-plan.h"

#define BEGIN                                             \
	"/usr/bin/bwrap\n--unshare-user\n--unshare-pid\n" \
	"--unshare-ipc\n--unshare-uts\n--unshare-cgroup-try\n"
#define BASE                                              \
	"--die-with-parent\n--cap-drop ALL\n"             \
	"--dev /dev\n--proc /proc\n--ro-bind /usr /usr\n" \
	"--symlink usr/bin /bin\n"

static const char *const machine[] = { "/usr", NULL };
static const struct box_bind links[] = { { "usr/bin", "/bin", false },
	{ NULL, NULL, false } };
static const char *const temporary[] = { "/tmp", "/var/tmp", NULL };
static const char *const closed[] = { "/run", NULL };

static const struct box_facts worktree = {
	.mode = BOX_WORKTREE,
	.bwrap = "/usr/bin/bwrap",
	.machine = machine,
	.links = links,
	.temporary = temporary,
	.closed = closed,
	.home = "/home/u",
	.root = "/home/u/my repo",
	.state = "/home/u/my repo/.llmc",
	.trees = "/home/u/my repo/.worktrees",
	.tree = "/home/u/my repo/.worktrees/w",
	.git_dir = "/home/u/my repo/.git",
	.tree_git = "/home/u/my repo/.git/worktrees/w",
	.session = "/home/u/my repo/.llmc/sessions/w",
	.run = "/home/u/my repo/.llmc/run/w",
	.spool = "/home/u/my repo/.llmc/run/w/spool",
	.agent = "/home/u/my repo/.llmc/box/w/claude",
	.cache = "/home/u/my repo/.llmc/box/w/cache",
};

/* One option a line, with its arguments. */
static char *
plan_text(const struct box_facts *facts)
{
	cleanup_strv char **argv = box_plan(facts);
	cleanup_buf struct buf text = BUF_INIT;

	for (size_t i = 0; argv[i] != NULL; i++)
		buf_addf(&text, "%s%s",
		    i == 0                ? "" :
			argv[i][0] == '-' ? "\n" :
					    (i == 1 ? "\n" : " "),
		    argv[i]);
	buf_addc(&text, '\n');
	return buf_take(&text);
}

/* At which word this mount is; fails if there is none. */
static size_t
place_of(char **argv, const char *option, const char *at)
{
	bool plain = strcmp(option, "--tmpfs") == 0 ||
	    strcmp(option, "--remount-ro") == 0;

	for (size_t i = 0; argv[i] != NULL; i++)
		if (strcmp(argv[i], option) == 0 &&
		    strcmp(argv[i + (plain ? 1 : 2)], at) == 0)
			return i;
	ck_abort_msg("no %s %s", option, at);
}

static bool
has_word(char **argv, const char *word)
{
	for (size_t i = 0; argv[i] != NULL; i++)
		if (strcmp(argv[i], word) == 0)
			return true;
	return false;
}

TEST(a_linked_worktree_is_mounted_with_what_git_needs)
{
	cleanup_free char *text = plan_text(&worktree);
#define R          "/home/u/my repo"
#define RO(path)   "--ro-bind " path " " path "\n"
#define BIND(path) "--bind " path " " path "\n"

	ck_assert_str_eq(text,
	    BEGIN BASE
	    "--tmpfs /tmp\n--tmpfs /run\n"
	    "--tmpfs /var/tmp\n--tmpfs /home/u\n"
	    "--tmpfs " R "\n"
	    "--bind " R "/.llmc/box/w/cache /home/u/.cache\n"
	    "--tmpfs " R "/.worktrees\n"
	    "--tmpfs " R "/.llmc\n" RO(R "/.git") BIND(
		R "/.worktrees/w") "--tmpfs " R "/.git/worktrees\n" BIND(R
		"/.git/objects") RO(R "/.git/objects/info") RO(R
		"/.git/objects/pack") RO(R "/.worktrees/w/.git") BIND(R
		"/.git/worktrees/w") RO(R "/.llmc/sessions/w") RO(R
		"/.llmc/run/w") RO(R "/.git/worktrees/w/commondir") RO(R
		"/.git/worktrees/w/gitdir") RO(R
		"/.git/worktrees/w/config.worktree") BIND(R
		"/.llmc/run/w/spool") BIND(R
		"/.llmc/box/w/claude") "--remount-ro " R "\n--remount-ro " R
				       "/.llmc\n"
				       "--remount-ro " R "/.worktrees\n"
				       "--remount-ro " R
				       "/.git/worktrees\n--remount-ro /run\n"
				       "--remount-ro /\n"
				       "--chdir " R "/.worktrees/w\n--\n");
}

TEST(git_writes_more_only_where_it_must)
{
	struct box_facts f = worktree;
	cleanup_strv char **argv = NULL;

	f.packs = true;
	f.lfs = R "/.git/lfs";
	argv = box_plan(&f);
	place_of(argv, "--bind", R "/.git/lfs");
	ck_assert(!has_word(argv, R "/.git/objects/pack"));
}

TEST(a_strict_box_has_no_network_and_reads_the_objects_only)
{
	struct box_facts f = worktree;
	cleanup_strv char **argv = NULL;

	f.mode = BOX_STRICT;
	f.tree_git = NULL;
	argv = box_plan(&f);
	ck_assert(has_word(argv, "--unshare-net"));
	place_of(argv, "--ro-bind", R "/.git/objects");
	place_of(argv, "--bind", R "/.worktrees/w");
	place_of(argv, "--remount-ro", R);
	ck_assert(!has_word(argv, R "/.git"));
	ck_assert(!has_word(argv, R "/.git/worktrees"));
	ck_assert(!has_word(argv, R "/.worktrees/w/.git"));
}

TEST(root_cannot_change_the_kernels_settings)
{
	struct box_facts f = worktree;
	cleanup_strv char **argv = NULL, **user = box_plan(&worktree);

	f.is_root = true;
	argv = box_plan(&f);
	place_of(argv, "--ro-bind", "/proc/sys");
	ck_assert(!has_word(user, "/proc/sys"));
}

TEST(a_folder_is_mounted_before_what_is_inside_it)
{
	static const char *const programs[] = { "/tmp/bin/claude", NULL };
	static const char *const more[] = { "/tmp/r/home/.cargo", NULL };
	struct box_facts f = worktree;
	cleanup_strv char **argv = NULL;

	/* Home in the repository, the repository in /tmp. */
	f.home = "/tmp/r/home";
	f.root = "/tmp/r";
	f.programs = programs;
	f.write = more;
	argv = box_plan(&f);
	ck_assert_uint_lt(place_of(argv, "--tmpfs", "/tmp"),
	    place_of(argv, "--tmpfs", "/tmp/r"));
	ck_assert_uint_lt(place_of(argv, "--tmpfs", "/tmp/r"),
	    place_of(argv, "--tmpfs", "/tmp/r/home"));
	ck_assert_uint_lt(place_of(argv, "--tmpfs", "/tmp/r/home"),
	    place_of(argv, "--bind", "/tmp/r/home/.cargo"));
	ck_assert_uint_lt(place_of(argv, "--tmpfs", "/tmp"),
	    place_of(argv, "--ro-bind", "/tmp/bin/claude"));
}

TEST(what_the_user_opens_comes_after_what_is_hidden)
{
	static const char *const read[] = { "/home/u", NULL };
	static const char *const write[] = { "/home/u/my repo", NULL };
	struct box_facts f = worktree;
	cleanup_strv char **argv = NULL;

	f.read = read;
	f.write = write;
	argv = box_plan(&f);
	ck_assert_uint_lt(place_of(argv, "--tmpfs", "/home/u"),
	    place_of(argv, "--ro-bind", "/home/u"));
	ck_assert_uint_lt(place_of(argv, "--bind", R),
	    place_of(argv, "--ro-bind", R "/.git"));
	/* It is the real folder: it must stay writable. */
	for (size_t i = 0; argv[i] != NULL; i++)
		ck_assert(strcmp(argv[i], "--remount-ro") != 0 ||
		    strcmp(argv[i + 1], R) != 0);
}

TEST(a_socket_in_a_place_of_the_machine_is_masked)
{
	static const char *const sockets[] = { "/usr/s", "/srv/s",
		"/home/u/given/s", "/home/u/named", R "/.llmc/autod.sock",
		R "/.llmc/run/w/sock", R "/.worktrees/w/s", NULL };
	static const char *const read[] = { "/home/u/given", NULL };
	static const char *const write[] = { "/home/u/named", NULL };
	struct box_facts f = worktree;
	cleanup_strv char **argv = NULL;

	f.sockets = sockets;
	f.read = read;
	f.write = write;
	argv = box_plan(&f);
	place_of(argv, "--ro-bind", "/usr/s");
	ck_assert_str_eq(
	    argv[place_of(argv, "--ro-bind", "/home/u/given/s") + 1],
	    "/dev/null");
	place_of(argv, "--bind", "/home/u/named");
	/* Not seen anyway, or the worker's own. */
	ck_assert(!has_word(argv, sockets[1]));
	for (size_t i = 4; sockets[i] != NULL; i++)
		ck_assert(!has_word(argv, sockets[i]));
}

TEST(the_sockets_of_tmux_are_hidden_where_they_would_be_seen)
{
	static const char *const read[] = { "/tmp/given", NULL };
	static const char *const hidden[] = { "/usr/t/tmux-1",
		"/tmp/given/tmux-1", R "/.worktrees/w/tmux-1" };
	static const char *const absent[] = { "/tmp/tmux-1", "/srv/tmux-1",
		"/home/u/tmux-1" };
	struct box_facts f = worktree;

	f.read = read;
	for (size_t i = 0; i < nitems(hidden); i++) {
		cleanup_strv char **argv = NULL;

		f.tmux = hidden[i];
		argv = box_plan(&f);
		place_of(argv, "--tmpfs", hidden[i]);
		place_of(argv, "--remount-ro", hidden[i]);
	}
	/* A box can have sockets of its own there. */
	for (size_t i = 0; i < nitems(absent); i++) {
		cleanup_strv char **argv = NULL;

		f.tmux = absent[i];
		argv = box_plan(&f);
		ck_assert(!has_word(argv, absent[i]));
	}
}

TEST(the_whole_machine_can_be_given)
{
	static const char *const all[] = { "/", NULL };
	struct box_facts f = worktree;
	cleanup_strv char **argv = NULL;

	f.read = all;
	argv = box_plan(&f);
	ck_assert_uint_lt(place_of(argv, "--ro-bind", "/"),
	    place_of(argv, "--ro-bind", "/usr"));
	ck_assert_uint_lt(place_of(argv, "--ro-bind", "/"),
	    place_of(argv, "--tmpfs", "/tmp"));
}

TEST(a_file_can_be_seen_elsewhere)
{
	static const struct box_bind binds[] = {
		{ "/home/u/.claude/agents", R "/.llmc/box/w/claude/agents",
		    false },
		{ "/home/u/.claude/login", R "/.llmc/box/w/claude/login",
		    true },
		{ NULL, NULL, false },
	};
	struct box_facts f = worktree;
	cleanup_strv char **argv = NULL;
	size_t at;

	f.binds = binds;
	argv = box_plan(&f);
	at = place_of(argv, "--ro-bind", R "/.llmc/box/w/claude/agents");
	ck_assert_str_eq(argv[at + 1], "/home/u/.claude/agents");
	ck_assert_uint_lt(
	    place_of(argv, "--bind", R "/.llmc/box/w/claude"), at);
	place_of(argv, "--bind", R "/.llmc/box/w/claude/login");
}

TEST(variables_are_removed_before_bwrap_starts)
{
	static const char *const unset[] = { "TMUX", "SECRET", NULL };
	static const char *const set[] = { "TMPDIR=/tmp", "A=b=c", NULL };
	static const char *const inner[] = { "llmc", "inside", NULL };
	struct box_facts f = worktree;
	cleanup_strv char **argv = NULL;
	size_t count;

	f.unset = unset;
	f.set = set;
	f.inner = inner;
	argv = box_plan(&f);
	ck_assert_str_eq(argv[0], "/usr/bin/env");
	ck_assert_str_eq(argv[1], "-u");
	ck_assert_str_eq(argv[2], "TMUX");
	ck_assert_str_eq(argv[4], "SECRET");
	ck_assert_str_eq(argv[5], "/usr/bin/bwrap");
	for (count = 0; strcmp(argv[count], "--setenv") != 0; count++)
		;
	ck_assert_str_eq(argv[count + 1], "TMPDIR");
	ck_assert_str_eq(argv[count + 2], "/tmp");
	ck_assert_str_eq(argv[count + 5], "b=c");
	count = strv_count(argv);
	ck_assert_str_eq(argv[count - 3], "--");
	ck_assert_str_eq(argv[count - 1], "inside");
}

/* Not bwrap's own, which has no filter. */
TEST(the_first_process_of_a_box_is_its_first_word)
{
	struct box_facts f = worktree;
	cleanup_strv char **argv = NULL, **plain = box_plan(&worktree);

	f.filter = true;
	argv = box_plan(&f);
	ck_assert(has_word(argv, "--as-pid-1"));
	ck_assert(has_word(argv, "--seccomp"));
	ck_assert(!has_word(plain, "--as-pid-1"));
}

TEST(only_known_variables_reach_an_agent)
{
	static const char *const more[] = { "EDITOR", NULL };
	static const char *const good[] = { "PATH=/bin", "HOME=/", "LC_ALL=C",
		"ANTHROPIC_API_KEY=k", "CLAUDE_CODE_OAUTH_TOKEN=t",
		"LLMC_ROOT=/r", "https_proxy=p", "EDITOR=vi", "TERM",
		"GIT_AUTHOR_NAME=n", "DISABLE_TELEMETRY=1",
		"NODE_EXTRA_CA_CERTS=/c", "REQUESTS_CA_BUNDLE=/c",
		"CURL_CA_BUNDLE=/c", "AWS_REGION=r",
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://h" };
	static const char *const outside[] = { "XDG_RUNTIME_DIR=/run/u",
		"XDG_CACHE_HOME=/c", "TMUX_TMPDIR=/t", "LD_LIBRARY_PATH=/l",
		"JAVA_HOME=/j", "NVM_DIR=/n", "VIRTUAL_ENV=/v" };
	static const char *const bad[] = { "AWS_SECRET_ACCESS_KEY=k",
		"AWS_BEARER_TOKEN_BEDROCK=t", "TMUX=x", "SSH_AUTH_SOCK=s",
		"DBUS_SESSION_BUS_ADDRESS=d", "EDITORS=x", "PATHS=x",
		"GITHUB_TOKEN=g", "TERMS", "LLMC_FORGE_TOKEN=t",
		"LLMC_WEBHOOK_SECRET=s", "LLMC_API_KEY=k", "GIT_ASKPASS=/a",
		"GIT_SSH_COMMAND=sshpass -p x ssh", "GIT_CONFIG_COUNT=1",
		"GIT_CONFIG_KEY_0=http.extraHeader", "GIT_CONFIG_VALUE_0=t",
		"GIT_CONFIG_PARAMETERS=p", "DISPLAY=:0", "=x", "",
		"CLAUDE_CODE_RETRY_WATCHDOG=1",
		"CLAUDE_CODE_RESUME_INTERRUPTED_TURN=1" };

	for (size_t i = 0; i < nitems(good); i++)
		for (int boxed = 0; boxed < 2; boxed++)
			ck_assert_msg(box_plan_allows(good[i], more, boxed),
			    "%s", good[i]);
	for (size_t i = 0; i < nitems(bad); i++)
		for (int boxed = 0; boxed < 2; boxed++)
			ck_assert_msg(!box_plan_allows(bad[i], more, boxed),
			    "%s", bad[i]);
	for (size_t i = 0; i < nitems(outside); i++) {
		ck_assert(box_plan_allows(outside[i], NULL, false));
		ck_assert(!box_plan_allows(outside[i], NULL, true));
	}
	ck_assert(!box_plan_allows("EDITOR=vi", NULL, false));
	ck_assert(!box_plan_allows("EDITOR=vi", NULL, true));
}

TEST(the_strictest_mode_of_all_workers_counts_for_a_check)
{
	cleanup_settings_world struct settings_world off =
	    settings_world_parse("");
	cleanup_settings_world struct settings_world p = settings_world_parse(
	    "[defaults]\nsandbox = \"worktree\"\n[workers.eve]\n"
	    "sandbox = \"strict\"\n[workers.adam]\nsandbox = \"off\"\n");

	ck_assert_int_eq(box_mode_strictest(off.settings), BOX_OFF);
	ck_assert_int_eq(box_mode_strictest(p.settings), BOX_STRICT);
	ck_assert_int_eq(box_mode_of(p.settings, "eve"), BOX_STRICT);
	ck_assert_int_eq(box_mode_of(p.settings, "adam"), BOX_OFF);
	ck_assert_int_eq(box_mode_of(p.settings, "bob"), BOX_WORKTREE);
	ck_assert_int_eq(box_mode_of(p.settings, CALLER_REPAIR), BOX_STRICT);
	ck_assert_str_eq(box_mode_name(BOX_STRICT), "strict");
}

TEST(no_agent_leaves_its_box_by_another_one)
{
	cleanup_settings_world struct settings_world p =
	    settings_world_parse("[workers.auto-1]\nsandbox = \"worktree\"\n"
				 "[workers.team-2]\nsandbox = \"off\"\n"
				 "[workers.eve]\nsandbox = \"strict\"\n");

	ck_assert_int_eq(box_mode_of(p.settings, "team-1"), BOX_WORKTREE);
	ck_assert_int_eq(box_mode_of(p.settings, "team-2"), BOX_WORKTREE);
	ck_assert_int_eq(box_mode_of(p.settings, "auto-2"), BOX_OFF);
}
