/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <poll.h>

#include "child.h"
#include "cli-private.h"
#include "rpc.h"
#include "sibling.h"
#include "view.h"
#include "workspace.h"

#define DEADLINE_MS     (60 * 1000)
#define RESTART_MS      2000 /* for a daemon that begins, or is restarted */
#define RESTART_LOOK_MS 10
#define DOCUMENT_MAX    (64 * 1024 * 1024)
#define NOT_FOUND                                                           \
	"cannot find autod next to llmc or on PATH; install it with: make " \
	"install"

/* A name that a worker can have is a part of a path without any other in it.
 * The repair session's own socket is the overseer's. */
char *
remote_socket(struct cli *cli)
{
	const char *worker = getenv("LLMC_WORKER");
	cleanup_free char *own = NULL;

	if (getenv("LLMC_AGENT") != NULL && worker != NULL &&
	    worker[0] != '\0' && worker[0] != '.' &&
	    strcmp(worker, OVERSEER_NAME) != 0 && strchr(worker, '/') == NULL)
		own = run_dir_socket(&cli->workspace, worker);
	return own != NULL && file_exists(own) ?
	    take_ptr(&own) :
	    client_socket_path(&cli->workspace);
}

bool
remote_alive(struct cli *cli)
{
	cleanup_free char *socket = remote_socket(cli);
	cleanup_json struct json_object *result = NULL;

	return client_call(socket, "daemon.info", NULL, 5000, true, &result,
		   NULL, NULL) == 0;
}

struct json_object *
remote_params(const char *key, ...)
{
	struct json_object *params = json_object_new_object();
	const char *value;
	va_list ap;

	va_start(ap, key);
	for (; key != NULL; key = va_arg(ap, const char *)) {
		value = va_arg(ap, const char *);
		if (value != NULL)
			json_set_string(params, key, value);
	}
	va_end(ap);
	return params;
}

struct json_object *
remote_worker(const char *name)
{
	return remote_params("worker", name, NULL);
}

static bool
fail(const char **ret_code, const char *code)
{
	*ret_code = code;
	return false;
}

/* The line in which autod says what is wrong, as an error. */
static int
take_words(const struct child_result *result, struct err *err)
{
	static const char name[] = "autod: ";
	cleanup_buf struct buf words = BUF_INIT;
	const char *said;

	child_output_text(&result->err, &words);
	buf_truncate(&words, strcspn(words.data, "\n"));
	said = words.data;
	if (text_begins(said, name))
		said += strlen(name);
	return err_set(
	    err, -EIO, "%s", said[0] != '\0' ? said : "autod did not answer");
}

/* Run autod with this option (name: its value, NULL = none) and more of them
 * (NULL = none); input: NULL = none. */
static int
run_autod(struct cli *cli, const char *option, const char *name,
    const char *const *words, const struct buf *input, int64_t deadline_ms,
    struct child_result *result, struct buf *text, struct err *err)
{
	cleanup_free char *autod = sibling_find("autod");
	cleanup_strv char **argv = NULL;
	struct child_spec spec = { .output_max = DOCUMENT_MAX,
		.deadline_ms = deadline_ms };
	int r;

	if (autod == NULL)
		return err_set(err, -ENOENT, NOT_FOUND);
	strv_add_all(&argv,
	    (const char *const[]){
		autod, "--root", cli->workspace.root, option, name, NULL });
	strv_add_all(&argv, words);
	spec.argv = strv_const(argv);
	if (input != NULL) {
		spec.input = input->data;
		spec.input_len = input->len;
	}
	r = child_run(&spec, result, err);
	if (r == 0)
		child_output_text(&result->out, text);
	return r;
}

/* Of a run that is not a call: a line of JSON. */
static int
ask_autod(struct cli *cli, const char *option, const char *name,
    const char *const *words, const struct buf *input,
    struct json_object **ret_result, struct err *err)
{
	cleanup_child_result struct child_result result = { 0 };
	cleanup_buf struct buf text = BUF_INIT;
	int r;

	child_result_init(&result);
	r = run_autod(
	    cli, option, name, words, input, DEADLINE_MS, &result, &text, err);
	if (r < 0)
		return r;
	return text.len > 0 ?
	    json_parse(text.data, text.len, DOCUMENT_MAX, ret_result, err) :
	    take_words(&result, err);
}

int
remote_fleet_try(struct cli *cli, const char *verb, const char *const *words,
    struct json_object **ret_result, struct err *err)
{
	return ask_autod(cli, "--fleet", verb, words, NULL, ret_result, err);
}

