/* SPDX-License-Identifier: ISC */

/* What agent_prepare() writes and `llmc pane FILE` executes, with a script as
 * agent that prints how it was started. */

#include "claude-world.h"
#include "box-plan.h"
#include "sibling.h"
#include "orphans.h"

#define OUTPUT_MAX (4 * 1024 * 1024)
#define LONG       (100 * 1024)

/* Arguments and environment, each followed by a NUL, and its directory. */
#define AGENT                                                             \
	"#!/bin/sh\n"                                                     \
	"cat /proc/$$/cmdline; printf '=====\\0'; cat /proc/$$/environ; " \
	"printf '=====\\0'; printf '%s\\0' \"$(pwd -P)\"\n"

#define ODD \
	"line one\nline\ttwo \xc3\xbc\xf0\x9f\x8c\x8d \"q\" 'a' $(x) \\ #{y}"

struct ran {
	int status;
	char *words[512]; /* pointers into out */
	size_t count;
	struct buf out, err;
};

static void
ran_release(struct ran *ran)
{
	buf_release(&ran->out);
	buf_release(&ran->err);
}

#define cleanup_ran __attribute__((cleanup(ran_release)))

static const char *
agent_script(const char *name)
{
	const char *path = unit_path(name);

	ck_assert_int_eq(
	    file_replace(path, AGENT, strlen(AGENT), 0700, NULL), 0);
	return path;
}

/* llmc pane FILE, in an environment like that of a tmux pane. */
static void
run_pane(const char *file, struct ran *ran)
{
	static const char *const env[] = { "TMUX=/tmp/tmux-0/pane,1,0",
		"TMUX_PANE=%7", "TERM=tmux-256color", "COLORTERM", "STALE=1",
		"ASAN_OPTIONS=detect_leaks=0", NULL };
	const char *llmc = getenv("LLMC_BIN");
	const char *const argv[] = { llmc, "pane", file, NULL };
	struct child_spec spec = { .argv = argv,
		.env = env,
		.cwd = "/",
		.output_max = OUTPUT_MAX,
		.deadline_ms = 30000 };
	cleanup_child_result struct child_result result;
	struct err err = { 0 };

	ck_assert_msg(llmc != NULL, "LLMC_BIN is not set: run through meson");
	memset(ran, 0, sizeof *ran);
	buf_init(&ran->out);
	buf_init(&ran->err);
	ck_assert_msg(child_run(&spec, &result, &err) == 0, "%s", err.msg);
	ck_assert(result.exited);
	ran->status = result.status;
	child_output_text(&result.out, &ran->out);
	child_output_text(&result.err, &ran->err);
	for (char *s = ran->out.data; s < ran->out.data + ran->out.len;
	     s += strlen(s) + 1) {
		ck_assert_uint_lt(ran->count, nitems(ran->words));
		ran->words[ran->count++] = s;
	}
}

static size_t
find(const struct ran *ran, const char *word, size_t from)
{
	while (from < ran->count && strcmp(ran->words[from], word) != 0)
		from++;
	return from;
}

static bool
has(const struct ran *ran, const char *word)
{
	return find(ran, word, 0) < ran->count;
}

/* The value of a variable of the agent, which must be unique. */
static const char *
variable(const struct ran *ran, const char *name)
{
	size_t len = strlen(name);
	const char *value = NULL;

	for (size_t i = find(ran, "=====", 0) + 1; i < ran->count; i++) {
		if (strncmp(ran->words[i], name, len) != 0 ||
		    ran->words[i][len] != '=')
			continue;
		ck_assert_msg(value == NULL, "%s is there twice", name);
		value = ran->words[i] + len + 1;
	}
	return value;
}

static void
config_line(struct buf *config, const char *key, const char *value)
{
	buf_addf(config, "%s = ", key);
	text_add_json(config, value, strlen(value));
	buf_addc(config, '\n');
}

static void
prepare_and_run(const char *config, struct ran *ran)
{
	cleanup_free char *launcher = NULL;

	claude_world_begin(config);
	launcher = claude_world_prepare();
	run_pane(launcher, ran);
}

