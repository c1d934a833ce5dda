/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "buf.h"
#include "comment-file.h"
#include "json.h"

#define DIFF1                                                    \
	"diff --git a/a.c b/a.c\nindex 1..2 100644\n--- a/a.c\n" \
	"+++ b/a.c\n@@ -10,3 +10,3 @@ f(void)\n same\n-gone\n"
#define DIFF2 "+new\n\n" /* an editor has removed the blank */
#define END   "# ------------------------ >8 ------------------------\n"

TEST(comments_are_read_from_a_diff)
{
	static const struct {
		const char *file, *text, *list; /* text NULL = an error */
	} rows[] = {
		{ "", "", "" },
		{ DIFF1 DIFF2, "", "" },
		{ "why\n\n" END "# how\n" DIFF1 DIFF2, "why", "" },
		{ "> whole\n> thing\n" DIFF1 DIFF2, "whole\nthing", "" },
		{ DIFF1 "> why?\n" DIFF2 "> blank\n>  line\n", "",
		    "a.c:11:old:why?=gone a.c:12:blank\n line" },
		{ DIFF1 "+new\n> better:\n>\n>  x\n# not this\n\n", "",
		    "a.c:11:better:\n\n x=new" },
		{ "diff --git a/b.png b/b.png\nBinary files a/b.png and "
		  "b/b.png differ\n> too big\n",
		    "", "b.png:0:too big" },
		{ "src/a b.c:12: a\nsrc/x.c:3: b: c\n\n", "",
		    "src/a b.c:12:a src/x.c:3:b: c" },
		{ "@@ -1 +1 @@\n", NULL, "line 1 is neither" },
		{ DIFF1 DIFF2 "oops\n", NULL,
		    "line 10 is neither a line of the diff nor a comment, "
		    "which begins with > or is PATH:LINE: TEXT: oops" },
		{ "w\n" END DIFF1 DIFF2 "+more\n", NULL, "line 12 is neither" },
		/* where the comment belongs cannot be told any more */
		{ DIFF1 "> x\n", NULL, "line 5: lines of this part" },
		{ DIFF1 "@@ -20 +20 @@\n-x\n+y\n> z\n", "", "a.c:20:z=y" },
		{ "a.c:0: x\n", NULL, "line 1 is neither" },
		{ "x\ry\n", NULL, "line 1 is neither" },
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		cleanup_json struct json_object *list = NULL;
		cleanup_buf struct buf text = BUF_INIT, out = BUF_INIT;
		struct err err = { 0 };
		int r = comment_file_read(
		    rows[i].file, strlen(rows[i].file), &text, &list, &err);

		if (rows[i].text == NULL) {
			ck_assert_int_eq(r, -EINVAL);
			ck_assert_msg(strncmp(err.msg, rows[i].list,
					  strlen(rows[i].list)) == 0,
			    "%s", err.msg);
			continue;
		}
		ck_assert_msg(r == 0, "%s", err.msg);
		for (size_t j = 0; j < json_object_array_length(list); j++) {
			struct json_object *c =
			    json_object_array_get_idx(list, j);
			const char *side = json_string_or(c, "side", NULL);
			const char *code = json_string_or(c, "code", NULL);

			buf_addf(&out, "%s%s:%d:%s%s%s%s%s", j > 0 ? " " : "",
			    json_string_or(c, "file", ""),
			    (int)json_int_or(c, "line", 0),
			    side != NULL ? side : "", side != NULL ? ":" : "",
			    json_string_or(c, "text", ""),
			    code != NULL ? "=" : "", code != NULL ? code : "");
		}
		ck_assert_str_eq(text.data, rows[i].text);
		ck_assert_str_eq(out.data, rows[i].list);
	}
}
