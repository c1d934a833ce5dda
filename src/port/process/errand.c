/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <signal.h>
#include <sys/stat.h>

#include "child.h"
#include "errand.h"
#include "loop.h"
#include "procref.h"
#include "sibling.h"

/* Continue one that an earlier process began, running or ended; spec gives dir,
 * name and deadline. -ENOENT if there is none, -EINVAL if its .json cannot be
 * understood: forget it. One that had not been started yet (we died in between)
 * is started now, with the command in the .json. Checks every ERRAND_LOOK_MS
 * whether the status is there or the lock was released. */
#define ERRAND_LOOK_MS 50

#define SMALL_MAX 32 /* of .pid and .status */

/* All files but the .json. */
static const char *const errand_suffixes[] = { ".pid", ".pid.tmp", ".status",
	".status.tmp", ".out", ".err", ".lock" };

char *
errand_files_path(const char *stem, const char *suffix)
{
	return xasprintf("%s%s", stem, suffix);
}

static bool
errand_files_exists(const char *stem, const char *suffix)
{
	cleanup_free char *path = errand_files_path(stem, suffix);

	return file_exists(path);
}

/* Letters, digits, '-' and '_'? */
static bool
errand_files_is_name(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789-_";

	return *name != '\0' && name[strspn(name, letters)] == '\0';
}

/* The stem, absolute, because the command may run elsewhere; the caller frees
 * it. -EINVAL for an invalid name, -ENOENT and others for dir. */
static int
errand_files_stem(
    const char *dir, const char *name, char **ret_stem, struct err *err)
{
	cleanup_free char *real = NULL;

	if (!errand_files_is_name(name))
		return err_set(err, -EINVAL,
		    "an errand's name may have only letters, digits, '-' and '_'");
	real = realpath(dir, NULL);
	if (real == NULL)
		return err_errno(err, -errno, "%s", dir);
	*ret_stem = file_join(real, name);
	return 0;
}

/* The number from 0 to max in a small file; -ENOENT, -EINVAL. */
static int
errand_files_number(
    const char *stem, const char *suffix, int64_t max, int64_t *ret)
{
	cleanup_free char *path = errand_files_path(stem, suffix);
	cleanup_buf struct buf text = BUF_INIT;
	int r = file_read(path, SMALL_MAX, &text, NULL);

	if (r < 0)
		return r;
	if (text.len > 0 && text.data[text.len - 1] == '\n')
		buf_truncate(&text, text.len - 1);
	return text_parse_int(text.data, 0, max, ret) ? 0 : -EINVAL;
}

/* Is the lock held? True also if it cannot be determined. */
static bool
errand_files_held(const char *stem)
{
	cleanup_free char *lock = errand_files_path(stem, ".lock");

	return lock_is_held(lock) != 0;
}

/* It is no error if it does not exist. */
static int
errand_files_remove_one(const char *stem, const char *suffix, struct err *err)
{
	cleanup_free char *path = errand_files_path(stem, suffix);

	if (unlink(path) == -1 && errno != ENOENT)
		return err_errno(err, -errno, "cannot remove %s", path);
	return 0;
}

/* Remove all but the .json. */
static int
errand_files_remove(const char *stem, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < nitems(errand_suffixes) && r == 0; i++)
		r = errand_files_remove_one(stem, errand_suffixes[i], err);
	return r;
}

#define GRACE_MS 5000
#define KILL_MS  5000 /* for a process that SIGKILL does not end */

/* The shell's status for what it cannot execute. */
#define STATUS_UNABLE "126\n"

struct errand {
	struct loop *loop;
	errand_fn *fn;
	void *arg;
	char *stem; /* dir/name */
	int64_t deadline_ms;
	int64_t started_ms; /* wall clock */
	struct child *child; /* ours; NULL for an adopted one */
	struct loop_timer *look; /* whether an adopted one has ended */
	struct loop_timer *timer; /* its deadline, then grace, then last wait */
	struct loop_call *ended; /* had ended when it was adopted */
	bool ending;
	struct errand_result result; /* without the output */
};

static void
errand_read_output(const struct errand *errand, const char *suffix, size_t max,
    struct buf *out, bool *ret_cut)
{
	cleanup_free char *path = errand_files_path(errand->stem, suffix);

	/* If it does not exist or cannot be read, nothing was printed. */
	if (file_read(path, max + 1 + ERRAND_TAIL_MAX, out, NULL) < 0)
		return;
	if (out->len <= max)
		return;
	if (ret_cut == NULL) {
		buf_truncate(out, max);
		return;
	}
	*ret_cut = true;
	buf_consume(out, out->len - max);
}