TEST(arguments_arrive_as_they_are)
{
	cleanup_free char *launcher = NULL;
	cleanup_buf struct buf config = BUF_INIT;
	cleanup_ran struct ran ran;
	char **argv;

	buf_adds(&config, "[defaults]\n");
	config_line(&config, "agent_command", agent_script("an agent's"));
	config_line(&config, "append_system_prompt", ODD);
	buf_adds(&config, "extra_args = [\"\", \"-x\", ");
	text_add_json(&config, ODD, strlen(ODD));
	buf_adds(&config, ", \"\"]\nisolate = true\n");
	claude_world_begin(config.data);
	launcher = claude_world_prepare();
	run_pane(launcher, &ran);
	ck_assert_msg(ran.status == 0, "%s", ran.err.data);
	ck_assert_str_eq(ran.err.data, "");
	argv = claude_argv(&w.launch);
	/* A script's arguments follow those of its interpreter. */
	for (size_t i = 0; argv[i] != NULL; i++)
		ck_assert_str_eq(ran.words[i + 1], argv[i]);
	strv_free(argv);
	ck_assert_str_eq(ran.words[find(&ran, "=====", 0) - 1], "");
	ck_assert_str_eq(ran.words[find(&ran, "=====", 0) - 2], ODD);
	/* It runs in the directory of the launch. */
	ck_assert_str_eq(ran.words[ran.count - 1], w.launch.cwd);
}

