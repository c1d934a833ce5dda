/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <ftw.h>
#include <libgen.h>

#include "config.h"
#include "e2e.h"
#include "json-schema.h"
#include "settings.h"
#include "workspace.h"

#define DEADLINE_MS 90000
#define READ_MAX    (1024 * 1024)
#define ARGS_MAX    32
#define LOOK_MS     100 /* between looks at the book */

/* Everything that was returned: kept reachable for leak checkers. */
static struct {
	void **list;
	size_t count;
} kept;

static struct {
	char *llmc;
	char *source;
	char *sandbox;
	const char *edits[64]; /* ends with NULL */
	size_t edit_count;
	bool ready;
} e2e;

#if E2E_SANITIZED
/* Asked by LeakSanitizer at the end of every process. Tests fork, kill and are
 * killed in many ways, and leave memory on purpose; the programs that they run
 * are searched. */
const char *__lsan_default_options(void);

const char *
__lsan_default_options(void)
{
	return "detect_leaks=0";
}
#endif

static void *
keep(void *p)
{
	kept.list = xreallocarray(kept.list, kept.count + 1, sizeof *kept.list);
	kept.list[kept.count++] = p;
	return p;
}

/* Must this variable of the caller's environment be hidden from the tests? */
static bool
is_foreign(const char *entry)
{
	static const char *const prefixes[] = { "LLMC_", "GIT_", "XDG_", "TMUX",
		"NO_COLOR=", "FORCE_COLOR=", "CDPATH=", "LD_PRELOAD=",
		"ANTHROPIC_", "CLAUDE", "AI_AGENT=", "DISABLE_",
		"IS_SANDBOX=", "FAKE_CLAUDE_", NULL };

	for (size_t i = 0; prefixes[i] != NULL; i++)
		if (strncmp(entry, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

static void
clear_environment(void)
{
	for (size_t i = 0; environ[i] != NULL;) {
		cleanup_free char *name =
		    xstrndup(environ[i], strcspn(environ[i], "="));

		if (!is_foreign(environ[i])) {
			i++;
			continue;
		}
		unsetenv(name);
		i = 0;
	}
}

static char *
need_env(const char *name)
{
	const char *value = getenv(name);

	ck_assert_msg(value != NULL, "%s is not set: run through meson", name);
	return xstrdup(value);
}

static char *
read_sandbox(void)
{
	const char *mode = getenv("LLMC_TEST_SANDBOX");

	if (mode == NULL || mode[0] == '\0')
		mode = getenv("LLMC_SANDBOX_OPTION");
	return xstrdup(mode != NULL ? mode : "off");
}

static void make_state_script(void);

static void
e2e_ready(void)
{
	if (e2e.ready)
		return;
	e2e.ready = true;
	e2e.llmc = need_env("LLMC_BIN");
	e2e.source = need_env("LLMC_SOURCE");
	e2e.sandbox = read_sandbox();
	clear_environment();
	setenv("LLMC", e2e.llmc, 1);
	make_state_script();
	setenv("HOME", e2e_dir("home"), 1);
	unit_git_settings();
	setenv("TERM", "dumb", 1);
}

const char *
e2e_llmc_path(void)
{
	e2e_ready();
	return e2e.llmc;
}

/* In the build tree every program is in the folder of its sources. */
static void
make_state_script(void)
{
	cleanup_free char *copy = xstrdup(e2e.llmc);
	const char *autod = e2e_path("%s/../autod/autod", dirname(copy));
	const char *script = unit_path("state.sh");

	setenv("AUTOD", autod, 1);
	e2e_script(script,
	    e2e_path("#!/bin/sh\nexec '%s' --root . --look state\n", autod));
	setenv("STATE", script, 1);
}

void
e2e_set(const char *root, const char *key, const char *value)
{
	cleanup_workspace struct workspace ws = { 0 };
	struct err err = { 0 };

	ck_assert_msg(workspace_at(root, &ws, &err) == 0 &&
		config_change(&ws, key, value, &err) == 0,
	    "%s: %s", key, err.msg);
}

void
e2e_notify(const char *root, const char *command)
{
	const char *config = e2e_path("%s/.llmc/config.toml", root);
	cleanup_buf struct buf text = BUF_INIT;

	buf_addf(&text,
	    "%s\n[people.channels.told]\ntype = \"command\"\ncommand = \"",
	    e2e_read(config));
	for (; *command != '\0'; command++)
		buf_addf(&text,
		    *command == '\\' || *command == '"' ? "\\%c" : "%c",
		    *command);
	buf_adds(&text, "\"\n");
	e2e_write(config, text.data);
}

const char *
e2e_setting(const char *root, const char *key)
{
	cleanup_workspace struct workspace ws = { 0 };
	cleanup_json struct json_object *value = NULL;
	struct settings_problems problems;
	struct settings *settings;
	struct err err = { 0 };
	const char *text;

	ck_assert_msg(workspace_at(root, &ws, &err) == 0 &&
		config_load_with(&ws, "main", &settings, &problems, &err) == 0,
	    "%s", err.msg);
	settings_value(settings, key, &value, NULL);
	text = e2e_path("%s", json_object_get_string(value));
	settings_problems_release(&problems);
	settings_free(settings);
	return text;
}

void
e2e_put_state(const char *root, struct json_object *state)
{
	const char *file = unit_path("put-state.json");

	e2e_write(file, json_object_to_json_string(state));
	e2e_expect(e2e_sh(root,
		       e2e_path("\"$AUTOD\" --root . --rebuild <'%s' "
				">/dev/null",
			   file)),
	    0, NULL);
}

void
e2e_edit_state(const char *root, const char *sed)
{
	e2e_expect(e2e_sh(root,
		       e2e_path("set -e; \"$STATE\" >edited; sed -i '%s' "
				"edited; \"$AUTOD\" --root . --rebuild "
				"<edited >/dev/null; rm edited",
			   sed)),
	    0, NULL);
}

const char *
e2e_source(const char *name)
{
	e2e_ready();
	return e2e_path("%s/%s", e2e.source, name);
}

const char *
e2e_sandbox(void)
{
	e2e_ready();
	return e2e.sandbox;
}

void
e2e_skip_sandboxed(const char *why)
{
	if (strcmp(e2e_sandbox(), "off") != 0)
		unit_skip(why);
}

void
e2e_need_boxes(const char *options)
{
	if (e2e_sh(NULL,
		e2e_path("bwrap --unshare-user --unshare-pid %s --ro-bind / / "
			 "--proc /proc true",
		    options))
		->status != 0)
		unit_skip("no sandbox here: see llmc doctor --sandbox");
}

void
e2e_env(const char *edit)
{
	ck_assert_uint_lt(e2e.edit_count, nitems(e2e.edits) - 1);
	e2e.edits[e2e.edit_count++] = keep(xstrdup(edit));
}

void
e2e_hurry(int times)
{
	e2e_env(e2e_path("LLMC_TIME_SCALE=%d", times));
}

const char *const *
e2e_edits(void)
{
	return e2e.edits;
}

static char *
output_text(const struct child_output *output)
{
	struct buf text = BUF_INIT;

	child_output_text(output, &text);
	return keep(buf_take(&text));
}

static struct e2e_run *
run(const struct child_spec *spec, const char *command)
{
	struct e2e_run *run = keep(xcalloc(1, sizeof *run));
	cleanup_child_result struct child_result result;
	struct err err = { 0 };

	ck_assert_msg(child_run(spec, &result, &err) == 0, "%s", err.msg);
	ck_assert_msg(!result.timed_out, "%s took too long", command);
	run->status = result.exited ? result.status : 128 + result.signal;
	run->out = output_text(&result.out);
	run->err = output_text(&result.err);
	run->command = command;
	return run;
}

/* The files of the book, as far as they tell that it was changed. */
struct stamp {
	struct {
		ino_t inode;
		off_t size;
		struct timespec written;
	} files[2];
};

/* False if there is no book, or if it was written so recently that another
 * change may have the same time. */
static bool
stamp_book(const char *root, struct stamp *stamp)
{
	static const char *const names[] = { WORKSPACE_BOOK,
		WORKSPACE_BOOK "-wal" };
	struct timespec now;
	bool settled = true;

	memset(stamp, 0, sizeof *stamp);
	clock_gettime(CLOCK_REALTIME, &now);
	for (size_t i = 0; i < nitems(names); i++) {
		struct stat st;

		if (stat(e2e_path("%s/.llmc/%s", root, names[i]), &st) == -1) {
			settled = settled && i > 0;
			continue;
		}
		stamp->files[i].inode = st.st_ino;
		stamp->files[i].size = st.st_size;
		stamp->files[i].written = st.st_mtim;
		settled = settled &&
		    (now.tv_sec - st.st_mtim.tv_sec) * 1000 +
			    (now.tv_nsec - st.st_mtim.tv_nsec) / 1000000 >
			100;
	}
	return settled;
}

struct json_object *
e2e_look(const char *root, const char *what, const char *params)
{
	static struct {
		char *question, *answer; /* NULL = not to be used again */
		int64_t at;
		struct stamp stamp;
	} last;
	const char *question = e2e_path("%s %s %s", root, what, params);
	bool same =
	    last.question != NULL && strcmp(last.question, question) == 0;
	int64_t wait = last.at + LOOK_MS - clock_mono_ms();
	struct stamp stamp;
	bool settled;
	struct e2e_run *found;

	/* Who asks again and again waits for something. */
	if (same && wait > 0)
		poll(NULL, 0, (int)wait);
	settled = stamp_book(root, &stamp);
	if (!settled || !same || last.answer == NULL ||
	    memcmp(&stamp, &last.stamp, sizeof stamp) != 0) {
		const char *const argv[] = { getenv("AUTOD"), "--root", ".",
			"--look", what, NULL };

		found = run(&(struct child_spec){ .argv = argv,
				.cwd = root,
				.env = e2e.edits,
				.input = params,
				.input_len = strlen(params),
				.output_max = READ_MAX,
				.deadline_ms = DEADLINE_MS },
		    question);
		free(last.question);
		free(take_ptr(&last.answer));
		last.question = xstrdup(question);
		last.at = clock_mono_ms();
		if (found->status != 0 || !settled)
			return found->status != 0 ?
			    NULL :
			    json_tokener_parse(found->out);
		last.answer = xstrdup(found->out);
		last.stamp = stamp;
	}
	return json_tokener_parse(last.answer);
}

struct json_object *
e2e_state(const char *root)
{
	return e2e_look(root, "state", "{}");
}

/* The command whose JSON is asked for, with the word after it, NULL if none
 * is. */
static const char *
json_command(const char *const *argv)
{
	const char *command = NULL, *next = NULL;
	bool json = false, help = false;

	for (size_t i = 1; argv[i] != NULL; i++) {
		json = json || strcmp(argv[i], "--json") == 0;
		help = help || strcmp(argv[i], "--help") == 0;
		if (strcmp(argv[i], "--root") == 0 && argv[i + 1] != NULL)
			i++;
		else if (command == NULL && argv[i][0] != '-')
			command = argv[i];
		else if (next == NULL && argv[i][0] != '-')
			next = argv[i];
	}
	if (!json || command == NULL)
		return NULL;
	return help ? "help" :
		      e2e_path("%s%s%s", command, next != NULL ? " " : "",
			  next != NULL ? next : "");
}

static struct e2e_run *
run_program(const char *program, const char *dir, const char *const *args)
{
	const char *argv[ARGS_MAX + 2] = { program };
	struct child_spec spec = { .argv = argv,
		.cwd = dir != NULL ? dir : unit_scratch(),
		.env = e2e.edits,
		.output_max = READ_MAX,
		.deadline_ms = DEADLINE_MS };
	struct buf command = BUF_INIT;
	struct e2e_run *result;

	for (size_t i = 0; args[i] != NULL; i++) {
		ck_assert_uint_lt(i, ARGS_MAX);
		argv[1 + i] = args[i];
	}
	for (size_t i = 0; argv[i] != NULL; i++) {
		if (i > 0)
			buf_addc(&command, ' ');
		text_add_shell(&command, argv[i]);
	}
	keep(command.data);
	result = run(&spec, e2e_shown(command.data));
	result->json_of = program == e2e.llmc ?
	    json_command((const char *const *)argv) :
	    NULL;
	return result;
}

/* The arguments up to NULL, as a vector for one call. */
static const char *const *
gather(va_list ap)
{
	const char **args = keep(xcalloc(ARGS_MAX + 1, sizeof *args));

	for (size_t i = 0; (args[i] = va_arg(ap, const char *)) != NULL; i++)
		ck_assert_uint_lt(i, ARGS_MAX);
	return args;
}

struct e2e_run *
e2e_llmcv(const char *dir, const char *const *args)
{
	e2e_ready();
	return run_program(e2e.llmc, dir, args);
}

struct e2e_run *
e2e_llmc(const char *dir, ...)
{
	struct e2e_run *run;
	va_list ap;

	va_start(ap, dir);
	run = e2e_llmcv(dir, gather(ap));
	va_end(ap);
	return run;
}

struct e2e_run *
e2e_sh(const char *dir, const char *script)
{
	const char *const args[] = { "-c", script, NULL };

	e2e_ready();
	return run_program("/bin/sh", dir, args);
}

const char *
e2e_git(const char *dir, ...)
{
	struct e2e_run *run;
	va_list ap;

	e2e_ready();
	va_start(ap, dir);
	run = run_program("git", dir, gather(ap));
	va_end(ap);
	ck_assert_msg(
	    run->status == 0, "%s: %s", run->command, e2e_shown(run->err));
	return run->out;
}

const char *
e2e_dir(const char *name)
{
	const char *path = unit_path(name);
	struct err err = { 0 };

	ck_assert_msg(file_mkdirs(path, 0755, &err) == 0, "%s", err.msg);
	return path;
}

static void
fill_repo(const char *dir)
{
	const char *config = e2e_path("%s/.git/config", dir);

	e2e_git(dir, "init", "-q", "-b", "main", NULL);
	e2e_write(config,
	    e2e_path("%s[user]\n\tname = Test\n"
		     "\temail = test@example.invalid\n",
		e2e_read(config)));
}

const char *
e2e_empty_repo(const char *name)
{
	const char *dir = e2e_dir(name);

	fill_repo(dir);
	return dir;
}

/* What tests begin with is made for the first one of the program that needs it,
 * in this folder, and copied for the others. */
static const char *models;

void
unit_once(void)
{
	models = unit_path("models");
}

/* A file there, which make() writes. */
static const char *
model(const char *name, void (*make)(const char *path))
{
	const char *first = e2e.edits[0], *begun, *path;
	struct err err = { 0 };

	e2e_ready();
	path = e2e_path("%s/%s", models, name);
	if (file_exists(path))
		return path;
	begun = e2e_path("%s.begun-%d", path, (int)getpid());
	ck_assert_msg(file_mkdirs(models, 0755, &err) == 0, "%s", err.msg);
	/* Whatever this test has changed in its environment. */
	e2e.edits[0] = NULL;
	make(begun);
	e2e.edits[0] = first;
	ck_assert_int_eq(rename(begun, path), 0);
	return path;
}

static const char *copy_from, *copy_to;

static int
copy_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	const char *part = path + strlen(copy_from);
	const char *to = e2e_path("%s%s", copy_to, part);
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_fd int fd = -1;

	(void)ftw;
	if (type == FTW_D)
		return mkdir(to, st->st_mode) == -1 && errno != EEXIST;
	if (strncmp(part, "/.git/hooks/", strlen("/.git/hooks/")) == 0)
		return 0; /* examples */
	fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, st->st_mode);
	return fd == -1 || file_read(path, READ_MAX, &text, NULL) < 0 ||
	    file_write_all(fd, text.data, text.len) < 0;
}

static const char *
copy_of(const char *folder, const char *name)
{
	copy_from = folder;
	copy_to = e2e_dir(name);
	ck_assert_int_eq(nftw(copy_from, copy_one, 16, FTW_PHYS), 0);
	/* Its index has the inodes of the files of the model. */
	e2e_git(copy_to, "update-index", "-q", "--refresh", NULL);
	return copy_to;
}

static void
make_repo(const char *dir)
{
	struct err err = { 0 };

	ck_assert_msg(file_mkdirs(dir, 0755, &err) == 0, "%s", err.msg);
	fill_repo(dir);
	e2e_write(e2e_path("%s/README", dir), "hello\n");
	e2e_git(dir, "add", "README", NULL);
	e2e_git(dir, "commit", "-q", "-m", "Start", NULL);
}

static void
make_workspace(const char *dir)
{
	make_repo(dir);
	e2e_expect(e2e_llmc(dir, "init", NULL), 0, NULL);
	/* On purpose, unless a test is about checks. */
	e2e_set(dir, "auto.check_command", "none");
}

const char *
e2e_repo(const char *name)
{
	return copy_of(model("repository", make_repo), name);
}

const char *
e2e_workspace(const char *name)
{
	return copy_of(model("workspace", make_workspace), name);
}

void
e2e_leave_behind(const char *script)
{
	struct child_spec spec = {
		.shell = script, .cwd = unit_scratch(), .detach = true
	};
	cleanup_child_result struct child_result result;
	struct err err = { 0 };

	ck_assert_msg(child_run(&spec, &result, &err) == 0, "%s", err.msg);
}

void
e2e_guard(const char *root, const char *script)
{
	e2e_leave_behind(
	    e2e_path("exec >/dev/null 2>&1 </dev/null\n"
		     "tail --pid=%d -s 0.5 -f /dev/null\n"
		     "[ -d '%s' ] || exit\n"
		     "pid=$(sed -n 's/.*\"pid\": *\\([0-9]*\\).*/\\1/p' "
		     "'%s/.llmc/daemon.json')\n"
		     "[ -z \"$pid\" ] || kill -KILL \"$pid\"\n"
		     "%s",
		(int)getpid(), root, root, script));
}

const char *
e2e_path(const char *fmt, ...)
{
	char *path;
	va_list ap;

	va_start(ap, fmt);
	path = keep(xvasprintf(fmt, ap));
	va_end(ap);
	return path;
}

const char *
e2e_scratch(const char *name)
{
	return e2e_path("%s/%s", unit_scratch(), name);
}

const char *
e2e_read(const char *path)
{
	struct buf text = BUF_INIT;
	struct err err = { 0 };

	ck_assert_msg(
	    file_read(path, READ_MAX, &text, &err) == 0, "%s", err.msg);
	return keep(buf_take(&text));
}

static void
write_mode(const char *path, const char *text, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

	ck_assert_msg(fd != -1, "%s: %s", path, strerror(errno));
	ck_assert_int_eq(file_write_all(fd, text, strlen(text)), 0);
	ck_assert_int_eq(fchmod(fd, mode), 0);
	fd_close(fd);
}

void
e2e_write(const char *path, const char *text)
{
	write_mode(path, text, 0644);
}

void
e2e_script(const char *path, const char *text)
{
	write_mode(path, text, 0755);
}

bool
e2e_exists(const char *path)
{
	return file_exists(path);
}

struct json_object *
e2e_load(const char *path)
{
	struct json_object *json = NULL;

	json_load(path, READ_MAX, &json, NULL);
	return json;
}

void
e2e_rest(int *looks)
{
	int ms = 40 + 10 * (*looks)++;

	poll(NULL, 0, ms < 250 ? ms : 250); /* waits for other programs */
}

int
e2e_number(const char *name, int otherwise)
{
	const char *text = getenv(name);
	int64_t number;

	return text != NULL && text_parse_int(text, 1, INT32_MAX, &number) ?
	    (int)number :
	    otherwise;
}

const char *
e2e_shown(const char *text)
{
	struct buf shown = BUF_INIT;

	text_add_visible(&shown, text, strlen(text), false);
	return keep(buf_take(&shown));
}

static void
expect_status(const struct e2e_run *run, int status)
{
	ck_assert_msg(run->status == status, "%s: status %d, not %d: %s%s",
	    run->command, run->status, status, e2e_shown(run->out),
	    e2e_shown(run->err));
}

void
e2e_expect(const struct e2e_run *run, int status, const char *words)
{
	expect_status(run, status);
	if (words == NULL)
		ck_assert_msg(status != 0 || run->err[0] == '\0', "%s: %s",
		    run->command, e2e_shown(run->err));
	else
		ck_assert_msg(strstr(run->err, words) != NULL,
		    "%s: no \"%s\" in: %s", run->command, e2e_shown(words),
		    e2e_shown(run->err));
}

static void
make_schemas(const char *path)
{
	e2e_write(path, e2e_llmc(NULL, "doctor", "schema", NULL)->out);
}

/* As `llmc doctor schema` prints it, of every command. */
static struct json_object *
all_schemas(void)
{
	static struct json_object *schemas;

	if (schemas == NULL)
		schemas = e2e_load(model("schemas", make_schemas));
	ck_assert_ptr_nonnull(schemas);
	return schemas;
}

static void
check_schema(const struct e2e_run *run, struct json_object *value)
{
	cleanup_buf struct buf why = BUF_INIT;
	bool failed =
	    run->status != 0 && json_object_object_get_ex(value, "error", NULL);
	struct json_object *schema = NULL;
	const char *name;

	if (run->json_of == NULL)
		return;
	name = e2e_path("%s", failed ? "error" : run->json_of);
	/* The last words may be arguments. */
	while (!json_object_object_get_ex(all_schemas(), name, &schema) &&
	    strchr(name, ' ') != NULL)
		name = e2e_path("%.*s", (int)(strrchr(name, ' ') - name), name);
	/* A command that does not exist fails without a schema. */
	ck_assert_msg(schema != NULL, "no schema of %s", run->json_of);
	ck_assert_msg(schema_matches(schema, value, "", &why),
	    "%s: %s in: %.2000s", run->command, why.data, e2e_shown(run->out));
}

struct json_object *
e2e_json(const struct e2e_run *run, int status)
{
	struct json_object *value = NULL;
	struct err err = { 0 };

	expect_status(run, status);
	ck_assert_msg(
	    run->err[0] == '\0', "%s: %s", run->command, e2e_shown(run->err));
	ck_assert_msg(
	    json_parse(run->out, strlen(run->out), READ_MAX, &value, &err) == 0,
	    "%s: %s in: %s", run->command, err.msg, e2e_shown(run->out));
	keep(value);
	check_schema(run, value);
	return value;
}

void
e2e_json_error(
    const struct e2e_run *run, int status, const char *code, const char *words)
{
	struct json_object *error = NULL, *json = e2e_json(run, status);

	ck_assert_int_eq(json_object_object_length(json), 1);
	ck_assert(json_get_object(json, "", "error", &error, NULL) == 0);
	ck_assert_int_eq(json_object_object_length(error), 2);
	ck_assert_str_eq(json_string_or(error, "code", ""), code);
	e2e_has(json_string_or(error, "message", ""), words);
}
