/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "fake.h"

#define FAKE_NOTIFY_MS 6000
#define FAKE_IDLE_MS   60000
#define FAKE_BLOCK_CAP 8
#define FAKE_MODEL     "claude-opus-5-5"

static int64_t
fake_env_int(const char *name, int64_t fallback)
{
	const char *value = getenv(name);
	int64_t n;

	if (value == NULL || !text_parse_int(value, 0, INT32_MAX, &n))
		return fallback;
	return n;
}

static bool
fake_env_set(const char *name)
{
	const char *value = getenv(name);

	return value != NULL && strcmp(value, "1") == 0;
}

/* Options with one value. The others are flags, lists that end at the next
 * dash, or unknown: all are ignored with their values. */
static const char **
fake_option_slot(struct fake_options *options, const char *name)
{
	const struct {
		const char *name;
		const char **slot;
	} table[] = {
		{ "--settings", &options->settings },
		{ "--mcp-config", &options->servers },
		{ "--session-id", &options->session },
		{ "--resume", &options->resume },
		{ "-r", &options->resume },
		{ "--model", &options->model },
		{ "--permission-mode", &options->mode },
		{ "--setting-sources", &options->sources },
	};

	for (size_t i = 0; i < nitems(table); i++)
		if (strcmp(table[i].name, name) == 0)
			return table[i].slot;
	return NULL;
}

static bool
fake_allows_bash(const char *list)
{
	const char *at = strstr(list, "Bash");

	return at != NULL && (at[4] == '\0' || strchr(" ,", at[4]) != NULL);
}

static void
fake_option_allow(struct fake_options *options, const char *list)
{
	options->bash_allowed |= fake_allows_bash(list);
	options->llmc_allowed |= strstr(list, "mcp__llmc__*") != NULL;
}

/* How many words the option at argv[0] uses. */
static int
fake_option_take(struct fake_options *options, int argc, char **argv)
{
	const char **slot = fake_option_slot(options, argv[0]);
	int n = 1;

	if (slot != NULL && argc > 1) {
		*slot = argv[1];
		return 2;
	}
	if (strcmp(argv[0], "--version") == 0 || strcmp(argv[0], "-v") == 0)
		options->version = true;
	options->headless |= strcmp(argv[0], "-p") == 0;
	if (strcmp(argv[0], "--dangerously-skip-permissions") == 0)
		options->mode = "bypassPermissions";
	if (strcmp(argv[0], "--allowedTools") == 0 ||
	    strcmp(argv[0], "--allowed-tools") == 0)
		for (; n < argc && argv[n][0] != '-'; n++)
			fake_option_allow(options, argv[n]);
	return n;
}

void
fake_options_read(struct fake_options *options, int argc, char **argv)
{
	const char *home = getenv("HOME");
	const char *set = getenv("CLAUDE_CONFIG_DIR");
	static char folder[PATH_MAX];

	if (set != NULL && set[0] != '\0')
		snprintf(folder, sizeof folder, "%s", set);
	else
		snprintf(folder, sizeof folder, "%s/.claude",
		    home != NULL ? home : "");
	*options = (struct fake_options){
		.model = FAKE_MODEL,
		.mode = "auto",
		.folder = folder,
		.log = getenv("FAKE_CLAUDE_LOG"),
		.more = getenv("FAKE_CLAUDE_MORE"),
		.start_ms = fake_env_int("FAKE_CLAUDE_START_MS", 0),
		.notify_ms =
		    fake_env_int("FAKE_CLAUDE_NOTIFY_MS", FAKE_NOTIFY_MS),
		.idle_ms = fake_env_int("FAKE_CLAUDE_IDLE_MS", FAKE_IDLE_MS),
		.ignore_enter = fake_env_int("FAKE_CLAUDE_IGNORE_ENTER", 0),
		.tool_timeout_ms = fake_env_int("MCP_TOOL_TIMEOUT", 0),
		.block_cap = fake_env_int(
		    "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", FAKE_BLOCK_CAP),
		.no_start = fake_env_set("FAKE_CLAUDE_NO_SESSIONSTART"),
		.goes_on = fake_env_set("FAKE_CLAUDE_GOES_ON"),
		.faults = getenv("FAKE_CLAUDE_FAULTS"),
	};
	for (int i = 1; i < argc;) {
		if (strcmp(argv[i], "--") == 0) {
			options->prompt = i + 1 < argc ? argv[i + 1] : NULL;
			break;
		}
		i += fake_option_take(options, argc - i, argv + i);
	}
	fake_codex_options(options, argc, argv);
	fake_opencode_options(options, argc, argv);
	fake_gemini_options(options, argc, argv);
}
