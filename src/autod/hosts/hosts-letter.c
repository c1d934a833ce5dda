/* SPDX-License-Identifier: ISC */

/*
 * Letters: how one host asks another. The receiver does what a letter says
 * through its own socket, with the rights of a person, at most once: it is in
 * its book before it is begun, and until the sender can read what came of it.
 */

#include "base.h"
#include "book.h"
#include "child.h"
#include "client.h"
#include "hosts-private.h"
#include "json.h"
#include "loop.h"
#include "persist.h"
#include "schema.h"
#include "serve.h"
#include "workspace.h"

#define RUN_MS      ((int64_t)25 * 1000) /* what a letter may take here */
#define WAIT_MS     ((int64_t)60 * 1000) /* for the other host */
#define LOOK_MS     ((int64_t)1000)
#define ANSWERS_MAX 64
#define RESULT_MAX  ((size_t)64 * 1024)

/* --- letters to this host ---------------------------------------------------
 */

struct letter {
	char *id, *from, *method, *params;
	char *state; /* "begun", "done", "failed" */
	char *result; /* JSON, or words */
};

static const struct schema_field letter_fields[] = {
	SCHEMA_FIELD(struct letter, "id", id),
	SCHEMA_FIELD(struct letter, "from_host", from),
	SCHEMA_FIELD(struct letter, "method", method),
	SCHEMA_FIELD(struct letter, "params", params),
	SCHEMA_FIELD(struct letter, "state", state),
	SCHEMA_FIELD(struct letter, "result", result),
};
static const struct schema letter_schema =
    SCHEMA_OF(struct letter, letter_fields);
static const char *const letter_keys[] = { "id", NULL };
static const struct book_table letter_table = {
	.name = "host_letter",
	.fields = letter_fields,
	.count = nitems(letter_fields),
	.keys = letter_keys,
};

/* A call of a person here, that waits for another host. */
struct sent {
	struct hosts_floor *floor;
	struct server_call *call;
	char id[ID_UUID_SIZE];
	int64_t until_ms;
};

struct hosts_post {
	struct letter *letter; /* the one that is being done; NULL = none */
	struct client_stream *stream;
	struct child *child;
	struct loop_timer *deadline;
	struct sent *sent[ANSWERS_MAX];
	size_t sent_count;
	struct loop_timer *timer; /* to look for answers */
	int64_t since_ms; /* of the answers; their clock */
};

static bool
on_loaded(struct book_row *row, void *arg)
{
	struct hosts_floor *floor = arg;
	struct letter *letter = schema_new(&letter_schema);

	if (floor->post->letter == NULL &&
	    book_read(floor->core->book, &letter_table, row, letter, NULL) ==
		0 &&
	    letter->id != NULL && letter->state != NULL)
		floor->post->letter = letter;
	else
		schema_free(&letter_schema, letter);
	return true;
}

int
letters_load(struct hosts_floor *floor, struct err *err)
{
	struct book *book = floor->core->book;
	int r = book_add_table(book, &letter_table, err);
	struct letter *letter;

	floor->post = xcalloc(1, sizeof *floor->post);
	if (r == 0)
		r = book_query(book,
		    "SELECT host_letter.* FROM host_letter LIMIT 1", NULL, 0,
		    on_loaded, floor, err);
	letter = floor->post->letter;
	if (r == 0 && letter != NULL && strcmp(letter->state, "begun") == 0) {
		xstrset(&letter->state, "failed");
		xstrset(&letter->result,
		    "the daemon was started again while it did this: look "
		    "whether it was done");
		book_put(book, &letter_table, letter);
	}
	return r;
}

static void
on_told(const struct shared_answer *answer, void *arg)
{
	struct hosts_floor *floor = arg;
	struct letter *letter = floor->post->letter;

	if (hosts_answered(floor, answer)) {
		book_delete(floor->core->book, &letter_table,
		    (const struct book_value[]){ BOOK_T(letter->id) });
		schema_free(&letter_schema, take_ptr(&floor->post->letter));
		floor->letters = true; /* the next one */
	}
	hosts_done(floor);
}

