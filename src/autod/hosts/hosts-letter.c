/* SPDX-License-Identifier: ISC */

/*
 * Letters: mail for an agent of another host. The sender is the host that the
 * database knows by its role, not what a letter says, and a letter can do what
 * an agent of that host could do here: write to its family, and tell people.
 * What a person does at another host is done there, over ssh.
 *
 * The id of a letter is the mail's, and both books know the mail by it: so it
 * is posted and done again after anything that is not known, and is there once.
 */

#include "base.h"
#include "book.h"
#include "client.h"
#include "hosts-private.h"
#include "json.h"
#include "loop.h"
#include "persist.h"
#include "schema.h"
#include "serve.h"
#include "workspace.h"

#define RUN_MS     ((int64_t)25 * 1000) /* what a letter may take here */
#define SENT_MAX   256
#define READ_MAX   ((size_t)32) /* answers that are looked for at once */
#define DELIVER    "mail.deliver"
#define RESULT_MAX ((size_t)64 * 1024)

/* --- letters to this host ----------------------------------------- */

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

/* A letter of this host. */
struct sent {
	char *id, *host, *method, *params;
	bool saved; /* its record is */
	bool posted; /* the database has it */
	bool asked; /* and is asked what came of it */
	bool recalled;
};

struct hosts_post {
	struct letter *letter; /* the one that is being done; NULL = none */
	struct client_stream *stream;
	struct loop_timer *deadline;
	bool again; /* it was begun by an earlier daemon, and may be again */
	struct sent *sent[SENT_MAX];
	size_t sent_count;
	char *asked; /* id of the one that the database is asked about */
	bool answers; /* look for them now */
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

