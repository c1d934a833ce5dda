/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "prompt.h"

static void
assert_clean(const char *text, const char *wanted)
{
	cleanup_buf struct buf out = BUF_INIT;

	ck_assert(prompt_clean(text, strlen(text), &out));
	ck_assert_str_eq(out.data, wanted);
}

TEST(clean_drops_what_could_leave_the_paste)
{
	assert_clean("a\x1b[201~b", "a[201~b");
	assert_clean("a\rb\x07\x7f", "ab");
	assert_clean("a\xc2\x9b"
		     "201~b",
	    "a201~b"); /* C1 CSI */
	assert_clean("a\xff\xc3(\xed\xa0\x80z", "a(z");
	/* The remaining bytes must not form something that should be
	 * dropped. */
	assert_clean("a\xc2\x1b\x9bz", "az");
}

TEST(clean_keeps_words_as_they_are)
{
	assert_clean("one\r\ntwo\n\n\tthree \xe2\x9c\x93 $(x) #{y} '\"",
	    "one\ntwo\n\n\tthree \xe2\x9c\x93 $(x) #{y} '\"");
	assert_clean(" \n\t x y \n", "x y");
	assert_clean("/clear", "/clear");
}

TEST(clean_takes_the_end_of_a_backslash)
{
	assert_clean("x\\", "x\\ ");
	assert_clean("x\\ \n", "x\\ ");
	assert_clean("x\\\\", "x\\\\ ");
	assert_clean("\\x", "\\x");
}

TEST(clean_refuses_nothing_and_too_much)
{
	cleanup_buf struct buf out = BUF_INIT, big = BUF_INIT;
	const char blanks[] = " \n\x1b\0\xff\t";

	buf_adds(&out, "before");
	ck_assert(!prompt_clean("", 0, &out));
	ck_assert(!prompt_clean(blanks, sizeof blanks - 1, &out));
	while (big.len < PROMPT_MAX)
		buf_addc(&big, 'x');
	buf_adds(&big, " \n");
	ck_assert_str_eq(out.data, "before");
	ck_assert(prompt_clean(big.data, big.len, &out));
	ck_assert_uint_eq(out.len, strlen("before") + PROMPT_MAX);
	buf_release(&out);
	big.data[PROMPT_MAX] = 'x';
	ck_assert(!prompt_clean(big.data, big.len, &out));
	big.data[PROMPT_MAX] = ' ';
	big.data[PROMPT_MAX - 1] = '\\';
	ck_assert(!prompt_clean(big.data, big.len, &out));
	ck_assert_uint_eq(out.len, 0);
}

TEST(clean_reads_beyond_a_nul)
{
	cleanup_buf struct buf out = BUF_INIT;

	ck_assert(prompt_clean("a\0b", 3, &out));
	ck_assert_str_eq(out.data, "ab");
}

TEST(receipt_comes_first_and_is_found_again)
{
	cleanup_buf struct buf out = BUF_INIT;
	char receipt[PROMPT_RECEIPT_SIZE];

	prompt_with_receipt("17", "/clear everything", &out);
	ck_assert_str_eq(out.data, "[llmc 17] /clear everything");
	ck_assert(prompt_receipt(out.data, receipt));
	ck_assert_str_eq(receipt, "17");
	ck_assert(prompt_carries(out.data, "17"));
	ck_assert(prompt_carries("hel[llmc 17] x", "17"));
	ck_assert(!prompt_carries(out.data, "1"));
	ck_assert(!prompt_carries(out.data, "7"));
	ck_assert(!prompt_carries(out.data, "170"));
	ck_assert(!prompt_carries("", "17"));
}

TEST(what_is_no_receipt_is_none)
{
	static const char *const texts[] = { "", "[llmc", "[llmc ", "[llmc ]",
		"[llmc 17", "x[llmc 17] y", "[llmc 1 7] y", "[LLMC 17] y",
		"<task-notification>",
		"[llmc 0123456789012345678901234567890123456789] y" };
	char receipt[PROMPT_RECEIPT_SIZE] = "kept";

	for (size_t i = 0; i < nitems(texts); i++)
		ck_assert_msg(
		    !prompt_receipt(texts[i], receipt), "%s", texts[i]);
	ck_assert_str_eq(receipt, "kept");
	ck_assert(prompt_receipt(
	    "[llmc 012345678901234567890123456789012345678] y", receipt));
	ck_assert_uint_eq(strlen(receipt), PROMPT_RECEIPT_SIZE - 1);
}

static void
assert_says(const struct buf *text, const char *words)
{
	ck_assert_msg(strstr(text->data, words) != NULL,
	    "\"%s\" is missing in: %s", words, text->data);
}

