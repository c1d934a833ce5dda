/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "api.h"
#include "caller.h"

unsigned
caller_rank(const struct caller *caller)
{
	if (caller->unknown)
		return API_READER;
	if (caller->door != NULL)
		return caller->session == NULL ||
			strcmp(caller->session, caller->door) == 0 ?
		    API_WORKER :
		    API_READER;
	if (caller->session == NULL)
		return API_PERSON;
	return strcmp(caller->session, CALLER_REPAIR) == 0 ? API_REPAIR :
							     API_READER;
}

/* Whose own calls it may make: at a worker's socket that worker's; elsewhere
 * those of its session, which a hook of an older version makes. */
static const char *
own_name(const struct caller *caller, bool life)
{
	if (caller->unknown)
		return life ? caller->door : NULL;
	if (caller->door != NULL && caller_rank(caller) != API_WORKER)
		return NULL;
	return caller->door != NULL ? caller->door : caller->session;
}

static int
refuse(const struct caller *caller, const char *method, struct err *err)
{
	if (caller->outside)
		return err_set(err, -EPERM,
		    "%s is refused: the daemon runs in a pid namespace that "
		    "you are not in, such as a container, and cannot tell you "
		    "from an agent; type it in there: docker exec, podman "
		    "exec, or nsenter -t PID -a",
		    method);
	if (caller->unknown)
		return err_set(err, -EPERM,
		    "%s is refused: the process that called ended before it "
		    "was known whose it is; let it wait for the answer",
		    method);
	if (caller->session == NULL && caller->door == NULL)
		return err_set(err, -EPERM,
		    "%s is refused: only the hooks of a worker's session call "
		    "it",
		    method);
	return err_set(err, -EPERM,
	    "%s is refused: this is the session of %s, and agents may not do "
	    "that; a person can, in a terminal outside of it",
	    method, caller->session != NULL ? caller->session : caller->door);
}

bool
caller_is_anybody(const struct api_method *method)
{
	const unsigned all = API_PERSON | API_REPAIR | API_WORKER | API_READER;

	return !(method->flags & API_OWN) && (method->callers & all) == all;
}

int
caller_check(const struct caller *caller, const struct api_method *method,
    const char *worker, bool life, struct err *err)
{
	const char *own = own_name(caller, life);

	if (!(method->flags & API_OWN))
		return method->callers & caller_rank(caller) ?
		    0 :
		    refuse(caller, method->name, err);
	if (own == NULL)
		return refuse(caller, method->name, err);
	if (worker == NULL || strcmp(own, worker) != 0)
		return err_set(err, -EPERM,
		    "%s is refused: this is the session of %s, which reports "
		    "nothing for %s",
		    method->name, own, worker != NULL ? worker : "others");
	return 0;
}
