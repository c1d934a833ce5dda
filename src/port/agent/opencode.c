/* SPDX-License-Identifier: ISC */

/*
 * OpenCode. It has no hooks that are commands, but plugins: one in its server,
 * which reports prompts, tools and ends of turns by `llmc hook` and writes the
 * conversation as Claude Code would, and one in its screen, which reports that
 * it can be prompted. Both speak the words of Claude Code, so that nothing else
 * must be translated.
 */
#include "base.h"

#include "agent-kind.h"
#include "box-plan.h"
#include "hook-event.h"
#include "mcp.h"
#include "workspace.h"

#define OWN "opencode" /* its folder in those of XDG */

/* Runs a hook after those before it; its answer, or {}. */
static const char common[] =
    "import { spawn } from 'node:child_process'\n"
    "import { appendFileSync, mkdirSync } from 'node:fs'\n"
    "let last = Promise.resolve({})\n"
    "const run = (event, data) => new Promise((done) => {\n"
    "  const [program, ...args] = hooks[event]\n"
    "  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'ignore'] })\n"
    "  let out = ''\n"
    "  child.stdout.on('data', (text) => { out += text })\n"
    "  child.stdin.on('error', () => {})\n"
    "  child.on('error', (e) => done({ failed: String(e) }))\n"
    "  child.on('close', (code) => {\n"
    "    try { done(code ? { failed: 'status ' + code } : JSON.parse(out || '{}')) }\n"
    "    catch (e) { done({}) }\n"
    "  })\n"
    "  child.stdin.end(JSON.stringify(data))\n"
    "})\n"
    "const hook = (event, data) => (last = last.then(() => run(event, data)))\n";

/* The home screen has no conversation: it is shown at the start and after
 * /clear. One Escape is enough. */
static const char screen[] =
    "export default { id: 'llmc', tui: async (api) => {\n"
    "  const ready = () => { hook('AgentReady', {}); return null }\n"
    "  api.slots.register({ slots: { home_bottom: ready } })\n"
    "  if (api.route.current.name === 'session') ready()\n"
    "  api.keymap.registerLayer({ priority: 1000,\n"
    "    commands: [{ name: 'llmc.interrupt', run() {\n"
    "      const at = api.route.current\n"
    "      if (at.name === 'session')\n"
    "        api.client.session.abort({ sessionID: at.params.sessionID })\n"
    "    } }],\n"
    "    bindings: [{ key: 'escape', cmd: 'llmc.interrupt' }] })\n"
    "} }\n";

