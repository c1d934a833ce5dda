/* SPDX-License-Identifier: ISC */

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "buf.h"
#include "contract.h"
#include "errtext.h"
#include "json.h"
#include "mem.h"
#include "task-head.h"
#include "text.h"

#define BLANKS     " \t\r\n"
#define BOM        "\xef\xbb\xbf"
#define COMMIT_MIN 7 /* digits, as git abbreviates */
#define PRIORITY   "Priority:"
#define LANDED     "Landed before:"
#define CONTRACT   "Verification:"
#define MAKER      "Added by:"
#define RESULT     "Result:"

/* The value of the line at text, if it begins with that key. */
static char *
value_of(const char *text, const char *key)
{
	size_t len = strcspn(text, "\n"), skip = strlen(key);

	if (strncasecmp(text, key, skip) != 0)
		return NULL;
	while (skip < len && strchr(BLANKS, text[skip]) != NULL)
		skip++;
	while (len > skip && strchr(BLANKS, text[len - 1]) != NULL)
		len--;
	return xstrndup(text + skip, len - skip);
}

static bool
read_priority(const char *text, enum priority *ret_priority)
{
	cleanup_free char *word = value_of(text, PRIORITY);

	for (char *c = word; c != NULL && *c != '\0'; c++)
		*c = (char)tolower((unsigned char)*c);
	return word != NULL && priority_parse(word, ret_priority);
}

static bool
read_commit(const char *text, char commit[TASK_HEAD_COMMIT_SIZE])
{
	cleanup_free char *id = value_of(text, LANDED);
	size_t len = id == NULL ? 0 : strlen(id);

	if (len < COMMIT_MIN || len >= TASK_HEAD_COMMIT_SIZE ||
	    strspn(id, "0123456789abcdefABCDEF") != len)
		return false;
	memcpy(commit, id, len + 1);
	return true;
}

/* One that is too long fills the room, and is refused by
 * task_head_contract(). */
static bool
read_contract(const char *text, char contract[TASK_HEAD_CONTRACT_SIZE])
{
	cleanup_free char *value = value_of(text, CONTRACT);

	if (value == NULL || *value != '{')
		return false;
	strlcpy(contract, value, TASK_HEAD_CONTRACT_SIZE);
	return true;
}

/* "NAME (MODE)". */
static bool
read_maker(const char *text, struct task_head *head)
{
	cleanup_free char *value = value_of(text, MAKER);
	char *open = value != NULL ? strstr(value, " (") : NULL;
	size_t len = value != NULL ? strlen(value) : 0;

	if (open == NULL || value[len - 1] != ')')
		return false;
	value[len - 1] = *open = '\0';
	if (!text_is_name(value) || strlen(value) >= TASK_HEAD_MAKER_SIZE ||
	    !box_mode_parse(open + 2, &head->sandbox))
		return false;
	strlcpy(head->maker, value, sizeof head->maker);
	return true;
}

static bool
read_result(const char *text, bool *ret_report)
{
	cleanup_free char *value = value_of(text, RESULT);

	if (value == NULL || strcasecmp(value, "report") != 0)
		return false;
	*ret_report = true;
	return true;
}

const char *
task_head_read(const char *text, struct task_head *ret_head)
{
	const char *at = text;
	bool priority = false, commit = false, contract = false, maker = false;

	*ret_head = (struct task_head){ .priority = PRIORITY_NORMAL };
	if (strncmp(at, BOM, strlen(BOM)) == 0)
		at += strlen(BOM);
	at += strspn(at, BLANKS);
	for (;;) {
		if (!priority && read_priority(at, &ret_head->priority))
			priority = true;
		else if (!commit && read_commit(at, ret_head->commit))
			commit = true;
		else if (!contract && read_contract(at, ret_head->contract))
			contract = true;
		else if (!maker && read_maker(at, ret_head))
			maker = true;
		else if (!ret_head->report &&
		    read_result(at, &ret_head->report))
			;
		else
			break;
		at += strcspn(at, "\n");
		at += *at == '\n' ? 1 : 0;
	}
	return priority || commit || contract || maker || ret_head->report ?
	    at + strspn(at, BLANKS) :
	    text;
}

void
task_head_write(
    const struct task_head *head, const char *prompt, struct buf *out)
{
	size_t before = out->len;
	struct task_head own;

	/* A prompt that begins like a head must not be taken for one. */
	if (head->priority != PRIORITY_NORMAL ||
	    task_head_read(prompt, &own) != prompt)
		buf_addf(out, PRIORITY " %s\n", priority_name(head->priority));
	if (head->commit[0] != '\0')
		buf_addf(out, LANDED " %s\n", head->commit);
	if (head->contract[0] != '\0')
		buf_addf(out, CONTRACT " %s\n", head->contract);
	if (head->report)
		buf_adds(out, RESULT " report\n");
	if (head->maker[0] != '\0')
		buf_addf(out, MAKER " %s (%s)\n", head->maker,
		    box_mode_name(head->sandbox));
	if (out->len > before)
		buf_addc(out, '\n');
	buf_adds(out, prompt);
}

int
task_head_contract(const struct task_head *head,
    struct json_object **ret_contract, struct err *err)
{
	if (head->contract[0] == '\0')
		return 0;
	if (strlen(head->contract) == TASK_HEAD_CONTRACT_SIZE - 1)
		return err_set(err, -EINVAL,
		    "Verification: longer than %d bytes",
		    TASK_HEAD_CONTRACT_SIZE - 2);
	return contract_from_text(
	    head->contract, "Verification", ret_contract, err);
}

int
task_head_set_contract(
    struct task_head *head, struct json_object *contract, struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT;

	if (contract != NULL)
		json_print(contract, false, &text);
	if (text.len >= TASK_HEAD_CONTRACT_SIZE - 1)
		return err_set(err, -E2BIG,
		    "its contract is too long for the head of a task");
	strlcpy(head->contract, text.data, sizeof head->contract);
	return 0;
}