static void
end_letter(struct hosts_floor *floor, bool done, const char *result)
{
	struct hosts_post *post = floor->post;
	struct letter *letter = post->letter;

	loop_timer_free(take_ptr(&post->deadline));
	if (post->stream != NULL)
		client_stream_free(take_ptr(&post->stream));
	if (post->child != NULL)
		child_abandon(take_ptr(&post->child));
	xstrset(&letter->state, done ? "done" : "failed");
	xstrset(&letter->result, result);
	if (strlen(letter->result) > RESULT_MAX)
		xstrset(&letter->result, done ? "{}" : "too long");
	book_put(floor->core->book, &letter_table, letter);
	hosts_look(floor);
}

static void
on_notification(const char *method, struct json_object *params, void *arg)
{
	(void)method;
	(void)params;
	(void)arg;
}

static void
on_end(int status, struct json_object *result, const struct err *err, void *arg)
{
	struct hosts_floor *floor = arg;
	cleanup_buf struct buf text = BUF_INIT;

	if (status == 0 && result != NULL)
		json_print(result, false, &text);
	end_letter(floor, status == 0,
	    status < 0       ? err->msg :
		text.len > 0 ? text.data :
			       "{}");
}

static void
on_answered(const struct child_result *result, void *arg)
{
	struct hosts_floor *floor = arg;
	cleanup_buf struct buf text = BUF_INIT;
	bool done = child_succeeded(result);

	floor->post->child = NULL;
	child_output_text(done ? &result->out : &result->err, &text);
	end_letter(floor, done, text.data);
}

static void
on_deadline(void *arg)
{
	end_letter(arg, false, "no answer in time: look whether it was done");
}

/* What the answer to an ask does depends on what is asked: llmc knows. */
static int
answer_ask(
    struct hosts_floor *floor, struct json_object *params, struct err *err)
{
	const struct core *core = floor->core;
	const char *argv[10] = { core->llmc, "--root", core->workspace->root,
		"answer", json_string_or(params, "ask", "") };
	const char *text = json_string_or(params, "text", NULL);
	size_t n = 5;

	if (json_bool_or(params, "yes", false))
		argv[n++] = "--yes";
	if (json_bool_or(params, "no", false))
		argv[n++] = "--no";
	if (text != NULL && *text != '\0') {
		argv[n++] = "--"; /* whatever it begins with */
		argv[n++] = text;
	}
	return child_spawn(core->loop,
	    &(struct child_spec){ .argv = argv,
		.cwd = core->workspace->root,
		.deadline_ms = RUN_MS,
		.output_max = RESULT_MAX },
	    on_answered, floor, &floor->post->child, err);
}

/* What a host may ask of another: what a person does with work. */
static bool
is_allowed(const char *method)
{
	static const char *const kinds[] = { "worker.", "task.", "ask.",
		"auto.", "landing.", "goal.", "node.", "mail.", "team.", NULL };

	for (size_t i = 0; kinds[i] != NULL; i++)
		if (strncmp(method, kinds[i], strlen(kinds[i])) == 0)
			return true;
	return strcmp(method, "answer") == 0;
}

static void
run_letter(void *arg)
{
	static const struct client_stream_fns fns = { on_notification, on_end };
	struct hosts_floor *floor = arg;
	struct hosts_post *post = floor->post;
	struct letter *letter = post->letter;
	cleanup_json struct json_object *params = NULL;
	struct err err = { 0 };
	int r = 0;

	if (letter->params != NULL &&
	    json_parse(letter->params, strlen(letter->params), RESULT_MAX,
		&params, &err) < 0)
		r = -EBADMSG;
	else if (!is_allowed(letter->method))
		r = err_set(&err, -EPERM, "%s is not done for other hosts",
		    letter->method);
	else if (strcmp(letter->method, "answer") == 0)
		r = answer_ask(floor, params, &err);
	else
		r = client_stream_new(floor->core->loop, floor->core->socket,
		    letter->method, params, &fns, floor, &post->stream, &err);
	if (r < 0)
		end_letter(floor, false, err.msg);
	else
		post->deadline =
		    loop_after(floor->core->loop, RUN_MS, on_deadline, floor);
}

