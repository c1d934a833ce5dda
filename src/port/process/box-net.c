/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "box-net.h"
#include "box-plan.h"
#include "errtext.h"
#include "file.h"
#include "mem.h"
#include "outside.h"
#include "run-dir.h"
#include "sibling.h"
#include "strv.h"
#include "workspace.h"

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
