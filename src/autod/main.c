/* SPDX-License-Identifier: ISC */

/* autod: the daemon that owns the workers. Runs in the foreground until it is
 * asked to stop, or for one request (--oneshot) while no daemon runs. */

#include "base.h"

#include <malloc.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "api-work.h"
#include "api.h"
#include "autod-private.h"
#include "core.h"
#include "emit.h"
#include "identity.h"
#include "life.h"
#include "loop.h"
#include "persist.h"
#include "client.h"
#include "workspace.h"
#include "rpc.h"
#include "serve.h"
#include "sibling.h"
#include "version.h"

#define SETTLE_MS 5
/* Nothing takes longer than a job on the book, which has its own deadline; so
 * has our caller. */
#define DEADLINE_MS ((API_STORE_JOB_MS + API_STORE_WAIT_MS) / 2)

/* We act as server and client: the request goes through our own socket, so that
 * it is handled like any other call. */
struct oneshot {
	struct core *core;
	int fd;
	struct loop_watch *watch;
	struct loop_timer *settle, *deadline;
	struct buf answer;
	int status;
};

static bool
is_quiet(struct core *core)
{
	for (size_t i = 0; i < core->floor_count; i++)
		if (core->floors[i]->is_quiet != NULL &&
		    !core->floors[i]->is_quiet(core->floors[i]->self))
			return false;
	/* It does not wait for space on the disk either. */
	return persist_is_idle(core) || persist_ready(core, NULL) < 0;
}

/* The answer was printed, but what the call started must be finished and
 * saved. */
static void
oneshot_settle(void *arg)
{
	struct oneshot *o = arg;

	if (is_quiet(o->core))
		loop_stop(o->core->loop, o->status);
}

static void
oneshot_late(void *arg)
{
	struct oneshot *o = arg;

	fputs("autod: the request took too long\n", stderr);
	loop_stop(o->core->loop, 1);
}

static void
oneshot_read(int fd, unsigned what, void *arg)
{
	struct oneshot *o = arg;
	char bytes[65536];
	ssize_t n = read(fd, bytes, sizeof bytes);

	(void)what;
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0)
		buf_add(&o->answer, bytes, (size_t)n);
	if (n > 0 && memchr(bytes, '\n', (size_t)n) == NULL)
		return;
	loop_watch_free(take_ptr(&o->watch));
	o->status = n > 0 &&
		file_write_all(STDOUT_FILENO, o->answer.data, o->answer.len) ==
		    0 ?
	    0 :
	    1;
	o->settle = loop_every(o->core->loop, SETTLE_MS, oneshot_settle, o);
}

static int
oneshot_connect(struct oneshot *o, struct err *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	snprintf(
	    address.sun_path, sizeof address.sun_path, "%s", o->core->socket);
	o->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (o->fd == -1 ||
	    connect(o->fd, (struct sockaddr *)&address, sizeof address) == -1)
		return err_errno(err, -errno, "%s", o->core->socket);
	o->watch =
	    loop_watch_new(o->core->loop, o->fd, LOOP_READ, oneshot_read, o);
	return 0;
}

static int
read_request(struct buf *line)
{
	ssize_t n;

	do {
		buf_reserve(line, 65536);
		n = read(STDIN_FILENO, line->data + line->len, 65536);
		if (n > 0)
			buf_grew(line, (size_t)n);
	} while (n > 0 && line->len <= RPC_LINE_MAX);
	if (line->len == 0 || line->len > RPC_LINE_MAX)
		return -EINVAL;
	if (line->data[line->len - 1] != '\n')
		buf_addc(line, '\n');
	return 0;
}

