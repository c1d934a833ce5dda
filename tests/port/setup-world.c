/* SPDX-License-Identifier: ISC */

#include "setup-world.h"

struct setup_world *
setup_world_new(void)
{
	struct setup_world *w = xcalloc(1, sizeof *w);

	w->repo = repo_new(false);
	ck_assert_int_eq(repo_add(w->repo), 0);
	w->stamp = file_join(w->repo->base, "ann.setup");
	w->spec = (struct setup_spec){ .git = w->repo->git,
		.worktree = w->repo->dir,
		.stamp = w->stamp,
		.copy_files = w->files,
		.command = "",
		.timeout_ms = 20000 };
	return w;
}

void
setup_world_cleanup(struct setup_world **w)
{
	setup_free((*w)->setup);
	repo_free((*w)->repo);
	free((*w)->stamp);
	free(*w);
}

void
setup_world_done(const struct err *err, void *arg)
{
	struct setup_world *w = arg;

	ck_assert_msg(!w->done, "called twice");
	w->done = true;
	if (err != NULL)
		w->err = *err;
	setup_free(take_ptr(&w->setup));
	loop_stop(w->repo->loop, 0);
}

void
setup_world_guard(void *arg)
{
	(void)arg;
	ck_abort_msg("the worktree is not ready in time");
}

int
setup_world_run(struct setup_world *w)
{
	struct loop_timer *timer =
	    loop_after(w->repo->loop, 30000, setup_world_guard, NULL);

	w->done = false;
	w->err = (struct err){ 0 };
	w->setup = setup_begin(&w->spec, setup_world_done, w);
	ck_assert_msg(!w->done, "called from setup_begin");
	loop_run(w->repo->loop);
	loop_timer_free(timer);
	ck_assert(w->done);
	return w->err.code;
}

void
setup_world_ready(struct setup_world *w)
{
	ck_assert_msg(setup_world_run(w) == 0, "%s", w->err.msg);
	ck_assert(!setup_is_due(&w->spec));
}

void
setup_world_fails(struct setup_world *w, int code, const char *words)
{
	ck_assert_int_eq(setup_world_run(w), code);
	ck_assert_msg(strstr(w->err.msg, words) != NULL, "%s", w->err.msg);
	ck_assert(!file_exists(w->stamp));
	ck_assert(setup_is_due(&w->spec));
}
