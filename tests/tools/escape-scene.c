/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "box-probe.h"
#include "child.h"
#include "escape-scene.h"
#include "escape-table.h"
#include "id.h"

struct post;

static void post_free(struct post *post);

enum {
	POST_MAIN,
	POST_OWN,
	POST_OTHER,
	POST_PATHS, /* those before have a path */
	POST_ABSTRACT = POST_PATHS,
	POST_TCP,
	POST_UDP,
	POST_ELSEWHERE,
	POST_GIVEN,
	POST_COUNT
};

static const char *const names[POST_COUNT] = {
	[POST_MAIN] = "main",
	[POST_OWN] = "own",
	[POST_OTHER] = "other",
	[POST_ABSTRACT] = "abstract",
	[POST_TCP] = "tcp",
	[POST_UDP] = "udp",
	[POST_ELSEWHERE] = "elsewhere",
	[POST_GIVEN] = "given",
};

struct post {
	int fds[POST_COUNT];
	int tcp, udp; /* ports */
};

/* A socket at an address, listening if its type can. */
static int
open_at(int type, const void *address, size_t len, int *ret_fd)
{
	const struct sockaddr *at = address;
	cleanup_fd int fd =
	    socket(at->sa_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd == -1 || bind(fd, at, (socklen_t)len) == -1 ||
	    (type == SOCK_STREAM && listen(fd, 8) == -1))
		return -errno;
	*ret_fd = take_fd(&fd);
	return 0;
}

static int
open_port(int type, int *ret_fd, int *ret_port)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t len = sizeof address;
	int r = open_at(type, &address, sizeof address, ret_fd);

	if (r == 0 &&
	    getsockname(*ret_fd, (struct sockaddr *)&address, &len) == -1)
		r = -errno;
	*ret_port = ntohs(address.sin_port);
	return r;
}

static int
open_abstract(const char *name, int *ret_fd)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t len = strnlen(name, sizeof address.sun_path - 2);

	memcpy(address.sun_path + 1, name, len);
	return open_at(SOCK_STREAM, &address,
	    offsetof(struct sockaddr_un, sun_path) + 1 + len, ret_fd);
}

/* The folder is named by a descriptor, since its path may be too long. */
static int
open_path(const char *dir, const char *name, int *ret_fd)
{
	cleanup_fd int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if (fd == -1)
		return -errno;
	snprintf(address.sun_path, sizeof address.sun_path,
	    "/proc/self/fd/%d/%s", fd, name);
	return open_at(SOCK_STREAM, &address, sizeof address, ret_fd);
}

/* By its own path, as other programs do it; too long is no socket. */
static int
open_plain(const char *dir, int *ret_fd)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if (snprintf(address.sun_path, sizeof address.sun_path, "%s/sock",
		dir) >= (int)sizeof address.sun_path)
		return 0;
	return open_at(SOCK_STREAM, &address, sizeof address, ret_fd);
}

/* The sockets that stay: abstract, two ports of 127.0.0.1, and one called sock
 * in each of two folders. */
static int
post_new(const char *abstract, const char *elsewhere, const char *given,
    struct post **ret_post, struct err *err)
{
	struct post *post = xcalloc(1, sizeof *post);
	int r;

	for (size_t i = 0; i < POST_COUNT; i++)
		post->fds[i] = -1;
	r = open_abstract(abstract, &post->fds[POST_ABSTRACT]);
	if (r == 0)
		r = open_port(SOCK_STREAM, &post->fds[POST_TCP], &post->tcp);
	if (r == 0)
		r = open_port(SOCK_DGRAM, &post->fds[POST_UDP], &post->udp);
	if (r == 0)
		r = open_plain(elsewhere, &post->fds[POST_ELSEWHERE]);
	if (r == 0)
		r = open_plain(given, &post->fds[POST_GIVEN]);
	if (r < 0) {
		post_free(post);
		return err_errno(err, r, "no socket can be made");
	}
	*ret_post = post;
	return 0;
}

static void
post_free(struct post *post)
{
	if (post == NULL)
		return;
	for (size_t i = 0; i < POST_COUNT; i++)
		fd_close(post->fds[i]);
	free(post);
}

static int
post_tcp(const struct post *post)
{
	return post->tcp;
}

static int
post_udp(const struct post *post)
{
	return post->udp;
}

