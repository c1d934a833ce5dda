/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <strings.h>

#include "excerpt.h"
#include "pull-look.h"
#include "pull.h"

/* --- one pull request ----------------------------------------------------- */

int
pull_read(struct json_object *json, struct pull *ret_pull, struct err *err)
{
	struct json_object *head = json_member(json, "head");
	const char *login = forge_login(json_member(json, "user"));
	const char *state = json_string_or(json, "state", "");
	const char *text = json_string_or(json, "body", "");
	int64_t number = json_int_or(json, "number", 0);
	bool merged = json_bool_or(json, "merged", false) ||
	    json_string_or(json, "merged_at", NULL) != NULL;

	if (number <= 0 || number > INT32_MAX || login == NULL || head == NULL)
		return err_set(err, -EBADMSG,
		    "the answer of the forge is not a pull request; is "
		    "forge.url that of its API?");
	*ret_pull = (struct pull){
		.number = number,
		.node = forge_line(json_string_or(json, "node_id", ""), 100),
		.url = forge_line(json_string_or(json, "html_url", ""), 300),
		.author = xstrdup(login),
		.text = xstrndup(
		    text, text_cut(text, strlen(text), FORGE_TEXT_MAX)),
		.head = forge_line(json_string_or(head, "sha", ""), 64),
		/* Of one that is open it is that of a trial. */
		.commit = forge_line(
		    merged ? json_string_or(json, "merge_commit_sha", "") : "",
		    64),
		.state = merged                ? PULL_MERGED :
		    strcmp(state, "open") == 0 ? PULL_OPEN :
						 PULL_CLOSED,
		.draft = json_bool_or(json, "draft", false),
		.conflict = !json_bool_or(json, "mergeable", true),
	};
	/* Gitea says that of drafts, too. */
	if (ret_pull->draft)
		ret_pull->conflict = false;
	return 0;
}

void
pull_release(struct pull *pull)
{
	free(pull->node);
	free(pull->url);
	free(pull->author);
	free(pull->text);
	free(pull->head);
	free(pull->commit);
	*pull = (struct pull){ .node = NULL };
}

int
pull_graphql(struct json_object *json, struct err *err)
{
	struct json_object *errors = json_member(json, "errors");
	cleanup_free char *words = NULL;

	if (json_length(errors) == 0 && json_member(json, "data") != NULL)
		return 0;
	words = forge_line(json_string_or(json_length(errors) > 0 ?
				   json_object_array_get_idx(errors, 0) :
				   NULL,
			       "message", "the forge does not say why"),
	    FORGE_TITLE_MAX);
	return err_set(err, -EIO, "%s", words);
}

/* --- checks ------------------------------------------------------- */

void
pull_checks_release(struct pull_checks *checks)
{
	for (size_t i = 0; i < checks->job_count; i++) {
		free(checks->jobs[i].name);
		free(checks->jobs[i].log);
	}
	*checks = (struct pull_checks){ .count = 0 };
}

/* "2024-01-31T10:11:12.1234567Z ": GitHub has it before each line. */
static size_t
stamp_len(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && n < 32 && s[n] != '\0' &&
	    strchr("0123456789-:.TZ", s[n]) != NULL)
		n++;
	return n >= 20 && n < len && s[n] == ' ' && s[n - 1] == 'Z' ? n + 1 : 0;
}

/* Colours of a terminal: ESC [ ... letter. */
static size_t
escape_len(const char *s, size_t len)
{
	size_t n = 2;

	if (len < 3 || s[0] != '\033' || s[1] != '[')
		return 0;
	while (n < len && (unsigned char)s[n] >= 0x20 &&
	    (unsigned char)s[n] < 0x40)
		n++;
	return n < len ? n + 1 : n;
}

/* The end of a log, which is where it says what went wrong: what follows the
 * last error only clears up. */