static const char server[] =
    "const tools = { bash: 'Bash', write: 'Write', edit: 'Edit', read: 'Read',\n"
    "  multiedit: 'MultiEdit', patch: 'apply_patch' }\n"
    "const folder = (process.env.XDG_DATA_HOME ||\n"
    "  process.env.HOME + '/.local/share') + '/llmc/projects/' + worker\n"
    "const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug',\n"
    "  'Sep', 'Oct', 'Nov', 'Dec']\n"
    /* Subagents have conversations of their own, below the one that counts. */
    "const children = new Map(), texts = new Map()\n"
    "const sent = new Set(), written = new Set()\n"
    "let named = '', error = null, words = '', busy = false\n"
    "const pathOf = (id) => folder + '/' + id + '.jsonl'\n"
    "const about = (id, more) =>\n"
    "  ({ session_id: id, transcript_path: pathOf(id), ...more })\n"
    "const line = (id, type, message, more) => {\n"
    "  mkdirSync(folder, { recursive: true, mode: 0o700 })\n"
    "  appendFileSync(pathOf(id), JSON.stringify({ type, sessionId: id,\n"
    "    timestamp: new Date().toISOString(), message, ...more }) + '\\n',\n"
    "    { mode: 0o600 })\n"
    "}\n"
    "const block = (id, type, content) => line(id, type, { role: type,\n"
    "  content: [content] })\n"
    "const wordOf = (e) => {\n"
    "  const status = e.data?.statusCode, text = e.data?.message ?? ''\n"
    "  if (status === 401 || status === 403 || e.name === 'ProviderAuthError')\n"
    "    return 'authentication_failed'\n"
    "  if (status === 429 || /\\blimit\\b|quota/i.test(text))\n"
    "    return 'rate_limit'\n"
    "  if (status === 529 || /overload/i.test(text)) return 'overloaded'\n"
    "  return status >= 500 || !status ? 'server_error' : 'unknown'\n"
    "}\n"
    "const ended = async (client, id) => {\n"
    "  if (!busy) return\n"
    "  busy = false\n"
    "  const e = error\n"
    "  error = null\n"
    "  if (e?.name === 'MessageAbortedError')\n"
    "    return block(id, 'user',\n"
    "      { type: 'text', text: '[Request interrupted by user]' })\n"
    "  if (e) {\n"
    "    const text = e.data?.message ?? e.name\n"
    "    line(id, 'assistant', { model: '<synthetic>',\n"
    "      content: [{ type: 'text', text }] }, { isApiErrorMessage: true })\n"
    "    return hook('StopFailure', about(id,\n"
    "      { error: wordOf(e), last_assistant_message: text }))\n"
    "  }\n"
    "  const answer = await hook('Stop', about(id,\n"
    "    { last_assistant_message: words }))\n"
    "  if (answer?.decision !== 'block') return\n"
    "  sent.add(answer.reason)\n"
    "  await client.session.promptAsync({ path: { id },\n"
    "    body: { parts: [{ type: 'text', text: answer.reason }] } })\n"
    "}\n"
    "const onPart = (part) => {\n"
    "  if (part.type === 'text' && part.time?.end) {\n"
    "    if (written.has(part.id)) return\n"
    "    written.add(part.id)\n"
    "    words = part.text\n"
    "    line(part.sessionID, 'assistant', { id: part.messageID,\n"
    "      model: texts.get(part.messageID), content:\n"
    "      [{ type: 'text', text: part.text }] })\n"
    "  }\n"
    "  const status = part.state?.status\n"
    "  if (part.type !== 'tool' || written.has(part.id) ||\n"
    "      (status !== 'completed' && status !== 'error')) return\n"
    "  written.add(part.id)\n"
    "  line(part.sessionID, 'assistant', { id: part.messageID,\n"
    "    model: texts.get(part.messageID), content: [{ type: 'tool_use',\n"
    "    id: part.callID, name: tools[part.tool] ?? part.tool,\n"
    "    input: part.state.input }] })\n"
    "  block(part.sessionID, 'user', { type: 'tool_result',\n"
    "    tool_use_id: part.callID, is_error: status === 'error',\n"
    "    content: String(part.state.output ?? part.state.error ?? '') })\n"
    "}\n"
    "const used = (info, id, more) => {\n"
    "  if (info.role !== 'assistant' || !info.time.completed ||\n"
    "      written.has(info.id)) return\n"
    "  written.add(info.id)\n"
    "  line(id, 'assistant', { id: info.id, model: info.modelID,\n"
    "    content: [], usage: { input_tokens: info.tokens.input,\n"
    "      output_tokens: info.tokens.output + info.tokens.reasoning,\n"
    "      cache_read_input_tokens: info.tokens.cache.read,\n"
    "      cache_creation_input_tokens: info.tokens.cache.write } }, more)\n"
    "}\n"
    "const onMessage = (info) => {\n"
    "  if (info.role !== 'assistant') return\n"
    "  texts.set(info.id, info.modelID)\n"
    "  error = error ?? info.error ?? null\n"
    "  used(info, info.sessionID)\n"
    "}\n"
    "const adopt = (id, parent) => {\n"
    "  if (parent) children.set(id, children.get(parent) ?? parent)\n"
    "}\n"
    /* A wait of its own that is long, or not the first one, is ours. */
    "const onRetry = async (client, id, status) => {\n"
    "  const far = status.next - Date.now() >= 60000\n"
    "  if (status.attempt < 4 && !far) return\n"
    "  const at = new Date(status.next + 59000), hour = at.getUTCHours()\n"
    "  const when = '; resets ' + months[at.getUTCMonth()] + ' ' +\n"
    "    at.getUTCDate() + ' at ' + (hour % 12 || 12) + ':' +\n"
    "    String(at.getUTCMinutes()).padStart(2, '0') +\n"
    "    (hour < 12 ? 'am' : 'pm') + ' (UTC)'\n"
    "  error = { name: 'Retry', data: { message: status.message +\n"
    "    (far ? when : '') } }\n"
    "  await client.session.abort({ path: { id } })\n"
    "}\n"
    "export const Llmc = async ({ client, directory }) => ({\n"
    "  event: async ({ event }) => {\n"
    "    const p = event.properties\n"
    "    const id = p?.sessionID ?? p?.part?.sessionID ??\n"
    "      p?.info?.sessionID ?? p?.info?.id\n"
    "    if (event.type === 'session.created')\n"
    "      adopt(p.info.id, p.info.parentID)\n"
    "    if (children.has(id)) {\n"
    "      if (event.type === 'message.updated')\n"
    "        used(p.info, children.get(id), { isSidechain: true })\n"
    "      return\n"
    "    }\n"
    "    if (event.type === 'message.part.updated') onPart(p.part)\n"
    "    if (event.type === 'message.updated') onMessage(p.info)\n"
    "    if (event.type === 'session.error') \n"
    "      error = error ?? p.error\n"
    "    if (event.type === 'session.status' && p.status.type === 'retry')\n"
    "      await onRetry(client, id, p.status)\n"
    "    if (event.type === 'session.idle') await ended(client, id)\n"
    "  },\n"
    "  'chat.message': async ({ sessionID: id }, { parts }) => {\n"
    /* One of an earlier process goes on. */
    "    if (id !== named && !children.has(id)) try {\n"
    "      const known = await client.session.get({ path: { id } })\n"
    "      adopt(id, known.data?.parentID)\n"
    "    } catch (e) {}\n"
    "    if (children.has(id)) return\n"
    "    const prompt = parts.filter((p) => p.type === 'text' && !p.synthetic)\n"
    "      .map((p) => p.text).join('\\n')\n"
    "    for (const p of parts) written.add(p.id)\n"
    "    busy = true\n"
    "    error = null\n"
    "    words = ''\n"
    "    block(id, 'user', { type: 'text', text: prompt })\n"
    "    if (sent.delete(prompt)) return\n"
    "    if (named !== id) await hook('ConversationNamed', about(id,\n"
    "      { source: 'startup' }))\n"
    "    named = id\n"
    "    await hook('UserPromptSubmit', about(id, { prompt }))\n"
    "  },\n"
    "  'tool.execute.before': async ({ tool, sessionID: id }, { args }) => {\n"
    "    const input = { ...args }\n"
    "    if (args.filePath) input.file_path = args.filePath\n"
    "    if (args.patchText) input.patch = args.patchText\n"
    "    const answer = await hook('PreToolUse', about(id, { cwd: directory,\n"
    "      tool_name: tools[tool] ?? tool, tool_input: input,\n"
    "      ...(children.has(id) ? { agent_id: id } : {}) }))\n"
    "    const said = answer?.hookSpecificOutput\n"
    "    if (answer?.failed) throw new Error('llmc hook: ' + answer.failed)\n"
    "    if (said?.permissionDecision === 'deny')\n"
    "      throw new Error(said.permissionDecisionReason)\n"
    "  },\n"
    "  'tool.execute.after': async ({ tool, sessionID: id }, output) => {\n"
    "    const answer = await hook('PostToolUse', about(id,\n"
    "      { tool_name: tools[tool] ?? tool,\n"
    "      ...(children.has(id) ? { agent_id: id } : {}) }))\n"
    "    const said = answer?.hookSpecificOutput?.additionalContext\n"
    "    if (said && output?.output !== undefined)\n"
    "      output.output += '\\n' + said\n"
    "  },\n"
    "})\n";