/* The sockets in the folder .llmc of this root, as the daemon has them: the
 * people's, the worker's own and another worker's. Those of before are closed.
 */
static int
post_bind(struct post *post, const char *root, const char *worker,
    const char *other, struct err *err)
{
	cleanup_free char *main = file_join(root, ".llmc");
	cleanup_free char *own = xasprintf("%s/run/%s", main, worker);
	cleanup_free char *another = xasprintf("%s/run/%s", main, other);
	const char *const dirs[POST_PATHS] = {
		[POST_MAIN] = main, [POST_OWN] = own, [POST_OTHER] = another
	};

	for (size_t i = 0; i < POST_PATHS; i++) {
		int r;

		fd_close(post->fds[i]);
		post->fds[i] = -1;
		r = open_path(dirs[i], i == POST_MAIN ? "autod.sock" : "sock",
		    &post->fds[i]);
		if (r < 0)
			return err_errno(err, r, "%s: no socket", dirs[i]);
	}
	return 0;
}

static bool
says(int fd, const char *word)
{
	char text[256];
	ssize_t got = recv(fd, text, sizeof text - 1, MSG_DONTWAIT);

	if (got <= 0)
		return false;
	text[got] = '\0';
	return strstr(text, word) != NULL;
}

/* Everything that has come to one socket: was the word among it? */
static bool
arrived(int fd, bool is_stream, const char *word)
{
	bool found = false;

	for (;;) {
		cleanup_fd int peer =
		    is_stream ? accept4(fd, NULL, NULL, SOCK_CLOEXEC) : -1;

		if (is_stream && peer == -1)
			return found;
		if (says(is_stream ? peer : fd, word))
			found = true;
		else if (!is_stream)
			return found;
	}
}

/* Create a file in `dir` for every socket at which the word has arrived: main,
 * other, abstract, tcp, udp, elsewhere, given. Never waits; the rest of the
 * mail is dropped. */
static void
post_collect(struct post *post, const char *word, const char *dir)
{
	for (size_t i = 0; i < POST_COUNT; i++) {
		cleanup_free char *file = file_join(dir, names[i]);

		if (arrived(post->fds[i], i != POST_UDP, word))
			file_append(file, "", 0, 0600, false, NULL);
	}
}

#define STEP_DEADLINE_MS 10000
#define WORKER           "adam"
#define OTHER            "eve"

/* In this process, and so around the box: must not get in. */
#define SECRET_VARIABLE "DOCTOR_SECRET"

enum scene_key {
	SCENE_SESSION, /* in the session's keyring */
	SCENE_USER, /* in the user's own */
	SCENE_KEYS
};

static const struct {
	const char *variable;
	int ring;
} key_rows[SCENE_KEYS] = {
	[SCENE_SESSION] = { "SESSION_KEY", KEY_SPEC_SESSION_KEYRING },
	[SCENE_USER] = { "USER_KEY", KEY_SPEC_USER_KEYRING },
};

#define KEY_SECONDS 600 /* they end by themselves, too */

struct escape_scene {
	char *dir; /* everything but what must lie below /tmp */
	char *outside; /* below /tmp */
	char *root, *worktree;
	char *home; /* of the caller, NULL = it had none */
	char *path; /* its PATH */
	long keys[SCENE_KEYS]; /* in keyrings of the user */
	char **env; /* "NAME=VALUE" for the scripts */
	struct post *post;
	bool is_new; /* nothing has been changed that another row looks at */
};

/* Paths of the scene, below $LIVE: what an attempt may change. $KEPT is the
 * copy to begin with. */