static const struct prompt_facts facts = {
	.worktree = "/src/.worktrees/adam",
	.root = "/src",
	.branch = "llmc/adam",
	.default_branch = "trunk",
	.role = "You are careful.",
	.task = "Mend the fence.\n\nIt is broken.\nIn two places.\nAnd old.",
};

TEST(task_prompt_says_where_and_how)
{
	cleanup_buf struct buf out = BUF_INIT;

	prompt_task(&facts, &out);
	assert_says(&out, "/src/.worktrees/adam");
	assert_says(&out, "llmc/adam");
	assert_says(&out, "trunk");
	assert_says(&out, "exactly one commit");
	assert_says(&out, "Stay inside");
	assert_says(&out, "Do not push");
	assert_says(&out, "clean `git status`");
	assert_says(&out, "AGENTS.md");
	assert_says(&out, "\n\nYou are careful.\n\nMend the fence.");
	ck_assert_str_eq(out.data + out.len - strlen(facts.task), facts.task);
}

TEST(task_prompt_says_who_answers_questions)
{
	struct prompt_facts asks = facts;
	cleanup_buf struct buf out = BUF_INIT;

	prompt_task(&asks, &out);
	assert_says(&out, "Nobody can answer questions");
	buf_clear(&out);
	asks.answers = "a person";
	prompt_task(&asks, &out);
	assert_says(&out, "ask a person with the tool request_orchestrator");
	buf_clear(&out);
	asks.by_hand = true;
	prompt_task(&asks, &out);
	assert_says(&out, "waits until a person reads it.\n\nYou are careful.");
}

TEST(who_cannot_edit_is_told_to_report_and_not_to_commit)
{
	struct prompt_facts reads = facts;
	cleanup_buf struct buf out = BUF_INIT;

	reads.report_only = true;
	prompt_task(&reads, &out);
	assert_says(&out, "Change no files and commit nothing.");
	assert_says(&out, "give your reasons in your report");
	ck_assert_ptr_null(strstr(out.data, "exactly one commit"));
}

TEST(task_prompt_without_a_role_has_no_hole)
{
	struct prompt_facts plain = facts;
	cleanup_buf struct buf out = BUF_INIT, bare = BUF_INIT;

	plain.role = "";
	prompt_task(&plain, &out);
	assert_says(&out, "commit message.\n\nMend the fence.");
	prompt_task(&(struct prompt_facts){ .task = "x" }, &bare);
	ck_assert_ptr_null(strstr(bare.data, "(null)"));
}

TEST(rejection_keeps_the_work_and_gives_the_feedback)
{
	cleanup_buf struct buf out = BUF_INIT;

	prompt_rejection("Too long.\nToo %s.", &out);
	assert_says(&out, "still in the worktree");
	assert_says(&out, "Too long.\nToo %s.");
	assert_says(&out, "amend");
}

TEST(conflict_prompt_has_why_task_files_and_steps)
{
	static const char *const files[] = { "a.c", "b c.h", NULL };
	cleanup_buf struct buf out = BUF_INIT;

	prompt_conflict(&facts, files, &out);
	assert_says(&out, "trunk has changed");
	assert_says(
	    &out, "> Mend the fence.\n> It is broken.\n> In two places.\n");
	ck_assert_ptr_null(strstr(out.data, "And old"));
	assert_says(&out, "do not start over");
	assert_says(&out, "- a.c\n- b c.h\n\n");
	assert_says(&out, "GIT_EDITOR=true git rebase --continue");
	assert_says(&out, "git add");
	assert_says(&out, "--amend --no-edit");
	assert_says(&out, "Do not abort");
}

TEST(conflict_prompt_cuts_a_long_task_between_characters)
{
	static const char *const none[] = { NULL };
	cleanup_buf struct buf task = BUF_INIT, out = BUF_INIT;
	struct prompt_facts long_facts = facts;

	buf_addc(&task, 'x');
	while (task.len < 300)
		buf_adds(&task, "\xc3\xa9");
	long_facts.task = task.data;
	prompt_conflict(&long_facts, none, &out);
	assert_says(&out, "...\n");
	ck_assert(text_utf8_valid(out.data, out.len));
	ck_assert_ptr_null(strstr(out.data, "Files in conflict"));
	ck_assert_ptr_null(strstr(out.data, task.data));
	buf_clear(&out);
	prompt_conflict(&(struct prompt_facts){ .task = NULL }, none, &out);
	ck_assert_ptr_null(strstr(out.data, "Your task"));
	ck_assert_ptr_null(strstr(out.data, "(null)"));
}

