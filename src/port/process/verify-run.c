/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/stat.h>

#include "contract.h"
#include "git-ask.h"
#include "remove-tree.h"
#include "verify-run.h"

#define KEPT_BYTES_MAX ((int64_t)128 * 1024 * 1024)

struct verify {
	const char *root, *commit, *base;
	const char *keep; /* NULL = keep nothing */
	struct contract contract;
	struct git_artifact *found; /* one for each artifact */
	char **paths; /* of them */
	struct json_object *result;
};

/* --- checking ---------------------------------------------------------- */

static int
find(struct verify *v, struct err *err)
{
	size_t count = v->contract.count;

	v->found = xcalloc(count + 1, sizeof *v->found);
	v->paths = xcalloc(count + 1, sizeof(char *));
	for (size_t i = 0; i < count; i++) {
		const char *path = v->contract.artifacts[i].path;

		v->paths[i] = contract_path_fault(path) != NULL ?
		    xstrdup("") :
		    contract_path_clean(path);
		v->found[i].path = v->paths[i];
	}
	return git_artifact_find(
	    v->root, v->commit, v->base, v->found, count, err);
}

static int
check(struct verify *v, size_t i, struct err *err)
{
	const struct contract_artifact *a = &v->contract.artifacts[i];
	struct artifact_found found = { .kind = v->found[i].kind,
		.changed = v->found[i].changed,
		.size = v->found[i].size };
	cleanup_buf struct buf reason = BUF_INIT, bytes = BUF_INIT;
	bool good = artifact_check_outside(a, &found, &reason);
	int r;

	if (good && a->json) {
		r = git_artifact_read(v->root, &v->found[i],
		    (size_t)ARTIFACT_SIZE_MAX, &bytes, err);
		if (r < 0)
			return r;
		found.bytes = bytes.data;
		found.len = bytes.len;
		good = artifact_check(a, &found, &reason);
	}
	check_result_artifact(v->result, a->path, good ? NULL : reason.data);
	return 0;
}

/* --- keeping ----------------------------------------------------------- */

static int
keep_one(const struct verify *v, const struct git_artifact *a, struct err *err)
{
	cleanup_free char *path = file_join(v->keep, a->path);
	cleanup_free char *folder = xstrdup(path);
	cleanup_buf struct buf bytes = BUF_INIT;
	int r = git_artifact_read(
	    v->root, a, (size_t)ARTIFACT_SIZE_MAX, &bytes, err);

	*strrchr(folder, '/') = '\0';
	if (r == 0)
		r = file_mkdirs(folder, 0700, err);
	return r < 0 ? r : file_replace(path, bytes.data, bytes.len, 0600, err);
}

static int
by_age(const void *a, const void *b)
{
	const struct timespec *one = a, *other = b;

	if (one->tv_sec != other->tv_sec)
		return one->tv_sec > other->tv_sec ? -1 : 1;
	return (one->tv_nsec < other->tv_nsec) -
	    (one->tv_nsec > other->tv_nsec);
}

/* For each folder in the place that a person can see. */
static void
each_folder(const char *place,
    void (*fn)(const char *, struct timespec, void *), void *arg)
{
	cleanup_dir DIR *dir = opendir(place);
	const char *name;

	while ((name = dir_next(dir)) != NULL) {
		cleanup_free char *path = file_join(place, name);
		struct stat st;

		if (name[0] != '.' && lstat(path, &st) == 0 &&
		    S_ISDIR(st.st_mode))
			fn(path, st.st_mtim, arg);
	}
}

struct ages {
	struct timespec *v;
	size_t count;
};

static void
note_age(const char *path, struct timespec age, void *arg)
{
	struct ages *ages = arg;

	(void)path;
	ages->v = xreallocarray(ages->v, ages->count + 1, sizeof *ages->v);
	ages->v[ages->count++] = age;
}

static void
remove_older(const char *path, struct timespec age, void *arg)
{
	const struct timespec *oldest = arg;

	if (by_age(&age, oldest) > 0)
		remove_tree(path);
}

/* --- all of it --------------------------------------------------------- */

static int
read_request(struct json_object *request, struct verify *v, struct err *err)
{
	struct json_object *contract = NULL;
	int r = json_get_string(request, "", "root", &v->root, err);

	if (r == 0)
		r = json_get_string(request, "", "commit", &v->commit, err);
	if (r == 0)
		r = json_get_string(request, "", "base", &v->base, err);
	if (r == 0)
		r = json_get_object(request, "", "contract", &contract, err);
	if (r == 0)
		r = contract_read(contract, "contract", &v->contract, err);
	if (r < 0)
		return -EINVAL;
	v->keep = json_string_or(request, "keep", NULL);
	if (v->keep != NULL && v->keep[0] != '/')
		return err_set(err, -EINVAL, "keep: not an absolute path");
	return 0;
}

static int
run(struct verify *v, bool reported, struct err *err)
{
	int r = find(v, err);

	for (size_t i = 0; r == 0 && i < v->contract.count; i++)
		r = check(v, i, err);
	if (r < 0)
		return r;
	if (v->contract.report)
		check_result_report(v->result, reported);
	check_result_end(v->result, clock_wall_ms());
	if (!check_result_passed(v->result) && v->keep != NULL) {
		int64_t left = KEPT_BYTES_MAX;
		bool any = false;

		/* What is left out stays in the work itself, which is
		 * salvaged. */
		remove_tree(v->keep);
		for (size_t i = 0; i < v->contract.count; i++) {
			const struct git_artifact *a = &v->found[i];

			if (a->kind != ARTIFACT_FILE || !a->changed ||
			    a->size > ARTIFACT_SIZE_MAX || a->size > left ||
			    keep_one(v, a, NULL) < 0)
				continue;
			left -= a->size;
			any = true;
		}
		if (any) {
			const char *keep;
			cleanup_free char *place = NULL;
			struct ages ages = { 0 };

			json_set_string(v->result, "kept", v->keep);
			keep = v->keep;
			place = xstrdup(keep);
			*strrchr(place, '/') = '\0';
			each_folder(place, note_age, &ages);
			if (ages.count > VERIFY_KEPT_MAX) {
				qsort(
				    ages.v, ages.count, sizeof *ages.v, by_age);
				each_folder(place, remove_older,
				    &ages.v[VERIFY_KEPT_MAX - 1]);
			}
			free(ages.v);
		}
	}
	return 0;
}

static void
release(struct verify *v)
{
	for (size_t i = 0; v->paths != NULL && i < v->contract.count; i++)
		free(v->paths[i]);
	free(v->paths);
	free(v->found);
	contract_release(&v->contract);
	json_object_put(v->result);
}

int
verify_run(struct json_object *request, struct json_object **ret_result,
    struct err *err)
{
	struct verify v = { .result = check_result_new() };
	int r = read_request(request, &v, err);

	if (r == 0)
		r = run(&v, json_bool_or(request, "reported", false), err);
	if (r == 0)
		*ret_result = take_ptr(&v.result);
	release(&v);
	return r;
}
