/* SPDX-License-Identifier: ISC */

#include "account.h"
#include "auto.h"
#include "book-history.h"
#include "mem.h"
#include "persist.h"
#include "refile.h"
#include "task-run.h"
#include "task.h"
#include "usage.h"

static bool
is_due(const struct state *state, const struct account *account)
{
	struct spent change = spent_beyond(&account->spent, &account->filed);

	return account->task != NULL && spent_is_change(&change) &&
	    state_task(state, account->task) == NULL;
}

static void
charge(struct book *book, const struct task *task, const struct spent *change)
{
	cleanup_free char *attempt = task_run_id(task);

	book_charge_attempt(book, attempt, change);
}

void
refile_due(struct auto_mode *mode)
{
	struct state *state = &mode->core->state;

	for (size_t i = 0; i < state->account_count; i++) {
		struct account *account = state->accounts[i];
		struct spent change;
		struct task *task;

		if (!is_due(state, account))
			continue;
		change = spent_beyond(&account->spent, &account->filed);
		task = book_find_task(mode->core->book, account->task);
		if (task != NULL) {
			task->tokens += usage_budget_tokens(&change.usage);
			spent_add(&task->spent, &change);
			book_file_task(mode->core->book, task);
			charge(mode->core->book, task, &change);
			task_free(task);
		}
		account->filed = account->spent;
		persist_changed(mode->core);
	}
}
