/* SPDX-License-Identifier: GPL-2.0 */
/* The forms that a profile is written in */
#ifndef UNWIND_PROFILE_OUTPUT_H
#define UNWIND_PROFILE_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "join.h"

struct recording {
	bool			off_cpu;
	unsigned long long	hertz;
	/* Since 1970, and how long it took, in nanoseconds */
	unsigned long long	begin;
	unsigned long long	duration;
};

struct output {
	const char	*name;
	bool		binary;
	/* A sample has come */
	void		(*add)(FILE *out, const struct recording *recording,
			       const struct sample *sample, unsigned int user);
	/* All have. Errors of @out are the caller's; others: 0 or -1, with errno */
	int		(*end)(FILE *out, const struct recording *recording);
};

extern const struct output folded, pprof, script;

#endif /* UNWIND_PROFILE_OUTPUT_H */
