/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

#include "box-net.h"
#include "box-paths.h"
#include "box-plan.h"
#include "box.h"
#include "child.h"
#include "outside.h"
#include "run-dir.h"
#include "sibling.h"
#include "workspace.h"

#define PROBE_MS 20000 /* it takes milliseconds, or more under load */

struct box_probe {
	struct child *child; /* NULL = it has ended */
	box_probe_fn *fn;
	void *arg;
};

/* 0, or the fault in words. */
static int
judge(const struct child_result *result, struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT, how = BUF_INIT;
	const struct box_fault *fault;

	if (child_succeeded(result))
		return 0;
	child_output_text(&result->out, &text);
	child_output_text(&result->err, &text);
	child_result_describe(result, &how);
	fault = box_fault_find(text.len > 0 ? text.data : how.data);
	return err_set(err, -EPERM, "the sandbox cannot be made: %s; %s",
	    fault->cause, fault->fix);
}

static void
on_exited(const struct child_result *result, void *arg)
{
	struct box_probe *probe = arg;
	struct err err = { 0 };
	int r = judge(result, &err);

	probe->child = NULL;
	probe->fn(r < 0 ? &err : NULL, probe->arg); /* may free it */
}

int
box_probe_start(struct loop *loop, const char *const *prefix, box_probe_fn *fn,
    void *arg, struct box_probe **ret_probe, struct err *err)
{
	cleanup_strv char **argv = strv_copy(prefix);
	struct box_probe *probe = xcalloc(1, sizeof *probe);
	struct child_spec spec = { .deadline_ms = PROBE_MS };
	int r;

	strv_add(&argv, "true");
	spec.argv = strv_const(argv);
	probe->fn = fn;
	probe->arg = arg;
	r = child_spawn(loop, &spec, on_exited, probe, &probe->child, err);
	if (r < 0)
		free(probe);
	else
		*ret_probe = probe;
	return r;
}

void
box_probe_free(struct box_probe *probe)
{
	if (probe == NULL)
		return;
	if (probe->child != NULL)
		child_abandon(probe->child);
	free(probe);
}

int
box_probe_run(struct err *err)
{
	static const char *const temporary[] = { "/tmp", NULL };
	cleanup_free char *bwrap = box_find_bwrap();
	struct box_paths paths = { 0 };
	struct box_facts facts = {
		.mode = BOX_WORKTREE, .bwrap = bwrap, .temporary = temporary
	};
	cleanup_strv char **argv = NULL;
	struct child_spec spec = { .deadline_ms = PROBE_MS };
	cleanup_child_result struct child_result result;
	int r;

	child_result_init(&result);
	if (bwrap == NULL)
		return box_check(err);
	box_paths_begin(&paths);
	box_paths_show_program(&paths, "true"); /* wherever PATH has it */
	facts.machine = strv_const(paths.machine);
	facts.programs = strv_const(paths.shown);
	facts.links = paths.links;
	argv = box_plan(&facts);
	box_paths_release(&paths);
	strv_add(&argv, "true");
	spec.argv = strv_const(argv);
	r = child_run(&spec, &result, err);
	return r < 0 ? r : judge(&result, err);
}

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

int
box_net_begin(
    const char *bwrap, bool share, struct box_net *ret_net, struct err *err)
{
	cleanup_free char *keeper = sibling_find("keeper");
	const char *const before[] = { keeper, "--bare", NULL };

	if (keeper == NULL)
		return err_set(err, -ENOENT,
		    "the sandbox needs the program keeper, which is not there: "
		    "it belongs beside llmc or into its libexec folder; "
		    "install llmc again");
	strv_add_all(&ret_net->before, before);
	if (share && box_net_can_scope(bwrap))
		strv_add(&ret_net->before, "--no-abstract");
	strv_add(&ret_net->before, "--filter");
	strv_take(&ret_net->before, xasprintf("%d", BOX_FILTER_FD));
	strv_add(&ret_net->before, "--");
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
}
