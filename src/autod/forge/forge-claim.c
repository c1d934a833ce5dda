/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "buf.h"
#include "forge-private.h"
#include "git.h"

#define REF "refs/llmc/claims/"

static char *
ref_of(int64_t number)
{
	return xasprintf(REF "%" PRId64, number);
}

static void
finish(struct forge_floor *floor, enum push_answer result, const char *claim,
    const char *words)
{
	if (result != PUSH_AWAY)
		floor->git_tries = 0;
	floor->claim.fn(floor, result, claim, words);
}

static void
on_pushed(enum push_answer result, const char *words, void *arg)
{
	struct forge_floor *floor = arg;

	finish(
	    floor, result, result == PUSH_OK ? floor->claim.commit : "", words);
}

/* The id that a git has printed. */
static bool
read_id(const struct git_answer *answer, char ret_id[GIT_ID_SIZE])
{
	size_t len = strcspn(answer->out, " \t\n");

	if (answer->status != 0 || len < 40 || len >= GIT_ID_SIZE)
		return false;
	snprintf(ret_id, GIT_ID_SIZE, "%.*s", (int)len, answer->out);
	return true;
}

static void
fail_here(struct forge_floor *floor, const struct git_answer *answer)
{
	finish(floor, PUSH_AWAY, "",
	    answer->err != NULL ? answer->err->msg : answer->complaint);
}

static void
on_commit(const struct git_answer *answer, void *arg)
{
	struct forge_floor *floor = arg;
	cleanup_free char *ref = ref_of(floor->claim.number);

	if (!read_id(answer, floor->claim.commit)) {
		fail_here(floor, answer);
		return;
	}
	git_upstream_push(floor->git,
	    &(struct git_push_spec){ .remote = "origin",
		.commit = floor->claim.commit,
		.ref = ref,
		.expected = floor->claim.expected },
	    on_pushed, floor);
}

static void
make_object(
    struct forge_floor *floor, const char *type, const char *text, git_fn *fn)
{
	const char *const args[] = { "hash-object", "-t", type, "-w", "--stdin",
		NULL };

	git_run(git_queue(floor->git, git_root(floor->git)),
	    &(struct git_command){ .args = args, .input = text }, fn, floor);
}

static void
make_commit(struct forge_floor *floor)
{
	cleanup_buf struct buf text = BUF_INIT;

	forge_claim_commit(floor->claim.number, floor->tree, floor->owner,
	    floor->claim.epoch, &text);
	make_object(floor, "commit", text.data, on_commit);
}

static void
on_tree(const struct git_answer *answer, void *arg)
{
	struct forge_floor *floor = arg;

	if (read_id(answer, floor->tree))
		make_commit(floor);
	else
		fail_here(floor, answer);
}

void
claim_take(struct forge_floor *floor, int64_t number, int64_t epoch,
    const char *expected, claim_fn *fn)
{
	floor->claim.number = number;
	floor->claim.epoch = epoch;
	strlcpy(floor->claim.expected, expected, sizeof floor->claim.expected);
	floor->claim.fn = fn;
	if (floor->tree[0] != '\0')
		make_commit(floor);
	else
		make_object(floor, "tree", "", on_tree);
}

/* What somebody else has by now is theirs. */
static void
on_dropped(enum push_answer result, const char *words, void *arg)
{
	finish(arg, result == PUSH_REJECTED ? PUSH_OK : result, "", words);
}

void
claim_drop(
    struct forge_floor *floor, int64_t number, const char *claim, claim_fn *fn)
{
	cleanup_free char *ref = ref_of(number);

	floor->claim.fn = fn;
	git_upstream_push(floor->git,
	    &(struct git_push_spec){
		.remote = "origin", .ref = ref, .expected = claim },
	    on_dropped, floor);
}

/* --- claims of others --------------------------------------------- */

static struct rival *
rival_of(const struct forge_floor *floor, int64_t number)
{
	for (size_t i = 0; i < floor->rival_count; i++)
		if (floor->rivals[i].number == number)
			return &floor->rivals[i];
	return NULL;
}

const char *
claim_expects(const struct forge_floor *floor, int64_t number)
{
	const struct rival *rival = rival_of(floor, number);

	if (rival == NULL || rival->claim[0] == '\0')
		return "";
	return clock_mono_ms() - rival->since_ms >= FORGE_CLAIM_MS ?
	    rival->claim :
	    NULL;
}

static void
on_seen(const struct git_fetched *fetched, const char *words, void *arg)
{
	struct forge_floor *floor = arg;
	int64_t number = floor->claim.number;
	struct rival *rival = rival_of(floor, number);

	if (fetched->result != PUSH_OK) {
		finish(floor, fetched->result, "", words);
		return;
	}
	if (rival == NULL) {
		floor->rivals = xreallocarray(floor->rivals,
		    floor->rival_count + 1, sizeof *floor->rivals);
		rival = &floor->rivals[floor->rival_count++];
		*rival = (struct rival){ .number = number };
	}
	if (strcmp(rival->claim, fetched->remote) != 0) {
		strlcpy(rival->claim, fetched->remote, sizeof rival->claim);
		rival->since_ms = clock_mono_ms();
	}
	finish(floor, PUSH_OK, "", "");
}

void
claim_watch(struct forge_floor *floor, int64_t number, claim_fn *fn)
{
	cleanup_free char *ref = ref_of(number);

	floor->claim.number = number;
	floor->claim.fn = fn;
	git_upstream_fetch(floor->git,
	    &(struct git_fetch_spec){ .remote = "origin", .ref = ref }, on_seen,
	    floor);
}
