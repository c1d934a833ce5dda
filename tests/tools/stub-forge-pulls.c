/* SPDX-License-Identifier: ISC */

/* The pull requests of the stub of a forge: their commits are those of a bare
 * repository, and a merge makes one there. */
#include "stub-forge.h"

#include "child.h"

/* --- the repository ----------------------------------------------- */

/* What a shell in the repository prints, without its last newline; it has $1
 * and $2. NULL = it failed. */
static char *
shell(const struct forge *forge, const char *script, const char *one,
    const char *two)
{
	static const char *const env[] = { "GIT_AUTHOR_NAME=forge",
		"GIT_AUTHOR_EMAIL=forge@x", "GIT_COMMITTER_NAME=forge",
		"GIT_COMMITTER_EMAIL=forge@x", NULL };
	const char *const argv[] = { "sh", "-c", script, "sh", one, two, NULL };
	cleanup_child_result struct child_result result;
	cleanup_buf struct buf out = BUF_INIT;

	child_result_init(&result);
	if (forge->repo == NULL ||
	    child_run(
		&(struct child_spec){
		    .argv = argv, .cwd = forge->repo, .env = env },
		&result, NULL) < 0 ||
	    !child_succeeded(&result))
		return NULL;
	child_output_text(&result.out, &out);
	while (out.len > 0 && out.data[out.len - 1] == '\n')
		buf_truncate(&out, out.len - 1);
	return buf_take(&out);
}

static const char *
branch_of(struct json_object *pull, const char *side)
{
	return text_of(member(pull, side), "ref");
}

static void
set_draft(struct forge *forge, struct json_object *pull, bool draft)
{
	const char *title = text_of(pull, "title");
	const char *bare = below(title, "WIP: ");

	if (forge->gitea && draft != (bare != NULL)) {
		cleanup_free char *other =
		    draft ? xasprintf("WIP: %s", title) : xstrdup(bare);

		json_set_string(pull, "title", other);
	}
	json_set_bool(pull, "draft", draft);
}

/* What the repository says about it now. */
static void
refresh(struct forge *forge, struct json_object *pull)
{
	static const char merges[] =
	    "git merge-tree --write-tree \"refs/heads/$1\" \"$2\" "
	    ">/dev/null && echo yes || echo no";
	cleanup_free char *sha = NULL, *fits = NULL;

	if (forge->gitea)
		json_set_bool(pull, "draft",
		    below(text_of(pull, "title"), "WIP: ") != NULL);
	if (strcmp(text_of(pull, "state"), "open") != 0)
		return;
	sha = shell(forge, "git rev-parse -q --verify \"refs/heads/$1\"",
	    branch_of(pull, "head"), "");
	if (sha == NULL)
		return;
	json_set_string(member(pull, "head"), "sha", sha);
	fits = shell(forge, merges, branch_of(pull, "base"), sha);
	json_set_bool(pull, "mergeable",
	    fits != NULL && strcmp(fits, "yes") == 0 &&
		!(forge->gitea && json_bool_or(pull, "draft", false)));
}

struct json_object *
all_pulls(struct forge *forge)
{
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < length(forge->pulls); i++) {
		refresh(forge, at(forge->pulls, i));
		json_object_array_add(
		    list, json_object_get(at(forge->pulls, i)));
	}
	return list;
}

/* One commit on the base. False: it does not fit. */
static bool
squash(struct forge *forge, struct json_object *pull, const char *message)
{
	static const char script[] =
	    "base=$(git rev-parse \"refs/heads/$1\") && "
	    "tree=$(git merge-tree --write-tree \"$base\" \"${2%% *}\") && "
	    "new=$(printf '%s' \"${2#* }\" | "
	    "git commit-tree \"$tree\" -p \"$base\") && "
	    "git update-ref \"refs/heads/$1\" \"$new\" \"$base\" && "
	    "echo \"$new\"";
	cleanup_free char *what = NULL, *commit = NULL;

	refresh(forge, pull);
	what =
	    xasprintf("%s %s", text_of(member(pull, "head"), "sha"), message);
	commit = shell(forge, script, branch_of(pull, "base"), what);
	if (commit == NULL)
		return false;
	json_set_string(pull, "state", "closed");
	json_set_bool(pull, "merged", true);
	json_set_string(pull, "merged_at", "2024-01-31T10:11:12Z");
	json_set_string(pull, "merge_commit_sha", commit);
	touch(forge, pull);
	return true;
}

/* --- pull requests ------------------------------------------------ */

static struct json_object *
side(const char *ref)
{
	struct json_object *json = json_object_new_object();

	json_set_string(json, "ref", ref);
	return json;
}

