/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "report-prompt.h"

void
report_prompt(struct buf *out, bool completion, bool progress)
{
	if (!completion && !progress)
		return;
	if (out->len > 0 && out->data[out->len - 1] != '\n')
		buf_addc(out, '\n');
	if (progress)
		buf_adds(out,
		    "\nReport your progress with the tool report_progress when "
		    "a new phase of your work begins, at most once in 30 "
		    "seconds: its phase and, if you can tell, "
		    "percentComplete.\n");
	if (completion)
		buf_adds(out,
		    "\nWhen your work has ended, well or not, and is committed if "
		    "you have changed anything, call the tool report_completion "
		    "as your very last tool, with status (complete, partial or "
		    "failed), confidence (high, medium or low), a summary, the "
		    "artifacts you have made, and blockers and warnings if "
		    "there are any. Whoever gave you this task reads it. If you "
		    "use another tool after it, call it again.\n");
}