static char *
log_end(const char *text, size_t len)
{
	static const char error[] = "##[error]";
	cleanup_buf struct buf plain = BUF_INIT, clean = BUF_INIT;
	cleanup_free char *masked = NULL;
	const char *start = NULL, *next = text, *end;

	while ((next = memmem(next, len - (size_t)(next - text), error,
		    strlen(error))) != NULL)
		start = next++;
	if (start != NULL) {
		end = memchr(start, '\n', len - (size_t)(start - text));
		len = end != NULL ? (size_t)(end - text) : len;
	}
	if (len > (size_t)2 * PULL_LOG_MAX) {
		text += len - (size_t)2 * PULL_LOG_MAX;
		len = (size_t)2 * PULL_LOG_MAX;
	}
	for (size_t i = 0, n; i < len; i += n) {
		n = escape_len(text + i, len - i);
		if (n == 0 && (i == 0 || text[i - 1] == '\n'))
			n = stamp_len(text + i, len - i);
		if (n == 0) {
			buf_addc(&plain, text[i]);
			n = 1;
		}
	}
	forge_clean(plain.data, plain.len, &clean);
	masked = remedy_mask_copy(clean.data, (size_t)3 * PULL_LOG_MAX);
	len = strlen(masked);
	while (len > 0 && strchr(" \t\n", masked[len - 1]) != NULL)
		masked[--len] = '\0';
	start = masked;
	if (len > PULL_LOG_MAX) {
		start += len - PULL_LOG_MAX;
		/* From the beginning of a line, or at least of a character. */
		end = strchr(start, '\n');
		if (end != NULL && end[1] != '\0')
			start = end + 1;
		while (((unsigned char)*start & 0xc0) == 0x80)
			start++;
	}
	return xstrdup(start);
}

/* It has failed; said: what is known of it until its log is read. */
static void
add_job(struct pull_checks *checks, int64_t id, const char *name,
    const struct buf *said)
{
	checks->failed++;
	if (checks->job_count == PULL_JOBS_MAX)
		return;
	checks->jobs[checks->job_count++] = (struct pull_job){ .id = id,
		.name = forge_line(name, FORGE_TITLE_MAX),
		.log = log_end(said->data, said->len) };
}

static void
see_run(struct pull_checks *checks, struct json_object *run)
{
	static const char *const good[] = { "success", "neutral", "skipped",
		NULL };
	static const char *const stuck[] = { "cancelled", "action_required",
		"stale", NULL };
	const char *conclusion = json_string_or(run, "conclusion", "");
	struct json_object *output = json_member(run, "output");
	cleanup_buf struct buf said = BUF_INIT;
	unsigned i;

	checks->count++;
	if (strcmp(json_string_or(run, "status", ""), "completed") != 0) {
		checks->running++;
	} else if (word_find(stuck, conclusion, &i)) {
		checks->stuck++;
	} else if (!word_find(good, conclusion, &i)) {
		buf_addf(&said, "%s\n%s\n%s",
		    json_string_or(output, "title", ""),
		    json_string_or(output, "summary", ""),
		    json_string_or(output, "text", ""));
		/* Of those it has a log, with the same id. */
		add_job(checks,
		    strcmp(json_string_or(json_member(run, "app"), "slug", ""),
			"github-actions") == 0 ?
			forge_made_id(run) :
			0,
		    json_string_or(run, "name", "?"), &said);
	}
}

/* Gitea has another name for its state. */
static void
see_status(struct pull_checks *checks, struct json_object *status)
{
	const char *state = json_string_or(
	    status, "state", json_string_or(status, "status", ""));
	cleanup_buf struct buf said = BUF_INIT;

	checks->count++;
	if (strcmp(state, "pending") == 0) {
		checks->running++;
	} else if (strcmp(state, "failure") == 0 ||
	    strcmp(state, "error") == 0) {
		buf_addf(&said, "%s\n%s",
		    json_string_or(status, "description", ""),
		    json_string_or(status, "target_url", ""));
		add_job(
		    checks, 0, json_string_or(status, "context", "?"), &said);
	}
}

