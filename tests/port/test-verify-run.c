/* SPDX-License-Identifier: ISC */

/* A contract is checked on a real commit: by verify_run(), and by the program
 * `llmc verify`. */

#include "repo.h"
#include "contract.h"
#include "check-place.h"

static struct world {
	struct repo *repo;
	char *keep;
	struct json_object *result;
} w;

static void
world_release(void)
{
	json_object_put(w.result);
	free(w.keep);
	repo_free(w.repo);
	w = (struct world){ 0 };
}

static void
world_init(const char *script)
{
	world_release();
	unit_at_end(world_release);
	w.repo = repo_new(false);
	w.keep = xasprintf("%s/kept/t1-1", w.repo->base);
	repo_sh(w.repo, script);
}

static struct json_object *
told(const char *artifacts, const char *commit, const char *base)
{
	struct json_object *json = json_object_new_object(), *contract = NULL;
	cleanup_free char *text = xasprintf("{\"artifacts\": %s}", artifacts);
	struct err err = { 0 };

	ck_assert_msg(
	    json_parse(text, strlen(text), 65536, &contract, &err) == 0, "%s",
	    err.msg);
	json_set_string(json, "root", w.repo->root);
	json_set(json, "contract", contract);
	json_set_string(json, "commit", commit);
	json_set_string(json, "base", base);
	json_set_string(json, "keep", w.keep);
	return json;
}

static struct json_object *
checked(const char *artifacts)
{
	cleanup_json struct json_object *json =
	    told(artifacts, repo_sh(w.repo, "git rev-parse HEAD"),
		repo_sh(w.repo, "git rev-parse HEAD~"));
	struct err err = { 0 };

	json_object_put(take_ptr(&w.result));
	ck_assert_msg(verify_run(json, &w.result, &err) == 0, "%s", err.msg);
	ck_assert_int_eq(check_result_validate(w.result, NULL), 0);
	return w.result;
}

/* The reasons of all that failed; "" = passed. */
static const char *
reasons(const char *artifacts)
{
	static char text[1024];
	cleanup_buf struct buf out = BUF_INIT;

	check_result_reasons(checked(artifacts), &out);
	strlcpy(text, out.data, sizeof text);
	return text;
}

TEST(a_new_file_of_the_commit_passes)
{
	world_init(
	    "mkdir -p 'out put' && echo '[{\"id\": 1}]' >'out put/ä.json' && "
	    "git add . && git commit -qm x && rm -r 'out put'");
	ck_assert_str_eq(
	    reasons("[{\"path\": \"./out put//ä.json\", \"minItems\": "
		    "1, \"requiredKeys\": [\"id\"], \"minBytes\": 5}]"),
	    "");
	ck_assert_str_eq(json_string_or(w.result, "status", ""), "passed");
	ck_assert(!file_exists(w.keep));
}

TEST(only_regular_files_that_the_commit_changed_count)
{
	world_init(
	    "echo old >stale && git add . && git commit -qm base && "
	    "echo '{}' >t.json && ln -s a.txt link && mkdir d && echo x >d/f && "
	    "ln -s d folder && chmod +x stale && printf '{\\n' >bad.json && "
	    "git add . && git commit -qm x && echo x >untracked");
	ck_assert_str_eq(reasons("[{\"path\": \"missing\"}]"),
	    "missing: artifact_not_found");
	ck_assert_str_eq(reasons("[{\"path\": \"untracked\"}]"),
	    "untracked: artifact_not_found");
	ck_assert_str_eq(
	    reasons("[{\"path\": \"link\"}]"), "link: artifact_is_symlink");
	ck_assert_str_eq(reasons("[{\"path\": \"folder/f\"}]"),
	    "folder/f: artifact_not_found");
	ck_assert_str_eq(
	    reasons("[{\"path\": \"d/\"}]"), "d/: artifact_not_file");
	ck_assert_str_eq(
	    reasons("[{\"path\": \"stale\"}]"), "stale: artifact_unchanged");
	ck_assert_str_eq(reasons("[{\"path\": \"t.json\", \"minBytes\": 10}]"),
	    "t.json: artifact_too_small (3 < 10 bytes)");
	ck_assert_str_eq(reasons("[{\"path\": \"bad.json\", \"json\": true}]"),
	    "bad.json: artifact_json_parse_failed");
	ck_assert_str_eq(reasons("[{\"path\": \"d/f\"}]"), "");
	/* One bad path does not hide the others. */
	ck_assert_str_eq(
	    reasons("[{\"path\": \"../x\"}, {\"path\": \"d/f\"}, {\"path\": "
		    "\"  \"}]"),
	    "../x: artifact_path_outside;   : artifact_path_empty");
}

TEST(a_name_is_no_pattern_and_no_option)
{
	world_init("echo x >'f*' && echo x >-l && echo x >:top && git add . && "
		   "git commit -qm x");
	ck_assert_str_eq(
	    reasons("[{\"path\": \"*\"}]"), "*: artifact_not_found");
	ck_assert_str_eq(
	    reasons("[{\"path\": \"f*\"}, {\"path\": \"-l\"}, {\"path\": "
		    "\":top\"}]"),
	    "");
}

TEST(without_a_commit_nothing_is_there)
{
	cleanup_json struct json_object *json = NULL;
	cleanup_buf struct buf out = BUF_INIT;

	world_init("true");
	json = told("[{\"path\": \"a.txt\"}]", "", "");
	ck_assert_int_eq(verify_run(json, &w.result, NULL), 0);
	check_result_reasons(w.result, &out);
	ck_assert_str_eq(out.data, "a.txt: artifact_not_found");
}