static const char make_script[] =
    "set -e\n"
    "umask 022\n"
    "mkdir -p \"$HOME\" \"$LIVE/arrived\" \"$OUTSIDE\"\n"
    "mkdir \"$ELSEWHERE\" \"$GIVEN\"\n"
    "[ -z \"$SYSTEM_BWRAP\" ] || cp \"$SYSTEM_BWRAP\" \"$BWRAP\"\n"
    "echo \"$WORD\" >\"$ELSEWHERE/private\"\n"
    "echo \"$WORD\" >\"$SECRET\"\n"
    "echo >\"$HOME/.profile\"\n"
    "echo \"$WORD\" >\"$OUTSIDE/private\"\n"
    "git init -q --template= -b main \"$ROOT\"\n"
    "cd \"$ROOT\"\n"
    "git config user.name Doctor\n"
    "git config user.email doctor@example.invalid\n"
    "git config extensions.worktreeConfig true\n"
    "git config commit.gpgSign false\n"
    "printf '/.llmc\\n/.worktrees\\n' >.gitignore\n"
    "for text in one two; do\n"
    "	echo \"$text\" >README\n"
    "	git add .gitignore README\n"
    "	git commit -q -m \"$text\"\n"
    "done\n"
    "echo \"$WORD\" >private\n"
    "mkdir -p .llmc/run/$WORKER/spool .llmc/run/$OTHER/spool\n"
    "mkdir -p .llmc/sessions/$WORKER .llmc/box/$OTHER/claude\n"
    "chmod 700 .llmc\n"
    "echo \"$WORD\" >.llmc/box/$OTHER/claude/private\n"
    "echo \"{\\\"escape\\\":\\\"$WORD\\\"}\" >.llmc/llmc.db\n"
    "printf '%s' \"$CONFIG\" >.llmc/config.toml\n"
    "git worktree add -q -b llmc/$OTHER \"$SIBLING\" main\n"
    "echo \"$WORD\" >\"$SIBLING/private\"\n"
    "git -C \"$SIBLING\" commit -q --allow-empty -m \"$WORD\"\n"
    "if [ \"$MODE\" = clone ]; then\n"
    "	git clone -q --shared -b main \"$ROOT\" \"$WORKTREE\"\n"
    "	git -C \"$WORKTREE\" config user.name Doctor\n"
    "	git -C \"$WORKTREE\" config user.email doctor@example.invalid\n"
    "	git -C \"$WORKTREE\" switch -q -c llmc/$WORKER\n"
    "else\n"
    "	git worktree add -q -b llmc/$WORKER \"$WORKTREE\" main\n"
    "	git -C \"$WORKTREE\" checkout -q --detach\n"
    "	mkdir -p .git/lfs/objects && : >.git/lfs/objects/one\n"
    "fi\n"
    "git repack -q\n"
    "git rev-parse llmc/$OTHER\n";

/* A process that stands for the keeper; it prints its id. */
static const char victim_script[] =
    "rm -f \"$DIR/victim\"\n"
    "setsid sh -c 'echo $$ >\"$DIR/victim.new\"; "
    "mv \"$DIR/victim.new\" \"$DIR/victim\"; exec 7<\"$SECRET\"; "
    "exec tail --pid=\"$DOCTOR\" -s 0.2 -f /dev/null' "
    "</dev/null >/dev/null 2>&1 &\n"
    "until [ -e \"$DIR/victim\" ]; do sleep 0.01; done\n"
    "cat \"$DIR/victim\"\n";

/* Two servers: below /tmp, and in a place that is nobody's. */
static const char tmux_script[] =
    "command -v tmux >/dev/null || exit 0\n"
    "unset TMUX TMUX_PANE\n"
    "for socket in \"$ELSEWHERE/tmux\" \"$OUTSIDE.tmux\"; do\n"
    "tmux -S \"$socket\" -f /dev/null new-session -d "
    "\"tail --pid=$DOCTOR -s 0.2 -f /dev/null\" >&2\n"
    "done && echo \"$OUTSIDE.tmux\"\n";

static const char renew_script[] =
    "set -e\n"
    "rm -rf \"$LIVE\" \"$OUTSIDE\"\n"
    "cp -a \"$KEPT/live\" \"$LIVE\"\n"
    "cp -a \"$KEPT/outside\" \"$OUTSIDE\"\n"
    "[ -n \"$(tr -d '\\0' <\"/proc/$VICTIM/cmdline\")\" ]\n";

static const char keep_script[] = "set -e\n"
				  "mkdir \"$KEPT\"\n"
				  "cp -a \"$LIVE\" \"$KEPT/live\"\n"
				  "cp -a \"$OUTSIDE\" \"$KEPT/outside\"\n";

/* Run by this process, and once more by a guard when it has ended in whatever
 * way. */