int
pull_checks_read(struct json_object *json, struct pull_checks *checks,
    bool *ret_more, struct err *err)
{
	struct json_object *runs = json_member(json, "check_runs");
	struct json_object *statuses = json_member(json, "statuses");
	size_t count = json_length(runs != NULL ? runs : statuses);

	*ret_more = count >= FORGE_LIST_MAX;
	/* A Gitea without any has null. */
	if (runs == NULL && statuses == NULL &&
	    json_string_or(json, "state", NULL) == NULL)
		return err_set(err, -EBADMSG,
		    "the answer of the forge has no checks; is forge.url that "
		    "of its API?");
	for (size_t i = 0; i < count; i++)
		if (runs != NULL)
			see_run(checks, json_object_array_get_idx(runs, i));
		else
			see_status(
			    checks, json_object_array_get_idx(statuses, i));
	return 0;
}

/* --- remarks ------------------------------------------------------ */

static void
pull_remarks_release(struct pull_remarks *remarks)
{
	for (size_t i = 0; i < remarks->count; i++) {
		free(remarks->list[i].login);
		free(remarks->list[i].path);
		free(remarks->list[i].text);
	}
	remarks->count = 0;
}

static int64_t
seen_of(const struct pull_row *row, enum pull_source source)
{
	return source == PULL_TALK ? row->seen_talk :
	    source == PULL_REVIEW  ? row->seen_review :
				     row->seen_line;
}

/* Is nothing to be done about this comment on a line any more? */
static bool
is_over(struct json_object *json)
{
	struct json_object *position = NULL;

	if (json_member(json, "resolver") != NULL)
		return true; /* Gitea */
	return json_object_object_get_ex(json, "position", &position) &&
	    position == NULL &&
	    strcmp(json_string_or(json, "subject_type", "line"), "line") == 0;
}

/* Whoever agrees does not object any more. */
static void
agree(struct pull_remarks *remarks, const char *login)
{
	for (size_t i = 0; i < remarks->count; i++)
		if (strcasecmp(remarks->list[i].login, login) == 0)
			remarks->list[i].objects = false;
}

static void
see_remark(struct json_object *json, enum pull_source source,
    const struct pull_row *row, const char *self, struct pull_remarks *remarks)
{
	static const char *const asks[] = { "CHANGES_REQUESTED",
		"REQUEST_CHANGES", NULL };
	static const char *const words[] = { "COMMENTED", "COMMENT", NULL };
	struct json_object *user = json_member(json, "user");
	const char *login = forge_login(user);
	const char *text = json_string_or(json, "body", "");
	const char *state = json_string_or(json, "state", "");
	bool dismissed = json_bool_or(json, "dismissed", false);
	struct pull_remark remark = {
		.source = source, .id = forge_made_id(json), .trusted = -1
	};
	cleanup_buf struct buf clean = BUF_INIT;
	unsigned i;

	if (remark.id == 0 || login == NULL || forge_is_bot(user) ||
	    (source == PULL_LINE && is_over(json)) ||
	    (strcasecmp(login, self) == 0 && text_begins(text, "<!-- llmc ")))
		return;
	remark.fresh = remark.id > seen_of(row, source);
	if (source == PULL_REVIEW) {
		remark.objects = word_find(asks, state, &i) && !dismissed;
		if (!remark.objects && !word_find(words, state, &i)) {
			/* Approved or dismissed; pending ones and requests
			 * for a review say nothing. */
			if (strcmp(state, "APPROVED") == 0)
				agree(remarks, login);
			return;
		}
		if (remark.objects)
			agree(remarks, login); /* this one counts */
	}
	if ((!remark.fresh && !remark.objects) ||
	    remarks->count == PULL_REMARKS_MAX)
		return;
	forge_clean(text, strlen(text), &clean);
	remark.login = xstrdup(login);
	remark.text = xstrndup(
	    clean.data, text_cut(clean.data, clean.len, PULL_REMARK_MAX));
	remark.path = forge_line(json_string_or(json, "path", ""), 300);
	remark.line = json_int_or(json, "line",
	    json_int_or(
		json, "original_line", json_int_or(json, "position", 0)));
	remarks->list[remarks->count++] = remark;
}

