/* SPDX-License-Identifier: ISC */

/*
 * A shell command whose result outlives us: it writes output and exit status
 * into files of a folder, so that a daemon that was killed meanwhile finds them
 * again, or the command still running. The command runs once, and its result is
 * known.
 *
 *   <dir>/<name>.lock    held (by an inherited descriptor) while it runs
 *   <dir>/<name>.pid     its process group, written before it begins
 *   <dir>/<name>.out     standard output; beyond ERRAND_OUT_MAX only its end
 *   <dir>/<name>.err     standard error, cut at ERRAND_ERR_MAX
 *   <dir>/<name>.status  its exit status, written last and atomically
 *   <dir>/<name>.json    what was run, and when: the errand itself; without it
 *                        the other files are leftovers
 *
 * `llmc errand` runs it (errand-run.h), below a keeper (sibling.h). The
 * command has /dev/null as standard input and runs in a session of its own.
 * When it has ended, everything that it started is ended, after at most a
 * second if that keeps its output open; so too if `llmc errand` is killed, and
 * half a minute after its deadline if no daemon has ended it.
 */
#ifndef ERRAND_H
#define ERRAND_H

struct err;
struct errand;
struct loop;

#define ERRAND_JSON     ".json"
#define ERRAND_JSON_MAX ((size_t)4 * 1024 * 1024)

char *errand_files_path(const char *stem, const char *suffix); /* to be freed */

#define ERRAND_OUT_MAX (1024 * 1024)
#define ERRAND_ERR_MAX (64 * 1024)

/* Of a longer output, the beginning and this much of the end are kept. */
#define ERRAND_TAIL_MAX (64 * 1024)

struct errand_spec {
	const char *dir; /* must exist; used for errands only */
	const char *name; /* letters, digits, '-' and '_' */
	const char *command; /* for /bin/sh -c; UTF-8, as cwd and env */
	const char *cwd; /* NULL = ours */
	const char *const *env; /* as in child.h */
	int64_t deadline_ms; /* from its start, also when it was adopted;
			      * above 0 */
};

struct errand_result {
	bool lost; /* it ended without a status: it was killed, the machine went
		    * down, or its output could not be written. Also after
		    * timed_out and cancelled, if SIGTERM was not enough. */
	bool timed_out;
	bool cancelled;
	int status; /* exit status, 128 + n for a signal; -1 if lost; 126 if it
		     * could not be started (no cwd, no llmc); err says why */
	bool cut; /* standard output was longer than ERRAND_OUT_MAX: something
		   * in the middle is missing, and out is the end of the rest */
	int64_t duration_ms;
	struct buf out, err;
};

/* Called once, from the loop; the result is valid until it returns, the errand
 * until the caller, its owner, frees it. The files stay until errand_forget().
 */
typedef void errand_fn(const struct errand_result *result, void *arg);

/* Begin. -EEXIST if there are files of that name: adopt or forget them. */
int errand_start(struct loop *loop, const struct errand_spec *spec,
    errand_fn *fn, void *arg, struct errand **ret_errand, struct err *err);
int errand_adopt(struct loop *loop, const struct errand_spec *spec,
    errand_fn *fn, void *arg, struct errand **ret_errand, struct err *err);

/* End it early: SIGTERM to its group, a grace period, SIGKILL. fn is still
 * called. */
void errand_cancel(struct errand *errand);

/* Free it without ending the command: fn is not called any more, and the next
 * daemon finds the files. For a daemon that ends. May be called from fn. */
void errand_free(struct errand *errand);

/* Remove its files. -EBUSY while it runs. It is no error if there are none. */
int errand_forget(const char *dir, const char *name, struct err *err);

/* The name of the first errand in dir, by name, copied into name (size bytes);
 * false if there is none. */
bool errand_find(const char *dir, char *name, size_t size);

#endif
