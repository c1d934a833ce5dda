/* SPDX-License-Identifier: ISC */

/*
 * Shared by the tests of whole programs: the real llmc of this build and the
 * real git, in scratch directories, with an environment that contains nothing
 * of the person who runs the tests.
 *
 * Everything returned here is valid until the test program ends. A helper that
 * cannot do its work fails the running test.
 */
#ifndef E2E_H
#define E2E_H

#include "unit.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define E2E_SANITIZED 1
#endif
#endif
#ifndef E2E_SANITIZED
#define E2E_SANITIZED 0
#endif

struct e2e_run {
	int status; /* exit status; 128 + signal if killed by one */
	const char *out;
	const char *err;
	const char *command; /* for messages */
	const char *json_of; /* command of llmc that printed JSON, and the word
			      * after it, or NULL */
};

const char *e2e_llmc_path(void); /* of the llmc under test */
const char *e2e_source(const char *name); /* a file of the source tree */

/* Programs run from now on live this many times as fast (LLMC_TIME_SCALE),
 * unlike the test itself. git, tmux and agents are not faster, so adjust the
 * timeouts for them. */
void e2e_hurry(int times);

/* An environment edit ("K=V" sets, "K" removes) for programs run from now
 * on. */
void e2e_env(const char *edit);
const char *const *e2e_edits(void); /* all of them, for child_spec.env */

/* The sandbox that workers of the tests have: "off", or what the meson option
 * `sandbox` or, before that, LLMC_TEST_SANDBOX says. */
const char *e2e_sandbox(void);
/* Skip the running test if workers have one. */
void e2e_skip_sandboxed(const char *why);
/* Skip the running test where bubblewrap cannot make a box; options: further
 * ones of it, or "". */
void e2e_need_boxes(const char *options);

/* Run llmc, git or a shell script in dir (NULL: the scratch directory).
 * Arguments end with NULL. In the script, "$LLMC" and "$AUTOD" are the
 * programs, and "$STATE" prints the state of the root in which it runs
 * (autod/autod-private.h). */
struct e2e_run *e2e_llmc(const char *dir, ...) __attribute__((sentinel));
struct e2e_run *e2e_llmcv(const char *dir, const char *const *args);
struct e2e_run *e2e_sh(const char *dir, const char *script);
const char *e2e_git(const char *dir, ...) __attribute__((sentinel));

/* In the scratch directory, all new: a directory, an empty repository, one with
 * a commit on main, one after llmc init. */
const char *e2e_dir(const char *name);
const char *e2e_empty_repo(const char *name);
const char *e2e_repo(const char *name);
const char *e2e_workspace(const char *name);

/* Run a shell script beside the test, for it to end by itself. */
void e2e_leave_behind(const char *script);
/* A test that fails or is killed ends at once. When this one has ended, in
 * whatever way, the daemon of the workspace is killed if it still runs, and the
 * script is run ("" = none). */
void e2e_guard(const char *root, const char *script);

/* "dir/name", formatted as by printf. */
const char *
e2e_path(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
const char *e2e_scratch(const char *name); /* in the scratch directory */
const char *e2e_read(const char *path);
void e2e_write(const char *path, const char *text);
void e2e_script(const char *path, const char *text); /* made executable */
bool e2e_exists(const char *path);
/* Read a JSON file that may be incomplete or missing: NULL. The caller puts
 * it. */
struct json_object *e2e_load(const char *path);

/* The state that was committed in this root: NULL if there is none. The caller
 * puts it. And replace it, while no daemon runs. */
struct json_object *e2e_state(const char *root);
/* What autod --look answers (autod/autod-private.h), asked again only if the
 * book has changed: a wait looks every few milliseconds. The caller puts it;
 * NULL = it cannot be read. */
struct json_object *
e2e_look(const char *root, const char *what, const char *params);
void e2e_put_state(const char *root, struct json_object *state);
/* The same with a sed script. */
void e2e_edit_state(const char *root, const char *sed);

/* Describe the channel "told", which runs the command. */
void e2e_notify(const char *root, const char *command);
/* As `llmc config set` and `get` of a string, without running them: for what a
 * test needs only to begin with. */
void e2e_set(const char *root, const char *key, const char *value);
const char *e2e_setting(const char *root, const char *key);

/* A number from 1 in the environment, for longer runs. */
int e2e_number(const char *name, int otherwise);

/* A pause between two looks for which programs are run: up to a quarter of a
 * second, longer with each look. The count of looks begins with 0. */
void e2e_rest(int *looks);

/* The run ended with that status, and standard error contains the words. For
 * status 0 and words NULL, standard error must be empty. */
void e2e_expect(const struct e2e_run *run, int status, const char *words);

/* The run ended with that status; standard output is exactly one JSON value,
 * which matches the schema of the command or, if it failed, may be an error
 * instead; standard error is empty. */
struct json_object *e2e_json(const struct e2e_run *run, int status);

/* {"error":{"code":...,"message":...}} with that code and those words. */
void e2e_json_error(
    const struct e2e_run *run, int status, const char *code, const char *words);

/* Text on one line, for TAP. */
const char *e2e_shown(const char *text);

/* Each argument is evaluated once, the text first. */
#define e2e_has(text, part)                                                  \
	do {                                                                 \
		const char *text_ = (text), *part_ = (part);                 \
		ck_assert_msg(strstr(text_, part_) != NULL,                  \
		    "no \"%s\" in: %s", e2e_shown(part_), e2e_shown(text_)); \
	} while (0)
#define e2e_lacks(text, part)                                                \
	do {                                                                 \
		const char *text_ = (text), *part_ = (part);                 \
		ck_assert_msg(strstr(text_, part_) == NULL, "\"%s\" in: %s", \
		    e2e_shown(part_), e2e_shown(text_));                     \
	} while (0)

#endif