int
remote_look(struct cli *cli, const char *name, struct json_object *params,
    struct json_object **ret_result, struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT;

	if (params != NULL)
		json_print(params, false, &text);
	json_object_put(params);
	return ask_autod(cli, "--look", name, NULL, &text, ret_result, err);
}

int
remote_see(struct cli *cli, const char *name, struct json_object *params,
    struct json_object **ret_result)
{
	struct err err = { 0 };

	return remote_look(cli, name, params, ret_result, &err) < 0 ?
	    cli_fail_err(cli, "io", &err) :
	    CLI_OK;
}

int
remote_rebuild(struct cli *cli, struct json_object *state,
    struct json_object **ret_result, struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT;

	json_print(state, false, &text);
	return ask_autod(cli, "--rebuild", NULL, NULL, &text, ret_result, err);
}

const char *
remote_start_command(struct cli *cli)
{
	cleanup_json struct json_object *view = NULL;
	struct json_object *params = json_object_new_object();
	struct json_object *sections = json_object_new_array();
	struct err err = { 0 };

	json_object_array_add(sections, json_object_new_string("head"));
	json_set(params, "sections", sections);
	if (remote_look(cli, "view", params, &view, &err) < 0)
		return "llmc up"; /* which says what is wrong */
	return view_start_command(json_member(view, "head"));
}

bool
remote_try(struct cli *cli, const char *method, struct json_object *params,
    int64_t deadline_ms, struct json_object **ret_result, const char **ret_code,
    struct err *err)
{
	const struct api_method *m = api_find(method);
	cleanup_json struct json_object *owned = params;
	cleanup_free char *socket = remote_socket(cli);
	cleanup_free char *lock = workspace_path(&cli->workspace, "state.lock");
	int64_t until = clock_mono_ms() + RESTART_MS;
	int code = 0, r;

	*ret_result = NULL;
	if (deadline_ms <= 0)
		deadline_ms = DEADLINE_MS;
	for (;;) {
		r = client_call(socket, method, owned, deadline_ms, true,
		    ret_result, &code, err);
		/* Nobody listens: one that owns the state is about to. */
		if ((r != -ENOENT && r != -ECONNREFUSED) ||
		    clock_mono_ms() >= until || lock_is_held(lock) != 1)
			break;
		poll(NULL, 0, RESTART_LOOK_MS);
	}
	if (r == 0)
		return true;
	if (r == -EPROTO)
		return fail(ret_code, api_error_word(m, code));
	if (r != -ENOENT && r != -ECONNREFUSED)
		return fail(ret_code, r == -ETIMEDOUT ? "timeout" : "io");
	if (m->flags & API_ONESHOT) {
		cleanup_buf struct buf request = BUF_INIT, line = BUF_INIT;
		cleanup_json struct json_object *id = json_object_new_int(1);
		cleanup_child_result struct child_result result;
		struct rpc_message message;

		child_result_init(&result);
		rpc_encode_request(&request, id, m->name, owned);
		r = run_autod(cli, "--oneshot", NULL, NULL, &request,
		    deadline_ms, &result, &line, err);
		if (r < 0)
			return fail(ret_code,
			    r == -ENOENT ? "not_installed" : "failed");
		/* The answer of --oneshot: one line of JSON-RPC. */
		buf_truncate(&line, strcspn(line.data, "\n"));
		if (line.len == 0 ||
		    rpc_decode(
			line.data, line.len, &message, NULL, NULL, NULL) < 0) {
			take_words(&result, err);
			return fail(ret_code, "failed");
		}
		*ret_code = NULL;
		if (message.kind == RPC_ERROR) {
			*ret_code = api_error_word(m, message.code);
			*ret_result = json_object_get(message.data);
			err_set(err, -EPROTO, "%s", message.message);
		} else {
			*ret_result = json_object_get(message.result);
		}
		rpc_message_release(&message);
		return *ret_code == NULL;
	}
	err_set(err, r,
	    "no daemon is running for %s; start it with: %s --detach",
	    cli->workspace.root, remote_start_command(cli));
	return fail(ret_code, "no_daemon");
}

int
remote_call(struct cli *cli, const char *method, struct json_object *params,
    int64_t deadline_ms, struct json_object **ret_result)
{
	cleanup_json struct json_object *data = NULL;
	const char *code;
	struct err err = { 0 };

	if (remote_try(
		cli, method, params, deadline_ms, ret_result, &code, &err))
		return CLI_OK;
	data = *ret_result;
	*ret_result = NULL;
	return cli_fail_output(
	    cli, code, &err, json_string_or(data, "output", NULL));
}