static struct json_object *
hooks_json(const struct agent_launch *launch)
{
	static const char *const events[] = { HOOK_EVENT_READY,
		HOOK_EVENT_NAMED, "UserPromptSubmit", "PreToolUse",
		"PostToolUse", "Stop", "StopFailure" };
	struct json_object *hooks = json_object_new_object();

	for (size_t i = 0; i < nitems(events); i++) {
		cleanup_strv char **words = NULL;

		agent_hook_words(&opencode_kind, launch, events[i], &words);
		json_set(hooks, events[i], strv_to_json(words));
	}
	return hooks;
}

/* Returns its address; the caller frees. */
static char *
write_plugin(const struct agent_launch *launch, const char *name,
    const char *text, struct err *err)
{
	cleanup_free char *path = agent_path(launch, name);
	cleanup_json struct json_object *hooks = hooks_json(launch);
	cleanup_buf struct buf out = BUF_INIT;

	buf_adds(&out, "const hooks = ");
	json_print(hooks, false, &out);
	buf_addf(
	    &out, "\nconst worker = '%s'\n%s%s", launch->worker, common, text);
	if (agent_write_file(path, out.data, out.len, err) < 0)
		return NULL;
	return xasprintf("file://%s", path);
}

static struct json_object *
list_of(const char *word)
{
	struct json_object *list = json_object_new_array();

	json_object_array_add(list, json_object_new_string(word));
	return list;
}