#define END_SCRIPT                                                  \
	"for socket in \"$OUTSIDE.tmux\" \"$ELSEWHERE/tmux\"; do\n" \
	"[ ! -e \"$socket\" ] || "                                  \
	"tmux -S \"$socket\" kill-server 2>/dev/null\n"             \
	"done\n"                                                    \
	"rm -rf \"$DIR\" \"$OUTSIDE\" \"$OUTSIDE.tmux\"\n"

static const char end_script[] = "kill \"$VICTIM\" 2>/dev/null\n" END_SCRIPT;

static const char guard_script[] =
    "exec </dev/null >/dev/null 2>&1\n"
    "cd /\n"
    "tail --pid=\"$DOCTOR\" -s 0.2 -f /dev/null\n" END_SCRIPT;

static void
set_env(struct escape_scene *s, const char *name, const char *value)
{
	strv_take(&s->env, xasprintf("%s=%s", name, value));
}

/* Take ownership of the value. */
static void
take_env(struct escape_scene *s, const char *name, char *value)
{
	set_env(s, name, value);
	free(value);
}

/* Run a script outside; *ret_line (may be NULL): the first line it printed. */
static int
run_script(const struct escape_scene *s, const char *script, char **ret_line,
    struct err *err)
{
	struct child_spec spec = { .shell = script,
		.cwd = "/",
		.env = strv_const(s->env),
		.deadline_ms = STEP_DEADLINE_MS };
	cleanup_child_result struct child_result result;
	cleanup_buf struct buf text = BUF_INIT;
	int r = child_run(&spec, &result, err);

	if (r < 0)
		return r;
	if (!child_succeeded(&result)) {
		child_output_text(&result.err, &text);
		return err_set(err, -EIO,
		    "the scratch repository cannot be made: %s", text.data);
	}
	child_output_text(&result.out, &text);
	buf_truncate(&text, strcspn(text.data, "\n"));
	if (ret_line != NULL)
		*ret_line = buf_take(&text);
	return 0;
}

/* A raw disk that this user may read, or "". */
static char *
find_disk(void)
{
	DIR *dir = opendir("/sys/block");
	struct dirent *entry;
	char *found = NULL;

	while (dir != NULL && found == NULL && (entry = readdir(dir)) != NULL) {
		cleanup_free char *path = file_join("/dev", entry->d_name);
		cleanup_fd int fd = entry->d_name[0] == '.' ?
		    -1 :
		    open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		char byte;

		if (fd != -1 && read(fd, &byte, 1) == 1)
			found = xstrdup(path);
	}
	if (dir != NULL)
		closedir(dir);
	return found != NULL ? found : xstrdup("");
}

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
		char *dir = file_join(places[i], "llmc-doctor.XXXXXX"), *real;

		if (mkdtemp(dir) == NULL) {
			free(dir);
			continue;
		}
		real = realpath(dir, NULL);
		if (real == NULL)
			return dir;
		free(dir);
		return real;
	}
	err_errno(err, -errno, "no temporary folder can be made");
	return NULL;
}

static void
fill_env(struct escape_scene *s, const char *mode, const char *lines)
{
	cleanup_free char *live = file_join(s->dir, "live");
	cleanup_free char *bwrap = box_find_bwrap();
	char word[ID_UUID_SIZE];
	const char *name;

	id_uuid(word);
	s->root = file_join(live, "root");
	s->worktree = file_join(s->root, ".worktrees/" WORKER);
	name = strrchr(s->outside, '/') + 1;
	set_env(s, "DIR", s->dir);
	set_env(s, "LIVE", live);
	take_env(s, "KEPT", file_join(s->dir, "kept"));
	set_env(s, "MODE", mode);
	set_env(s, "CONFIG", lines);
	set_env(s, "WORD", word);
	setenv(SECRET_VARIABLE, word, 1);
	set_env(s, "WORKER", WORKER);
	set_env(s, "OTHER", OTHER);
	set_env(s, "ROOT", s->root);
	take_env(s, "GIT", file_join(s->root, ".git"));
	set_env(s, "WORKTREE", s->worktree);
	take_env(s, "SIBLING", file_join(s->root, ".worktrees/" OTHER));
	take_env(s, "OWN", file_join(s->root, ".llmc/run/" WORKER));
	take_env(s, "HOME", file_join(live, "home"));
	take_env(s, "SECRET", file_join(live, "home/.secret"));
	take_env(s, "ELSEWHERE", file_join(s->dir, "elsewhere"));
	take_env(s, "GIVEN", file_join(s->dir, "given"));
	take_env(s, "ARRIVED", file_join(live, "arrived"));
	take_env(s, "BWRAP", file_join(live, "bwrap"));
	set_env(s, "SYSTEM_BWRAP", bwrap != NULL ? bwrap : "");
	set_env(s, "OUTSIDE", s->outside);
	set_env(s, "ABSTRACT", name);
	take_env(s, "DISK", find_disk());
	take_env(s, "DOCTOR", xasprintf("%d", (int)getpid()));
	set_env(s, "GIT_CONFIG_NOSYSTEM", "1");
}