	if (r == 0)
		r = book_query(book,
		    "SELECT host_letter.* FROM host_letter LIMIT 1", NULL, 0,
		    on_loaded, floor, err);
	letter = floor->post->letter;
	floor->post->again =
	    r == 0 && letter != NULL && strcmp(letter->state, "begun") == 0;
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
on_deadline(void *arg)
{
	end_letter(arg, false, "no answer in time: look whether it was done");
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

	post->again = false;
	if (letter->params != NULL &&
	    json_parse(letter->params, strlen(letter->params), RESULT_MAX,
		&params, &err) < 0)
		r = -EBADMSG;
	else if (strcmp(letter->method, DELIVER) != 0 ||
	    !json_object_is_type(params, json_type_object))
		r = err_set(&err, -EPERM, "%s is not done for other hosts",
		    letter->method);
	if (r == 0) {
		json_set_string(params, "from_host", letter->from);
		r = client_stream_new(floor->core->loop, floor->core->socket,
		    letter->method, params, &fns, floor, &post->stream, &err);
	}
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

/* --- letters of this host ----------------------------------------- */

static void
end_sent(struct hosts_post *post, size_t n)
{
	struct sent *sent = post->sent[n];

	post->sent_count--;
	memmove(post->sent + n, post->sent + n + 1,
	    (post->sent_count - n) * sizeof(struct sent *));
	free(sent->id);
	free(sent->host);
	free(sent->method);
	free(sent->params);
	free(sent);
}

/* The count = there is none. */
static size_t
find_sent(const struct hosts_post *post, const char *id)
{
	size_t n = 0;

	while (n < post->sent_count && strcmp(post->sent[n]->id, id) != 0)
		n++;
	return n;
}

static struct sent *
add_sent(struct hosts_post *post, const char *id, const char *host,
    const char *method, struct json_object *params)
{
	struct sent *sent = xcalloc(1, sizeof *sent);
	cleanup_buf struct buf text = BUF_INIT;

	if (params != NULL)
		json_print(params, false, &text);
	*sent = (struct sent){ .id = xstrdup(id),
		.host = xstrdup(host),
		.method = xstrdup(method) };
	xstrset(&sent->params, text.len > 0 ? text.data : NULL);
	post->sent[post->sent_count++] = sent;
	return sent;
}

/* What came of it: result is its JSON, or words. Mail that was recalled is the
 * team's again. */
static void
answer_sent(struct hosts_floor *floor, size_t n, bool done, const char *result)
{
	struct hosts_post *post = floor->post;
	const struct auto_mode *mode = floor->mode;
	struct sent *sent = post->sent[n];
	cleanup_free char *id = xstrdup(sent->id);
	bool recalled = sent->recalled && !done;
	cleanup_json struct json_object *json = NULL;

	end_sent(post, n);
	if (done)
		json_parse(result, strlen(result), RESULT_MAX, &json, NULL);
	if (mode->team->sent != NULL)
		mode->team->sent(
		    mode->team_arg, id, done, json, recalled ? NULL : result);
}

static void
on_posted(const struct shared_answer *answer, void *arg)
{
	struct hosts_floor *floor = arg;
	struct hosts_post *post = floor->post;
	size_t n = find_sent(post, post->asked);
	bool answered = hosts_answered(floor, answer);

	if (n == post->sent_count) {
		; /* it is not wanted any more */
	} else if (answered && answer->of[0].count == 0) {
		cleanup_free char *words =
		    xasprintf("the fleet has no host %s; see: llmc fleet hosts",
			post->sent[n]->host);

		answer_sent(floor, n, false, words);
	} else if (answered) {
		post->sent[n]->posted = true;
	}
	hosts_done(floor);
}

/* One that the database does not have any more was done long ago: it is posted
 * again, and what it says is known there. */
static void
on_answers(const struct shared_answer *answer, void *arg)
{
	struct hosts_floor *floor = arg;
	struct hosts_post *post = floor->post;

	for (size_t i = 0; answer->verdict == SHARED_DONE && i < answer->calls;
	     i++) {
		const struct shared_rows *rows = &answer->of[i];
		const char *state, *text;
		size_t n;

		if (rows->count == 0)
			continue;
		state = shared_text(rows, 0, "state");
		text = shared_text(rows, 0, "result");
		n = find_sent(post, shared_text(rows, 0, "id"));
		if (n < post->sent_count)
			post->sent[n]->asked = false;
		if (n < post->sent_count && strcmp(state, "open") != 0)
			answer_sent(floor, n, strcmp(state, "done") == 0,
			    text != NULL ? text : "");
		else if (n < post->sent_count &&
		    shared_int(rows, 0, "there") == 0)
			post->sent[n]->recalled = true;
	}
	hosts_answered(floor, answer);
	for (size_t i = post->sent_count; i-- > 0;) {
		struct sent *sent = post->sent[i];

		if (sent->asked && answer->verdict == SHARED_DONE)
			sent->posted = false;
		sent->asked = false;
	}
	hosts_done(floor);
}

/* Recalled, or its host has left: it is over, unless it was done before. */
static void
on_dropped(const struct shared_answer *answer, void *arg)
{
	struct hosts_floor *floor = arg;
	struct hosts_post *post = floor->post;
	size_t n = find_sent(post, post->asked);
	const struct shared_rows *rows = &answer->of[1];

	if (hosts_answered(floor, answer) && n < post->sent_count) {
		bool done = rows->count > 0 &&
		    strcmp(shared_text(rows, 0, "state"), "done") == 0;
		const char *text =
		    rows->count > 0 ? shared_text(rows, 0, "result") : NULL;

		if (rows->count > 0 && shared_int(rows, 0, "there") == 0)
			post->sent[n]->recalled = false; /* nobody's fault */
		answer_sent(floor, n, done, text != NULL ? text : "");
	}
	hosts_done(floor);
}

/* Post one, recall one, or look for answers. False: nothing is due. */
static bool
sent_act(struct hosts_floor *floor)
{
	struct hosts_post *post = floor->post;
	struct book_value ids[READ_MAX];
	struct shared_call calls[READ_MAX];
	size_t count = 0;

	for (size_t i = 0; i < post->sent_count; i++) {
		struct sent *sent = post->sent[i];
		cleanup_free char *words =
		    xasprintf("host %s has left the fleet", sent->host);
		const struct shared_call letter = SHARED_CALL(
		    SHARED_LETTER_POST, BOOK_T(sent->id), BOOK_T(sent->host),
		    BOOK_T(sent->method), BOOK_T(sent->params));
		const struct shared_call drop[] = {
			SHARED_CALL(SHARED_LETTER_DROP, BOOK_T(sent->id),
			    BOOK_T(words)),
			SHARED_CALL(SHARED_LETTER_READ, BOOK_T(sent->id)),
		};

		if (sent->saved && (!sent->posted || sent->recalled)) {
			xstrset(&post->asked, sent->id);
			if (sent->recalled)
				hosts_ask(floor, drop, 2, on_dropped);
			else
				hosts_ask(floor, &letter, 1, on_posted);
			return true;
		}
	}
	if (!post->answers)
		return false;
	post->answers = false;
	/* Those that were asked about last come last. */
	for (size_t i = post->sent_count; i-- > 0 && count < READ_MAX;) {
		struct sent *sent = post->sent[0];

		memmove(post->sent, post->sent + 1,
		    (post->sent_count - 1) * sizeof(struct sent *));
		post->sent[post->sent_count - 1] = sent;
		if (!sent->posted)
			continue;
		sent->asked = true;
		ids[count] = BOOK_T(sent->id);
		calls[count] =
		    (struct shared_call){ SHARED_LETTER_READ, &ids[count], 1 };
		count++;
	}
	if (count == 0)
		return false;
	hosts_ask(floor, calls, count, on_answers);
	return true;
}

/* --- mail --------------------------------------------------------- */

static void
on_mail_saved(void *arg)
{
	struct hosts_floor *floor = arg;

	for (size_t i = 0; i < floor->post->sent_count; i++)
		floor->post->sent[i]->saved = true;
	hosts_look(floor);
}

/* As in struct auto_hosts. */
void
letters_mail(
    void *arg, const char *id, const char *host, struct json_object *params)
{
	struct hosts_floor *floor = arg;
	struct hosts_post *post = floor->post;

	if (find_sent(post, id) < post->sent_count ||
	    post->sent_count == SENT_MAX)
		return; /* is there; or is asked for again */
	add_sent(post, id, host, DELIVER, params);
	persist_then(floor->core, floor, on_mail_saved, floor);
}

void
letters_recall(void *arg, const char *id)
{
	struct hosts_floor *floor = arg;
	size_t n = find_sent(floor->post, id);

	if (n < floor->post->sent_count)
		floor->post->sent[n]->recalled = true;
	hosts_look(floor);
}

/* --- all of them -------------------------------------------------- */

void
letters_hint(struct hosts_floor *floor)
{
	floor->letters = true;
	floor->post->answers = floor->post->sent_count > 0;
}

bool
letters_act(struct hosts_floor *floor)
{
	struct letter *letter = floor->post->letter;

	if (letter != NULL && strcmp(letter->state, "begun") != 0) {
		const struct shared_call done =
		    SHARED_CALL(SHARED_LETTER_DONE, BOOK_T(letter->id),
			BOOK_T(letter->state), BOOK_T(letter->result));

		hosts_ask(floor, &done, 1, on_told);
		return true;
	}
	if (floor->post->again)
		run_letter(floor);
	if (sent_act(floor))
		return true;
	if (!floor->letters || letter != NULL)
		return false;
	floor->letters = false;
	hosts_ask(floor, &SHARED_CALL0(SHARED_LETTER_TAKE), 1, on_taken);
	return true;
}

void
letters_new(struct hosts_floor *floor)
{
	floor->post = xcalloc(1, sizeof *floor->post);
}

void
letters_stop(struct hosts_floor *floor)
{
	struct hosts_post *post = floor->post;

	while (post->sent_count > 0)
		end_sent(post, 0);
	loop_timer_free(take_ptr(&post->deadline));
	if (post->stream != NULL)
		client_stream_free(take_ptr(&post->stream));
	schema_free(&letter_schema, take_ptr(&post->letter));
	free(take_ptr(&post->asked));
}