/* From the times of the files, if it ran without us. */
static int64_t
errand_duration(const struct errand *errand)
{
	cleanup_free char *path = errand_files_path(errand->stem, ".status");
	int64_t end_ms = clock_wall_ms();
	struct stat st;

	if (stat(path, &st) == 0)
		end_ms = clock_file_ms(&st.st_mtim);
	return end_ms > errand->started_ms ? end_ms - errand->started_ms : 0;
}

static void
errand_report(struct errand *errand)
{
	struct errand_result result = errand->result;
	int64_t status = -1;

	buf_init(&result.out);
	buf_init(&result.err);
	loop_timer_free(take_ptr(&errand->look));
	loop_timer_free(take_ptr(&errand->timer));
	result.lost =
	    errand_files_number(errand->stem, ".status", 255, &status) < 0;
	result.status = (int)status;
	if (result.lost && !errand_files_exists(errand->stem, ".pid")) {
		cleanup_free char *path =
		    errand_files_path(errand->stem, ".pid");

		/* It ended before it began: do not take it for one that must
		 * still be started. */
		file_replace(path, "0\n", 2, 0600, NULL);
	}
	errand_read_output(
	    errand, ".out", ERRAND_OUT_MAX, &result.out, &result.cut);
	errand_read_output(errand, ".err", ERRAND_ERR_MAX, &result.err, NULL);
	/* fn may free the errand. */
	errand->fn(&result, errand->arg);
	buf_release(&result.out);
	buf_release(&result.err);
}

static void
errand_report_ended(void *arg)
{
	struct errand *errand = arg;

	errand->result.duration_ms = errand_duration(errand);
	errand_report(errand);
}

/* The same message and status as from the shell. */
static void
errand_unable(const struct errand *errand, const struct child_result *why)
{
	cleanup_free char *err_path = errand_files_path(errand->stem, ".err");
	cleanup_free char *status_path =
	    errand_files_path(errand->stem, ".status");
	cleanup_buf struct buf words = BUF_INIT;

	if (why->start_error != 0) {
		child_result_describe(why, &words);
		buf_addc(&words, '\n');
	} else {
		child_output_text(&why->err, &words);
	}
	file_replace(err_path, words.data, words.len, 0600, NULL);
	file_replace(
	    status_path, STATUS_UNABLE, sizeof STATUS_UNABLE - 1, 0600, NULL);
}

static void
errand_child_done(const struct child_result *result, void *arg)
{
	struct errand *errand = arg;

	errand->child = NULL;
	errand->result.timed_out = result->timed_out;
	errand->result.cancelled = result->cancelled;
	errand->result.duration_ms = result->duration_ms;
	/* llmc errand returns only if it could not begin. */
	if (result->start_error != 0 ||
	    (result->exited && !errand_files_exists(errand->stem, ".pid")))
		errand_unable(errand, result);
	errand_report(errand);
}

/* Strings of an array, for child_spec; only the array is allocated. */
static const char **
record_env(struct json_object *record)
{
	struct json_object *list = NULL;
	size_t count = 0;
	const char **env;

	if (json_get_array(record, "", "env", &list, NULL) == 0)
		count = json_object_array_length(list);
	env = xcalloc(count + 1, sizeof *env);
	for (size_t i = 0; i < count; i++) {
		env[i] =
		    json_object_get_string(json_object_array_get_idx(list, i));
		if (env[i] == NULL)
			env[i] = "";
	}
	return env;
}

static int
errand_spawn(struct errand *errand, struct json_object *record, int lock,
    struct err *err)
{
	cleanup_free char *llmc = sibling_find("llmc");
	cleanup_free char *file = errand_files_path(errand->stem, ERRAND_JSON);
	const char *const argv[] = { llmc != NULL ? llmc : "llmc", "errand",
		file, NULL };
	cleanup_free const char **env = record_env(record);
	struct child_spec spec = { .argv = argv,
		.cwd = json_string_or(record, "cwd", NULL),
		.env = env,
		.stdin_fd = lock,
		.deadline_ms = errand->deadline_ms,
		.grace_ms = GRACE_MS };

	return child_spawn(errand->loop, &spec, errand_child_done, errand,
	    &errand->child, err);
}

/* The intent must be on the disk before anything happens. */
static int
errand_begin(struct errand *errand, struct json_object *record, struct err *err)
{
	cleanup_free char *lock_path = errand_files_path(errand->stem, ".lock");
	cleanup_free char *json_path =
	    errand_files_path(errand->stem, ERRAND_JSON);
	cleanup_fd int lock = -1;
	int r;

	lock = lock_try(lock_path, err);
	if (lock < 0)
		return lock;
	errand->started_ms = clock_wall_ms();
	json_set_int(record, "started_unix_ms", errand->started_ms);
	r = json_save(json_path, record, 0600, err);
	return r < 0 ? r : errand_spawn(errand, record, lock, err);
}

