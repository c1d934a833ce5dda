/* SPDX-License-Identifier: ISC */

/*
 * autod: the daemon that owns the workers. Runs in the foreground until it is
 * asked to stop, or for one request (--oneshot) while no daemon runs.
 */
#include "base.h"

#include <malloc.h>

#include "api.h"
#include "core.h"
#include "emit.h"
#include "autod-private.h"
#include "identity.h"
#include "life.h"
#include "loop.h"
#include "relay.h"
#include "root-mark.h"
#include "sibling.h"
#include "version.h"
#include "workspace.h"

#define LOG_SIZE (50 * 1024 * 1024)
#define LOG_KEEP 3
#define LARGE    (128 * 1024)

static const char usage[] =
    "usage: autod [--root DIR] [--oneshot]\n"
    "       autod [--root DIR] --auto [--until-empty] [--concurrency N]\n"
    "             [--task-pool-command CMD] [--post-accept-command CMD]\n"
    "       autod [--root DIR] --store-task check|export|import|sql\n"
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
	int r, status = parse(argc, argv, &options);

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
		if (life_restarts(floors.core))
			life_hand_on(floors.core, &again);
		floors_free(&floors);
	}
	log_attach(NULL);
	loop_free(loop);
	log_close();
	return again.count > 0 ? become_next(argv, &options, &again) : status;
}