int
oneshot_run(struct core *core)
{
	struct oneshot o = { .core = core, .fd = -1, .answer = BUF_INIT };
	cleanup_buf struct buf request = BUF_INIT;
	struct err err = { 0 };
	int status = 1;

	if (read_request(&request) < 0) {
		fputs("autod: no request on standard input\n", stderr);
		return 2;
	}
	if (serve_listen(core, &err) == 0 && oneshot_connect(&o, &err) == 0 &&
	    file_write_all(o.fd, request.data, request.len) == 0) {
		o.deadline =
		    loop_after(core->loop, DEADLINE_MS, oneshot_late, &o);
		status = loop_run(core->loop);
	} else {
		fprintf(stderr, "autod: %s\n", err.msg);
	}
	loop_watch_free(o.watch);
	loop_timer_free(o.settle);
	loop_timer_free(o.deadline);
	fd_close(o.fd);
	buf_release(&o.answer);
	return status;
}

#define LOG_SIZE (50 * 1024 * 1024)
#define LOG_KEEP 3
#define LARGE    (128 * 1024)

static const char usage[] =
    "usage: autod [--root DIR] [--oneshot]\n"
    "       autod [--root DIR] --auto [--until-empty] [--concurrency N]\n"
    "             [--task-pool-command CMD] [--post-accept-command CMD]\n"
    "       autod [--root DIR] --store-task check|copy|export|import|sql\n"
    "             [--file FILE] [--sql QUERY]\n"
    "       autod [--root DIR] --look WHAT\n"
    "       autod [--root DIR] --fleet VERB [--owner URL] [--host HOST] "
    "[--undo]\n"
    "       autod [--root DIR] --rebuild\n"
    "       autod --help | --version\n";

struct options {
	const char *root;
	struct core_options core;
	struct store_task store; /* name NULL = none */
	const char *look; /* look.h; NULL = nothing */
	struct fleet_task fleet; /* verb NULL = none */
	bool rebuild;
};

/* Parse the option at argv[i]; returns the number of words used, 0 =
 * unknown. */
static int
take_option(int argc, char **argv, int i, struct options *options)
{
	const struct {
		const char *name;
		bool *flag;
		const char **value;
	} table[] = {
		{ "--oneshot", &options->core.oneshot, NULL },
		{ "--auto", &options->core.auto_mode, NULL },
		{ "--until-empty", &options->core.until_empty, NULL },
		{ "--rebuild", &options->rebuild, NULL },
		{ "--root", NULL, &options->root },
		{ "--look", NULL, &options->look },
		{ "--fleet", NULL, &options->fleet.verb },
		{ "--host", NULL, &options->fleet.host },
		{ "--undo", &options->fleet.undo, NULL },
		{ "--store-task", NULL, &options->store.name },
		{ "--file", NULL, &options->store.file },
		{ "--sql", NULL, &options->store.sql },
		{ "--owner", NULL, &options->store.owner },
		{ "--concurrency", NULL, &options->core.concurrency },
		{ "--task-pool-command", NULL,
		    &options->core.task_pool_command },
		{ "--post-accept-command", NULL,
		    &options->core.post_accept_command },
	};

	for (size_t j = 0; j < nitems(table); j++) {
		if (strcmp(argv[i], table[j].name) != 0)
			continue;
		if (table[j].flag != NULL) {
			*table[j].flag = true;
			return 1;
		}
		if (i + 1 == argc)
			return 0;
		*table[j].value = argv[i + 1];
		return 2;
	}
	return 0;
}

/* -1 = continue, else the exit status. */
static int
parse(int argc, char **argv, struct options *options)
{
	int taken;

	for (int i = 1; i < argc; i += taken) {
		if (strcmp(argv[i], "--version") == 0) {
			puts("autod " LLMC_VERSION);
			return 0;
		}
		if (strcmp(argv[i], "--help") == 0) {
			printf("%sautod owns the workers of a repository "
			       "while it runs. llmc up starts it; see "
			       "autod(8).\n",
			    usage);
			return 0;
		}
		taken = take_option(argc, argv, i, options);
		if (taken == 0) {
			fprintf(stderr, "autod: %s: invalid option\n%s",
			    argv[i], usage);
			return 2;
		}
	}
	return -1;
}

static int
fail(const struct err *err)
{
	fprintf(stderr, "autod: %s\n", err->msg);
	return 1;
}