static int
boot_id_now(char out[PROCREF_BOOT_ID_SIZE], struct err *err)
{
	struct procref self = PROCREF_INIT;
	int r = procref_set_self(&self);

	if (r < 0)
		return err_errno(err, r, "cannot read the id of this boot");
	memcpy(out, self.boot_id, PROCREF_BOOT_ID_SIZE);
	procref_release(&self);
	return 0;
}

static int
record_make(const struct errand_spec *spec, struct json_object **ret_record,
    struct err *err)
{
	char boot_id[PROCREF_BOOT_ID_SIZE];
	struct json_object *record, *env;
	int r = boot_id_now(boot_id, err);

	if (r < 0)
		return r;
	record = json_object_new_object();
	json_set_string(record, "command", spec->command);
	json_set_string(record, "cwd", spec->cwd);
	env = json_object_new_array();
	for (size_t i = 0; spec->env != NULL && spec->env[i] != NULL; i++)
		json_object_array_add(
		    env, json_object_new_string(spec->env[i]));
	json_set(record, "env", env);
	json_set_string(record, "boot_id", boot_id);
	json_set_int(record, "deadline_ms", spec->deadline_ms);
	*ret_record = record;
	return 0;
}

static int
errand_new(struct loop *loop, const struct errand_spec *spec, errand_fn *fn,
    void *arg, struct errand **ret_errand, struct err *err)
{
	struct errand *errand;
	char *stem = NULL;
	int r;

	if (spec->deadline_ms <= 0)
		return err_set(err, -EINVAL, "an errand needs a deadline");
	r = errand_files_stem(spec->dir, spec->name, &stem, err);
	if (r < 0)
		return r;
	errand = xcalloc(1, sizeof *errand);
	errand->loop = loop;
	errand->fn = fn;
	errand->arg = arg;
	errand->stem = stem;
	errand->deadline_ms = spec->deadline_ms;
	*ret_errand = errand;
	return 0;
}

static int
errand_start_new(
    struct errand *errand, const struct errand_spec *spec, struct err *err)
{
	cleanup_json struct json_object *record = NULL;
	int r;

	if (errand_files_exists(errand->stem, ERRAND_JSON))
		return err_set(err, -EEXIST, "there is already an errand %s",
		    errand->stem);
	r = record_make(spec, &record, err);
	if (r == 0)
		r = errand_files_remove(errand->stem, err);
	if (r < 0)
		return r;
	r = errand_begin(errand, record, err);
	if (r < 0) {
		errand_files_remove_one(errand->stem, ERRAND_JSON, NULL);
		errand_files_remove(errand->stem, NULL);
	}
	return r;
}

int
errand_start(struct loop *loop, const struct errand_spec *spec, errand_fn *fn,
    void *arg, struct errand **ret_errand, struct err *err)
{
	struct errand *errand = NULL;
	int r;

	if (spec->command == NULL)
		return err_set(err, -EINVAL, "no command to run");
	r = errand_new(loop, spec, fn, arg, &errand, err);
	if (errand == NULL)
		return r;
	r = errand_start_new(errand, spec, err);
	if (r < 0) {
		errand_free(errand);
		return r;
	}
	*ret_errand = errand;
	return 0;
}

/* The leader of the group has the lock as its standard input; another process
 * with that pid does not. */