/* A page of them, added: what is new for the row, or objects; of people, and
 * neither resolved nor outdated as far as the forge says so. Words of `login`
 * with a marker are our own; without one they are those of the person whose
 * token we use. */
static int
pull_remarks_read(struct json_object *json, enum pull_source source,
    const struct pull_row *row, const char *login, struct pull_remarks *remarks,
    bool *ret_more, struct err *err)
{
	size_t count = json_length(json);

	*ret_more = count >= FORGE_LIST_MAX;
	if (!json_object_is_type(json, json_type_array))
		return err_set(
		    err, -EBADMSG, "the answer of the forge is not a list");
	for (size_t i = 0; i < count; i++)
		see_remark(json_object_array_get_idx(json, i), source, row,
		    login, remarks);
	return 0;
}

/* --- a look ------------------------------------------------------- */

static const enum forge_ask asks[PULL_LOOK_STEP_COUNT] = {
	[PULL_LOOK_PULL] = FORGE_ASK_PULL,
	[PULL_LOOK_RUNS] = FORGE_ASK_RUNS,
	[PULL_LOOK_STATUSES] = FORGE_ASK_STATUSES,
	[PULL_LOOK_LOGS] = FORGE_ASK_LOG,
	[PULL_LOOK_TALK] = FORGE_ASK_COMMENTS,
	[PULL_LOOK_REVIEWS] = FORGE_ASK_REVIEWS,
	[PULL_LOOK_LINES] = FORGE_ASK_LINES,
	[PULL_LOOK_PEOPLE] = FORGE_ASK_PERMISSION,
};

void
pull_look_init(struct pull_look *look, enum forge_dialect dialect)
{
	*look = (struct pull_look){ .dialect = dialect,
		.step = PULL_LOOK_STEP_COUNT };
}

void
pull_look_release(struct pull_look *look)
{
	pull_release(&look->pull);
	pull_checks_release(&look->runs);
	pull_checks_release(&look->statuses);
	pull_remarks_release(&look->talk);
	pull_remarks_release(&look->reviews);
	pull_remarks_release(&look->lines);
	for (size_t i = 0; i < PULL_LOOK_STEP_COUNT; i++)
		free(look->tags[i]);
	free(look->review_ids);
	free(look->sha);
	*look = (struct pull_look){ .step = PULL_LOOK_STEP_COUNT };
}

static struct pull_remarks *
remarks_of(struct pull_look *look, enum pull_source source)
{
	return source == PULL_TALK ? &look->talk :
	    source == PULL_REVIEW  ? &look->reviews :
				     &look->lines;
}

void
pull_look_begin(struct pull_look *look, const struct pull_row *row)
{
	look->step = PULL_LOOK_PULL;
	look->page = 1;
	look->at = 0;
	look->review_count = 0;
	if (!text_is(look->sha, row->pushed)) {
		/* An answer about another commit may have the same tag. */
		pull_checks_release(&look->runs);
		pull_checks_release(&look->statuses);
		xstrset(&look->tags[PULL_LOOK_RUNS], NULL);
		xstrset(&look->tags[PULL_LOOK_STATUSES], NULL);
		xstrset(&look->sha, row->pushed);
	}
	for (int s = 0; s < PULL_SOURCE_COUNT; s++) {
		struct pull_remarks *remarks =
		    remarks_of(look, (enum pull_source)s);

		for (size_t i = 0; i < remarks->count; i++)
			remarks->list[i].fresh = remarks->list[i].id >
			    seen_of(row, (enum pull_source)s);
	}
}

static void
step_to(struct pull_look *look, enum pull_look_step step)
{
	look->step = step;
	look->page = 1;
	look->at = 0;
}

/* A failed job whose log is to be read; NULL = none. */
static struct pull_job *
job_of(struct pull_look *look)
{
	for (size_t i = 0; i < look->runs.job_count && i < PULL_LOGS_MAX; i++)
		if (look->runs.jobs[i].id > 0)
			return &look->runs.jobs[i];
	return NULL;
}