static void
make_pull(struct call *call)
{
	struct forge *forge = call->forge;
	const char *head = text_of(call->body, "head");
	struct json_object *pull;
	cleanup_free char *node = NULL, *sha = NULL;

	for (size_t i = 0; i < length(forge->pulls); i++)
		if (strcmp(branch_of(at(forge->pulls, i), "head"), head) == 0 &&
		    strcmp(text_of(at(forge->pulls, i), "state"), "open") ==
			0) {
			refuse(call, forge->gitea ? 409 : 422,
			    "a pull request already exists");
			return;
		}
	sha = shell(
	    forge, "git rev-parse -q --verify \"refs/heads/$1\"", head, "");
	if (sha == NULL) {
		refuse(call, forge->gitea ? 404 : 422, "head is invalid");
		return;
	}
	json_set_string(call->body, "user", call->login);
	pull = new_issue(forge, call->body);
	node = xasprintf("PR_%" PRId64, json_int_or(pull, "number", 0));
	if (!forge->gitea)
		json_set_string(pull, "node_id", node);
	json_set(pull, "pull_request", json_object_new_object());
	json_set(pull, "head", side(head));
	json_set(pull, "base", side(text_of(call->body, "base")));
	json_set_bool(pull, "merged", false);
	json_set_bool(pull, "draft", json_bool_or(call->body, "draft", false));
	json_object_array_add(forge->pulls, json_object_get(pull));
	refresh(forge, pull);
	answer(call, 201, json_object_get(pull));
}

/* GitHub: ?head=OWNER:BRANCH. */
static void
find_pulls(struct call *call)
{
	const char *head = evhttp_find_header(&call->query, "head");
	const char *branch = head == NULL ? NULL : strchr(head, ':');
	cleanup_json struct json_object *all = all_pulls(call->forge);
	struct json_object *found = json_object_new_array();

	for (size_t i = 0; i < length(all); i++)
		if (branch == NULL ||
		    strcmp(branch_of(at(all, i), "head"), branch + 1) == 0)
			json_object_array_add(
			    found, json_object_get(at(all, i)));
	answer(call, 200, found);
}

/* Gitea: /pulls/BASE/BRANCH. */
static void
find_pull(struct call *call, const char *rest)
{
	cleanup_free char *wanted = evhttp_uridecode(rest, 0, NULL);
	cleanup_json struct json_object *all = all_pulls(call->forge);

	for (size_t i = 0; i < length(all); i++) {
		cleanup_free char *name =
		    xasprintf("%s/%s", branch_of(at(all, i), "base"),
			branch_of(at(all, i), "head"));

		if (strcmp(name, wanted) == 0) {
			answer(call, 200, json_object_get(at(all, i)));
			return;
		}
	}
	refuse(call, 404, "Not Found");
}

static void
merge_pull(struct call *call, struct json_object *pull)
{
	struct forge *forge = call->forge;
	cleanup_free char *message = xasprintf("%s\n\n%s\n",
	    text_of(
		call->body, forge->gitea ? "MergeTitleField" : "commit_title"),
	    text_of(call->body,
		forge->gitea ? "MergeMessageField" : "commit_message"));
	struct json_object *done;

	refresh(forge, pull);
	if (strcmp(text_of(pull, "state"), "open") != 0 ||
	    json_bool_or(pull, "draft", false)) {
		refuse(call, 405, "Pull Request is not mergeable");
	} else if (json_bool_or(forge->rules, "queue", false)) {
		refuse(
		    call, 405, "Changes must be made through the merge queue");
	} else if (strcmp(text_of(call->body,
			      forge->gitea ? "head_commit_id" : "sha"),
		       text_of(member(pull, "head"), "sha")) != 0) {
		refuse(call, 409, "Head branch was modified");
	} else if (!squash(forge, pull, message)) {
		refuse(call, 405, "Pull Request has merge conflicts");
	} else if (forge->gitea) {
		answer(call, 200, NULL);
	} else {
		done = json_object_new_object();
		json_set_string(done, "sha", text_of(pull, "merge_commit_sha"));
		json_set_bool(done, "merged", true);
		answer(call, 200, done);
	}
}

static void
serve_pull(struct call *call, struct json_object *pull, const char *rest)
{
	struct forge *forge = call->forge;
	int64_t number = json_int_or(pull, "number", 0);

	if (strcmp(rest, "/merge") == 0) {
		merge_pull(call, pull);
	} else if (strcmp(rest, "/reviews") == 0) {
		answer(call, 200, of_issue(call, forge->reviews, number));
	} else if (below(rest, "/reviews/") != NULL) {
		answer(call, 200,
		    of_issue(call, forge->lines,
			strtoll(below(rest, "/reviews/"), NULL, 10)));
	} else if (strcmp(rest, "/comments") == 0) {
		answer(call, 200, of_issue(call, forge->lines, number));
	} else if (strcmp(rest, "") != 0) {
		refuse(call, 404, "Not Found");
	} else {
		if (strcmp(call->method, "PATCH") == 0) {
			json_object_object_foreach(call->body, key, value)
			    json_set(pull, key, json_object_get(value));
			touch(forge, pull);
		}
		refresh(forge, pull);
		answer(call, 200, json_object_get(pull));
	}
}

