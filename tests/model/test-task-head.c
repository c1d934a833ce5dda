/* SPDX-License-Identifier: ISC */

/* The lines before a task's prompt. */

#include "unit.h"
#include "taskfile.h"

#define SHA1   "0123456789abcdef0123456789abcdef01234567"
#define SHA256 SHA1 "0123456789ABCDEF01234567"

static const struct {
	const char *text, *prompt;
	enum priority priority;
	const char *commit;
} rows[] = {
	{ "Priority: high\n\nDo it\n", "Do it\n", PRIORITY_HIGH, "" },
	{ "Priority: high\nDo it", "Do it", PRIORITY_HIGH, "" },
	{ "PRIORITY:Urgent \t\r\n\r\nDo it", "Do it", PRIORITY_URGENT, "" },
	{ "\xef\xbb\xbf\n \npriority: low\nDo it", "Do it", PRIORITY_LOW, "" },
	{ "Priority: normal\n\nDo it", "Do it", PRIORITY_NORMAL, "" },
	{ "Priority: high", "", PRIORITY_HIGH, "" },
	{ "Landed before: 3f2a91c\nDo it", "Do it", PRIORITY_NORMAL,
	    "3f2a91c" },
	{ "Landed before: " SHA1 "\nPriority: low\n\nDo it", "Do it",
	    PRIORITY_LOW, SHA1 },
	{ "verification: {\"artifacts\": []} \nPriority: low\nDo it", "Do it",
	    PRIORITY_LOW, "" },
	{ "Priority: low\nLanded before: " SHA256 "\n\nDo it", "Do it",
	    PRIORITY_LOW, SHA256 },
	/* A blank line ends the head, and each line counts once. */
	{ "Priority: low\n\nLanded before: 3f2a91c\n",
	    "Landed before: 3f2a91c\n", PRIORITY_LOW, "" },
	{ "Priority: low\nPriority: high\n", "Priority: high\n", PRIORITY_LOW,
	    "" },
};

TEST(head_is_read_and_cut_off)
{
	struct task_head head;

	for (size_t i = 0; i < nitems(rows); i++) {
		ck_assert_str_eq(
		    task_head_read(rows[i].text, &head), rows[i].prompt);
		ck_assert_int_eq(head.priority, rows[i].priority);
		ck_assert_str_eq(head.commit, rows[i].commit);
	}
}

TEST(who_added_it_is_read_and_written)
{
	static const char text[] = "Priority: high\nAdded by: auto-1 (strict)\n"
				   "\nDo it";
	static const char *const others[] = { "Added by: auto-1\nDo it",
		"Added by: auto-1 (strictest)\nDo it",
		"Added by: the boss (off)\nDo it", "Added by: (off)\nDo it" };
	cleanup_buf struct buf again = BUF_INIT;
	struct task_head head;

	ck_assert_str_eq(task_head_read(text, &head), "Do it");
	ck_assert_str_eq(head.maker, "auto-1");
	ck_assert_int_eq(head.sandbox, BOX_STRICT);
	task_head_write(&head, "Do it", &again);
	ck_assert_str_eq(again.data, text);
	for (size_t i = 0; i < nitems(others); i++) {
		ck_assert_str_eq(task_head_read(others[i], &head), others[i]);
		ck_assert_str_eq(head.maker, "");
	}
}

TEST(a_recovery_is_a_word_that_a_task_without_a_plan_can_have)
{
	static const char text[] =
	    "Result: report\nRecovery: reassign\n\nDo it";
	static const char other[] = "Recovery: nudge\nDo it";
	cleanup_buf struct buf again = BUF_INIT;
	struct task_head head;

	ck_assert_str_eq(task_head_read(text, &head), "Do it");
	ck_assert_str_eq(head.recovery, "reassign");
	task_head_write(&head, "Do it", &again);
	ck_assert_str_eq(again.data, text);
	ck_assert_ptr_eq(task_head_read(other, &head), other);
	ck_assert_ptr_null(head.recovery);
}

TEST(what_a_task_wants_of_its_host_is_words)
{
	static const char text[] = "Wants: docker  gpu,memory:16\n\nDo it";
	static const char *const others[] = { "Wants: a Big one\nDo it",
		"Wants:\nDo it", "Wants: me, to; do this\nDo it" };
	cleanup_buf struct buf again = BUF_INIT;
	cleanup_strv char **words = NULL;
	struct task_head head;

	ck_assert_str_eq(task_head_read(text, &head), "Do it");
	ck_assert_str_eq(head.wants, "docker gpu memory:16");
	task_head_write(&head, "Do it", &again);
	ck_assert_str_eq(again.data, "Wants: docker gpu memory:16\n\nDo it");
	ck_assert(task_wants_read(head.wants, &words));
	ck_assert_uint_eq(strv_count(words), 3);
	for (size_t i = 0; i < nitems(others); i++)
		ck_assert_ptr_eq(task_head_read(others[i], &head), others[i]);
	/* As many as are allowed, and one more. */
	buf_clear(&again);
	for (int i = 0; i < TASK_WANTS_MAX; i++)
		buf_addf(&again, "w%d ", i);
	strv_clear(&words);
	ck_assert(task_wants_read(again.data, &words));
	ck_assert_uint_eq(strv_count(words), TASK_WANTS_MAX);
	buf_adds(&again, "more");
	ck_assert(!task_wants_read(again.data, &words));
}