/* Somebody of whom is not known whether they may write; NULL = nobody. */
static const char *
stranger(struct pull_look *look)
{
	for (int s = 0; s < PULL_SOURCE_COUNT; s++) {
		struct pull_remarks *remarks =
		    remarks_of(look, (enum pull_source)s);

		for (size_t i = 0; i < remarks->count; i++)
			if (remarks->list[i].trusted < 0)
				return remarks->list[i].login;
	}
	return NULL;
}

/* Is there anything to be asked at this step? */
static bool
has_step(struct pull_look *look, const struct pull_row *row)
{
	bool github = look->dialect == FORGE_GITHUB;

	if (look->step == PULL_LOOK_PULL)
		return true;
	if (look->pull.state != PULL_OPEN || row->turn_sent ||
	    strcmp(look->pull.head, look->sha) != 0)
		return false;
	switch (look->step) {
	case PULL_LOOK_RUNS:
		return github;
	case PULL_LOOK_STATUSES:
		return true;
	case PULL_LOOK_LOGS:
		return github && job_of(look) != NULL;
	case PULL_LOOK_TALK:
	case PULL_LOOK_REVIEWS:
		return row->turn == PULL_TURN_NONE;
	case PULL_LOOK_LINES:
		return row->turn == PULL_TURN_NONE &&
		    (github || look->at < look->review_count);
	default:
		return row->turn == PULL_TURN_NONE && stranger(look) != NULL;
	}
}

bool
pull_look_request(struct pull_look *look, const struct pull_row *row,
    struct forge_request *ret_request)
{
	const struct pull_job *job;

	while (look->step < PULL_LOOK_STEP_COUNT && !has_step(look, row))
		step_to(look, look->step + 1);
	if (look->step == PULL_LOOK_STEP_COUNT)
		return false;
	job = look->step == PULL_LOOK_LOGS ? job_of(look) : NULL;
	*ret_request = (struct forge_request){ .what = asks[look->step],
		.number = row->number,
		.page = look->page,
		.sha = look->sha };
	if (job != NULL)
		ret_request->id = job->id;
	else if (look->step == PULL_LOOK_LINES && look->dialect == FORGE_GITEA)
		ret_request->id = look->review_ids[look->at];
	else if (look->step == PULL_LOOK_PEOPLE)
		ret_request->login = stranger(look);
	return true;
}

const char *
pull_look_tag(const struct pull_look *look)
{
	return look->page == 1 && look->step < PULL_LOOK_STEP_COUNT ?
	    look->tags[look->step] :
	    NULL;
}

void
pull_look_trust(struct pull_look *look, const char *login, bool writes)
{
	for (int s = 0; s < PULL_SOURCE_COUNT; s++) {
		struct pull_remarks *remarks =
		    remarks_of(look, (enum pull_source)s);

		for (size_t i = 0; i < remarks->count; i++)
			if (strcasecmp(remarks->list[i].login, login) == 0)
				remarks->list[i].trusted = writes;
	}
}

/* Gitea tells the comments of a review only when asked for it. */
static void
note_reviews(struct pull_look *look, struct json_object *json,
    const struct pull_row *row)
{
	for (size_t i = 0; i < json_length(json); i++) {
		struct json_object *one = json_object_array_get_idx(json, i);
		int64_t id = forge_made_id(one);

		if (id <= row->seen_review ||
		    json_int_or(one, "comments_count", 0) == 0 ||
		    forge_is_bot(json_member(one, "user")) ||
		    look->review_count == PULL_REMARKS_MAX)
			continue;
		look->review_ids = xreallocarray(look->review_ids,
		    look->review_count + 1, sizeof *look->review_ids);
		look->review_ids[look->review_count++] = id;
	}
}

/* What cannot be read may be red: it is never green. */
static void
note_unreadable(struct pull_checks *checks)
{
	pull_checks_release(checks);
	checks->count = checks->stuck = 1;
}