void
serve_graphql(struct call *call)
{
	struct forge *forge = call->forge;
	const char *query = text_of(call->body, "query");
	struct json_object *values = member(call->body, "variables");
	struct json_object *json = json_object_new_object(), *pull = NULL;
	const char *words = NULL, *node = below(text_of(values, "id"), "PR_");

	if (node != NULL)
		pull =
		    numbered(forge->pulls, "number", strtoll(node, NULL, 10));
	if (pull == NULL) {
		words = "Could not resolve to a node";
	} else if (strstr(query, "markPullRequestReadyForReview") != NULL) {
		set_draft(forge, pull, false);
	} else if (!json_bool_or(forge->rules, "queue", false)) {
		words = "Merge queue is not enabled";
	} else if (strcmp(text_of(values, "sha"),
		       text_of(member(pull, "head"), "sha")) != 0) {
		words = "Head sha didn't match";
	} else if (!squash(forge, pull, text_of(pull, "title"))) {
		words = "Pull request is in conflict";
	}
	json_set(json, "data", words == NULL ? json_object_new_object() : NULL);
	if (words != NULL) {
		struct json_object *one = json_object_new_object();
		struct json_object *list = json_object_new_array();

		json_set_string(one, "message", words);
		json_object_array_add(list, one);
		json_set(json, "errors", list);
	}
	answer(call, 200, json);
}

/* --- checks ------------------------------------------------------- */

/* In the words of the forge; id: of its log. */
static struct json_object *
check_json(const struct forge *forge, struct json_object *check,
    const char *state, bool run)
{
	struct json_object *json = json_object_new_object();
	struct json_object *app = json_object_new_object();
	bool running = strcmp(state, "running") == 0;

	json_set_int(json, "id", json_int_or(check, "id", 0));
	if (run) {
		json_set_string(json, "name", text_of(check, "name"));
		json_set_string(
		    json, "status", running ? "in_progress" : "completed");
		json_set_string(json, "conclusion", running ? NULL : state);
		json_set_string(app, "slug", "github-actions");
		json_set(json, "app", json_object_get(app));
	} else {
		json_set_string(json, "context", text_of(check, "name"));
		json_set_string(json, forge->gitea ? "status" : "state",
		    running ? "pending" : state);
		json_set_string(json, "description", text_of(check, "log"));
		json_set_string(json, "target_url", "http://127.0.0.1/ci");
	}
	json_object_put(app);
	return json;
}

static void
serve_checks(struct call *call, const char *sha, bool runs)
{
	struct forge *forge = call->forge;
	struct json_object *list = json_object_new_array();
	struct json_object *json = json_object_new_object();
	cleanup_free char *commit = xstrndup(sha, strcspn(sha, "/"));

	for (size_t i = 0; i < length(forge->ci) + length(forge->checks); i++) {
		bool is_ci = i < length(forge->ci);
		struct json_object *one = is_ci ?
		    at(forge->ci, i) :
		    at(forge->checks, i - length(forge->ci));
		bool is_run = !forge->gitea &&
		    strcmp(text_of(one, "kind"), "status") != 0;
		const char *state = text_of(one, "state");
		cleanup_free char *has = NULL;

		if (is_run != runs ||
		    (!is_ci && strcmp(text_of(one, "sha"), commit) != 0))
			continue;
		if (is_ci) {
			has = shell(forge, "git cat-file -e \"$1:$2\"", commit,
			    text_of(one, "needs"));
			state = has != NULL ? "success" : "failure";
		}
		json_object_array_add(
		    list, check_json(forge, one, state, runs));
	}
	json_set_int(json, "total_count", (int64_t)length(list));
	json_set_string(json, "state", length(list) > 0 ? "?" : "");
	json_set(json, runs ? "check_runs" : "statuses", list);
	answer(call, 200, json);
}

static struct json_object *
job(const struct forge *forge, int64_t id)
{
	struct json_object *one = numbered(forge->ci, "id", id);

	return one != NULL ? one : numbered(forge->checks, "id", id);
}

/* It is elsewhere, and whoever shows a token there is refused. */
static void
serve_log(struct call *call, int64_t id)
{
	cleanup_free char *place = NULL;

	if (job(call->forge, id) == NULL) {
		refuse(call, 404, "Not Found");
		return;
	}
	place = xasprintf(
	    "http://127.0.0.1:%d/blob/%" PRId64, (int)call->forge->port, id);
	evhttp_add_header(evhttp_request_get_output_headers(call->request),
	    "Location", place);
	answer(call, 302, NULL);
}

