/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "box-paths.h"
#include "box-plan.h"
#include "box-probe.h"
#include "child.h"
#include "sibling.h"

#define NUMBER_MAX 64 /* bytes of a file of the kernel with one number */
#define PROBE_MS   20000 /* it takes milliseconds, or more under load */

struct box_probe {
	struct child *child; /* NULL = it has ended */
	box_probe_fn *fn;
	void *arg;
};

char *
box_find_bwrap(void)
{
	const char *named = getenv("LLMC_BWRAP");

	return sibling_program(
	    named != NULL && named[0] != '\0' ? named : "bwrap");
}

/* The number in a file of the kernel; missing if there is none. */
static int64_t
kernel_number(const char *file, int64_t missing)
{
	cleanup_buf struct buf text = BUF_INIT;
	int64_t number;

	if (file_read(file, NUMBER_MAX, &text, NULL) < 0)
		return missing;
	buf_truncate(&text, strcspn(text.data, "\n"));
	return text_parse_int(text.data, 0, INT64_MAX, &number) ? number :
								  missing;
}

int
box_check(struct err *err)
{
	cleanup_free char *bwrap = box_find_bwrap();

	if (bwrap == NULL)
		return err_set(err, -ENOENT,
		    "the sandbox needs bubblewrap, and there is no bwrap on "
		    "PATH: install the package bubblewrap");
	if (kernel_number("/proc/sys/user/max_user_namespaces", 1) == 0)
		return err_set(err, -EPERM,
		    "the sandbox needs user namespaces, and they are turned "
		    "off; as root: sysctl -w "
		    "user.max_user_namespaces=15000");
	if (geteuid() != 0 &&
	    kernel_number("/proc/sys/kernel/unprivileged_userns_clone", 1) == 0)
		return err_set(err, -EPERM,
		    "the sandbox needs user namespaces, and only root has "
		    "them: sysctl kernel.unprivileged_userns_clone=1");
	return 0;
}

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
