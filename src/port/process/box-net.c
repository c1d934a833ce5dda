/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

#include "box-net.h"
#include "box-paths.h"
#include "box-plan.h"
#include "box.h"
#include "child.h"
#include "client.h"
#include "loop.h"
#include "proxy-request.h"
#include "proxy.h"
#include "sibling.h"
#include "workspace.h"

#define REFUSALS_AGAIN_MS (60 * 60 * 1000)

#define REFUSALS_KEPT 64 /* hosts that are remembered */

#define REFUSALS_MINUTE_MS (60 * 1000)

#define REFUSALS_A_MINUTE 6

#define REFUSALS_METHOD "sandbox.refused"

#define TELL_MS 500

struct refusal {
	struct proxy_target target;
	int64_t at_ms; /* 0 = never */
};

struct refusals {
	char *worker, *socket;
	struct refusal list[REFUSALS_KEPT];
	int64_t minute_ms; /* when the running minute began */
	int in_minute;
};

#define LANDLOCK_VERSION 1u
#define LANDLOCK_SCOPES  6 /* the ABI that has them */

static char *
hosts_file(const struct workspace *workspace, const char *name)
{
	cleanup_free char *relative = xasprintf("box/%s/hosts", name);

	return workspace_path(workspace, relative);
}

int
box_net_prepare(const struct workspace *workspace, const char *name,
    const char *llmc, const char *const *hosts, bool tell, struct box_net *net,
    struct err *err)
{
	cleanup_free char *file = hosts_file(workspace, name);
	cleanup_free char *socket =
	    tell ? run_dir_socket(workspace, name) : xstrdup("");
	const char *const before[] = { llmc, "proxy", file, name, socket, "--",
		NULL };
	const char *const inner[] = { llmc, "inside", "--", NULL };
	int r;

	if (llmc == NULL)
		return err_set(err, -ENOENT,
		    "the sandbox needs llmc itself, and it was not found: put "
		    "it on PATH");
	r = outside_write_hosts(file, hosts, err);
	if (r < 0)
		return r;
	strv_add_all(&net->before, before);
	strv_add_all(&net->inner, inner);
	return 0;
}

/* Does it get rights of root by being executed? */
static bool
is_privileged(const char *program)
{
	struct stat st;

	return stat(program, &st) == 0 &&
	    ((st.st_mode & S_ISUID) != 0 ||
		getxattr(program, "security.capability", NULL, 0) > 0);
}

bool
box_net_can_scope(const char *bwrap)
{
	return syscall(SYS_landlock_create_ruleset, NULL, (size_t)0,
		   LANDLOCK_VERSION) >= LANDLOCK_SCOPES &&
	    (geteuid() == 0 || !is_privileged(bwrap));
}

bool
box_net_must_seal(const char *bwrap)
{
	struct stat st;

	return geteuid() == 0 || stat(bwrap, &st) == -1 || st.st_uid != 0 ||
	    (st.st_mode & (S_IWGRP | S_IWOTH)) != 0 ||
	    faccessat(AT_FDCWD, bwrap, W_OK, AT_EACCESS) == 0;
}

int
box_net_begin(
    const char *bwrap, bool share, struct box_net *ret_net, struct err *err)
{
	cleanup_free char *keeper = sibling_find("keeper");
	cleanup_free char *spare = xasprintf("%d", BOX_FILTER_FD);
	const char *const before[] = { keeper, "--bare", NULL };
	const char *const inner[] = { keeper, "--init", spare, "--", NULL };

	if (keeper == NULL)
		return err_set(err, -ENOENT,
		    "the sandbox needs the program keeper, which is not there: "
		    "it belongs beside llmc or into its libexec folder; "
		    "install llmc again");
	strv_add_all(&ret_net->before, before);
	if (share && box_net_can_scope(bwrap))
		strv_add(&ret_net->before, "--no-abstract");
	strv_add(&ret_net->before, "--filter");
	strv_add(&ret_net->before, spare);
	if (box_net_must_seal(bwrap)) {
		strv_add(&ret_net->before, "--seal");
		strv_take(
		    &ret_net->before, xasprintf("%d:%s", BOX_BWRAP_FD, bwrap));
		ret_net->bwrap = xasprintf("/proc/self/fd/%d", BOX_BWRAP_FD);
	} else {
		ret_net->bwrap = xstrdup(bwrap);
	}
	strv_add(&ret_net->before, "--");
	strv_add_all(&ret_net->inner, inner);
	return 0;
}

void
box_net_refresh(const struct workspace *workspace, const char *name,
    const char *const *hosts)
{
	cleanup_free char *file = hosts_file(workspace, name);

	/* If it fails, the old rules stay until the next launch. */
	if (file_exists(file))
		outside_write_hosts(file, hosts, NULL);
}

void
box_net_release(struct box_net *net)
{
	strv_clear(&net->before);
	strv_clear(&net->inner);
	free(take_ptr(&net->bwrap));
}