static int
run_daemon(struct core *core)
{
	struct err err = { 0 };
	char words[16];
	int status;

	/* Transcripts and answers are large and short-lived: their memory goes
	 * back to the kernel, instead of staying as holes in the heap. */
	mallopt(M_MMAP_THRESHOLD, LARGE);
	mallopt(M_TRIM_THRESHOLD, LARGE);
	if (life_begin(core, &err) < 0)
		return fail(&err);
	EMIT(core, EVENT_DAEMON_OWNS, .text = LLMC_VERSION,
	    .path = core->workspace->root);
	status = loop_run(core->loop);
	snprintf(words, sizeof words, "%d", status);
	EMIT(core, EVENT_DAEMON_ENDS, .status = words);
	return status;
}

/* What an agent starts is not the people's. A single request is checked as any
 * call is. repairs: the repair session may. */
static int
check_starter(const struct workspace *workspace, bool repairs, struct err *err)
{
	cleanup_free char *session = NULL;

	return identity_own(workspace, &session) == 1 &&
		!(repairs && strcmp(session, CALLER_REPAIR) == 0) ?
	    err_set(err, -EPERM,
		"agents may not start autod; this is the session of %s",
		session) :
	    0;
}

/* llmc restart. The channel to the overseer goes on. */
static int
become_next(
    char **argv, const struct options *options, const struct restart *again)
{
	cleanup_free char *program = sibling_find("autod");
	struct err err = { 0 };

	fd_channel_hand_on(options->core.overseer);
	err_errno(&err,
	    program == NULL ? -ENOENT : restart_become(program, argv, again),
	    "autod cannot be started again");
	return fail(&err);
}

int
main(int argc, char **argv)
{
	struct options options = { .root = getenv("LLMC_ROOT") };
	cleanup_workspace struct workspace workspace = { 0 };
	cleanup_free char *log = NULL;
	struct floors floors = { 0 };
	struct restart again = { 0 };
	struct loop *loop;
	struct err err = { 0 };
	int r, status;

	fatal_on(log_fatal);
	status = parse(argc, argv, &options);
	if (status >= 0)
		return status;
	restart_taken(&options.core.restart);
	options.core.overseer = fd_channel_inherited();
	/* Started from a console: what we start is not that session's. */
	unsetenv("LLMC_KEEPER");
	if ((options.root != NULL ?
		    workspace_at(options.root, &workspace, &err) :
		    workspace_find(".", &workspace, &err)) < 0)
		return fail(&err);
	/* What only looks runs nothing that the settings say. */
	if (options.look != NULL)
		return look_run(&workspace, options.look);
	if (root_mark_check(&workspace, &err) < 0)
		return fail(&err);
	if (!options.core.oneshot &&
	    check_starter(&workspace, options.rebuild, &err) < 0)
		return fail(&err);
	if (options.rebuild)
		return store_rebuild(&workspace);
	if (options.fleet.verb != NULL) {
		options.fleet.owner = options.store.owner;
		return fleet_task_run(&workspace, &options.fleet);
	}
	if (options.store.name != NULL)
		return store_task_run(&workspace, &options.store);
	log = workspace_path(&workspace, "logs/autod.log");
	r = log_open(&(struct log_options){ .component = "autod",
	    .path = log,
	    .max_size = LOG_SIZE,
	    .keep = LOG_KEEP,
	    .terminal = !options.core.oneshot,
	    .colour = isatty(STDERR_FILENO),
	    .level = LOG_LEVEL_INFO });
	if (file_is_misplaced(r)) {
		err_set(&err, r, "%s: %s", log, file_strerror(r));
		return fail(&err);
	}
	loop = loop_new();
	log_attach(loop);
	if (floors_build(&floors, loop, &workspace, &options.core, &err) < 0) {
		status = fail(&err);
	} else {
		status = options.core.oneshot ? oneshot_run(floors.core) :
						run_daemon(floors.core);
		if (floors.core->restarts)
			life_hand_on(floors.core, &again);
		floors_free(&floors);
	}
	log_attach(NULL);
	loop_free(loop);
	log_close();
	return again.count > 0 ? become_next(argv, &options, &again) : status;
}
