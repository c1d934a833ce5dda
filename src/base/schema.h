/* SPDX-License-Identifier: ISC */

/*
 * A record is described once: its fields with their types, names, bounds and a
 * line of help. From that table come its JSON, both ways, its copy and its
 * release, the check of JSON values, with the path in the error, and JSON
 * Schema. A schema without a struct describes JSON alone: parameters and
 * results of the API.
 *
 * A schema is a constant and may not contain itself.
 */
#ifndef SCHEMA_H
#define SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;
struct json_object;
struct schema;

/* What it is in JSON, and as a member of the struct. */
enum schema_type {
	SCHEMA_ANY, /* null too; struct json_object *, owned */
	SCHEMA_STRING, /* char *, owned */
	SCHEMA_INT, /* 3, not 3.0; int64_t, not below min */
	SCHEMA_NUMBER, /* double; what is not finite is unset */
	SCHEMA_BOOL, /* bool */
	SCHEMA_OBJECT, /* described by of; struct json_object *, owned */
	SCHEMA_ARRAY, /* every element by of->fields[0]; the same */
	SCHEMA_MAP, /* any keys, every value by of->fields[0]; the same */
	SCHEMA_ONE, /* one of of->fields, whose names say when */
	/* Of members only; in JSON: */
	SCHEMA_TEXT, /* const char *, not owned: it is valid as long as the JSON
		      * that it was read from; a string */
	SCHEMA_WORD, /* an enum; a string, one of the words */
	SCHEMA_INT32, /* int; an integer */
	SCHEMA_UINT64, /* uint64_t, up to INT64_MAX; an integer */
	SCHEMA_TRUTH, /* int: 1, 0, or -1 = not known; a boolean */
	SCHEMA_LIST, /* char **, as in buf.h, owned, empty is NULL; an array
		      * of strings */
	SCHEMA_STRUCT, /* a struct inside this one; an object */
	SCHEMA_POINTER, /* a struct of its own, owned, or NULL; an object */
	SCHEMA_ROWS, /* an owned list of structs with its count; an array of
		      * objects */
	SCHEMA_POINTERS, /* an owned list of pointers to structs; the same */
	SCHEMA_SLOTS, /* an array of max structs inside this one; the same */
	SCHEMA_TYPE_COUNT
};

enum schema_flag {
	/* What JSON may be; of a member it follows from the flags below. */
	SCHEMA_OPTIONAL = 1 << 0, /* may be missing */
	SCHEMA_NULLABLE = 1 << 1, /* may be null */
	SCHEMA_OR_STRING = 1 << 2, /* any string will do too, with the type:
				    * "type": ["number", "string"] */
	SCHEMA_ADVICE = 1 << 3, /* the choices, or the rows, are printed, but
				 * not checked: whoever reads them does that,
				 * each by itself */
	SCHEMA_WANTED = 1 << 4, /* with OPTIONAL: printed as required, but
				 * the reader says that it is missing */
	/* How a member is read. */
	SCHEMA_REQUIRED = 1 << 5, /* missing is -ENOENT; it is never null */
	SCHEMA_CLAMP = 1 << 6, /* a number out of range is clamped; a time
				* before 1970 becomes "never" */
	/* How a member is written. */
	SCHEMA_ZERO_IS_NULL = 1 << 7, /* 0 is null */
	SCHEMA_OMIT_UNSET = 1 << 8, /* omit what is NULL, 0, false or empty,
				     * and a word outside the list */
	SCHEMA_UNKNOWN = 1 << 9, /* a negative number, not 0, is unset: null,
				  * or omitted */
	SCHEMA_UNIX = 1 << 10, /* milliseconds, in JSON seconds; 0 is null */
	SCHEMA_CUT = 1 << 11, /* a text is cut at max bytes */
	SCHEMA_LINE = 1 << 12, /* the same, and made one line */
	SCHEMA_FLAT = 1 << 13, /* the members of a STRUCT are members of the
				* object itself */
	/* Who sees it. */
	SCHEMA_PRIVATE = 1 << 14, /* kept, but not part of the API */
};

/* A member that writes and reads itself. What is NULL is not done; without a
 * copy its size bytes are copied. */