/* The entry of this target, or the oldest one. */
static struct refusal *
find(struct refusals *refusals, const struct proxy_target *target)
{
	struct refusal *oldest = &refusals->list[0];

	for (size_t i = 0; i < REFUSALS_KEPT; i++) {
		struct refusal *refusal = &refusals->list[i];

		if (refusal->at_ms != 0 &&
		    refusal->target.port == target->port &&
		    strcmp(refusal->target.host, target->host) == 0)
			return refusal;
		if (refusal->at_ms < oldest->at_ms)
			oldest = refusal;
	}
	oldest->at_ms = 0;
	return oldest;
}

static bool
has_time(struct refusals *refusals, int64_t now)
{
	if (refusals->minute_ms == 0 ||
	    now - refusals->minute_ms >= REFUSALS_MINUTE_MS) {
		refusals->minute_ms = now;
		refusals->in_minute = 0;
	}
	return refusals->in_minute++ < REFUSALS_A_MINUTE;
}

/* May wait for a moment for a daemon that is busy; one that does not run
 * learns nothing. */
static void
refusals_add(struct refusals *refusals, const struct proxy_target *target)
{
	int64_t now = clock_mono_ms() + 1; /* never 0 */
	struct refusal *refusal = find(refusals, target);
	cleanup_json struct json_object *params = NULL;

	if (refusals->socket[0] == '\0' ||
	    (refusal->at_ms != 0 && now - refusal->at_ms < REFUSALS_AGAIN_MS) ||
	    !has_time(refusals, now))
		return;
	params = json_object_new_object();
	json_set_string(params, "worker", refusals->worker);
	json_object_object_add(
	    params, "host", json_object_new_string(target->host));
	json_object_object_add(
	    params, "port", json_object_new_int((int)target->port));
	if (client_call(refusals->socket, REFUSALS_METHOD, params, TELL_MS,
		false, NULL, NULL, NULL) < 0)
		return;
	refusal->target = *target;
	refusal->at_ms = now;
}

#define HOSTS_MAX (1024 * 1024)

_Static_assert(
    BOX_FILTER_FD == INSIDE_FD + 1 && BOX_BWRAP_FD == BOX_FILTER_FD + 1,
    "all are passed on, and only the first one into the box");

struct serving {
	const struct outside *outside;
	struct stat seen; /* of the file, when it was read */
	char **rules;
	struct refusals *refusals;
};

static char **
split_lines(const char *text)
{
	char **list = NULL;

	while (*text != '\0') {
		size_t len = strcspn(text, "\n");

		if (len > 0)
			strv_take(&list, xstrndup(text, len));
		text += len + (text[len] == '\n' ? 1 : 0);
	}
	return list;
}

/* A file that is gone or cannot be read allows nothing. */
static const char *const *
current_rules(void *arg)
{
	struct serving *serving = arg;
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_strv char **hosts = NULL;
	struct stat now = { 0 };

	if (stat(serving->outside->hosts, &now) == 0 &&
	    file_is_same(&now, &serving->seen) && serving->rules != NULL)
		return strv_const(serving->rules);
	strv_clear(&serving->rules);
	serving->seen = now;
	if (file_read(serving->outside->hosts, HOSTS_MAX, &text, NULL) < 0)
		return strv_const(NULL);
	hosts = split_lines(text.data);
	serving->rules = proxy_rules_effective(
	    strv_const(hosts), getenv("ANTHROPIC_BASE_URL"));
	return strv_const(serving->rules);
}

static void
on_refused(const struct proxy_target *target, void *arg)
{
	struct serving *serving = arg;

	refusals_add(serving->refusals, target);
}

/* The listening socket of the box; negative: none came. */
static int
receive_listener(int channel)
{
	struct pollfd p = { .fd = channel, .events = POLLIN };
	char text[FD_CHANNEL_TEXT_SIZE];
	int listener = -1, r;

	do
		r = poll(&p, 1, -1) == -1 && errno != EINTR ?
		    -errno :
		    fd_channel_receive(channel, text, &listener);
	while (r == -EAGAIN);
	return listener;
}

/* Ends with the process. */
static int
serve(const struct outside *outside, int channel)
{
	struct serving serving = { .outside = outside };
	const struct proxy_options options = {
		.rules = current_rules,
		.refused = on_refused,
		.arg = &serving,
	};
	struct loop *loop = loop_new();
	struct proxy *proxy;
	int listener = receive_listener(channel);
	const char *worker;
	const char *socket;
	struct refusals *refusals;

	if (listener < 0)
		return 1;
	proxy = proxy_new(loop, listener, &options, NULL);
	if (proxy == NULL)
		return 1;
	/* socket "": refusals are not reported. */
	worker = outside->worker;
	socket = outside->socket;
	refusals = xcalloc(1, sizeof *refusals);
	refusals->worker = xstrdup(worker);
	refusals->socket = xstrdup(socket);
	serving.refusals = refusals;
	if (send(channel, "k", 1, MSG_NOSIGNAL) != 1)
		return 1;
	fd_close(channel);
	return loop_run(loop);
}