static void
on_taken(const struct shared_answer *answer, void *arg)
{
	struct hosts_floor *floor = arg;
	const struct shared_rows *rows = &answer->of[0];
	struct letter *letter;

	if (hosts_answered(floor, answer) && rows->count > 0) {
		letter = schema_new(&letter_schema);
		*letter = (struct letter){
			.id = xstrdup(shared_text(rows, 0, "id")),
			.from = xstrdup(shared_text(rows, 0, "from_host")),
			.method = xstrdup(shared_text(rows, 0, "method")),
			.state = xstrdup("begun"),
		};
		xstrset(&letter->params, shared_text(rows, 0, "params"));
		floor->post->letter = letter;
		book_put(floor->core->book, &letter_table, letter);
		persist_then(floor->core, floor, run_letter, floor);
	}
	hosts_done(floor);
}

bool
letters_act(struct hosts_floor *floor)
{
	struct letter *letter = floor->post->letter;

	if (letter != NULL) {
		const struct shared_call done =
		    SHARED_CALL(SHARED_LETTER_DONE, BOOK_T(letter->id),
			BOOK_T(letter->state), BOOK_T(letter->result));

		if (strcmp(letter->state, "begun") == 0)
			return false;
		hosts_ask(floor, &done, 1, on_told);
		return true;
	}
	if (!floor->letters)
		return false;
	floor->letters = false;
	hosts_ask(floor, &SHARED_CALL0(SHARED_LETTER_TAKE), 1, on_taken);
	return true;
}

/* --- letters of this host ---------------------------------------------------
 */

static void
end_sent(struct hosts_post *post, size_t n)
{
	struct sent *sent = post->sent[n];

	if (sent->floor->shared != NULL)
		shared_forget(sent->floor->shared, sent);
	post->sent[n] = post->sent[--post->sent_count];
	free(sent);
}

static struct sent *
find_sent(const struct hosts_post *post, const char *id, size_t *ret_n)
{
	for (size_t i = 0; i < post->sent_count; i++)
		if (strcmp(post->sent[i]->id, id) == 0) {
			*ret_n = i;
			return post->sent[i];
		}
	return NULL;
}

static void look_for_answers(void *arg);

static void
on_answers(const struct shared_answer *answer, void *arg)
{
	struct hosts_floor *floor = arg;
	struct hosts_post *post = floor->post;
	const struct shared_rows *rows = answer->of;
	int64_t now = clock_boot_ms();

	for (size_t i = 0; answer->verdict == SHARED_DONE && i < rows->count;
	     i++) {
		const char *state = shared_text(rows, i, "state");
		const char *text = shared_text(rows, i, "result");
		cleanup_json struct json_object *json = NULL;
		struct json_object *result;
		struct sent *sent;
		size_t n = 0;

		sent = find_sent(post, shared_text(rows, i, "id"), &n);
		post->since_ms = shared_int(rows, i, "changed_at");
		if (sent == NULL || strcmp(state, "open") == 0)
			continue;
		if (strcmp(state, "done") != 0) {
			serve_fail(floor->core, take_ptr(&sent->call),
			    API_FAILED,
			    text != NULL ? text : "the other host refused it");
		} else {
			result = json_object_new_object();
			json_parse(text != NULL ? text : "",
			    text != NULL ? strlen(text) : 0, RESULT_MAX, &json,
			    NULL);
			json_set(result, "result",
			    json != NULL ? take_ptr(&json) :
					   json_object_new_string(
					       text != NULL ? text : ""));
			serve_reply(floor->core, take_ptr(&sent->call), result);
		}
		end_sent(post, n);
	}
	for (size_t i = post->sent_count; i-- > 0;) {
		if (now < post->sent[i]->until_ms)
			continue;
		serve_fail(floor->core, take_ptr(&post->sent[i]->call),
		    API_FAILED,
		    "the other host has not answered yet; it does this as soon "
		    "as it is up, look with: llmc status");
		end_sent(post, i);
	}
	if (post->sent_count > 0 && post->timer == NULL)
		post->timer = loop_after(
		    floor->core->loop, LOOK_MS, look_for_answers, floor);
}