static void
assert_names(const char *text, const char *root, const char *wanted)
{
	cleanup_buf struct buf out = BUF_INIT;

	ck_assert_msg(prompt_names_root(text, root, &out) == (wanted != NULL),
	    "%s", text);
	ck_assert_str_eq(out.data, wanted == NULL ? "" : wanted);
}

TEST(absolute_references_below_the_root_are_found)
{
	assert_names("see @/src/x.c, please", "/src", "/src/x.c");
	assert_names("see @/src/x.c.", "/src", "/src/x.c");
	assert_names("(@/src/a/b)", "/src/", "/src/a/b");
	assert_names("@\"/src/a b\" now", "/src", "/src/a b");
	assert_names("@/src", "/src", "/src");
	assert_names("@x @/src/y", "/src", "/src/y");
	assert_names("@/etc/x", "/", "/etc/x");
}

TEST(other_references_are_not)
{
	assert_names("", "/src", NULL);
	assert_names("@src/x.c", "/src", NULL);
	assert_names("@/srcs/x.c", "/src", NULL);
	assert_names("/src/x.c", "/src", NULL);
	assert_names("me@/src/x", "/src", NULL);
	assert_names("@/sr", "/src", NULL);
	assert_names("@", "/src", NULL);
	assert_names("@\"", "/src", NULL);
	assert_names("@/src/x", "", NULL);
	assert_names("@", "/", NULL);
}

TEST(a_compacted_conversation_gets_its_task_within_bounds)
{
	const char *files[200];
	char path[100];
	struct prompt_reminder r = { .task = "Fix it.\nAcceptance: it works.",
		.check_command = "make check" };
	cleanup_buf struct buf plain = BUF_INIT, task = BUF_INIT,
			       whole = BUF_INIT;

	memset(path, 'p', 99);
	path[99] = '\0';
	for (size_t i = 0; i < nitems(files); i++)
		files[i] = path;
	prompt_compacted(&r, &plain);
	ck_assert_ptr_nonnull(strstr(plain.data, r.task));
	ck_assert_ptr_nonnull(strstr(plain.data, "command: make check\n"));
	ck_assert_ptr_null(strstr(plain.data, "The worktree now"));
	/* The worst case: everything is long. */
	buf_adds(&task, "BEGIN");
	while (task.len < 200000)
		buf_adds(&task, "\xe2\x82\xac");
	buf_adds(&task, "Acceptance: it works.");
	r = (struct prompt_reminder){ .task = task.data,
		.id = "t7",
		.check_command = task.data,
		.last_check = task.data,
		.tree_known = true,
		.branch = "llmc/adam",
		.onto = "main",
		.ahead = 1,
		.files = files,
		.file_count = nitems(files),
		.uncommitted = 3 };
	prompt_compacted(&r, &whole);
	ck_assert_uint_le(whole.len, PROMPT_REMINDER_MAX);
	ck_assert(text_utf8_valid(whole.data, whole.len));
	ck_assert_ptr_nonnull(strstr(whole.data, "BEGIN"));
	ck_assert_ptr_nonnull(strstr(whole.data, "Acceptance: it works."));
	ck_assert_ptr_nonnull(strstr(whole.data, "llmc task show t7"));
	ck_assert_ptr_nonnull(strstr(whole.data,
	    "branch llmc/adam, 1 commit ahead of main, 200 files changed "
	    "since the work began, 3 not committed.\n"));
	ck_assert_ptr_nonnull(strstr(whole.data, "more: git status"));
}

TEST(random_texts_clean_to_a_fixed_point)
{
	static const char *const pieces[] = { "a", " ", "\n", "\t", "\r", "\\",
		"\x1b", "[201~", "\xc2", "\x9b", "\xc2\x9b", "\xe2\x82\xac",
		"\xf0\x9f", "\x7f", "\xff", "@/src/x", "[llmc 1] " };
	struct dice dice = { 0x5eed0004 };

	for (int i = 0; i < unit_times(50000); i++) {
		cleanup_buf struct buf text = BUF_INIT, once = BUF_INIT,
				       twice = BUF_INIT;

		dice_text(&dice, pieces, nitems(pieces), 100, &text);
		if (!prompt_clean(text.data, text.len, &once))
			continue;
		ck_assert(text_utf8_valid(once.data, once.len));
		ck_assert_ptr_null(strpbrk(once.data, "\x1b\r\x7f"));
		ck_assert_ptr_null(strstr(once.data, "\xc2\x9b"));
		ck_assert_int_ne(once.data[once.len - 1], '\\');
		ck_assert(prompt_clean(once.data, once.len, &twice));
		ck_assert_str_eq(once.data, twice.data);
	}
}