void
serve_blob(struct call *call)
{
	struct json_object *one =
	    job(call->forge, strtoll(below(call->path, "/blob/"), NULL, 10));

	if (evhttp_find_header(evhttp_request_get_input_headers(call->request),
		"Authorization") != NULL) {
		refuse(call, 400, "a token");
		return;
	}
	answer(call, 200, NULL);
	call->text = xstrdup(text_of(one, "log"));
}

bool
serve_pulls(struct call *call, const char *path)
{
	struct forge *forge = call->forge;
	const char *rest, *sha = below(path, "/commits/");
	struct json_object *pull;
	char *end;

	if (sha != NULL && strstr(sha, "/check-runs") != NULL &&
	    !forge->gitea) {
		serve_checks(call, sha, true);
	} else if (sha != NULL && strstr(sha, "/status") != NULL) {
		serve_checks(call, sha, false);
	} else if ((rest = below(path, "/actions/jobs/")) != NULL) {
		serve_log(call, strtoll(rest, NULL, 10));
	} else if (strcmp(path, "/pulls") == 0) {
		if (strcmp(call->method, "POST") == 0)
			make_pull(call);
		else
			find_pulls(call);
	} else if ((rest = below(path, "/pulls/")) != NULL) {
		pull =
		    numbered(forge->pulls, "number", strtoll(rest, &end, 10));
		if (end == rest)
			find_pull(call, rest);
		else if (pull == NULL)
			refuse(call, 404, "Not Found");
		else
			serve_pull(call, pull, end);
	} else {
		return false;
	}
	return true;
}

/* --- /control ----------------------------------------------------- */

/* With its comments on lines. */
static void
add_review(struct forge *forge, struct json_object *body)
{
	struct json_object *user = user_json(forge, text_of(body, "user"));
	struct json_object *comments = member(body, "comments");
	int64_t id = ++forge->ids, number = json_int_or(body, "number", 0);

	json_set_int(body, "id", id);
	json_set_int(body, "issue", number);
	json_set_int(body, "comments_count", (int64_t)length(comments));
	json_set(body, "user", user);
	json_object_array_add(forge->reviews, json_object_get(body));
	for (size_t i = 0; i < length(comments); i++) {
		struct json_object *one = at(comments, i);
		bool over = json_bool_or(one, "over", false);

		json_set_int(one, "id", ++forge->ids);
		json_set(one, "user", json_object_get(user));
		json_set_int(one, "issue", forge->gitea ? id : number);
		if (forge->gitea) {
			json_set_int(
			    one, "position", json_int_or(one, "line", 0));
			json_set(one, "resolver",
			    over ? json_object_get(user) : NULL);
			json_object_object_del(one, "line");
		} else {
			json_set(one, "position",
			    over ? NULL : json_object_new_int64(1));
		}
		json_object_array_add(forge->lines, json_object_get(one));
	}
}

bool
control_pulls(struct call *call, const char *what)
{
	struct forge *forge = call->forge;
	struct json_object *body = call->body, *pull;

	if (strcmp(what, "repo") == 0) {
		xstrset(&forge->repo, text_of(body, "path"));
	} else if (strcmp(what, "rules") == 0) {
		json_object_put(forge->rules);
		forge->rules = json_object_get(body);
	} else if (strcmp(what, "ci") == 0 || strcmp(what, "check") == 0) {
		struct json_object *list =
		    what[1] == 'i' ? forge->ci : forge->checks;

		/* The later one counts. */
		for (size_t i = length(list); i-- > 0;)
			if (strcmp(text_of(at(list, i), "name"),
				text_of(body, "name")) == 0 &&
			    strcmp(text_of(at(list, i), "sha"),
				text_of(body, "sha")) == 0)
				json_object_array_del_idx(list, i, 1);
		json_set_int(body, "id", ++forge->ids);
		json_object_array_add(list, json_object_get(body));
	} else if (strcmp(what, "review") == 0) {
		add_review(forge, body);
	} else if (strcmp(what, "pull") == 0) {
		const char *deed = text_of(body, "do");

		pull = numbered(
		    forge->pulls, "number", json_int_or(body, "number", 0));
		if (strcmp(deed, "merge") == 0)
			squash(forge, pull, text_of(pull, "title"));
		else if (strcmp(deed, "close") == 0)
			json_set_string(pull, "state", "closed");
		else
			set_draft(forge, pull, true);
	} else {
		return false;
	}
	answer(call, 200, json_object_get(body));
	return true;
}
