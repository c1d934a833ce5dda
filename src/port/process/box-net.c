/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>

#include "box-net.h"
#include "errtext.h"
#include "file.h"
#include "mem.h"
#include "outside.h"
#include "run-dir.h"
#include "strv.h"
#include "workspace.h"

static char *
hosts_file(const struct workspace *workspace, const char *name)
{
	cleanup_free char *relative = xasprintf("box/%s/hosts", name);

	return workspace_path(workspace, relative);
}

int
box_net_prepare(const struct workspace *workspace, const char *name,
    const char *llmc, const char *const *hosts, bool tell,
    struct box_net *ret_net, struct err *err)
{
	cleanup_free char *file = hosts_file(workspace, name);
	cleanup_free char *socket =
	    tell ? run_dir_socket(workspace, name) : xstrdup("");
	const char *const before[] = { llmc, "proxy", file, name, socket, "--",
		NULL };
	const char *const inner[] = { llmc, "inside", "--", NULL };
	struct box_net net = { 0 };
	int r;

	if (llmc == NULL)
		return err_set(err, -ENOENT,
		    "the sandbox needs llmc itself, and it was not found: put "
		    "it on PATH");
	r = outside_write_hosts(file, hosts, err);
	if (r < 0)
		return r;
	strv_add_all(&net.before, before);
	strv_add_all(&net.inner, inner);
	*ret_net = net;
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