static int
read_remarks(struct pull_look *look, struct json_object *json,
    const struct pull_row *row, const char *login, bool *more, struct err *err)
{
	enum pull_source source = look->step == PULL_LOOK_TALK ? PULL_TALK :
	    look->step == PULL_LOOK_REVIEWS                    ? PULL_REVIEW :
								 PULL_LINE;
	struct pull_remarks *remarks = remarks_of(look, source);
	int r;

	if (look->page == 1 && look->at == 0)
		pull_remarks_release(remarks);
	r = pull_remarks_read(json, source, row, login, remarks, more, err);
	if (source == PULL_REVIEW && look->dialect == FORGE_GITEA)
		note_reviews(look, json, row);
	/* What has no room now is asked for again. */
	if (remarks->count == PULL_REMARKS_MAX)
		*more = false;
	return r;
}

/* The forge does not tell, or has nothing. */
static int
take_refusal(struct pull_look *look, struct err *err)
{
	struct pull_job *job = job_of(look);

	if (look->step == PULL_LOOK_PULL)
		return err_set(err, -ENOENT,
		    "the forge does not show the pull request any more");
	if (look->step == PULL_LOOK_RUNS)
		note_unreadable(&look->runs);
	else if (look->step == PULL_LOOK_STATUSES)
		note_unreadable(&look->statuses);
	else if (look->step == PULL_LOOK_LOGS && job != NULL)
		job->id = 0; /* what it says itself has to do */
	else if (look->step == PULL_LOOK_PEOPLE && stranger(look) != NULL) {
		cleanup_free char *login = xstrdup(stranger(look));

		pull_look_trust(look, login, false);
	}
	return 0;
}

int
pull_look_answer(struct pull_look *look, const struct pull_row *row,
    const char *login, enum forge_verdict verdict, struct json_object *json,
    const char *text, size_t text_len, const char *tag, struct err *err)
{
	struct pull_job *job = job_of(look);
	bool more = false, good = verdict == FORGE_GOOD;
	struct pull pull = { 0 };
	enum pull_look_step step = look->step;
	int r = 0;

	if (verdict == FORGE_SAME && pull_look_tag(look) == NULL) {
		r = err_set(err, -EBADMSG,
		    "the forge says that nothing has changed, and was not "
		    "asked that");
	} else if (!good && verdict != FORGE_SAME) {
		r = take_refusal(look, err);
	} else if (good && step == PULL_LOOK_PULL) {
		r = pull_read(json, &pull, err);
		if (r == 0) {
			pull_release(&look->pull);
			look->pull = pull;
		}
	} else if (good &&
	    (step == PULL_LOOK_RUNS || step == PULL_LOOK_STATUSES)) {
		struct pull_checks *checks = look->step == PULL_LOOK_RUNS ?
		    &look->runs :
		    &look->statuses;

		if (look->page == 1)
			pull_checks_release(checks);
		r = pull_checks_read(json, checks, &more, err);
	} else if (step == PULL_LOOK_LOGS && job != NULL) {
		if (text != NULL && text_len > 0) {
			free(job->log);
			job->log = log_end(text, text_len);
		}
		job->id = 0;
	} else if (step == PULL_LOOK_PEOPLE && stranger(look) != NULL) {
		cleanup_free char *who = xstrdup(stranger(look));

		pull_look_trust(look, who, forge_may_write(json));
	} else if (good) {
		r = read_remarks(look, json, row, login, &more, err);
	}
	if (r < 0)
		return r;
	if (look->page == 1 && verdict != FORGE_SAME)
		xstrset(&look->tags[step],
		    good && !more && tag != NULL && tag[0] != '\0' &&
			    step != PULL_LOOK_LOGS &&
			    step != PULL_LOOK_PEOPLE &&
			    look->talk.count < PULL_REMARKS_MAX &&
			    look->reviews.count < PULL_REMARKS_MAX &&
			    look->lines.count < PULL_REMARKS_MAX ?
			tag :
			NULL);
	if (more && look->page < FORGE_PAGES_MAX)
		look->page++;
	else if (step == PULL_LOOK_LINES && look->dialect == FORGE_GITEA) {
		look->at++;
		look->page = 1;
	} else if (step != PULL_LOOK_LOGS && step != PULL_LOOK_PEOPLE)
		step_to(look, step + 1);
	return 0;
}
