/* SPDX-License-Identifier: ISC */

/* The state of the version before: which of its files is read, and where they
 * go. */

#include "base.h"
#include "state.h"
#include "unit.h"
#include "version.h"
#include "workspace.h"

#define NOW INT64_C(1700000000000)

#define GOOD   "{\"receipts\": 2, \"workers\": {\"eve\": {\"name\": \"eve\"}}}"
#define OLDER  "{\"receipts\": 1}"
#define BROKEN "{\"receipts\": "

static struct workspace ws;

static void
begin(const char *name)
{
	ws.dir = xstrdup(unit_path(name));
	ck_assert_int_eq(file_mkdirs(ws.dir, 0700, NULL), 0);
}

static void
put(const char *name, const char *text)
{
	cleanup_free char *file = workspace_path(&ws, name);

	ck_assert_int_eq(file_replace(file, text, strlen(text), 0600, NULL), 0);
}

static bool
has(const char *name)
{
	cleanup_free char *file = workspace_path(&ws, name);

	return file_exists(file);
}

static int
load(uint64_t *ret_receipts, char **ret_why, struct err *err)
{
	struct state state;
	int r;

	state_init(&state);
	r = state_upgrade_read(&ws, NOW, &state, ret_why, err);
	*ret_receipts = r == 0 ? state.receipts : 0;
	if (r == 0 && state.receipts == 2)
		ck_assert_ptr_nonnull(state_find(&state, "eve"));
	state_release(&state);
	return r;
}

static const struct {
	const char *name, *file, *backup;
	int r;
	uint64_t receipts;
	const char *why, *words; /* parts of them */
} rows[] = {
	{ "none", NULL, NULL, -ENOENT, 0, NULL, NULL },
	{ "good", GOOD, NULL, 0, 2, NULL, NULL },
	{ "both", GOOD, OLDER, 0, 2, NULL, NULL },
	{ "broken", BROKEN, OLDER, 0, 1, "state.json.bak", NULL },
	{ "gone", NULL, OLDER, 0, 1, "state.json.bak", NULL },
	{ "bad-type", "[]", OLDER, 0, 1, "expected an object", NULL },
	{ "alone", BROKEN, NULL, -EINVAL, 0, NULL, "llmc doctor --rebuild" },
	{ "neither", BROKEN, "", -EINVAL, 0, NULL,
	    "its backup cannot be used" },
};

TEST_ROWS(the_good_one_is_read, nitems(rows))
{
	cleanup_free char *why = NULL;
	struct err err = { 0, "" };
	uint64_t receipts = 0;

	begin(rows[_i].name);
	if (rows[_i].file != NULL)
		put("state.json", rows[_i].file);
	if (rows[_i].backup != NULL)
		put("state.json.bak", rows[_i].backup);
	ck_assert_int_eq(load(&receipts, &why, &err), rows[_i].r);
	ck_assert_uint_eq(receipts, rows[_i].receipts);
	ck_assert((why != NULL) == (rows[_i].why != NULL));
	if (why != NULL)
		ck_assert_ptr_nonnull(strstr(why, rows[_i].why));
	if (rows[_i].words != NULL)
		ck_assert_ptr_nonnull(strstr(err.msg, rows[_i].words));
	free(ws.dir);
}

TEST(every_truncation_is_found)
{
	begin("truncated");
	put("state.json.bak", OLDER);
	for (size_t len = 0; len < strlen(GOOD); len++) {
		cleanup_free char *text = xstrndup(GOOD, len);
		cleanup_free char *why = NULL;
		uint64_t receipts = 0;

		put("state.json", text);
		ck_assert_int_eq(load(&receipts, &why, NULL), 0);
		ck_assert_uint_eq(receipts, 1);
	}
	free(ws.dir);
}

TEST(what_cannot_be_looked_at_is_not_broken)
{
	cleanup_free char *file = NULL, *why = NULL;
	uint64_t receipts = 0;

	begin("later");
	put("state.json.bak", OLDER);
	file = workspace_path(&ws, "state.json");
	ck_assert_int_eq(symlink(file, file), 0);
	ck_assert_int_eq(load(&receipts, &why, NULL), -ELOOP);
	free(ws.dir);
}

TEST(they_are_moved_together)
{
	static const char *const names[] = { "state.json", "state.json.bak",
		"state.json.broken" };

	begin("moved");
	state_upgrade_move(&ws); /* nothing is there */
	ck_assert(!has("before-" LLMC_VERSION));
	for (size_t i = 0; i < nitems(names); i++)
		put(names[i], GOOD);
	put("state.lock", "");
	state_upgrade_move(&ws);
	for (size_t i = 0; i < nitems(names); i++) {
		cleanup_free char *to =
		    xasprintf("before-%s/%s", LLMC_VERSION, names[i]);

		ck_assert(!has(names[i]));
		ck_assert(has(to));
	}
	ck_assert(has("state.lock"));
	put("state.json.bak", OLDER);
	state_upgrade_move(&ws);
	ck_assert(!has("state.json.bak"));
	/* A second upgrade leaves what the first one has kept. */
	ck_assert(has("before-" LLMC_VERSION "/state.json.bak"));
	ck_assert(has("before-" LLMC_VERSION ".2/state.json.bak"));
	free(ws.dir);
}

TEST(a_book_that_is_gone_is_noticed)
{
	static const char *const there[] = { "llmc.db", "state.json",
		"state.json.bak", "llmc.corrupt-2026.db" };
	struct err err = { 0, "" };

	begin("gone-book");
	ck_assert(!state_upgrade_is_lost(&ws, "/nonexistent", &err));
	put("root_id", "11111111-2222-4333-8444-555555555555\n");
	ck_assert(state_upgrade_is_lost(&ws, "/nonexistent", &err));
	ck_assert_ptr_nonnull(strstr(err.msg, "llmc.db is gone"));
	for (size_t i = 0; i < nitems(there); i++) {
		cleanup_free char *file = workspace_path(&ws, there[i]);

		put(there[i], "");
		ck_assert(!state_upgrade_is_lost(&ws, "/nonexistent", &err));
		ck_assert_int_eq(unlink(file), 0);
	}
	free(ws.dir);
}