/* It has the environment, perhaps with keys. */
TEST(file_is_private_and_removed_when_it_was_read)
{
	cleanup_buf struct buf config = BUF_INIT, text = BUF_INIT;
	cleanup_free char *launcher = NULL, *again = NULL;
	cleanup_ran struct ran ran;
	struct stat st;

	setenv("ANTHROPIC_API_KEY", "a-key", 1);
	buf_adds(&config, "[defaults]\n");
	config_line(&config, "agent_command", agent_script("agent-key"));
	claude_world_begin(config.data);
	launcher = claude_world_prepare();
	ck_assert_int_eq(chmod(launcher, 0644), 0);
	again = claude_world_prepare();
	ck_assert_str_eq(again, launcher);
	ck_assert_int_eq(stat(launcher, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	ck_assert_int_eq(file_read(launcher, OUTPUT_MAX, &text, NULL), 0);
	ck_assert_ptr_nonnull(strstr(text.data, "a-key"));
	run_pane(launcher, &ran);
	unsetenv("ANTHROPIC_API_KEY");
	ck_assert_msg(ran.status == 0, "%s", ran.err.data);
	ck_assert_str_eq(variable(&ran, "ANTHROPIC_API_KEY"), "a-key");
	ck_assert(!file_exists(launcher));
}

TEST(environment_is_ours_and_the_panes)
{
	cleanup_buf struct buf config = BUF_INIT;
	cleanup_ran struct ran ran;

	setenv("ODD", ODD, 1);
	setenv("EMPTY", "", 1);
	setenv("EQUALS", "a=b=c", 1);
	setenv("LLMC_WORKER", "of-the-daemon", 1);
	setenv("TMUX", "of-the-daemon", 1);
	setenv("TERM", "of-the-daemon", 1);
	setenv("COLORTERM", "of-the-daemon", 1);
	setenv("FORGE_TOKEN", "of-the-daemon", 1);
	buf_adds(
	    &config, "[defaults]\nenv = [\"ODD\", \"EMPTY\", \"EQUALS\"]\n");
	config_line(&config, "agent_command", agent_script("agent-env"));
	prepare_and_run(config.data, &ran);
	unsetenv("TMUX");
	unsetenv("LLMC_WORKER");
	ck_assert_msg(ran.status == 0, "%s", ran.err.data);
	ck_assert_str_eq(variable(&ran, "ODD"), ODD);
	ck_assert_str_eq(variable(&ran, "EMPTY"), "");
	ck_assert_str_eq(variable(&ran, "EQUALS"), "a=b=c");
	ck_assert_str_eq(variable(&ran, "LLMC_WORKER"), "ann");
	ck_assert_str_eq(variable(&ran, "LLMC_AGENT"), "1");
	ck_assert_str_eq(variable(&ran, "PATH"), getenv("PATH"));
	/* The pane's value from tmux wins. */
	ck_assert_str_eq(variable(&ran, "TMUX"), "/tmp/tmux-0/pane,1,0");
	ck_assert_str_eq(variable(&ran, "TMUX_PANE"), "%7");
	ck_assert_str_eq(variable(&ran, "TERM"), "tmux-256color");
	ck_assert_ptr_null(variable(&ran, "COLORTERM"));
	/* The environment of the tmux server does not reach the agent. */
	ck_assert_ptr_null(variable(&ran, "STALE"));
	ck_assert_ptr_null(variable(&ran, "FORGE_TOKEN"));
}

TEST(arguments_of_100_kilobytes_arrive)
{
	cleanup_buf struct buf config = BUF_INIT, text = BUF_INIT;
	cleanup_ran struct ran ran;

	for (int i = 0; text.len < LONG; i++)
		buf_addf(&text, "%d \xc3\xbc\n", i);
	buf_adds(&config, "[defaults]\n");
	config_line(&config, "agent_command", agent_script("agent-long"));
	config_line(&config, "append_system_prompt", text.data);
	buf_adds(&config, "extra_args = [");
	text_add_json(&config, text.data, text.len);
	buf_adds(&config, "]\n");
	prepare_and_run(config.data, &ran);
	ck_assert_msg(ran.status == 0, "%s", ran.err.data);
	ck_assert(has(&ran, "--append-system-prompt"));
	ck_assert_str_eq(
	    ran.words[find(&ran, "--append-system-prompt", 0) + 1], text.data);
	ck_assert_str_eq(ran.words[find(&ran, "=====", 0) - 1], text.data);
}

TEST(agent_is_found_on_the_path_of_the_file)
{
	const char *dir = unit_path("bin");
	cleanup_free char *old = xstrdup(getenv("PATH"));
	cleanup_free char *path = xasprintf("%s:%s", dir, old);
	cleanup_ran struct ran ran;

	ck_assert_int_eq(file_mkdirs(dir, 0700, NULL), 0);
	agent_script("bin/my-own-agent");
	setenv("PATH", path, 1);
	prepare_and_run("[defaults]\nagent_command = \"my-own-agent\"\n", &ran);
	setenv("PATH", old, 1);
	ck_assert_msg(ran.status == 0, "%s", ran.err.data);
	ck_assert_str_eq(variable(&ran, "PATH"), path);
}

TEST(agent_is_kept_and_marked)
{
	cleanup_buf struct buf config = BUF_INIT;
	cleanup_free char *launcher = NULL, *record = NULL, *mark = NULL;
	cleanup_json struct json_object *json = NULL;
	cleanup_ran struct ran ran;

	buf_adds(&config, "[defaults]\n");
	config_line(&config, "agent_command", agent_script("agent-kept"));
	claude_world_begin(config.data);
	record = orphans_record(&w.workspace, "ann");
	mark = orphans_mark(&w.workspace, "ann");
	launcher = claude_world_prepare();
	run_pane(launcher, &ran);
	ck_assert_msg(ran.status == 0, "%s", ran.err.data);
	ck_assert_str_eq(variable(&ran, "LLMC_KEEPER"), mark);
	ck_assert_int_eq(json_load(record, 4096, &json, NULL), 0);
	ck_assert_str_eq(json_string_or(json, "mark", ""), mark);
	ck_assert_int_gt(json_int_or(json, "init", 0), 1);
	ck_assert(json_bool_or(json, "ended", false));
}

/* --- failures -------------------------------------------------------- */

static void
expect_failure(const char *file, const char *words)
{
	cleanup_ran struct ran ran;

	run_pane(file, &ran);
	ck_assert_int_eq(ran.status, 1);
	ck_assert_str_eq(ran.out.data, "");
	ck_assert_msg(strstr(ran.err.data, words) != NULL, "no \"%s\" in: %s",
	    words, ran.err.data);
	ck_assert_ptr_eq(
	    strchr(ran.err.data, '\n'), ran.err.data + ran.err.len - 1);
}

static void
expect_agent_failure(const char *command, const char *words)
{
	const char *const wanted[] = { command, "; see: llmc doctor --agents",
		words };
	cleanup_buf struct buf config = BUF_INIT;

	buf_adds(&config, "[defaults]\n");
	config_line(&config, "agent_command", command);
	claude_world_begin(config.data);
	for (size_t i = 0; i < nitems(wanted); i++) {
		cleanup_free char *launcher = claude_world_prepare();

		expect_failure(launcher, wanted[i]);
	}
}

static void
write_into(const char *dir, const char *name)
{
	cleanup_free char *path = file_join(dir, name);

	ck_assert_int_eq(file_mkdirs(dir, 0700, NULL), 0);
	ck_assert_int_eq(file_replace(path, "", 0, 0600, NULL), 0);
}

TEST(agent_is_in_the_cgroup_of_the_file)
{
	const char *group = unit_path("a group"), *none = unit_path("none");
	cleanup_buf struct buf config = BUF_INIT, text = BUF_INIT;
	cleanup_free char *procs = file_join(group, "cgroup.procs");
	cleanup_free char *events = file_join(group, "memory.events");
	cleanup_free char *first = NULL, *second = NULL;
	cleanup_ran struct ran ran, again;

	write_into(group, "cgroup.procs");
	write_into(group, "cgroup.kill");
	ck_assert_int_eq(
	    file_replace(events, "low 0\noom_kill 3\n", 17, 0600, NULL), 0);
	buf_adds(&config, "[defaults]\n");
	config_line(&config, "agent_command", agent_script("agent-group"));
	claude_world_begin(config.data);
	w.launch.cgroup = group;
	first = claude_world_prepare();
	run_pane(first, &ran);
	ck_assert_msg(ran.status == 0, "%s", ran.err.data);
	ck_assert_str_eq(ran.err.data, "");
	ck_assert_int_eq(file_read(procs, 4096, &text, NULL), 0);
	ck_assert_int_gt(strtol(text.data, NULL, 10), 1);
	ck_assert(file_exists(group)); /* for who made it to read */
	ck_assert_int_eq(orphans_oom_kills(&w.workspace, "ann"), 3);
	/* One that is no cgroup: it starts all the same, and says so. */
	write_into(none, "cgroup.kill");
	w.launch.cgroup = none;
	second = claude_world_prepare();
	run_pane(second, &again);
	ck_assert_msg(again.status == 0, "%s", again.err.data);
	ck_assert_ptr_nonnull(strstr(again.err.data, "limits do not hold"));
}

/* A systemd-run that writes down its arguments. */
#define RECORDER                                          \
	"#!/bin/sh\nprintf '%%s\\n' \"$@\" >'%s'\n"       \
	"while [ \"$1\" != -- ]; do shift; done; shift\n" \
	"exec \"$@\"\n"

TEST(agent_is_in_the_scope_of_the_file)
{
	const char *run = unit_path("systemd-run"), *said = unit_path("said");
	cleanup_free char *script = xasprintf(RECORDER, said);
	cleanup_buf struct buf config = BUF_INIT, text = BUF_INIT;
	struct box_limits limits = { { 4096, 7, 0 } };
	cleanup_strv char **scope =
	    box_limits_scope(&limits, run, "llmc-ann", false);
	cleanup_free char *launcher = NULL;
	cleanup_ran struct ran ran;

	ck_assert_int_eq(
	    file_replace(run, script, strlen(script), 0700, NULL), 0);
	buf_adds(&config, "[defaults]\n");
	config_line(&config, "agent_command", agent_script("agent-scope"));
	claude_world_begin(config.data);
	w.launch.scope = scope;
	launcher = claude_world_prepare();
	run_pane(launcher, &ran);
	ck_assert_msg(ran.status == 0, "%s", ran.err.data);
	ck_assert_int_eq(file_read(said, 65536, &text, NULL), 0);
	ck_assert_ptr_nonnull(strstr(text.data,
	    "--user\n--scope\n--quiet\n--collect\n--unit=llmc-ann\n-p\n"
	    "MemoryMax=4096\n-p\nTasksMax=7\n--\n"));
	ck_assert_ptr_nonnull(strstr(text.data, "/keeper\n--terminal\n"));
}

TEST(agent_that_is_missing_is_named)
{
	const char *plain = unit_path("not-executable");

	expect_agent_failure("no-such-agent-here", "No such file");
	expect_agent_failure("/nowhere/an agent", "No such file");
	ck_assert_int_eq(file_replace(plain, "x", 1, 0600, NULL), 0);
	expect_agent_failure(plain, "Permission denied");
}

TEST(argument_too_long_for_the_kernel_is_told)
{
	cleanup_buf struct buf config = BUF_INIT;
	cleanup_free char *launcher = NULL;

	buf_adds(&config, "[defaults]\n");
	config_line(&config, "agent_command", agent_script("agent-too-long"));
	buf_adds(&config, "append_system_prompt = \"");
	for (int i = 0; i < 3 * LONG; i++)
		buf_addc(&config, 'x');
	buf_adds(&config, "\"\n");
	claude_world_begin(config.data);
	launcher = claude_world_prepare();
	expect_failure(launcher, "Argument list too long");
}

TEST(directory_that_is_gone_is_named)
{
	cleanup_free char *launcher = NULL;

	claude_world_begin("");
	w.launch.cwd = "/nowhere/at all";
	launcher = claude_world_prepare();
	expect_failure(launcher, "/nowhere/at all: No such file");
	ck_assert(!file_exists(launcher));
}

TEST(broken_file_is_named)
{
	static const char *const texts[][2] = {
		{ "", "launch.json" },
		{ "{", "launch.json" },
		{ "[]", "expected an object" },
		{ "{}", "argv" },
		{ "{\"argv\":[],\"env\":[],\"cwd\":\"/\"}", "argv" },
		{ "{\"argv\":[1],\"env\":[],\"cwd\":\"/\"}", "argv[0]" },
		{ "{\"argv\":[\"x\"],\"env\":{},\"cwd\":\"/\"}", "env" },
		{ "{\"argv\":[\"x\"],\"env\":[null],\"cwd\":\"/\"}", "env[0]" },
		{ "{\"argv\":[\"x\"],\"env\":[]}", "cwd" },
		{ "{\"argv\":[\"\\u0000\"],\"env\":[],\"cwd\":\"/\"}",
		    "launch.json" },
	};
	const char *file = unit_path("launch.json");

	expect_failure(file, "launch.json: No such file");
	for (size_t i = 0; i < nitems(texts); i++) {
		ck_assert_int_eq(file_replace(file, texts[i][0],
				     strlen(texts[i][0]), 0600, NULL),
		    0);
		expect_failure(file, texts[i][1]);
		expect_failure(file, "launch.json");
	}
}

TEST(broken_file_leaves_the_caller_as_he_was)
{
	const char *file = unit_path("broken.json");
	struct err err = { 0 };

	ck_assert_int_eq(file_replace(file, "{}", 2, 0600, NULL), 0);
	setenv("STILL", "here", 1);
	ck_assert_int_eq(launcher_exec(file, &err), -EINVAL);
	ck_assert_str_eq(getenv("STILL"), "here");
	ck_assert_ptr_nonnull(strstr(err.msg, "broken.json"));
	ck_assert_int_eq(launcher_exec(unit_path("none"), &err), -ENOENT);
}

TEST(entries_without_a_name_are_passed_over)
{
	cleanup_buf struct buf text = BUF_INIT;
	const char *file = unit_path("entries.json");
	const char *agent = agent_script("agent-entries");
	cleanup_ran struct ran ran;

	buf_addf(&text,
	    "{\"argv\":[\"%s\"],\"cwd\":\"/\",\"env\":[\"NOVALUE\",\"=x\",\"\","
	    "\"TWICE=1\",\"TWICE=2\",\"PATH=/usr/bin:/bin\"]}",
	    agent);
	ck_assert_int_eq(
	    file_replace(file, text.data, text.len, 0600, NULL), 0);
	run_pane(file, &ran);
	ck_assert_msg(ran.status == 0, "%s", ran.err.data);
	ck_assert_str_eq(variable(&ran, "TWICE"), "2");
	ck_assert_ptr_null(variable(&ran, "NOVALUE"));
	ck_assert(!has(&ran, "NOVALUE"));
	ck_assert(!has(&ran, "=x"));
}