TEST(a_contract_is_taken_or_refused)
{
	static const char *const good = "{\"artifacts\":[{\"path\":\"a\"}]}";
	cleanup_json struct json_object *contract = NULL;
	cleanup_buf struct buf text = BUF_INIT, again = BUF_INIT;
	struct task_head head, read;
	struct err err = { 0 };

	buf_addf(&text, "Verification: %s\n\nDo it", good);
	ck_assert_str_eq(task_head_read(text.data, &head), "Do it");
	ck_assert_int_eq(task_head_contract(&head, &contract, &err), 0);
	ck_assert_ptr_nonnull(contract);
	task_head_write(&head, "Do it", &again);
	ck_assert_str_eq(task_head_read(again.data, &read), "Do it");
	ck_assert_str_eq(read.contract, good);
	memset(&read, 0, sizeof read);
	ck_assert_int_eq(task_head_set_contract(&read, contract, &err), 0);
	ck_assert_str_eq(read.contract, good);
	task_head_read("Verification: {\"command\": \"x\"}\nDo it", &head);
	ck_assert_int_eq(task_head_contract(&head, &contract, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.msg, "Verification.command"));
	buf_clear(&text);
	buf_adds(&text, "Verification: {\"artifacts\": [");
	for (int i = 0; i < TASK_HEAD_CONTRACT_SIZE; i++)
		buf_addc(&text, ' ');
	buf_adds(&text, "]}\nDo it");
	ck_assert_str_eq(task_head_read(text.data, &head), "Do it");
	ck_assert_int_eq(task_head_contract(&head, &contract, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.msg, "longer than"));
}

TEST(other_lines_are_part_of_the_prompt)
{
	static const char *const texts[] = { "", "\n Do it\n", "Do it",
		"Do it\nPriority: high\n", "Priority: hihg\nDo it",
		"Priority:\nhigh\n", "Priority high\n", "Priorities: high\n",
		"Priority: high, then low\n", "Priority: 0\n",
		"Verification: run the tests\n", "Verification:\n",
		"Landed before: noon\n", "Landed before: 3f2a91\n",
		"Landed before: " SHA256 "0\n", "Landed before:\n" };
	struct task_head head;

	for (size_t i = 0; i < nitems(texts); i++) {
		ck_assert_ptr_eq(task_head_read(texts[i], &head), texts[i]);
		ck_assert_int_eq(head.priority, PRIORITY_NORMAL);
		ck_assert_str_eq(head.commit, "");
	}
}

static void
assert_written(enum priority priority, const char *commit, const char *prompt,
    const char *wanted)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct task_head head = { .priority = priority }, again;

	strlcpy(head.commit, commit, sizeof head.commit);
	task_head_write(&head, prompt, &text);
	if (wanted != NULL)
		ck_assert_str_eq(text.data, wanted);
	ck_assert_str_eq(task_head_read(text.data, &again), prompt);
	ck_assert_int_eq(again.priority, priority);
	ck_assert_str_eq(again.commit, commit);
}

TEST(only_what_says_something_is_written)
{
	assert_written(PRIORITY_NORMAL, "", "Do it\n", "Do it\n");
	assert_written(PRIORITY_LOW, "", "Do it\n", "Priority: low\n\nDo it\n");
	assert_written(PRIORITY_NORMAL, "3f2a91c", "Do it",
	    "Landed before: 3f2a91c\n\nDo it");
	assert_written(PRIORITY_URGENT, "3f2a91c", "Do it",
	    "Priority: urgent\nLanded before: 3f2a91c\n\nDo it");
	/* A prompt that looks like a head stays a prompt. */
	assert_written(PRIORITY_NORMAL, "", "Priority: low\nDo it",
	    "Priority: normal\n\nPriority: low\nDo it");
}

TEST(what_is_written_is_read_again)
{
	static const char *const lines[] = { "Priority: high\n", "\n",
		"Landed before: 3f2a91c\n", "Do it\n", "Priority: \r\n",
		"landed before: 3F2A91C\r\n" };
	struct dice *dice = &(struct dice){ 1 };

	for (int n = 0; n < 2000; n++) {
		cleanup_buf struct buf prompt = BUF_INIT;
		enum priority priority;

		for (unsigned i = dice_below(dice, 5); i > 0; i--)
			buf_adds(
			    &prompt, lines[dice_below(dice, nitems(lines))]);
		priority = (enum priority)dice_below(dice, PRIORITY_COUNT);
		assert_written(priority, dice_coin(dice) ? "" : "3f2a91c",
		    prompt.data + strspn(prompt.data, "\n"), NULL);
	}
}
