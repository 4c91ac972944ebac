// SPDX-License-Identifier: GPL-2.0
/*
 * loader_test runs this with the audit library and without. It loads and unloads a
 * library, and asks the kernel which keys are registered.
 *
 *	audited LIBRARY yes|no
 *
 * It writes the keys to standard output: the program's, and the library's from the first
 * and the second load. The exit status is the number of the first step that failed, or 0.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <linux/unwind.h>

/* Was the key registered? The check unregisters it. */
static bool was_registered(void *key)
{
	struct unwind_table_attr attr = { .key = (uintptr_t)key };

	return !prctl(PR_UNWIND_TABLE, PR_UNWIND_TABLE_DEL, &attr, sizeof(attr),
		      0);
}

int main(int argc, char **argv)
{
	const bool audited = argc == 3 && !strcmp(argv[2], "yes");
	void *key[3];

	if (argc != 3)
		return 1;
	/* glibc's handles are the addresses of link maps */
	key[0] = dlopen(NULL, RTLD_NOW);
	key[1] = dlopen(argv[1], RTLD_NOW);
	if (!key[0] || !key[1] || dlclose(key[1]))
		return 2;
	/* Unloading unregisters */
	if (was_registered(key[1]))
		return 3;
	key[2] = dlopen(argv[1], RTLD_NOW);
	if (!key[2])
		return 4;
	if (was_registered(key[2]) != audited)
		return 5;
	/* The check has unregistered the key: the audit library must accept that */
	if (dlclose(key[2]))
		return 6;
	if (was_registered(key[0]) != audited)
		return 7;
	return write(1, key, sizeof(key)) == sizeof(key) ? 0 : 8;
}