/* The value of a variable of the scripts. */
static const char *
get_env(const struct escape_scene *s, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = strv_count(s->env); i-- > 0;)
		if (strncmp(s->env[i], name, len) == 0 && s->env[i][len] == '=')
			return s->env[i] + len + 1;
	return "";
}

static int
start_guard(const struct escape_scene *s, struct err *err)
{
	struct child_spec spec = { .shell = guard_script,
		.cwd = "/",
		.env = strv_const(s->env),
		.detach = true };
	cleanup_child_result struct child_result result;

	return child_run(&spec, &result, err);
}

static int
start_victim(struct escape_scene *s, struct err *err)
{
	char *line = NULL;
	int r = run_script(s, victim_script, &line, err);

	if (r == 0)
		take_env(s, "VICTIM", line);
	return r;
}

/* Secrets in the kernel. Where there can be none, there is no evidence. */
static void
add_keys(struct escape_scene *s)
{
	const char *word = get_env(s, "WORD");
	long ring = syscall(
	    SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_USER_KEYRING, 1);

	for (size_t i = 0; i < SCENE_KEYS; i++) {
		cleanup_free char *name = xasprintf(
		    "%s-%s", get_env(s, "ABSTRACT"), key_rows[i].variable);

		/* Only who possesses a key may set its end. */
		s->keys[i] = syscall(SYS_add_key, "user", name, word,
		    strlen(word), KEY_SPEC_PROCESS_KEYRING);
		if (syscall(SYS_keyctl, KEYCTL_SET_TIMEOUT, s->keys[i],
			KEY_SECONDS) == 0)
			syscall(SYS_keyctl, KEYCTL_LINK, s->keys[i],
			    key_rows[i].ring);
		take_env(s, key_rows[i].variable, xasprintf("%ld", s->keys[i]));
	}
	take_env(s, "USER_RING", xasprintf("%ld", ring));
}

static void
remove_keys(struct escape_scene *s)
{
	for (size_t i = 0; i < SCENE_KEYS; i++)
		if (s->keys[i] > 0)
			syscall(SYS_keyctl, KEYCTL_UNLINK, s->keys[i],
			    key_rows[i].ring);
}

static int
set_up(struct escape_scene *s, struct err *err)
{
	char *commit = NULL, *tmux = NULL;
	int r = start_guard(s, err);

	if (r == 0)
		r = run_script(s, make_script, &commit, err);
	if (r < 0)
		return r;
	take_env(s, "COMMIT", commit);
	if (run_script(s, tmux_script, &tmux, NULL) < 0)
		tmux = xstrdup(""); /* there is no evidence about tmux then */
	take_env(s, "TMUX_SOCKET", tmux);
	r = start_victim(s, err);
	if (r < 0)
		return r;
	add_keys(s);
	r = post_new(get_env(s, "ABSTRACT"), get_env(s, "ELSEWHERE"),
	    get_env(s, "GIVEN"), &s->post, err);
	if (r < 0)
		return r;
	take_env(s, "TCP_PORT", xasprintf("%d", post_tcp(s->post)));
	take_env(s, "UDP_PORT", xasprintf("%d", post_udp(s->post)));
	return 0;
}