/* Nothing of the pane or of the box is held by the proxy. */
static int
leave(int channel)
{
	cleanup_fd int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null == -1 || chdir("/") == -1)
		return -errno;
	for (int fd = 0; fd <= 2; fd++)
		if (dup2(null, fd) == -1)
			return -errno;
	/* The channel becomes 3; the rest is closed. */
	if (channel != 3 && dup2(channel, 3) == -1)
		return -errno;
	take_fd(&null);
	return close_range(4, ~0U, 0) == -1 ? -errno : 0;
}

int
outside_exec(const struct outside *outside, char *const *argv, struct err *err)
{
	pid_t parent = getpid(), pid;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == -1)
		return err_errno(err, -errno, "socketpair");
	pid = fork();
	if (pid == -1)
		return err_errno(err, -errno, "the sandbox's proxy: fork");
	if (pid == 0) {
		int channel = ends[0];
		static const int ignored[] = { SIGPIPE, SIGHUP, SIGINT,
			SIGQUIT };

		/* It ends when the process that becomes bwrap ends. */
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) == -1 ||
		    getppid() != parent)
			_exit(1);
		setsid();
		for (size_t i = 0; i < nitems(ignored); i++)
			signal(ignored[i], SIG_IGN);
		prctl(PR_SET_NAME, "llmc-proxy");
		if (leave(channel) < 0)
			_exit(1);
		_exit(serve(outside, 3));
	}
	fd_close(ends[0]);
	/* Without close-on-exec. */
	if (dup2(ends[1], INSIDE_FD) == -1)
		return err_errno(err, -errno, "dup2");
	if (ends[1] == INSIDE_FD)
		fcntl(INSIDE_FD, F_SETFD, 0);
	/* Nothing else is for a box, but its filter and its bwrap. */
	close_range(STDERR_FILENO + 1, INSIDE_FD - 1, 0);
	close_range(BOX_BWRAP_FD + 1, ~0U, 0);
	execvp(argv[0], argv);
	return err_errno(err, -errno, "cannot start %s", argv[0]);
}

int
outside_write_hosts(const char *file, const char *const *hosts, struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT, old = BUF_INIT;

	for (; hosts != NULL && *hosts != NULL; hosts++)
		buf_addf(&text, "%s\n", *hosts);
	if (file_read(file, HOSTS_MAX, &old, NULL) == 0 &&
	    strcmp(old.data, text.data) == 0)
		return 0;
	return file_replace(file, text.data, text.len, 0600, err);
}

#define BACKLOG 128

static int
listen_inside(unsigned port, struct err *err)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	cleanup_fd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int on = 1;

	if (fd == -1)
		return err_errno(err, -errno, "the sandbox has no network");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(fd, (struct sockaddr *)&address, sizeof address) == -1 ||
	    listen(fd, BACKLOG) == -1)
		return err_errno(
		    err, -errno, "the sandbox: 127.0.0.1:%u", port);
	return take_fd(&fd);
}

static int
hand_over(int channel, int fd, struct err *err)
{
	struct pollfd p = { .fd = channel, .events = POLLIN };
	char byte;
	int r = fd_channel_send(channel, "L", fd);

	if (r < 0)
		return err_errno(err, r, "the sandbox's proxy is not there");
	do
		r = poll(&p, 1, INSIDE_WAIT_MS);
	while (r == -1 && errno == EINTR);
	if (r == 0)
		return err_set(
		    err, -ETIMEDOUT, "the sandbox's proxy does not answer");
	if (recv(channel, &byte, 1, 0) != 1)
		return err_set(
		    err, -ECONNRESET, "the sandbox's proxy has ended");
	return 0;
}

/* A server inside the box is reached without the proxy; the API is not, even
 * where it is a gateway on the loopback of the host. */
static void
set_exceptions(void)
{
	static const char *const local[] = { "localhost", "127.0.0.1", "::1" };
	const char *url = getenv("ANTHROPIC_BASE_URL");
	cleanup_buf struct buf list = BUF_INIT;

	for (size_t i = 0; i < nitems(local); i++) {
		if (url != NULL && strstr(url, local[i]) != NULL)
			continue;
		buf_addf(&list, "%s%s", list.len > 0 ? "," : "", local[i]);
	}
	setenv("NO_PROXY", list.data, 1);
	setenv("no_proxy", list.data, 1);
}

static void
set_variables(unsigned port)
{
	static const char *const names[] = { "HTTP_PROXY", "HTTPS_PROXY",
		"ALL_PROXY", "http_proxy", "https_proxy", "all_proxy" };
	cleanup_free char *url = xasprintf("http://127.0.0.1:%u", port);

	for (size_t i = 0; i < nitems(names); i++)
		setenv(names[i], url, 1);
	set_exceptions();
}

int
inside_exec(int channel, unsigned port, char *const *argv, struct err *err)
{
	cleanup_fd int fd = -1;
	int r;

	if (port == 0)
		port = INSIDE_PORT;
	fd = listen_inside(port, err);
	if (fd < 0)
		return fd;
	r = hand_over(channel, fd, err);
	if (r < 0)
		return r;
	fd_close(channel);
	set_variables(port);
	execvp(argv[0], argv);
	return err_errno(
	    err, -errno, "cannot start %s in the sandbox", argv[0]);
}
