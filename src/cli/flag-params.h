/* SPDX-License-Identifier: ISC */

/* The values of flags as parameters of a method. */
#ifndef FLAG_PARAMS_H
#define FLAG_PARAMS_H

struct cli;
struct cli_args;
struct cli_command;
struct json_object;

/* Set the member, if the flag was given: to its value; to all values of a flag
 * that may be given several times (a single empty one makes an empty list). */
void flag_text(struct json_object *params, const char *key,
    const struct cli_args *args, int flag);
void flag_list(struct json_object *params, const char *key,
    const struct cli_args *args, int flag);

/* Is this word (NULL = was not given) a priority? CLI_OK, or it is misuse. */
int flag_priority(
    struct cli *cli, const struct cli_command *command, const char *word);

#endif
