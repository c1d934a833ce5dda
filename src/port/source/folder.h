/* SPDX-License-Identifier: ISC */

/*
 * The folder of text files that is a task source, for source-folder.c and
 * folder-*.c only: its folders, what counts as a task, moves that overwrite
 * nothing, and notes of who took what.
 *
 *   <where>/todo/      what waits
 *   <where>/doing/     what somebody works at; .<hash>.by tells who
 *   <where>/done/      what landed
 *   <where>/failed/    what did not, with <name>.why
 *   <where>/trash/     what a person removed
 *   <where>/.llmc.lock held while a task is taken
 */
#ifndef FOLDER_H
#define FOLDER_H

struct buf;
struct err;
struct folder_rank;
struct json_object;
struct stat;
struct task_head;

enum folder_place {
	FOLDER_TODO,
	FOLDER_DOING,
	FOLDER_DONE,
	FOLDER_FAILED,
	FOLDER_TRASH,
	FOLDER_PLACE_COUNT
};

const char *folder_place_name(enum folder_place place); /* "todo" */
int folder_make(const char *where, struct err *err);

/* Paths; the caller frees. */
char *folder_path(const char *where, enum folder_place place, const char *name);
char *
folder_why_path(const char *where, enum folder_place place, const char *name);

/* May a task have this name? Not if it is hidden, temporary or a note. */
bool folder_is_task(const char *name);

/* The names of everything that could be a task: in natural order (2 before 10),
 * or the newest arrivals first. A missing folder counts as empty. */
struct folder_names {
	char **at;
	size_t count;
};

int folder_names(const char *where, enum folder_place place, bool newest_first,
    struct folder_names *ret_names, struct err *err);
void folder_names_release(struct folder_names *names);

#define cleanup_folder_names __attribute__((cleanup(folder_names_release)))

/* The head of the task, and its prompt, cleaned and appended to text. */
enum folder_reading {
	FOLDER_READ,
	FOLDER_GONE,
	FOLDER_UNSETTLED, /* it changed while it was read */
	FOLDER_PROBLEM, /* words say what is wrong with it */
	FOLDER_SHORTAGE, /* we cannot read now */
};

enum folder_reading
folder_read(const char *where, enum folder_place place, const char *name,
    struct task_head *head, struct buf *text, struct buf *words);

/* False if somebody may still be writing the file: then what was read just
 * before may be only a part. */
bool
folder_is_settled(const char *where, enum folder_place place, const char *name);

/* Has a file not changed between these two looks? */
bool folder_is_same(const struct stat *a, const struct stat *b);

/* Move a file; it is on the disk when this returns. If the name is taken there,
 * it gets another one, *ret_name (may be NULL, owned by the caller). -ENOENT if
 * it does not exist. */
int folder_move(const char *where, enum folder_place from, const char *name,
    enum folder_place to, char **ret_name, struct err *err);

/* The same for a file at path, with the name it should get. */
int folder_move_in(const char *path, const char *where, enum folder_place to,
    const char *name, char **ret_name, struct err *err);

/* With exactly that name, or -EEXIST. */
int folder_move_exact(const char *where, enum folder_place from,
    enum folder_place to, const char *name, struct err *err);

/* Who took a task in doing/: {task, owner, worker}; NULL = unknown. */
struct json_object *folder_note_load(const char *where, const char *name);
int folder_note_save(const char *where, const char *name, const char *owner,
    const char *worker, struct err *err);
void folder_note_remove(const char *where, const char *name);

/* Remove the notes of owner whose task is gone. */
void folder_notes_sweep(const char *where, const char *owner);

struct folder_order {
	struct folder_rank *at; /* in natural order of the names */
	size_t count;
};

/* names: those of todo/, in natural order; they are put into the order of the
 * tasks. A file that cannot be read has the default priority. */
void folder_order_sort(
    struct folder_order *order, const char *where, struct folder_names *names);
void folder_order_release(struct folder_order *order);

#define cleanup_folder_order __attribute__((cleanup(folder_order_release)))

#endif