struct schema_own {
	size_t size;
	/* NULL = unset */
	struct json_object *(*to_json)(const void *member);
	int (*from_json)(struct json_object *json, const char *at, void *member,
	    struct err *err);
	void (*copy)(const void *member, void *copy);
	void (*release)(void *member);
};

struct schema_field { /* thousands of these are moved at each start */
	const char *name; /* NULL for elements, and at the end */
	enum schema_type type: 8;
	bool is_member: 1;
	unsigned flags: 16;
	uint32_t size; /* bytes of a member that is a string, or of each entry
			* of a LIST; 0 = no bound */
	uint32_t offset; /* of the member */
	uint32_t count; /* offset of the size_t that counts the entries */
	const struct schema *of; /* NULL = anything inside */
	int64_t min, max; /* of an INT, both 0 = none; of a NUMBER only printed;
			   * of a STRING, ARRAY or MAP its length in bytes or
			   * elements, max 0 = no bound. Of a member: min 0 =
			   * not negative, max 0 = that of the type. */
	union {
		const char *const *choices; /* NULL terminated, NULL = any */
		const char *const *words; /* of a WORD */
	};
	const char *help;
	const struct schema_own *own;
};

struct schema {
	const struct schema_field *fields; /* of an object, its members; of an
					    * array or map one element */
	size_t count; /* 0 = they end with a NULL name */
	bool open; /* unknown members are allowed */
	bool strict; /* and are refused when a record is read, here and in
		      * what is inside; else they are ignored */
	const char *help;
	size_t size; /* of the struct */
	const void *blank; /* a new one; NULL = all zero */
	/* After one was read: repair what does not fit together, or refuse. */
	int (*check)(void *record, const char *at, struct err *err);
};

/* A field that is a member; its type follows from it. It may be followed by
 * .flags, .min, .max, .size, .words and .help. */
#define SCHEMA_FIELD(owner, field, member, ...)                  \
	{                                                        \
		.name = (field), .is_member = true,              \
		.type = SCHEMA_TYPE_OF(((owner *)NULL)->member), \
		.offset = offsetof(owner, member), ##__VA_ARGS__ \
	}

/* The same, of a type that is given. */
#define SCHEMA_AS(owner, field, kind, member, ...)                         \
	{                                                                  \
		.name = (field), .is_member = true, .type = SCHEMA_##kind, \
		.offset = offsetof(owner, member), ##__VA_ARGS__           \
	}

#define SCHEMA_TYPE_OF(member) \
	_Generic((member),                   \
	    char *: SCHEMA_STRING,           \
	    const char *: SCHEMA_TEXT,       \
	    char **: SCHEMA_LIST,            \
	    bool: SCHEMA_BOOL,               \
	    int: SCHEMA_INT32,               \
	    int64_t: SCHEMA_INT,             \
	    uint64_t: SCHEMA_UINT64,         \
	    double: SCHEMA_NUMBER,           \
	    struct json_object *: SCHEMA_OBJECT, \
	    default: SCHEMA_WORD)

/* A STRUCT inside the owner, or one that it has a POINTER to. */
#define SCHEMA_PART(owner, field, kind, member, schema, ...)               \
	{                                                                  \
		.name = (field), .is_member = true, .type = SCHEMA_##kind, \
		.of = &(schema), .offset = offsetof(owner, member),        \
		##__VA_ARGS__                                              \
	}
/* An object of which the members are the owner's own: the fields of its schema
 * are members of the owner. */
#define SCHEMA_GROUP(field, schema, ...)                                   \
	{                                                                  \
		.name = (field), .is_member = true, .type = SCHEMA_STRUCT, \
		.of = &(schema), ##__VA_ARGS__                             \
	}
/* ROWS, POINTERS or SLOTS, and the member that counts them. */
#define SCHEMA_PARTS(owner, field, kind, member, number, schema, ...)      \
	{                                                                  \
		.name = (field), .is_member = true, .type = SCHEMA_##kind, \
		.of = &(schema), .offset = offsetof(owner, member),        \
		.count = offsetof(owner, number), ##__VA_ARGS__            \
	}
#define SCHEMA_OWN(owner, field, member, kind, functions, ...)          \
	{                                                               \
		.name = (field), .is_member = true, .type = (kind),     \
		.own = &(functions), .offset = offsetof(owner, member), \
		##__VA_ARGS__                                           \
	}

