/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "keeper-cgroup.h"
#include "keeper-inner.h"
#include "keeper-namespace.h"
#include "keeper-proc.h"
#include "keeper-program.h"
#include "keeper-reaper.h"
#include "keeper-scope.h"
#include "keeper.h"

/* The ends of the two pipes. The inner process closes the keeper's, so that it
 * reads an end of file when the keeper is gone. */
static int go_read = -1, go_write = -1; /* keeper to inner: one byte a step */
static int said_read = -1, said_write = -1; /* inner to keeper: an errno */

static void
close_pipes(void)
{
	int *const ends[] = { &go_read, &go_write, &said_read, &said_write };

	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
		if (*ends[i] >= 0)
			close(*ends[i]);
		*ends[i] = -1;
	}
}

static int
open_pipes(void)
{
	int go[2], said[2];

	if (pipe2(go, O_CLOEXEC) == -1)
		return -errno;
	go_read = go[0];
	go_write = go[1];
	if (pipe2(said, O_CLOEXEC) == -1) {
		close_pipes();
		return -EMFILE;
	}
	said_read = said[0];
	said_write = said[1];
	return 0;
}

/* --- in the inner process -------------------------------------------- */

static void
wait_for_keeper(const struct keeper *keeper)
{
	char byte;

	if (read(go_read, &byte, 1) == 1)
		return;
	/* It is gone, or has failed. */
	keeper_cgroup_leave();
	keeper_cgroup_remove(keeper);
	_exit(KEEPER_FAILED);
}

static int
prepare(const struct keeper *keeper)
{
	bool namespace = keeper->mode == KEEPER_NAMESPACE;
	int r = 0;

	/* The end of an init ends its namespace. Elsewhere we must do it. */
	if (prctl(PR_SET_PDEATHSIG, namespace ? SIGKILL : KEEPER_ORPHANED) ==
	    -1)
		return -errno;
	if (namespace)
		return keeper_namespace_mount();
	if (keeper->mode == KEEPER_SCOPE)
		r = keeper_scope_check();
	return r == 0 ? keeper_reaper_begin() : r;
}

static _Noreturn void
inner(const struct keeper *keeper)
{
	int r;

	close(go_write);
	close(said_read);
	wait_for_keeper(keeper);
	r = prepare(keeper);
	if (write(said_write, &r, sizeof r) != sizeof r)
		_exit(KEEPER_FAILED);
	wait_for_keeper(keeper);
	keeper_program_run(keeper);
}

/* --- in the keeper ---------------------------------------------------- */

static void
give_up(struct keeper *keeper)
{
	close_pipes();
	kill(keeper->inner, SIGKILL);
	waitpid(keeper->inner, NULL, 0);
	keeper->inner = 0;
}

static int
let_prepare(struct keeper *keeper)
{
	int r = 0, said;

	if (keeper->mode == KEEPER_NAMESPACE)
		r = keeper_namespace_map(keeper->inner);
	if (r == 0 && keeper->cgroup != NULL)
		r = keeper_cgroup_add(keeper, keeper->inner);
	if (r < 0)
		return r;
	keeper_inner_go(keeper);
	if (read(said_read, &said, sizeof said) != sizeof said)
		return -ECHILD;
	return said;
}

int
keeper_inner_start(struct keeper *keeper)
{
	int r = open_pipes();

	if (r < 0)
		return r;
	keeper->inner =
	    keeper->mode == KEEPER_NAMESPACE ? keeper_namespace_fork() : fork();
	if (keeper->inner == 0)
		inner(keeper);
	if (keeper->inner < 0) {
		r = keeper->inner == -1 ? -errno : keeper->inner;
		close_pipes();
		return r;
	}
	close(said_write);
	close(go_read);
	said_write = go_read = -1;
	r = let_prepare(keeper);
	if (r < 0)
		give_up(keeper);
	return r;
}

void
keeper_inner_go(const struct keeper *keeper)
{
	(void)keeper;
	if (write(go_write, "", 1) == -1)
		return; /* it is gone, which we shall see */
}

/* --- both -------------------------------------------------------------- */

void
keeper_inner_say(int number)
{
	if (write(said_write, &number, sizeof number) == -1)
		return; /* the keeper is gone */
}

bool
keeper_inner_hear(int *ret_number)
{
	return read(said_read, ret_number, sizeof *ret_number) ==
	    sizeof *ret_number;
}