/* Read after all other settings. The title of a conversation would be a
 * request of its own. */
static struct json_object *
config_json(const struct agent_launch *launch, const char *plugin)
{
	struct json_object *config = json_object_new_object();
	struct json_object *agents = json_object_new_object();
	struct json_object *title = json_object_new_object();
	struct json_object *allowed = json_object_new_object();
	struct json_object *servers = json_object_new_object();
	struct json_object *llmc = json_object_new_object();
	cleanup_strv char **words = NULL;

	json_set(config, "plugin", list_of(plugin));
	json_set_bool(config, "autoupdate", false);
	json_set_string(config, "share", "disabled");
	json_set_bool(title, "disable", true);
	json_set(agents, "title", title);
	json_set(config, "agent", agents);
	json_set_string(allowed, "*", "allow");
	json_set_string(allowed, "question", "deny");
	json_set(config, "permission", allowed);
	if (agent_model(launch)[0] != '\0')
		json_set_string(config, "model", agent_model(launch));
	agent_mcp_words(launch, &words);
	json_set_string(llmc, "type", "local");
	json_set(llmc, "command", strv_to_json(words));
	json_set_int(llmc, "timeout", MCP_TOOL_TIMEOUT_MS);
	json_set_bool(llmc, "enabled", launch->tools);
	json_set(servers, "llmc", llmc);
	json_set(config, "mcp", servers);
	return config;
}

/* A box has no settings of the user. It can read these and not change them, and
 * sees nothing that it would have to write or install first. */
static int
write_settings(const struct agent_launch *launch, char ***env, struct err *err)
{
	static const char *const files[][2] = {
		{ "opencode.json",
		    "{\"$schema\":\"https://opencode.ai/config.json\"}\n" },
		{ ".gitignore", "*\n" },
		{ "package-lock.json",
		    "{\"packages\":{\"\":{\"dependencies\":"
		    "{\"@opencode-ai/plugin\":\"*\"}}}}\n" },
	};
	cleanup_free char *config = agent_path(launch, "config");
	cleanup_free char *modules =
	    agent_path(launch, "config/" OWN "/node_modules");
	int r = file_mkdirs(modules, 0700, err);

	for (size_t i = 0; r == 0 && i < nitems(files); i++) {
		cleanup_free char *path =
		    xasprintf("%s/" OWN "/%s", config, files[i][0]);

		r = agent_write_file(
		    path, files[i][1], strlen(files[i][1]), err);
	}
	strv_take(env, xasprintf("XDG_CONFIG_HOME=%s", config));
	return r;
}