static bool
errand_is_leader(const struct errand *errand, pid_t pid)
{
	cleanup_free char *lock = errand_files_path(errand->stem, ".lock");
	cleanup_free char *input = xasprintf("/proc/%d/fd/0", (int)pid);
	struct stat a, b;

	return stat(lock, &a) == 0 && stat(input, &b) == 0 &&
	    a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static void
errand_signal(const struct errand *errand, int signo)
{
	struct procref leader = PROCREF_INIT;
	int64_t pid = 0;

	if (errand_files_number(errand->stem, ".pid", INT_MAX, &pid) < 0 ||
	    procref_set(&leader, (pid_t)pid) < 0)
		return;
	if (errand_is_leader(errand, leader.pid))
		procref_signal_group(&leader, signo);
	procref_release(&leader);
}

static void
errand_give_up(void *arg)
{
	errand_report_ended(arg);
}

static void
errand_kill(void *arg)
{
	struct errand *errand = arg;

	errand_signal(errand, SIGKILL);
	loop_timer_set(
	    &errand->timer, errand->loop, KILL_MS, errand_give_up, errand);
}

static void
errand_end(struct errand *errand)
{
	errand->ending = true;
	errand_signal(errand, SIGTERM);
	errand_signal(errand, SIGCONT); /* else SIGTERM would have to wait */
	loop_timer_set(
	    &errand->timer, errand->loop, GRACE_MS, errand_kill, errand);
}

static void
errand_timed_out(void *arg)
{
	struct errand *errand = arg;

	errand->result.timed_out = true;
	errand_end(errand);
}

/* The status is written before the lock is released, so check the lock first.
 */
static bool
errand_has_ended(const struct errand *errand)
{
	bool held = errand_files_held(errand->stem);

	return !held || errand_files_exists(errand->stem, ".status");
}

static void
errand_look(void *arg)
{
	struct errand *errand = arg;

	if (errand_has_ended(errand))
		errand_report_ended(errand);
}

/* The wall clock may have jumped: never more than the whole deadline. */
static int64_t
errand_left_ms(const struct errand *errand)
{
	int64_t gone = clock_wall_ms() - errand->started_ms;

	if (gone < 0)
		return errand->deadline_ms;
	return gone < errand->deadline_ms ? errand->deadline_ms - gone : 0;
}

/* Was the pid never written? After a reboot this cannot be known, because the
 * pid is not synced. */
static bool
errand_is_intent(const struct errand *errand, struct json_object *record)
{
	char boot_id[PROCREF_BOOT_ID_SIZE];

	return !errand_files_exists(errand->stem, ".pid") &&
	    !errand_files_exists(errand->stem, ".status") &&
	    boot_id_now(boot_id, NULL) == 0 &&
	    strcmp(boot_id, json_string_or(record, "boot_id", "")) == 0;
}

static int
errand_take_up(struct errand *errand, struct err *err)
{
	cleanup_free char *path = errand_files_path(errand->stem, ERRAND_JSON);
	cleanup_json struct json_object *record = NULL;
	const char *command = NULL;
	int r;

	r = json_load(path, ERRAND_JSON_MAX, &record, err);
	if (r == 0)
		r = json_get_string(record, "", "command", &command, err);
	if (r == 0)
		r = json_get_int(record, "", "started_unix_ms", 0, INT64_MAX,
		    &errand->started_ms, err);
	if (r < 0)
		return record == NULL ? r : -EINVAL;
	if (!errand_has_ended(errand)) {
		errand->look = loop_every(
		    errand->loop, ERRAND_LOOK_MS, errand_look, errand);
		errand->timer = loop_after(errand->loop, errand_left_ms(errand),
		    errand_timed_out, errand);
		return 0;
	}
	if (errand_is_intent(errand, record))
		return errand_begin(errand, record, err);
	errand->ended =
	    loop_call_new(errand->loop, errand_report_ended, errand);
	loop_call_request(errand->ended);
	return 0;
}

int
errand_adopt(struct loop *loop, const struct errand_spec *spec, errand_fn *fn,
    void *arg, struct errand **ret_errand, struct err *err)
{
	struct errand *errand = NULL;
	int r = errand_new(loop, spec, fn, arg, &errand, err);

	if (errand == NULL)
		return r;
	r = errand_take_up(errand, err);
	if (r < 0) {
		errand_free(errand);
		return r;
	}
	*ret_errand = errand;
	return 0;
}

void
errand_cancel(struct errand *errand)
{
	if (errand->child != NULL) {
		child_cancel(errand->child);
	} else if (errand->look != NULL && !errand->ending) {
		errand->result.cancelled = true;
		errand_end(errand);
	}
}

void
errand_free(struct errand *errand)
{
	if (errand == NULL)
		return;
	if (errand->child != NULL)
		child_release(errand->child);
	loop_timer_free(errand->look);
	loop_timer_free(errand->timer);
	loop_call_free(errand->ended);
	free(errand->stem);
	free(errand);
}

int
errand_forget(const char *dir, const char *name, struct err *err)
{
	cleanup_free char *stem = NULL;
	bool held;
	int r = errand_files_stem(dir, name, &stem, err);

	if (r < 0)
		return r;
	held = errand_files_held(stem);
	if (held && !errand_files_exists(stem, ".status"))
		return err_set(
		    err, -EBUSY, "the errand %s is still running", stem);
	/* The .json first: alone it would look like one that must be started.
	 */
	r = errand_files_remove_one(stem, ERRAND_JSON, err);
	return r < 0 ? r : errand_files_remove(stem, err);
}

bool
errand_find(const char *dir, char *name, size_t size)
{
	cleanup_dir DIR *stream = opendir(dir);
	const char *file;
	bool found = false;

	while ((file = dir_next(stream)) != NULL) {
		cleanup_free char *one = xstrdup(file);

		if (!text_ends(file, ERRAND_JSON))
			continue;
		one[strlen(one) - strlen(ERRAND_JSON)] = '\0';
		if (!errand_files_is_name(one) || strlen(one) >= size ||
		    (found && strcmp(one, name) > 0))
			continue;
		strlcpy(name, one, size);
		found = true;
	}
	return found;
}
