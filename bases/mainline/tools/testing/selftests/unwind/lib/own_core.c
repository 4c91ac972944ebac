// SPDX-License-Identifier: GPL-2.0
/* The deferred core of this kernel is mainline's. */
#include "perf.h"

bool has_own_core(void)
{
	return false;
}