static void
look_for_answers(void *arg)
{
	struct hosts_floor *floor = arg;
	const struct shared_call call =
	    SHARED_CALL(SHARED_LETTERS_OF, BOOK_I(floor->post->since_ms));

	loop_timer_free(take_ptr(&floor->post->timer));
	shared_ask(floor->shared, &call, 1, HOSTS_ANSWER_MS, on_answers, floor);
}

static void
on_posted(const struct shared_answer *answer, void *arg)
{
	struct sent *sent = arg;
	struct hosts_floor *floor = sent->floor;
	size_t n = 0;

	if (answer->verdict != SHARED_DONE) {
		serve_fail(floor->core, take_ptr(&sent->call), API_FAILED,
		    answer->words != NULL ?
			answer->words :
			"the database of the fleet is away");
		find_sent(floor->post, sent->id, &n);
		end_sent(floor->post, n);
		return;
	}
	look_for_answers(floor);
}

static void
on_letter(void *arg, struct server_call *call, struct json_object *params)
{
	struct hosts_floor *floor = arg;
	struct json_object *of = json_object_object_get(params, "params");
	cleanup_buf struct buf text = BUF_INIT;
	struct hosts_post *post;
	struct sent *sent;
	struct shared_call post_call;

	if (floor == NULL || floor->post == NULL) {
		serve_refuse(call, API_FAILED,
		    "this host works alone: fleet.database is not set");
		return;
	}
	post = floor->post;
	if (!floor->up || post->sent_count == ANSWERS_MAX) {
		serve_refuse(call, API_FAILED, "%s",
		    floor->words != NULL ? floor->words :
					   "too many letters wait");
		return;
	}
	if (of != NULL)
		json_print(of, false, &text);
	sent = xcalloc(1, sizeof *sent);
	sent->floor = floor;
	sent->call = call;
	sent->until_ms = clock_boot_ms() + WAIT_MS;
	id_uuid(sent->id);
	post->sent[post->sent_count++] = sent;
	post_call = SHARED_CALL(SHARED_LETTER_POST, BOOK_T(sent->id),
	    BOOK_T(json_string_or(params, "host", "")),
	    BOOK_T(json_string_or(params, "method", "")),
	    BOOK_T(text.len > 0 ? text.data : NULL));
	shared_ask(
	    floor->shared, &post_call, 1, HOSTS_ANSWER_MS, on_posted, sent);
}

void
letters_register(struct core *core, struct hosts_floor *floor)
{
	serve_handle(core, "fleet.letter", on_letter, floor);
}

void
letters_stop(struct hosts_floor *floor)
{
	struct hosts_post *post = floor->post;

	if (post == NULL)
		return;
	while (post->sent_count > 0) {
		serve_fail(floor->core, post->sent[0]->call, API_FAILED,
		    "the daemon stops; the letter is on its way");
		end_sent(post, 0);
	}
	loop_timer_free(post->timer);
	loop_timer_free(post->deadline);
	if (post->stream != NULL)
		client_stream_free(post->stream);
	if (post->child != NULL)
		child_abandon(post->child);
	schema_free(&letter_schema, post->letter);
	free(take_ptr(&floor->post));
}