TEST(without_a_base_everything_is_new)
{
	cleanup_json struct json_object *json = NULL;

	world_init("true");
	json = told("[{\"path\": \"a.txt\"}]",
	    repo_sh(w.repo, "git rev-parse HEAD"), "");
	ck_assert_int_eq(verify_run(json, &w.result, NULL), 0);
	ck_assert(check_result_passed(w.result));
}

TEST(a_report_may_be_all_that_is_wanted)
{
	for (int reported = 0; reported < 2; reported++) {
		cleanup_json struct json_object *json = NULL;
		struct json_object *contract = NULL;

		world_init("true");
		json = told("[]", "", "");
		json_object_object_get_ex(json, "contract", &contract);
		json_set_bool(contract, "requireCompletionReport", true);
		json_set_bool(json, "reported", reported);
		ck_assert_int_eq(verify_run(json, &w.result, NULL), 0);
		ck_assert(check_result_passed(w.result) == (reported == 1));
		ck_assert(check_result_reported(w.result) == (reported == 1));
	}
}

/* --- what is kept ------------------------------------------------------ */

TEST(files_that_are_there_are_kept_when_others_fail)
{
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_free char *file = NULL, *link = NULL;
	struct stat st;

	world_init(
	    "mkdir o && echo good >o/a && ln -s /etc/passwd o/l && git add . && "
	    "git commit -qm x");
	reasons("[{\"path\": \"o/a\"}, {\"path\": \"o/l\"}, {\"path\": "
		"\"none\"}]");
	ck_assert_str_eq(json_string_or(w.result, "kept", ""), w.keep);
	file = file_join(w.keep, "o/a");
	link = file_join(w.keep, "o/l");
	ck_assert_int_eq(file_read(file, 100, &text, NULL), 0);
	ck_assert_str_eq(text.data, "good\n");
	ck_assert(!file_exists(link));
	ck_assert_int_eq(stat(file, &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0600);
	/* Once more: the same, and nothing of the time before. */
	repo_sh(w.repo, "git mv o/a o/b && git commit -qm y");
	reasons("[{\"path\": \"o/b\"}, {\"path\": \"none\"}]");
	ck_assert(!file_exists(file));
}

TEST(old_folders_are_removed)
{
	cleanup_free char *newest = NULL;

	world_init("echo x >o && git add . && git commit -qm x");
	repo_sh(w.repo,
	    "for i in $(seq 1 60); do mkdir -p \"$B/kept/old-$i\" && "
	    "touch -d \"2020-01-01 00:00:$(printf %02d $((i % 60)))\" "
	    "\"$B/kept/old-$i\" || exit 1; done");
	reasons("[{\"path\": \"o\"}, {\"path\": \"none\"}]");
	ck_assert_int_eq(VERIFY_KEPT_MAX, 50);
	ck_assert_str_eq(repo_sh(w.repo, "ls \"$B/kept\" | wc -l"), "50");
	newest = file_join(w.repo->base, "kept/old-59");
	ck_assert(file_exists(newest) && file_exists(w.keep));
	ck_assert_str_eq(
	    repo_sh(w.repo, "ls -d \"$B/kept/old-1\" || echo no"), "no");
}

/* --- the program ------------------------------------------------------- */

static void
run_llmc(const char *input, int64_t deadline_ms, struct child_result *ret)
{
	const char *const argv[] = { getenv("LLMC_BIN"), "verify", NULL };
	struct child_spec spec = { .argv = argv,
		.input = input,
		.input_len = strlen(input),
		.deadline_ms = deadline_ms };
	struct err err = { 0 };

	ck_assert_msg(child_run(&spec, ret, &err) == 0, "%s", err.msg);
}

TEST(the_program_prints_the_result)
{
	cleanup_json struct json_object *json = NULL, *result = NULL;
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_child_result struct child_result run;

	world_init("echo x >o && git add . && git commit -qm x");
	json =
	    told("[{\"path\": \"o\"}]", repo_sh(w.repo, "git rev-parse HEAD"),
		repo_sh(w.repo, "git rev-parse HEAD~"));
	json_print(json, false, &text);
	run_llmc(text.data, 60000, &run);
	ck_assert(child_succeeded(&run));
	ck_assert_int_eq(json_parse(run.out.head.data, run.out.head.len, 65536,
			     &result, NULL),
	    0);
	ck_assert_int_eq(check_result_validate(result, NULL), 0);
	ck_assert(check_result_passed(result));
}

TEST(the_program_refuses_what_it_does_not_understand)
{
	static const char *const inputs[] = { "", "x", "[]", "{}",
		("{\"root\": \"/\", \"commit\": \"\", \"base\": \"\", "
		 "\"contract\": {\"command\": \"true\"}}") };

	for (size_t i = 0; i < nitems(inputs); i++) {
		cleanup_child_result struct child_result run;

		run_llmc(inputs[i], 60000, &run);
		ck_assert(run.exited && run.status == 1);
	}
}

TEST(a_commit_that_is_not_there_is_no_result)
{
	cleanup_json struct json_object *json = NULL;
	struct err err = { 0 };

	world_init("true");
	json = told("[{\"path\": \"a.txt\"}]",
	    "1234567890123456789012345678901234567890", "");
	ck_assert_int_eq(verify_run(json, &w.result, &err), -EIO);
	ck_assert_ptr_nonnull(strstr(err.msg, "git ls-tree"));
}