static int
opencode_prepare(const struct agent_launch *launch, char ***argv, char ***env,
    struct err *err)
{
	const char *extra = agent_string(launch, "append_system_prompt");
	cleanup_free char *tui = agent_path(launch, "opencode-tui.json"),
			  *added = agent_path(launch, "opencode.md"),
			  *in_server =
			      write_plugin(launch, "opencode.js", server, err),
			  *in_screen = write_plugin(
			      launch, "opencode-tui.js", screen, err);
	cleanup_json struct json_object *config = NULL, *shown = NULL;
	cleanup_buf struct buf text = BUF_INIT;
	int r;

	if (in_server == NULL || in_screen == NULL)
		return -EIO;
	shown = json_object_new_object();
	json_set(shown, "plugin", list_of(in_screen));
	json_print(shown, false, &text);
	r = agent_write_file(tui, text.data, text.len, err);
	if (r == 0)
		r = agent_write_file(added, extra, strlen(extra), err);
	if (r == 0 && launch->sandboxed &&
	    box_mode_of(launch->settings, launch->worker) != BOX_OFF)
		r = write_settings(launch, env, err);
	if (r < 0)
		return r;
	config = config_json(launch, in_server);
	if (extra[0] != '\0')
		json_set(config, "instructions", list_of(added));
	buf_clear(&text);
	json_print(config, false, &text);
	strv_take(env, xasprintf("OPENCODE_CONFIG_CONTENT=%s", text.data));
	strv_take(env, xasprintf("OPENCODE_TUI_CONFIG=%s", tui));
	strv_add(env, "OPENCODE_DISABLE_AUTOUPDATE=1");
	strv_add(env, "OPENCODE_DISABLE_LSP_DOWNLOAD=1");
	strv_add(env, "OPENCODE_DISABLE_TERMINAL_TITLE=1");
	strv_add(argv, agent_string(launch, opencode_kind.command));
	strv_add(argv, "--auto");
	if (launch->resume) {
		strv_add(argv, "--session");
		strv_add(argv, launch->session);
	}
	agent_add_extra(launch, argv);
	return 0;
}

/* --- its files ------------------------------------------------------------ */

/* Its conversations stay there, and its login is shown in it. */
static int
opencode_write(const char *folder, const char *tree, struct err *err)
{
	cleanup_free char *own = file_join(folder, OWN);
	struct stat st;
	int r = 0;

	(void)tree;
	if (lstat(own, &st) == -1 || !S_ISDIR(st.st_mode)) {
		r = agent_clear_place(own, err);
		if (r == 0 && mkdir(own, 0700) == -1)
			r = err_errno(err, -errno, "cannot create %s", own);
	}
	return r;
}

static const char *const opencode_variables[] = { "OPENCODE_", NULL };
static const char *const opencode_shared[] = { NULL };

const struct agent_kind opencode_kind = {
	.name = "opencode",
	.command = "opencode_command",
	.tested = "1.18.18",
	.install = "install OpenCode (npm install -g opencode-ai), or: llmc "
		   "config set defaults.opencode_command PATH",
	.log_in = "opencode auth login",
	.can = AGENT_READY_HOOK | AGENT_STOP_BLOCKS | AGENT_ALLOWS |
	    AGENT_ERROR_HOOK | AGENT_BOXED,
	.start_ms = 120000, /* its first start installs packages */
	.prepare = opencode_prepare,
	.folder = "opencode",
	.variable = "XDG_DATA_HOME",
	.variables = opencode_variables,
	.home = "/.local/share",
	.transcripts = "llmc/projects",
	.write = opencode_write,
	.shared = opencode_shared,
	.login = OWN "/auth.json",
};
