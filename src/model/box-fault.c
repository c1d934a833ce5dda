/* SPDX-License-Identifier: ISC */

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "box-fault.h"
#include "mem.h"

#define ALLOW_USER_NAMESPACES                                                \
	"as root: sysctl -w user.max_user_namespaces=15000 (on Debian also " \
	"kernel.unprivileged_userns_clone=1); in a container, ask whoever "  \
	"runs it to allow user namespaces"

/* All the parts must be in the text; the first row that matches counts. */
static const struct row {
	const char *part, *also; /* also: NULL = one part */
	struct box_fault fault;
} rows[] = {
	{ "bwrap: No such file or directory", NULL,
	    { "bubblewrap is not installed",
		"install it, on Debian with: apt-get install bubblewrap" } },
	{ "bwrap: not found", NULL,
	    { "bubblewrap is not installed",
		"install it, on Debian with: apt-get install bubblewrap" } },
	{ "Can't mount proc on", NULL,
	    { "this container hides parts of /proc, so that no new one can be "
	      "mounted",
		"run the container with an unmasked /proc (docker run "
		"--security-opt systempaths=unconfined)" } },
	{ "Creating new namespace failed", "No space left on device",
	    { "user namespaces are switched off (user.max_user_namespaces is "
	      "0, or all of them are in use)",
		ALLOW_USER_NAMESPACES } },
	{ "Creating new namespace failed", NULL,
	    { "this machine or container does not allow user namespaces",
		ALLOW_USER_NAMESPACES } },
	{ "No permissions to create", "namespace",
	    { "this machine does not allow user namespaces to "
	      "ordinary users",
		ALLOW_USER_NAMESPACES } },
	{ "setting up uid map", NULL,
	    { "AppArmor restricts user namespaces, as on Ubuntu 24.04 and "
	      "later",
		"add an AppArmor profile for bwrap (Ubuntu: apt-get install "
		"apparmor-profiles, then enable bwrap-userns-restrict), or as "
		"root: sysctl -w "
		"kernel.apparmor_restrict_unprivileged_userns=0" } },
	{ "RTM_NEWADDR", NULL,
	    { "AppArmor does not let a sandbox set up its network, as on "
	      "Ubuntu 24.04 and later",
		"add an AppArmor profile for bwrap (Ubuntu: apt-get install "
		"apparmor-profiles, then enable bwrap-userns-restrict), or as "
		"root: sysctl -w "
		"kernel.apparmor_restrict_unprivileged_userns=0" } },
	{ "Can't mkdir", "Read-only file system",
	    { "a folder that the sandbox needs is missing, and cannot be "
	      "created where everything is read-only",
		"create the folder that the message names, and try again" } },
	{ "Can't find source path", NULL,
	    { "a folder or file that the sandbox shows does not exist",
		"create it, or remove it from defaults.sandbox_read and "
		"defaults.sandbox_write" } },
	{ "PR_SET_SECCOMP", NULL,
	    { "this kernel or container has no filters of system calls",
		"use a kernel with seccomp filters; in a container, ask "
		"whoever runs it to allow seccomp" } },
	{ "Unknown option", NULL,
	    { "bubblewrap is too old", "install version 0.5 or later" } },
	{ "Operation not permitted", NULL,
	    { "the kernel or a container does not allow bubblewrap to mount",
		ALLOW_USER_NAMESPACES } },
};

static const struct box_fault unknown = { "bubblewrap failed",
	"see its message; llmc doctor --sandbox tries again" };

const struct box_fault *
box_fault_find(const char *text)
{
	for (size_t i = 0; i < nitems(rows); i++)
		if (strstr(text, rows[i].part) != NULL &&
		    (rows[i].also == NULL ||
			strstr(text, rows[i].also) != NULL))
			return &rows[i].fault;
	return &unknown;
}