int
escape_scene_begin(const char *mode, const char *lines, const char *tmux,
    struct escape_scene **ret_scene, struct err *err)
{
	struct escape_scene *s = xcalloc(1, sizeof *s);
	cleanup_free char *path = NULL;
	char outside[] = "/tmp/llmc-doctor-outside.XXXXXX";
	const char *home = getenv("HOME");
	char self[4096];
	ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);
	int r = -EIO;

	s->dir = make_dir(err);
	s->home = home != NULL ? xstrdup(home) : NULL;
	s->path = xstrdup(getenv("PATH") != NULL ? getenv("PATH") : "");
	if (s->dir == NULL || mkdtemp(outside) == NULL) {
		escape_scene_end(s);
		return r;
	}
	s->outside = xstrdup(outside);
	fill_env(s, mode, lines);
	set_env(s, "TMUX_REAL", tmux != NULL ? tmux : "");
	self[len > 0 ? len : 0] = '\0';
	set_env(s, "PROBE", self);
	r = set_up(s, err);
	if (r < 0) {
		escape_scene_end(s);
		return r;
	}
	setenv("HOME", get_env(s, "HOME"), 1);
	/* A folder that every box is given. */
	path = xasprintf("%s:%s", s->path, get_env(s, "GIVEN"));
	setenv("PATH", path, 1);
	if (get_env(s, "SYSTEM_BWRAP")[0] != '\0')
		setenv("LLMC_BWRAP", get_env(s, "BWRAP"), 1);
	*ret_scene = s;
	return 0;
}

void
escape_scene_end(struct escape_scene *s)
{
	if (s->outside != NULL)
		run_script(s, end_script, NULL, NULL);
	else if (s->dir != NULL)
		rmdir(s->dir);
	unsetenv(SECRET_VARIABLE);
	unsetenv("LLMC_BWRAP");
	if (s->home != NULL)
		setenv("HOME", s->home, 1);
	else
		unsetenv("HOME");
	setenv("PATH", s->path, 1);
	remove_keys(s);
	post_free(s->post);
	strv_free(s->env);
	free(s->dir);
	free(s->outside);
	free(s->root);
	free(s->worktree);
	free(s->home);
	free(s->path);
	free(s);
}

const char *
escape_scene_root(const struct escape_scene *s)
{
	return s->root;
}

const char *
escape_scene_worktree(const struct escape_scene *s)
{
	return s->worktree;
}

const char *
escape_scene_worker(void)
{
	return WORKER;
}

int
escape_scene_keep(struct escape_scene *s, struct err *err)
{
	return run_script(s, keep_script, NULL, err);
}

/* As it was, with a victim that lives and sockets that nobody has used. */
static int
renew(struct escape_scene *s, struct err *err)
{
	struct err ignored = { 0 };
	int r;

	if (run_script(s, renew_script, NULL, &ignored) < 0) {
		r = start_victim(s, err);
		if (r == 0)
			r = run_script(s, renew_script, NULL, err);
		if (r < 0)
			return r;
	}
	r = post_bind(s->post, s->root, WORKER, OTHER, err);
	s->is_new = r == 0;
	return r;
}

/* The status of a script of a row, as the worker runs it. */
static bool
succeeds(const struct escape_scene *s, const char *script, char *const *prefix)
{
	cleanup_strv char **argv = NULL;
	struct child_spec spec = { .cwd = s->worktree,
		.deadline_ms = STEP_DEADLINE_MS };
	cleanup_child_result struct child_result result;

	strv_add_all(&argv, strv_const(prefix));
	strv_add(&argv, "env");
	strv_add_all(&argv, strv_const(s->env));
	strv_add(&argv, "/bin/sh");
	strv_add(&argv, "-c");
	strv_add(&argv, script);
	spec.argv = strv_const(argv);
	return child_run(&spec, &result, NULL) == 0 && child_succeeded(&result);
}

int
escape_scene_try(struct escape_scene *s, const struct escape *escape,
    char *const *prefix, bool *ret_escaped, struct err *err)
{
	int r = s->is_new ? 0 : renew(s, err);
	bool ran;

	if (r < 0)
		return r;
	ran = succeeds(s, escape->script, prefix);
	if (escape->deputy != NULL) {
		succeeds(s, escape->deputy, prefix);
		ran = true; /* it is the deputy's deed that counts */
	}
	post_collect(s->post, get_env(s, "WORD"), get_env(s, "ARRIVED"));
	*ret_escaped =
	    ran && run_script(s, escape->look, NULL, &(struct err){ 0 }) == 0;
	/* A row with nothing to see has changed nothing. */
	s->is_new = escape->deputy == NULL &&
	    (strcmp(escape->look, "true") == 0 ||
		(prefix != NULL && !*ret_escaped));
	return 0;
}
