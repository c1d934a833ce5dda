/* SPDX-License-Identifier: ISC */

/*
 * What every file uses: the ordinary headers of the C library and the toolbox.
 * The first include of each source; headers rely on it.
 */
#ifndef BASE_H
#define BASE_H

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "clock.h"
#include "errtext.h"
#include "fatal.h"
#include "file.h"
#include "json.h"
#include "log.h"
#include "mem.h"
#include "text.h"

#endif