/* A field of JSON alone that is there, may be missing, may be null, or both. It
 * may be followed by .of, .min, .max, .size and .choices. */
#define SCHEMA_IS(field, kind, words, ...)                               \
	{                                                                \
		.name = (field), .type = SCHEMA_##kind, .help = (words), \
		##__VA_ARGS__                                            \
	}
#define SCHEMA_MAY(field, kind, words, ...)                              \
	{                                                                \
		.name = (field), .type = SCHEMA_##kind, .help = (words), \
		.flags = SCHEMA_OPTIONAL, ##__VA_ARGS__                  \
	}
#define SCHEMA_OR_NULL(field, kind, words, ...)                          \
	{                                                                \
		.name = (field), .type = SCHEMA_##kind, .help = (words), \
		.flags = SCHEMA_NULLABLE, ##__VA_ARGS__                  \
	}
#define SCHEMA_MAY_OR_NULL(field, kind, words, ...)                       \
	{                                                                 \
		.name = (field), .type = SCHEMA_##kind, .help = (words),  \
		.flags = SCHEMA_OPTIONAL | SCHEMA_NULLABLE, ##__VA_ARGS__ \
	}
#define SCHEMA_END           \
	{                    \
		.name = NULL \
	}
/* .fields of a schema of JSON alone; SCHEMA_END is the last one. */
#define SCHEMA_FIELDS .fields = (const struct schema_field[])

/* The schema of a struct, of a table of its fields. */
#define SCHEMA_OF(owner, table, ...)                         \
	{                                                    \
		.fields = (table),                           \
		.count = sizeof(table) / sizeof((table)[0]), \
		.size = sizeof(owner), ##__VA_ARGS__         \
	}

/* --- records --------------------------------------------------------- */

/* A new one, owned by the caller. */
void *schema_new(const struct schema *schema);

/* The record as JSON, owned by the caller, in the order of the table; objects
 * are shared. schema_add() adds the members to an object. */
struct json_object *
schema_json(const struct schema *schema, const void *record);
void schema_add(
    const struct schema *schema, const void *record, struct json_object *json);
/* Put the members into the order of the table, where some were added later. */
void schema_order(const struct schema *schema, struct json_object *json);
/* An array of structs as an array of objects. */
struct json_object *
schema_list(const struct schema *schema, const void *records, size_t count);

/* Only members whose fields are present and not null change: the caller sets
 * the defaults before. `at` is the path of json for error messages ("" at the
 * top level). -EINVAL for a wrong type, an unknown word, what is out of bounds
 * or, if the schema is strict, not known; -ENOENT if a field is missing.
 * Members before it in the table have been set then. */
int schema_read(const struct schema *schema, struct json_object *json,
    const char *at, void *record, struct err *err);
/* The same into a new record, owned by the caller; NULL for both errors. */
void *schema_make(const struct schema *schema, struct json_object *json,
    const char *at, struct err *err);

/* Refuse a member of json that is not in the schema, nor in `others` (NULL
 * terminated, may be NULL), which the caller reads by hand. -EINVAL; the
 * message has its path and suggests the nearest name. */
int schema_known(const struct schema *schema, const char *const *others,
    struct json_object *json, const char *at, struct err *err);

/* Append bytes that differ if, and only if, a member differs. */
void
schema_image(const struct schema *schema, const void *record, struct buf *out);

/* Copy every member; what was there is freed. Objects are shared. */
void schema_copy(const struct schema *schema, const void *record, void *copy);

/* A copy of its own, owned by the caller; NULL of NULL. */
void *schema_clone(const struct schema *schema, const void *record);

/* Free what the members own and clear them. */
void schema_release(const struct schema *schema, void *record);
/* The same, and the record itself, which may be NULL. */
void schema_free(const struct schema *schema, void *record);

/* --- JSON ------------------------------------------------------------ */

/* 0, or -EINVAL with a message such as "workers.auto-1.status: expected a
 * string, found a number". Private fields are unknown ones. */
int schema_check(const struct schema_field *field, struct json_object *value,
    const char *at, struct err *err);

/* JSON Schema (draft 2020-12) of the field; the caller owns it. Where they
 * differ, schema_check() is authoritative: a schema counts the length of a
 * string in characters, and accepts 3.0 as an integer. */
struct json_object *schema_print(const struct schema_field *field);

#endif
